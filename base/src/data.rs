//! [`Data`]: the common neutral payload. Scripts, wire formats, logs and the core exchange it; it holds no script
//! value, so it is `Send`, clones in a few nanoseconds and can return sub-views. Dicts keep their keys in bytewise
//! order, so printed or written values compare equal from run to run.

use std::fmt;
use std::sync::Arc;

mod convert;
mod deserializer;
mod entries;
mod json;
mod keys;

pub use deserializer::FromDataError;
pub use entries::Entries;
pub use json::DataError;
pub use json::text_json_len;

/// Returns a text that is written often and allocated once, since records repeat the same keys.
#[macro_export]
macro_rules! shared {
    ($text:expr) => {{
        static TEXT: std::sync::LazyLock<std::sync::Arc<str>> = std::sync::LazyLock::new(|| $text.into());
        TEXT.clone()
    }};
}
pub use shared;

/// A value independent of any language and wire format.
#[derive(Clone, Default, PartialEq)]
pub enum Data {
    /// The nil value.
    #[default]
    Nil,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// A list.
    List(Arc<Vec<Data>>),
    /// A dict with string keys.
    Dict(Arc<Entries>),
}

impl Data {
    /// Maximum nesting depth of a value. A caller that builds a [`Data`] from outside (JSON, a script) rejects deeper
    /// values, so that comparing, printing and dropping need no work list.
    pub const MAX_DEPTH: usize = 512;

    /// Creates a dict from pairs. A later pair with the same key wins.
    pub fn dict<K: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, Data)>) -> Data {
        let entries: Entries = pairs.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Data::Dict(Arc::new(entries))
    }

    /// Returns a dict from pairs, without those whose value is nil.
    pub fn dict_of_present<K: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, Data)>) -> Data {
        Data::dict(pairs.into_iter().filter(|(_, value)| !value.is_nil()))
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = Data>) -> Data {
        Data::List(Arc::new(items.into_iter().collect()))
    }

    /// Returns an empty dict.
    #[must_use]
    pub fn empty_dict() -> Data {
        Data::Dict(Arc::default())
    }

    /// Creates text.
    pub fn str(text: impl Into<Arc<str>>) -> Data {
        Data::Str(text.into())
    }

    /// Returns whether this is nil.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        matches!(self, Data::Nil)
    }

    /// Returns the truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Data::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns the whole number, if it is one. A float without a fraction counts, since JSON peers write `3.0`.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Data::Int(value) => Some(*value),
            #[allow(clippy::cast_possible_truncation)]
            Data::Float(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(*value as i64),
            _ => None,
        }
    }

    /// Returns the number as a float, if it is a number.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Data::Int(value) => Some(*value as f64),
            Data::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Data::Str(text) = self { Some(text) } else { None }
    }

    /// Returns the shared text, if it is text.
    #[must_use]
    pub fn as_shared_str(&self) -> Option<Arc<str>> {
        if let Data::Str(text) = self { Some(text.clone()) } else { None }
    }

    /// Returns the items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Data]> {
        if let Data::List(items) = self { Some(items) } else { None }
    }

    /// Returns the entries, if it is a dict.
    #[must_use]
    pub fn as_dict(&self) -> Option<&Entries> {
        if let Data::Dict(entries) = self { Some(entries) } else { None }
    }

    /// Returns the value under `key`; nil if it is missing or this is not a dict.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &str) -> &Data {
        static NIL: Data = Data::Nil;
        self.as_dict().and_then(|entries| entries.get(key)).unwrap_or(&NIL)
    }

    /// Returns the value at a dotted path (`result.truncated`); nil if any step is missing.
    #[must_use]
    pub fn at(&self, path: &str) -> &Data {
        path.split('.').fold(self, |value, key| value.get(key))
    }

    /// Inserts an entry into a dict; any other value is replaced by a dict with that one entry.
    pub fn set(&mut self, key: impl Into<Arc<str>>, value: Data) {
        if !matches!(self, Data::Dict(_)) {
            *self = Data::empty_dict();
        }
        if let Data::Dict(entries) = self {
            Arc::make_mut(entries).insert(key.into(), value);
        }
    }

    /// Returns the dict with one more entry.
    #[must_use]
    pub fn with(mut self, key: impl Into<Arc<str>>, value: Data) -> Data {
        self.set(key, value);
        self
    }

    /// Returns the truth value as scripts see it: nil and false are false, all else is true.
    #[must_use]
    pub fn truthy(&self) -> bool {
        !matches!(self, Data::Nil | Data::Bool(false))
    }

    /// Returns the name of the type, as scripts and error messages spell it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Data::Nil => "nil",
            Data::Bool(_) => "bool",
            Data::Int(_) => "int",
            Data::Float(_) => "float",
            Data::Str(_) => "string",
            Data::List(_) => "list",
            Data::Dict(_) => "dict",
        }
    }

    /// Returns the nesting depth of lists and dicts; 0 for other values.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Data::List(items) => 1 + items.iter().map(Data::depth).max().unwrap_or(0),
            Data::Dict(entries) => 1 + entries.values().map(Data::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the approximate size in bytes: texts, and a little for each value.
    #[must_use]
    pub fn weight(&self) -> usize {
        const EACH: usize = 16;
        match self {
            Data::Str(text) => EACH + text.len(),
            Data::List(items) => items.iter().map(Data::weight).sum::<usize>() + EACH,
            Data::Dict(entries) => {
                entries.iter().map(|(key, value)| EACH + key.len() + value.weight()).sum::<usize>() + EACH
            }
            Data::Nil | Data::Bool(_) | Data::Int(_) | Data::Float(_) => EACH,
        }
    }

    /// Returns the text that a person or a model sees: text unchanged, everything else as JSON.
    #[must_use]
    pub fn to_text(&self) -> Arc<str> {
        match self {
            Data::Nil => "".into(),
            Data::Str(text) => text.clone(),
            other => other.to_json().into(),
        }
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

//! The types that need no declaration, one row each.
//!
//! The checker's type, the test of `catch (e: T)`, the JSON Schema of a tool's parameter and the namespace of the methods
//! all come from the row.

/// A row.
#[derive(Debug)]
pub struct BuiltinType {
    /// Its name.
    pub name: &'static str,
    /// Kind of the type.
    pub kind: Kind,
    /// `type` in JSON Schema; `None` where the schema allows anything.
    pub schema: Option<&'static str>,
    /// The tag of its values, which names the namespace of their methods.
    pub tag: Option<Tag>,
}

/// The kinds of built-in types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any value.
    Any,
    /// No value.
    Never,
    /// `nil`
    Nil,
    /// A bool.
    Bool,
    /// An int.
    Int,
    /// A float; ints are accepted.
    Float,
    /// A string.
    Str,
    /// Bytes.
    Bytes,
    /// A range.
    Range,
    /// A list, with the type of its elements.
    List,
    /// A set, with the type of its elements.
    Set,
    /// A dict, with the types of its keys and values.
    Dict,
    /// A pair, with the types of both parts.
    Pair,
    /// A `Result`, with the types of the value and of the error.
    Result,
    /// A channel, with the type of its values.
    Channel,
    /// A generator, with the type of its values.
    Generator,
    /// A lazy iterator, with the type of its values.
    Iter,
    /// A stream, with the type of its values.
    Stream,
    /// A task, with the type of its result.
    Task,
}

const fn row(name: &'static str, kind: Kind, schema: Option<&'static str>, tag: Option<Tag>) -> BuiltinType {
    BuiltinType { name, kind, schema, tag }
}

/// The rows. A kind's own row comes before its other names.
pub static BUILTIN_TYPES: &[BuiltinType] = ROWS;

const ROWS: &[BuiltinType] = &[
    row("any", Kind::Any, None, None),
    row("bool", Kind::Bool, Some("boolean"), Some(Tag::Bool)),
    row("bytes", Kind::Bytes, None, Some(Tag::Bytes)),
    row("channel", Kind::Channel, None, None),
    row("dict", Kind::Dict, Some("object"), Some(Tag::Dict)),
    row("float", Kind::Float, Some("number"), Some(Tag::Float)),
    row("generator", Kind::Generator, None, None),
    row("int", Kind::Int, Some("integer"), Some(Tag::Int)),
    // A span of time is its milliseconds.
    row("duration", Kind::Int, Some("integer"), Some(Tag::Int)),
    row("iter", Kind::Iter, None, None),
    row("list", Kind::List, Some("array"), Some(Tag::List)),
    row("never", Kind::Never, None, None),
    row("nil", Kind::Nil, Some("null"), Some(Tag::Nil)),
    row("pair", Kind::Pair, None, Some(Tag::Pair)),
    row("range", Kind::Range, None, Some(Tag::Range)),
    row("set", Kind::Set, Some("array"), Some(Tag::Set)),
    row("stream", Kind::Stream, None, None),
    row("string", Kind::Str, Some("string"), Some(Tag::Str)),
    row("task", Kind::Task, None, None),
    row("unknown", Kind::Any, None, None),
    row("Result", Kind::Result, None, Some(Tag::Variant)),
    row("Iterator", Kind::Iter, None, None),
    row("Stream", Kind::Stream, None, None),
];

/// The row of a name.
#[must_use]
pub fn builtin_type(name: &str) -> Option<&'static BuiltinType> {
    BUILTIN_TYPES.iter().find(|row| row.name == name)
}

impl Kind {
    /// Its own name, that of its first row.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let mut at = 0;
        while at < ROWS.len() {
            if ROWS[at].kind as u8 == self as u8 {
                return ROWS[at].name;
            }
            at += 1;
        }
        "any"
    }

    /// The tag of its values, if all of them have the same.
    #[must_use]
    pub fn tag(self) -> Option<Tag> {
        ROWS.iter().find(|row| row.kind == self)?.tag
    }
}

/// Type tag of a value, which decides the methods that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// nil
    Nil,
    /// bool
    Bool,
    /// int
    Int,
    /// float
    Float,
    /// string
    Str,
    /// bytes
    Bytes,
    /// list
    List,
    /// dict
    Dict,
    /// set
    Set,
    /// range
    Range,
    /// pair
    Pair,
    /// closures and builtins
    Function,
    /// enum variant
    Variant,
    /// struct
    Struct,
    /// host value
    Host,
    /// lazy iterator
    Iter,
    /// generator
    Generator,
    /// stream
    Stream,
}

impl Tag {
    /// The module under which the methods of this type stand in the table of builtins.
    #[must_use]
    pub const fn module(self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool => "<bool>",
            Self::Int => "<int>",
            Self::Float => "<float>",
            Self::Str => "<string>",
            Self::Bytes => "<bytes>",
            Self::List => "<list>",
            Self::Dict => "<dict>",
            Self::Set => "<set>",
            Self::Range => "<range>",
            Self::Pair => "<pair>",
            Self::Function => "<function>",
            Self::Variant => "<variant>",
            Self::Struct => "<struct>",
            Self::Host => "<host>",
            Self::Iter => "<iter>",
            Self::Generator => "<generator>",
            Self::Stream => "<stream>",
        }
    }
}

/// The kinds of iterators, by what a script calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// Made by `iter` and its adaptors.
    Iter,
    /// A call of a function that yields.
    Generator,
    /// A call of a `gen fn`.
    Stream,
}

impl Flavor {
    /// Returns the name that `type_of` returns.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iter => "iter",
            Self::Generator => "generator",
            Self::Stream => "stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_there_once_and_name_a_kind() {
        let names: HashSet<&str> = BUILTIN_TYPES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), BUILTIN_TYPES.len());
        assert_eq!(Kind::Int.name(), "int");
        assert_eq!(Kind::Any.name(), "any");
    }
}

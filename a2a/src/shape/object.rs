//! [`Object`]: reads the fields of an object, and says exactly where one does not fit.

use std::sync::Arc;

use runtime::data::{Data, Entries};
use runtime::moment::from_rfc3339;
use runtime::words::nearest;

use super::ShapeError;
use super::key::Key;

/// The way to a value. It is written down only when something is wrong.
#[derive(Clone, Copy)]
enum ValuePath<'a> {
    /// The value as a whole, with its name in a sentence.
    Whole(&'a str),
    Field(&'a ValuePath<'a>, &'a str),
    Item(&'a ValuePath<'a>, usize),
}

impl ValuePath<'_> {
    fn path(self) -> String {
        let (before, step) = match self {
            ValuePath::Whole(_) => return String::new(),
            ValuePath::Field(before, key) => (before.path(), key.to_owned()),
            ValuePath::Item(before, index) => (before.path(), index.to_string()),
        };
        if before.is_empty() { step } else { format!("{before}.{step}") }
    }

    fn shape_error(self, problem: &str) -> ShapeError {
        let field = self.path();
        let message = match self {
            ValuePath::Whole(what) => format!("{what} {problem}"),
            _ => format!("`{field}` {problem}"),
        };
        ShapeError { field, message, suggestion: None }
    }

    fn must_be(self, expected: &str, found: &Data) -> ShapeError {
        self.shape_error(&format!("must be {expected}, not {}", kind_of(found)))
    }
}

/// Words for a field that no edit distance leads to: what is written, and what is meant.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("bytes", "raw"),
    ("content", "parts"),
    ("id", "artifactId"),
    ("id", "messageId"),
    ("id", "taskId"),
    ("taskId", "id"),
    ("task_id", "id"),
    ("type", "kind"),
    ("uri", "url"),
    ("url", "uri"),
];

/// A value with fields, and its path for error messages.
pub(super) struct Object<'a> {
    entries: &'a Entries,
    at: ValuePath<'a>,
}

impl<'a> Object<'a> {
    /// The whole of what has come: the parameters, or a result.
    pub(super) fn whole(data: &'a Data, what: &'a str) -> Result<Object<'a>, ShapeError> {
        let at = ValuePath::Whole(what);
        match data {
            Data::Dict(entries) => Ok(Object { entries, at }),
            other => Err(at.must_be("an object", other)),
        }
    }

    /// The field as it is written, and what it holds; nothing where it is not there or null.
    fn find(&self, key: &Key) -> Option<(&'a str, &'a Data)> {
        self.find_any(key).filter(|(_, data)| !data.is_nil())
    }

    fn find_any(&self, key: &Key) -> Option<(&'a str, &'a Data)> {
        let named = |name: &str| self.entries.get_key_value(name).map(|(name, data)| (name.as_ref(), data));
        named(key.name).or_else(|| key.snake.and_then(named))
    }

    /// Whether the field is there, be it null.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.find_any(key).is_some()
    }

    /// Returns the value of a field, or nil if it is absent.
    pub(super) fn data(&self, key: &Key) -> Data {
        self.find(key).map_or(Data::Nil, |(_, data)| data.clone())
    }

    /// The whole object.
    pub(super) fn shape_error(&self, problem: &str) -> ShapeError {
        self.at.shape_error(problem)
    }

    /// Returns the error for a field that is present.
    pub(super) fn wrong(&self, key: &Key, problem: &str) -> ShapeError {
        let written = self.find_any(key).map_or(key.name, |(written, _)| written);
        ValuePath::Field(&self.at, written).shape_error(problem)
    }

    /// Returns the name that was written although `key` was probably meant.
    fn meant_for(&self, key: &Key) -> Option<&'a Arc<str>> {
        self.entries.keys().find(|written| {
            nearest(written, [key.name]).is_some()
                || OTHER_WORDS.iter().any(|(word, meant)| *word == written.as_ref() && *meant == key.name)
        })
    }

    /// Whether the field is not there, and something is that was probably meant for it.
    pub(super) fn is_misspelt(&self, key: &Key) -> bool {
        !self.has(key) && self.meant_for(key).is_some()
    }

    /// A field that must be there is not.
    pub(super) fn missing(&self, key: &Key) -> ShapeError {
        if self.has(key) {
            return self.wrong(key, "must not be null");
        }
        match self.meant_for(key) {
            Some(written) => {
                let shape_error = ValuePath::Field(&self.at, written)
                    .shape_error(&format!("is unknown, and `{}` is missing", key.name));
                ShapeError { suggestion: Some(key.name.to_owned()), ..shape_error }
            }
            None => ValuePath::Field(&self.at, key.name).shape_error("is missing"),
        }
    }

    /// A text, be it empty.
    pub(super) fn any_text(&self, key: &Key) -> Result<Option<Arc<str>>, ShapeError> {
        match self.find(key) {
            None => Ok(None),
            Some((_, Data::Str(text))) => Ok(Some(text.clone())),
            Some((written, other)) => Err(ValuePath::Field(&self.at, written).must_be("a string", other)),
        }
    }

    /// A text; an empty one is none.
    pub(super) fn text(&self, key: &Key) -> Result<Option<Arc<str>>, ShapeError> {
        Ok(self.any_text(key)?.filter(|text| !text.is_empty()))
    }

    /// A text that must be there, and must not be empty.
    pub(super) fn needed_text(&self, key: &Key) -> Result<Arc<str>, ShapeError> {
        match self.any_text(key)? {
            None => Err(self.missing(key)),
            Some(text) if text.is_empty() => Err(self.wrong(key, "must not be empty")),
            Some(text) => Ok(text),
        }
    }

    /// A text that its caller chose for an id: 1 to 128 visible characters of ASCII.
    pub(super) fn chosen_id(&self, key: &Key) -> Result<Option<Arc<str>>, ShapeError> {
        let id = self.text(key)?;
        match &id {
            Some(id) if id.len() > 128 || !id.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(self.wrong(key, "must be 1 to 128 visible ASCII characters"))
            }
            _ => Ok(id),
        }
    }

    /// A dict, or nil.
    pub(super) fn dict(&self, key: &Key) -> Result<Data, ShapeError> {
        match self.find(key) {
            None => Ok(Data::Nil),
            Some((_, dict @ Data::Dict(_))) => Ok(dict.clone()),
            Some((written, other)) => Err(ValuePath::Field(&self.at, written).must_be("an object", other)),
        }
    }

    /// Reads the object in a field.
    pub(super) fn object<T>(
        &self,
        key: &Key,
        read: impl FnOnce(&Object<'_>) -> Result<T, ShapeError>,
    ) -> Result<Option<T>, ShapeError> {
        let Some((written, data)) = self.find(key) else { return Ok(None) };
        let at = ValuePath::Field(&self.at, written);
        match data {
            Data::Dict(entries) => read(&Object { entries, at }).map(Some),
            other => Err(at.must_be("an object", other)),
        }
    }

    /// Reads the object in a field that must be there.
    pub(super) fn needed_object<T>(
        &self,
        key: &Key,
        read: impl FnOnce(&Object<'_>) -> Result<T, ShapeError>,
    ) -> Result<T, ShapeError> {
        self.object(key, read)?.ok_or_else(|| self.missing(key))
    }

    /// Returns the number of items of the list in a field, or `None` if the field is not a list.
    pub(super) fn len(&self, key: &Key) -> Option<usize> {
        self.find(key).and_then(|(_, data)| data.as_list()).map(<[Data]>::len)
    }

    /// Reads the objects in the list of a field; none where it is not there.
    pub(super) fn objects<T>(
        &self,
        key: &Key,
        mut read: impl FnMut(&Object<'_>) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        self.items(key, |at, item| match item {
            Data::Dict(entries) => read(&Object { entries, at }),
            other => Err(at.must_be("an object", other)),
        })
    }

    /// The texts in the list of a field; none where it is not there.
    pub(super) fn texts(&self, key: &Key) -> Result<Vec<Arc<str>>, ShapeError> {
        self.items(key, |at, item| match item {
            Data::Str(text) => Ok(text.clone()),
            other => Err(at.must_be("a string", other)),
        })
    }

    fn items<T>(
        &self,
        key: &Key,
        mut read: impl FnMut(ValuePath<'_>, &Data) -> Result<T, ShapeError>,
    ) -> Result<Vec<T>, ShapeError> {
        let Some((written, data)) = self.find(key) else { return Ok(Vec::new()) };
        let at = ValuePath::Field(&self.at, written);
        let Data::List(items) = data else { return Err(at.must_be("an array", data)) };
        items.iter().enumerate().map(|(index, item)| read(ValuePath::Item(&at, index), item)).collect()
    }

    /// A truth value.
    pub(super) fn flag(&self, key: &Key) -> Result<Option<bool>, ShapeError> {
        match self.find(key) {
            None => Ok(None),
            Some((_, Data::Bool(flag))) => Ok(Some(*flag)),
            Some((written, other)) => Err(ValuePath::Field(&self.at, written).must_be("true or false", other)),
        }
    }

    /// A whole number of what is counted. The JSON of protocol buffers takes it as text, too.
    pub(super) fn count(&self, key: &Key) -> Result<Option<u32>, ShapeError> {
        let Some((written, data)) = self.find(key) else { return Ok(None) };
        let number = data.as_int().or_else(|| data.as_str().and_then(|text| text.parse().ok()));
        match number.map(i32::try_from) {
            Some(Ok(count)) if count >= 0 => Ok(Some(count.unsigned_abs())),
            Some(_) => Err(ValuePath::Field(&self.at, written).shape_error("must be from 0 to 2147483647")),
            None if data.as_float().is_some() => {
                Err(ValuePath::Field(&self.at, written).shape_error("must be an integer"))
            }
            None => Err(ValuePath::Field(&self.at, written).must_be("an integer", data)),
        }
    }

    /// A moment in RFC 3339, in milliseconds since 1970-01-01 UTC.
    pub(super) fn moment(&self, key: &Key) -> Result<Option<u64>, ShapeError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match from_rfc3339(&text) {
            Some(ms) => Ok(Some(ms)),
            None => Err(self.wrong(key, "must be an RFC 3339 time since 1970, such as `2026-01-31T12:00:00.000Z`")),
        }
    }

    /// Reads a word; `read` returns its meaning. `known` lists all valid words.
    pub(super) fn word<T>(
        &self,
        key: &Key,
        known: &[&'static str],
        read: impl FnOnce(&Data) -> Option<T>,
    ) -> Result<Option<T>, ShapeError> {
        let Some((written, data)) = self.find(key) else { return Ok(None) };
        if let Some(word) = read(data) {
            return Ok(Some(word));
        }
        let at = ValuePath::Field(&self.at, written);
        let all = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Some(given) = data.as_str() else { return Err(at.must_be(&format!("one of {all}"), data)) };
        let near = known
            .iter()
            .copied()
            .find(|word| is_same_word(word, given))
            .or_else(|| nearest(given, known.iter().copied()));
        Err(ShapeError { suggestion: near.map(str::to_owned), ..at.shape_error(&format!("must be one of {all}")) })
    }
}

/// Whether it is the same word in the spelling of another version: `input-required` and `TASK_STATE_INPUT_REQUIRED`.
fn is_same_word(known: &str, given: &str) -> bool {
    let plain = |word: &str| {
        let word = word.to_ascii_lowercase().replace('_', "-");
        word.trim_start_matches("task-state-").trim_start_matches("role-").to_owned()
    };
    plain(known) == plain(given)
}

/// Returns the value's kind in the terms of JSON.
fn kind_of(data: &Data) -> &'static str {
    match data {
        Data::Nil => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Str(_) => "a string",
        Data::List(_) => "an array",
        Data::Dict(_) => "an object",
    }
}

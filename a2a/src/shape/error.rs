//! [`ShapeError`]: where a value does not have its shape, and what to write instead. serde reports the first reason,
//! `serde_path_to_error` the path; the rest is found in the value itself.

use std::fmt;

use base::data::{Data, Entries, FromDataError};
use base::words::{nearest, snake_case};
use serde_path_to_error::{Path, Segment};

use super::spelling::Spelling;
use super::{tagged, v1_0};

/// A value that does not have the expected shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// The field as it is written on the wire, such as `message.parts.0`; empty for the whole.
    pub field: String,
    /// The problem, in one sentence.
    pub message: String,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShapeError {}

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

/// The words of Rust for types that JSON calls otherwise.
const TYPES: &[(&str, &str)] = &[("a sequence", "an array"), ("a boolean", "true or false")];

/// A value within a document, and its path.
#[derive(Clone)]
pub(super) struct Place<'a> {
    /// The document's name in a sentence.
    document: &'a str,
    path: Vec<String>,
    data: &'a Data,
}

impl<'a> Place<'a> {
    /// Returns the place of a whole document.
    pub(super) fn of(document: &'a str, data: &'a Data) -> Place<'a> {
        Place { document, path: Vec::new(), data }
    }

    /// Returns the place of a field, by the name that is written; the data are nil if it is missing.
    pub(super) fn field(&self, name: &str) -> Place<'a> {
        let written = if self.has(name) { name.into() } else { snake_case(name) };
        self.step(if self.has(&written) { &written } else { name }, self.data.get(&written))
    }

    fn step(&self, step: &str, data: &'a Data) -> Place<'a> {
        let path = self.path.iter().cloned().chain([step.to_owned()]).collect();
        Place { path, data, ..*self }
    }

    fn follow(self, path: &Path) -> Place<'a> {
        path.iter().fold(self, |place, segment| match segment {
            Segment::Seq { index } => {
                let item = place.data.as_list().and_then(|items| items.get(*index));
                place.step(&index.to_string(), item.unwrap_or(&Data::Nil))
            }
            Segment::Map { key } => place.step(key, place.data.get(key)),
            Segment::Enum { .. } | Segment::Unknown => place,
        })
    }

    /// Returns whether the value is nil, or missing.
    pub(super) fn is_nil(&self) -> bool {
        self.data.is_nil()
    }

    /// Returns whether a field of exactly this name is present, even if it is null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.data.as_dict().is_some_and(|entries| entries.contains_key(name))
    }

    /// Returns whether a field is present under either name, even if it is null.
    fn has_field(&self, name: &str) -> bool {
        self.has(name) || self.has(&snake_case(name))
    }

    /// Returns the name that was written although `name` was probably meant.
    fn meant_for(&self, name: &str) -> Option<&'a str> {
        let is_meant = |written: &str| nearest(written, [name]).is_some() || OTHER_WORDS.contains(&(written, name));
        self.data.as_dict()?.keys().map(AsRef::as_ref).find(|written| is_meant(written))
    }

    /// Returns the error for a field that is missing under any name, and probably misspelled.
    pub(super) fn misspelled(&self, name: &str) -> Option<ShapeError> {
        if self.has_field(name) {
            return None;
        }
        let written = self.meant_for(name)?;
        let error = self.step(written, &Data::Nil).error(&format!("is unknown, and `{name}` is missing"));
        Some(ShapeError { suggestion: Some(name.to_owned()), ..error })
    }

    /// Returns the error for a required field that is missing or null.
    pub(super) fn missing(&self, name: &str) -> ShapeError {
        let field = self.field(name);
        if self.has_field(name) {
            return field.error("must not be null");
        }
        self.misspelled(name).unwrap_or_else(|| field.error("is missing"))
    }

    /// Returns the error with a problem, the rest of a sentence that begins with the value.
    pub(super) fn error(&self, problem: &str) -> ShapeError {
        let field = self.path.join(".");
        let message =
            if field.is_empty() { format!("{} {problem}", self.document) } else { format!("`{field}` {problem}") };
        ShapeError { field, message, suggestion: None }
    }

    fn must_be(&self, expected: &str) -> ShapeError {
        let is_field = self.path.last().is_some_and(|step| step.parse::<usize>().is_err());
        if self.data.is_nil() && is_field {
            return self.error("must not be null");
        }
        self.error(&format!("must be {expected}, not {}", kind_of(self.data)))
    }

    fn must_be_word(&self, known: &[&'static str]) -> ShapeError {
        let all = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Some(given) = self.data.as_str() else { return self.must_be(&format!("one of {all}")) };
        let same = known.iter().copied().find(|word| is_same_word(word, given));
        let near = same.or_else(|| nearest(given, known.iter().copied()));
        ShapeError { suggestion: near.map(str::to_owned), ..self.error(&format!("must be one of {all}")) }
    }
}

impl ShapeError {
    /// Converts an error of serde.
    pub(super) fn of_serde(document: Place<'_>, error: &serde_path_to_error::Error<FromDataError>) -> ShapeError {
        let place = document.follow(error.path());
        match error.inner() {
            FromDataError::Type { expected, .. } => {
                let expected = TYPES.iter().find(|(rust, _)| rust == expected).map_or(expected.as_str(), |row| row.1);
                place.must_be(expected)
            }
            FromDataError::Word(known) => place.must_be_word(known),
            FromDataError::Missing("kind") if is_part(&place) => tagged::untagged(&place),
            FromDataError::Missing(field) => place.missing(field),
            FromDataError::Other(problem) if problem == v1_0::NO_CONTENT => v1_0::without_content(&place),
            FromDataError::Other(problem) if problem == tagged::NO_CONTENT => {
                place.misspelled("uri").unwrap_or_else(|| place.error(problem))
            }
            FromDataError::Other(problem) => place.error(problem),
        }
    }
}

fn is_part(place: &Place<'_>) -> bool {
    matches!(place.path.as_slice(), [.., list, _] if list == "parts")
}

/// Returns the data without the members that do not count: the second name of a field, and what `V` ignores. The structs of
/// serde read them, and fail if there are two or if one is invalid.
pub(super) fn without_ignored<V: Spelling>(data: &Data) -> Data {
    match data {
        Data::List(items) => items.iter().map(without_ignored::<V>).collect(),
        Data::Dict(entries) => {
            let counts = |name: &str| !is_second_name(name, entries) && !V::ignores(name, entries);
            let plain = |name: &str, value: &Data| match name {
                "metadata" | "data" => value.clone(),
                _ => without_ignored::<V>(value),
            };
            let counting = entries.iter().filter(|(name, _)| counts(name));
            Data::dict(counting.map(|(name, value)| (name.clone(), plain(name, value))))
        }
        plain => plain.clone(),
    }
}

/// Returns whether it is the name in snake_case of a field that is present in camelCase.
fn is_second_name(name: &str, entries: &Entries) -> bool {
    let mut words = name.split('_');
    let mut camel_case = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel_case.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel_case.push_str(letters.as_str());
    }
    camel_case != name && entries.contains_key(&camel_case)
}

/// Returns whether it is the same word in the spelling of another version: `input-required` and `TASK_STATE_INPUT_REQUIRED`.
pub(super) fn is_same_word(known: &str, given: &str) -> bool {
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

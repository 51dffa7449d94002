//! Descriptions of values that do not fit a schema.

use std::fmt;

use boon::{ErrorKind, ValidationError};

use base::data::Data;
use base::words::nearest;

use super::pointer::{follow, value_at, written};

/// Maximum number of mismatches that are described; the rest is counted.
const TOLD: usize = 8;
/// Maximum number of characters of a value, and of words of a list, that are shown.
const SHOWN_CHARS: usize = 60;
const SHOWN_WORDS: usize = 12;

/// A mismatch between a value and its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Path of the mismatch: `where.lines[2]`; empty for the whole.
    pub path: String,
    /// Description of the mismatch, as a sentence without its full stop.
    pub message: String,
}

/// The mismatches of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatches {
    /// The first mismatches.
    pub told: Vec<Mismatch>,
    /// Number of further mismatches.
    pub more: usize,
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, misfit) in self.told.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(f, "{between}{}", misfit.message)?;
        }
        if self.more > 0 { write!(f, "; and {} more", self.more) } else { Ok(()) }
    }
}

impl Mismatches {
    pub(super) fn of(error: &ValidationError<'_, '_>, schema: &Data, value: &Data, what: &str) -> Mismatches {
        let teller = MismatchReporter { schema, value, what };
        let mut found = Mismatches { told: Vec::new(), more: 0 };
        teller.collect(error, &mut found);
        found
    }

    pub(super) fn one(message: String) -> Mismatches {
        Mismatches { told: vec![Mismatch { path: String::new(), message }], more: 0 }
    }

    fn put(&mut self, path: String, message: impl FnOnce() -> String) {
        if self.told.len() < TOLD {
            self.told.push(Mismatch { path, message: message() });
        } else {
            self.more += 1;
        }
    }
}

/// A converter from errors of the validator to words.
struct MismatchReporter<'a> {
    schema: &'a Data,
    value: &'a Data,
    what: &'a str,
}

impl MismatchReporter<'_> {
    fn collect(&self, error: &ValidationError<'_, '_>, found: &mut Mismatches) {
        let path = || written(&error.instance_location);
        match &error.kind {
            ErrorKind::AnyOf | ErrorKind::OneOf(None) => self.alternatives(error, found),
            ErrorKind::Required { want } => {
                for name in want {
                    found.put(join(error, name), || self.missing(error, name));
                }
            }
            ErrorKind::AdditionalProperties { got } => {
                for name in got {
                    found.put(join(error, name), || self.unknown(error, name));
                }
            }
            _ if error.causes.is_empty() => found.put(path(), || self.said(error)),
            _ => error.causes.iter().for_each(|cause| self.collect(cause, found)),
        }
    }

    /// Reports the mismatch of the alternative that was probably meant: the one that accepts the value's kind.
    fn alternatives(&self, error: &ValidationError<'_, '_>, found: &mut Mismatches) {
        let here = error.instance_location.tokens.len();
        let meant: Vec<_> = error.causes.iter().filter(|cause| wanted_types(cause, here).is_none()).collect();
        if let [only] = meant.as_slice() {
            return self.collect(only, found);
        }
        found.put(written(&error.instance_location), || {
            let subject = self.subject(error);
            if meant.is_empty() {
                let mut types: Vec<String> =
                    error.causes.iter().filter_map(|cause| wanted_types(cause, here)).flatten().collect();
                types.dedup();
                return format!("{subject} must be {}, got {}", types.join(" or "), shown(self.at(error)));
            }
            let told = meant.iter().take(3).map(|cause| {
                let mut inner = Mismatches { told: Vec::new(), more: 0 };
                self.collect(cause, &mut inner);
                inner.to_string()
            });
            format!("{subject} matches none of its alternatives ({})", told.collect::<Vec<_>>().join(" | "))
        });
    }

    fn said(&self, error: &ValidationError<'_, '_>) -> String {
        let (subject, got) = (self.subject(error), self.at(error));
        match &error.kind {
            ErrorKind::Type { want, .. } => {
                let want: Vec<String> = want.iter().map(|ty| ty.to_string()).collect();
                format!("{subject} must be {}, got {}", want.join(" or "), shown(got))
            }
            ErrorKind::Enum { want } => {
                let words = want.iter().take(SHOWN_WORDS).map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let more = if want.len() > SHOWN_WORDS { ", …" } else { "" };
                let near = got.as_str().and_then(|got| nearest(got, want.iter().filter_map(|word| word.as_str())));
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                format!("{subject} must be one of {words}{more}, got {}{near}", shown(got))
            }
            ErrorKind::Const { want } => format!("{subject} must be {want}, got {}", shown(got)),
            ErrorKind::MinLength { want, got } => {
                format!("{subject} must have at least {}, has {got}", count(*want, "character"))
            }
            ErrorKind::MaxLength { want, got } => {
                format!("{subject} must have at most {}, has {got}", count(*want, "character"))
            }
            ErrorKind::MinItems { want, got } => {
                format!("{subject} must have at least {}, has {got}", count(*want, "item"))
            }
            ErrorKind::MaxItems { want, got } => {
                format!("{subject} must have at most {}, has {got}", count(*want, "item"))
            }
            ErrorKind::MinProperties { want, got } => format!("{subject} must have at least {want} entries, has {got}"),
            ErrorKind::MaxProperties { want, got } => format!("{subject} must have at most {want} entries, has {got}"),
            ErrorKind::UniqueItems { got: [a, b] } => format!("the items {a} and {b} of {subject} are equal"),
            ErrorKind::AdditionalItems { got } => format!("{subject} has {} too many", count(*got, "item")),
            ErrorKind::Pattern { want, .. } => format!("{subject} must match the pattern `{want}`, got {}", shown(got)),
            ErrorKind::Format { want, .. } => format!("{subject} must be of the format `{want}`, got {}", shown(got)),
            ErrorKind::Minimum { want, .. } => format!("{subject} must be at least {want}, got {}", shown(got)),
            ErrorKind::Maximum { want, .. } => format!("{subject} must be at most {want}, got {}", shown(got)),
            ErrorKind::ExclusiveMinimum { want, .. } => {
                format!("{subject} must be more than {want}, got {}", shown(got))
            }
            ErrorKind::ExclusiveMaximum { want, .. } => {
                format!("{subject} must be less than {want}, got {}", shown(got))
            }
            ErrorKind::MultipleOf { want, .. } => format!("{subject} must be a multiple of {want}, got {}", shown(got)),
            ErrorKind::PropertyName { prop } => format!("{subject} must not have a key `{prop}`"),
            ErrorKind::DependentRequired { prop, missing } | ErrorKind::Dependency { prop, missing } => {
                format!("with `{prop}`, {subject} must also have `{}`", missing.join("`, `"))
            }
            ErrorKind::FalseSchema => format!("{subject} is not allowed"),
            ErrorKind::Not => format!("{subject} must not be {}", shown(got)),
            ErrorKind::OneOf(Some(_)) => format!("{subject} matches more than one of its alternatives"),
            ErrorKind::Contains => format!("{subject} does not contain the required item"),
            other => format!("{subject}: {other}"),
        }
    }

    fn missing(&self, error: &ValidationError<'_, '_>, name: &str) -> String {
        let known = self.schema_at(error).get("properties");
        let given = self.at(error).as_dict().into_iter().flatten().map(|(key, _)| key.as_ref());
        let hint = nearest(name, given.filter(|key| known.get(key).is_nil()));
        let hint = hint.map_or_else(String::new, |near| format!(" (you sent `{near}`)"));
        format!("`{}` is missing{hint}", join(error, name))
    }

    fn unknown(&self, error: &ValidationError<'_, '_>, name: &str) -> String {
        let known = self.schema_at(error).get("properties").as_dict();
        let known: Vec<&str> = known.into_iter().flatten().map(|(key, _)| key.as_ref()).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if known.is_empty() => "; no keys are allowed".to_owned(),
            None => format!("; the keys are `{}`", known.join("`, `")),
        };
        format!("unknown key `{}`{hint}", shorten(&join(error, name)))
    }

    fn at(&self, error: &ValidationError<'_, '_>) -> &Data {
        value_at(self.value, &error.instance_location)
    }

    fn schema_at(&self, error: &ValidationError<'_, '_>) -> &Data {
        follow(self.schema, error.schema_url.split_once('#').map_or("", |(_, pointer)| pointer))
    }

    fn subject(&self, error: &ValidationError<'_, '_>) -> String {
        match written(&error.instance_location) {
            path if path.is_empty() => self.what.to_owned(),
            path => format!("`{path}`"),
        }
    }
}

/// Returns the path of an entry of the invalid value.
fn join(error: &ValidationError<'_, '_>, name: &str) -> String {
    match written(&error.instance_location) {
        path if path.is_empty() => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// Returns the types that an alternative expects, if it fails only for that reason at this depth.
fn wanted_types(error: &ValidationError<'_, '_>, depth: usize) -> Option<Vec<String>> {
    if error.instance_location.tokens.len() != depth {
        return None;
    }
    match &error.kind {
        ErrorKind::Type { want, .. } => Some(want.iter().map(|ty| ty.to_string()).collect()),
        _ if error.causes.is_empty() => None,
        _ => error.causes.iter().find_map(|cause| wanted_types(cause, depth)),
    }
}

/// Returns a value for display: small ones as JSON, others as their kind.
fn shown(value: &Data) -> String {
    match value {
        Data::List(items) => format!("an array of {}", items.len()),
        Data::Dict(_) => "an object".to_owned(),
        Data::Nil => "null".to_owned(),
        Data::Str(text) => format!("{:?}", shorten(text)),
        other => other.to_json(),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

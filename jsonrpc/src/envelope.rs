//! The reader of envelopes. A valid request is read in one pass; anything else is read again member by member, to say what is
//! wrong with which. The id of a text that is not JSON is found by an [`IdScanner`].

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::id::{Id, IdRule};
use crate::id_scanner::{IdScanner, ScannedId};
use crate::single_pass;

#[cfg(test)]
mod tests;

/// The points in which wires differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The accepted ids.
    pub ids: IdRule,
    /// The longest id, in bytes of its JSON.
    pub max_id_len: usize,
    /// Whether parameters may be a list.
    pub positional_params: bool,
    /// Whether the peer sends responses too. Then a request may not have `result` or `error`.
    pub answers: bool,
}

/// A message, with parameters or results of type `P`.
#[derive(Debug, Clone, PartialEq)]
pub enum Message<P> {
    /// A request or a notification.
    Request(Request<P>),
    /// A response to a request of ours.
    Answer(Answer<P>),
}

/// A request or a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<P> {
    /// `None` for a notification, which is not answered.
    pub id: Option<Id>,
    /// The name of the method.
    pub method: String,
    /// The parameters. `None` if they are missing or null.
    pub params: Option<P>,
}

/// A response to a request of ours. Either member may be missing; the sender of the request decides what that means.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<P> {
    /// The id of the request.
    pub id: Option<Id>,
    /// The member `result`.
    pub result: Option<P>,
    /// The member `error`.
    pub error: Option<P>,
}

/// The reason why a text is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeError {
    /// The id of the request, or of the request that a response belongs to; null if it could not be read.
    pub id: Id,
    /// Whether the text is a response. Two peers that answer invalid responses would never stop; the request that waits for it
    /// has failed.
    pub is_answer: bool,
    /// The error in the text.
    pub problem: Problem,
}

/// An error in an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Not UTF-8.
    NotUtf8 {
        /// The offset of the first invalid byte.
        byte: usize,
    },
    /// Empty, or white space only.
    Empty,
    /// Not valid JSON.
    Syntax {
        /// The parser's message: expected and found.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The id is a string that is not valid Unicode.
    InvalidId {
        /// The error in the string.
        message: String,
    },
    /// A batch.
    Batch,
    /// Valid JSON, but neither an object nor a batch.
    NotObject {
        /// Its description, for a person.
        found: &'static str,
    },
    /// A member is missing or invalid.
    Member {
        /// Its name.
        name: &'static str,
        /// The rest of a sentence that begins with the name.
        problem: String,
    },
    /// The parameters are not structured.
    Params {
        /// Their description, for a person.
        found: &'static str,
    },
}

impl Problem {
    /// Whether the text is not JSON at all, so that nothing in it can be trusted.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        matches!(self, Problem::NotUtf8 { .. } | Problem::Empty | Problem::Syntax { .. } | Problem::InvalidId { .. })
    }

    fn syntax(error: &json::Error) -> Problem {
        let message = error.to_string().split(" at line ").next().unwrap_or_default().to_owned();
        Problem::Syntax { message, line: error.line(), column: error.column() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotUtf8 { byte } => write!(f, "invalid UTF-8 at byte {byte}"),
            Problem::Empty => f.write_str("the message is empty"),
            Problem::Syntax { message, line: 1, column } => write!(f, "invalid JSON: {message} at column {column}"),
            Problem::Syntax { message, line, column } => {
                write!(f, "invalid JSON: {message} at line {line} column {column}")
            }
            Problem::InvalidId { message } => write!(f, "invalid JSON: invalid string in `id`: {message}"),
            Problem::Batch => f.write_str("batches are not supported"),
            Problem::NotObject { found } => write!(f, "expected an object, found {found}"),
            Problem::Member { name, problem } => write!(f, "`{name}` {problem}"),
            Problem::Params { found } => write!(f, "`params` must be an object, not {found}"),
        }
    }
}

/// Reads a message from bytes.
///
/// # Errors
/// Returns the problem to answer, and the id to answer it with.
pub fn read<P: DeserializeOwned>(bytes: &[u8], rules: &Rules) -> Result<Message<P>, Box<EnvelopeError>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read_text(text, rules),
        Err(error) => Err(scanned(bytes, rules, Problem::NotUtf8 { byte: error.valid_up_to() })),
    }
}

/// Reads a message from a text.
///
/// # Errors
/// Returns the problem to answer, and the id to answer it with.
pub fn read_text<P: DeserializeOwned>(text: &str, rules: &Rules) -> Result<Message<P>, Box<EnvelopeError>> {
    // The one pass would round an integer of more than 64 bits.
    let is_usual = !json::has_wide_integer(text);
    match is_usual.then(|| single_pass::read(text, rules)).flatten() {
        Some(request) => Ok(Message::Request(request)),
        None => read_by_members(text, rules).map_err(|error| match error.problem {
            problem if problem.is_syntax() && error.id == Id::null() => scanned(text.as_bytes(), rules, problem),
            _ => error,
        }),
    }
}

/// Returns the error for a text that is not JSON, with the id that is found in it.
fn scanned(bytes: &[u8], rules: &Rules, problem: Problem) -> Box<EnvelopeError> {
    let mut scanner = IdScanner::default();
    scanner.feed(bytes);
    let ScannedId { id, is_answer } = scanner.found(rules);
    Box::new(EnvelopeError { id, is_answer, problem })
}

fn read_by_members<P: DeserializeOwned>(text: &str, rules: &Rules) -> Result<Message<P>, Box<EnvelopeError>> {
    let without_id = |problem| Box::new(EnvelopeError { id: Id::null(), is_answer: false, problem });
    let members = members(text).map_err(without_id)?;
    let is_answer = members.method.is_none() && (members.result.is_some() || members.error.is_some());
    let id = members.id.map(|id| Id::read(id, rules.ids, rules.max_id_len)).transpose();
    let bad = |id: &Result<Option<Id>, Problem>, problem| {
        let id = id.as_ref().ok().and_then(Clone::clone).unwrap_or_else(Id::null);
        Box::new(EnvelopeError { id, is_answer: is_answer && rules.answers, problem })
    };
    // An invalid string is invalid JSON, whatever else is wrong.
    if let Err(problem @ Problem::InvalidId { .. }) = &id {
        return Err(bad(&id, problem.clone()));
    }
    let version = string("jsonrpc", "\"2.0\"", members.jsonrpc).map_err(|problem| bad(&id, problem))?;
    if version != "2.0" {
        let problem = Problem::Member { name: "jsonrpc", problem: format!("must be \"2.0\", not {version:?}") };
        return Err(bad(&id, problem));
    }
    let id = match id {
        Ok(id) => id,
        Err(problem) => return Err(bad(&Ok(None), problem)),
    };
    let message = match is_answer && rules.answers {
        true => answer(&members, id.clone()).map(Message::Answer),
        false => request(&members, id.clone(), is_answer, rules).map(Message::Request),
    };
    message.map_err(|problem| bad(&Ok(id), problem))
}

fn answer<P: DeserializeOwned>(members: &RawMembers<'_>, id: Option<Id>) -> Result<Answer<P>, Problem> {
    let value = |written: Option<&RawValue>| {
        let value = written.map(|written| json::from_str(written.get())).transpose();
        value.map_err(|error| Problem::syntax(&error))
    };
    Ok(Answer { id, result: value(members.result)?, error: value(members.error)? })
}

fn request<P: DeserializeOwned>(
    members: &RawMembers<'_>,
    id: Option<Id>,
    is_answer: bool,
    rules: &Rules,
) -> Result<Request<P>, Problem> {
    let method = |problem: &str| Err(Problem::Member { name: "method", problem: problem.to_owned() });
    if is_answer {
        return method("is missing: this is a response, but only requests are accepted");
    }
    if rules.answers && (members.result.is_some() || members.error.is_some()) {
        return method("appears next to `result` or `error`; a message is either a request or a response");
    }
    let method = string("method", "a string", members.method)?;
    let params = match members.params.map(RawValue::get) {
        None | Some("null") => None,
        Some(params) => {
            let is_structured = params.starts_with('{') || rules.positional_params && params.starts_with('[');
            // Whatever is not valid JSON is reported as such first.
            let read = |params| json::from_str(params).map_err(|error| Problem::syntax(&error));
            if !is_structured {
                json::from_str::<serde_json::Value>(params).map_err(|error| Problem::syntax(&error))?;
                return Err(Problem::Params { found: kind(params) });
            }
            Some(read(params)?)
        }
    };
    Ok(Request { id, method, params })
}

fn string(name: &'static str, wanted: &str, written: Option<&RawValue>) -> Result<String, Problem> {
    let Some(written) = written.map(RawValue::get) else {
        return Err(Problem::Member { name, problem: format!("is missing; it must be {wanted}") });
    };
    if written.starts_with('"') {
        return json::from_str(written).map_err(|error| Problem::syntax(&error));
    }
    Err(Problem::Member { name, problem: format!("must be {wanted}, not {}", kind(written)) })
}

/// The members of a message as they are written. If one appears twice the last one counts, as in any object.
#[derive(Default)]
struct RawMembers<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

fn members(text: &str) -> Result<RawMembers<'_>, Problem> {
    let start = text.trim_start_matches([' ', '\t', '\n', '\r']);
    match start.as_bytes().first() {
        None => return Err(Problem::Empty),
        Some(b'{') => {}
        // It may not be JSON at all.
        Some(first) => {
            json::from_str::<serde_json::Value>(text).map_err(|error| Problem::syntax(&error))?;
            let found = kind(start);
            return Err(if *first == b'[' { Problem::Batch } else { Problem::NotObject { found } });
        }
    }
    serde_json::from_str(text).map_err(|error| Problem::syntax(&error))
}

/// Says what a value is, for a person.
pub(crate) fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a string",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        _ if json.contains(['.', 'e', 'E']) => "a number with a fraction",
        _ => "a number",
    }
}

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawMembers<'de>, D::Error> {
        deserializer.deserialize_map(RawMembersVisitor)
    }
}

struct RawMembersVisitor;

impl<'de> serde::de::Visitor<'de> for RawMembersVisitor {
    type Value = RawMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<RawMembers<'de>, A::Error> {
        let mut members = RawMembers::default();
        // Names with escapes cannot be borrowed.
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let value: &RawValue = map.next_value()?;
            match &*name {
                "jsonrpc" => members.jsonrpc = Some(value),
                "id" => members.id = Some(value),
                "method" => members.method = Some(value),
                "params" => members.params = Some(value),
                "result" => members.result = Some(value),
                "error" => members.error = Some(value),
                _ => {}
            }
        }
        Ok(members)
    }
}

//! The errors of the protocol.

use jsonrpc::{Problem, code};
use serde::Serialize;
use std::fmt::Display;

/// An error as a client gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LspError {
    code: i32,
    message: String,
}

/// The first request is not `initialize`.
const SERVER_NOT_INITIALIZED: i32 = -32002;
/// The client has cancelled the request.
const REQUEST_CANCELLED: i32 = -32800;
/// The text has changed since the request was sent.
const CONTENT_MODIFIED: i32 = -32801;
/// The request is valid, but cannot be fulfilled.
const REQUEST_FAILED: i32 = -32803;

impl LspError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn not_initialized() -> Self {
        Self::new(SERVER_NOT_INITIALIZED, "the server is not initialized; send `initialize` first")
    }

    pub(crate) fn initialized_twice() -> Self {
        Self::new(code::INVALID_REQUEST, "the server is already initialized")
    }

    pub(crate) fn shut_down() -> Self {
        Self::new(code::INVALID_REQUEST, "the server is shut down; only `exit` is accepted")
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(REQUEST_CANCELLED, "the request was cancelled")
    }

    pub(crate) fn content_modified() -> Self {
        Self::new(CONTENT_MODIFIED, "the document has changed since the request was sent")
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("unknown method `{}`", shortened(method)))
    }

    pub(crate) fn invalid_params(problem: impl Display) -> Self {
        Self::new(code::INVALID_PARAMS, format!("invalid parameters: {problem}"))
    }

    pub(crate) fn unknown_document(uri: &str) -> Self {
        Self::new(code::INVALID_PARAMS, format!("unknown document `{}`", shortened(uri)))
    }

    /// A document of which an edit could not be read.
    pub(crate) fn lost() -> Self {
        Self::request_failed(
            "an edit of the document could not be read, so the server does not know its text. Close and open it again",
        )
    }

    pub(crate) fn outside_of_text(line: u32) -> Self {
        Self::new(code::INVALID_PARAMS, format!("position outside of the text: it has no line {line}"))
    }

    /// A valid request that cannot be fulfilled, with the reason and what to do.
    pub(crate) fn request_failed(reason: impl Into<String>) -> Self {
        Self::new(REQUEST_FAILED, reason)
    }

    pub(crate) fn internal() -> Self {
        Self::new(code::INTERNAL_ERROR, "the server failed to answer this request")
    }

    pub(crate) fn too_large(bytes: u64, limit: usize) -> Self {
        Self::new(code::INVALID_REQUEST, format!("message of {bytes} bytes; at most {limit} are accepted"))
    }

    /// The error for a text that is not a message.
    pub(crate) fn envelope(problem: &Problem) -> Self {
        match problem {
            Problem::NotUtf8 { byte } => {
                Self::new(code::PARSE_ERROR, format!("invalid JSON: byte {byte} is not valid UTF-8"))
            }
            Problem::Empty => Self::new(code::PARSE_ERROR, "invalid JSON: the message is empty"),
            Problem::Syntax { message, line, column } => {
                Self::new(code::PARSE_ERROR, format!("invalid JSON: {message} at line {line} column {column}"))
            }
            Problem::InvalidId { message } => {
                Self::new(code::PARSE_ERROR, format!("invalid JSON: invalid string in `id`: {message}"))
            }
            Problem::Batch => Self::new(code::INVALID_REQUEST, "invalid message: batches are not supported"),
            Problem::NotObject { found } => {
                Self::new(code::INVALID_REQUEST, format!("invalid message: expected an object, found {found}"))
            }
            Problem::Member { name, problem } => {
                Self::new(code::INVALID_REQUEST, format!("invalid message: `{name}` {problem}"))
            }
            Problem::Params { found } => {
                Self::new(code::INVALID_REQUEST, format!("invalid message: `params` must be an object, not {found}"))
            }
        }
    }

    /// Returns the message, for the log.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// The beginning of a text that a client sent.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() { format!("{shown}…") } else { shown }
}

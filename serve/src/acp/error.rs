//! [`ErrorResponse`]: the error response to a message. It has a sentence for people and details for programs.

use base::words::nearest;

use super::AcpCode;
use jsonrpc::code;
use serde_json::{Map, Value};
use stdlib::CodeRef;

use crate::host::{HostError, ScriptFailure};
use crate::store::StoreError;

/// A resource that does not exist: a session.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32002;

/// A request that was cancelled.
pub(crate) const REQUEST_CANCELLED: i32 = -32800;

/// A request before `initialize`. JSON-RPC reserves the codes from -32099 to -32000 for servers; to editors, -32000
/// itself means that the user must log in, and -32002 that a resource is not found.
const NOT_INITIALIZED: i32 = -32003;

/// A session, or the server, that cannot accept a request now.
const NOT_NOW: i32 = -32004;

/// The error response to a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorResponse {
    rpc: i32,
    message: String,
    data: Map<String, Value>,
}

impl ErrorResponse {
    /// Creates an error from a JSON-RPC code, a diagnostic code, and a sentence.
    pub(crate) fn new(rpc: i32, code: impl Into<CodeRef>, message: impl Into<String>) -> ErrorResponse {
        let data = Map::from_iter([("code".to_owned(), code.into().as_str().into())]);
        ErrorResponse { rpc, message: message.into(), data }
    }

    /// Names the invalid field, as a path from the parameters: `prompt[1].text`.
    pub(crate) fn field(self, field: &str) -> ErrorResponse {
        self.with("field", field)
    }

    /// Sets the reason, a word for programs.
    pub(crate) fn reason(self, reason: &str) -> ErrorResponse {
        self.with("reason", reason)
    }

    /// Adds a suggestion.
    pub(crate) fn suggestion(self, suggestion: Option<&str>) -> ErrorResponse {
        match suggestion {
            Some(word) => {
                let message = format!("{}; did you mean `{word}`?", self.message);
                ErrorResponse { message, ..self }.with("suggestion", word)
            }
            None => self,
        }
    }

    /// Adds a detail.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> ErrorResponse {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the diagnostic code.
    pub(crate) fn code(&self) -> &str {
        self.data.get("code").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the path of the invalid field; empty if there is none.
    pub(crate) fn field_path(&self) -> &str {
        self.data.get("field").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the sentence for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Converts it to the `error` of a response.
    pub(crate) fn into_json(self) -> Value {
        let ErrorResponse { rpc, message, data } = self;
        serde_json::json!({"code": rpc, "message": message, "data": data})
    }

    pub(crate) fn no_json(error: &str) -> ErrorResponse {
        ErrorResponse::new(code::PARSE_ERROR, AcpCode::NoJson, format!("invalid JSON line: {error}"))
    }

    pub(crate) fn no_text(byte: usize) -> ErrorResponse {
        ErrorResponse::new(
            code::PARSE_ERROR,
            AcpCode::NoJson,
            format!(
                "the line is not UTF-8, starting at byte \
            {byte}"
            ),
        )
    }

    pub(crate) fn line_too_long(bytes: usize, limit: usize) -> ErrorResponse {
        let message = format!("the line has {bytes} bytes and was skipped; the limit is {limit}");
        ErrorResponse::new(code::INVALID_REQUEST, AcpCode::LineTooLong, message)
            .reason("line_too_long")
            .with("limit", limit)
    }

    pub(crate) fn batch() -> ErrorResponse {
        let message = "batches are not supported; send each message in a separate line";
        ErrorResponse::new(code::INVALID_REQUEST, AcpCode::NoMessage, message).reason("batch")
    }

    pub(crate) fn no_message(kind: &str) -> ErrorResponse {
        let message = format!("a JSON-RPC message must be an object, not {kind}");
        ErrorResponse::new(code::INVALID_REQUEST, AcpCode::NoMessage, message)
    }

    pub(crate) fn envelope(field: &str, problem: &str) -> ErrorResponse {
        let message = format!("`{field}` of a JSON-RPC message {problem}");
        ErrorResponse::new(code::INVALID_REQUEST, AcpCode::NoMessage, message).field(field)
    }

    pub(crate) fn unknown_method<'a>(method: &str, known: impl IntoIterator<Item = &'a str>) -> ErrorResponse {
        ErrorResponse::new(
            code::METHOD_NOT_FOUND,
            AcpCode::UnknownMethod,
            format!("unknown method `{}`", shortened(method)),
        )
        .suggestion(nearest(method, known))
    }

    /// Refuses a method of the protocol that this agent does not support.
    pub(crate) fn not_offered(method: &str) -> ErrorResponse {
        let message = format!(
            "`{method}` is not supported, as the capabilities in the response to `initialize` \
            show"
        );
        ErrorResponse::new(code::METHOD_NOT_FOUND, AcpCode::UnknownMethod, message).reason("not_offered")
    }

    /// Refuses an authentication: no method of it is offered.
    pub(crate) fn no_authentication() -> ErrorResponse {
        ErrorResponse::params(
            "methodId",
            "unknown `methodId`: this agent needs no authentication, so `authMethods` is empty",
        )
    }

    pub(crate) fn not_initialized(method: &str) -> ErrorResponse {
        let message = format!("`{method}` was sent before `initialize`, which must be the first request");
        ErrorResponse::new(NOT_INITIALIZED, AcpCode::NotInitialized, message).reason("not_initialized")
    }

    /// Refuses parameters with the invalid field `field`.
    pub(crate) fn params(field: &str, message: impl Into<String>) -> ErrorResponse {
        ErrorResponse::new(code::INVALID_PARAMS, AcpCode::Params, message).field(field)
    }

    pub(crate) fn unknown_session(id: &str) -> ErrorResponse {
        let message = format!("session `{}` is not open; `session/new` opens one", shortened(id));
        ErrorResponse::new(RESOURCE_NOT_FOUND, AcpCode::UnknownSession, message)
            .field("sessionId")
            .with("sessionId", id)
    }

    pub(crate) fn not_now(reason: &str, message: impl Into<String>) -> ErrorResponse {
        ErrorResponse::new(NOT_NOW, AcpCode::NotNow, message).reason(reason)
    }

    /// Reports a failed script.
    pub(crate) fn failed(failure: &ScriptFailure) -> ErrorResponse {
        ErrorResponse::new(code::INTERNAL_ERROR, failure.code, &*failure.message).with("diagnostic", &*failure.drawn)
    }

    /// Refuses a session that cannot be loaded from the event log.
    fn stored(error: &StoreError) -> ErrorResponse {
        let (code, message) = (error.code(), format!("{}; {}", error.client_message(), error.help()));
        match error {
            StoreError::Unknown(id) => ErrorResponse::unknown_session(id),
            StoreError::Cursor(_) => ErrorResponse::new(code::INVALID_PARAMS, code, message).field("cursor"),
            StoreError::Elsewhere(_) => ErrorResponse::new(NOT_NOW, code, message).reason("open_elsewhere"),
            StoreError::NotKept => ErrorResponse::new(code::METHOD_NOT_FOUND, code, message).reason("not_kept"),
            _ => ErrorResponse::new(code::INTERNAL_ERROR, code, message),
        }
    }

    pub(crate) fn broken(message: impl Into<String>) -> ErrorResponse {
        ErrorResponse::new(code::INTERNAL_ERROR, AcpCode::Internal, message)
    }
}

impl From<HostError> for ErrorResponse {
    fn from(error: HostError) -> ErrorResponse {
        let message = error.to_string();
        match error {
            HostError::UnknownSession(id) => ErrorResponse::unknown_session(&id),
            HostError::Exists(_) => ErrorResponse::not_now("session_open", message).field("sessionId"),
            HostError::Busy(_) | HostError::NotAsking(_) => ErrorResponse::not_now("busy", message),
            HostError::Closed(_) => ErrorResponse::not_now("closed", message),
            HostError::Full(_) => ErrorResponse::not_now("sessions_full", message),
            HostError::AccountFull(_) => ErrorResponse::not_now("account_sessions_full", message),
            HostError::Stopping => ErrorResponse::not_now("stopping", message),
            HostError::Broken { .. } => ErrorResponse::broken(message),
            HostError::Failed(failure) => ErrorResponse::failed(&failure),
            HostError::Store(error) => ErrorResponse::stored(&error),
        }
    }
}

/// Shortens text from the peer for use in a sentence.
fn shortened(written: &str) -> String {
    const LONGEST: usize = 80;
    match written.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

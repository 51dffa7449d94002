//! [`RpcError`]: the `error` of a response. It has a sentence for people and details for programs, in the format of
//! each version.

use a2a::Version;
use base::data::Data;
use stdlib::CodeRef;

/// The codes of JSON-RPC and of the protocol.
pub(crate) mod code {
    pub(crate) use jsonrpc::code::{
        INTERNAL_ERROR as INTERNAL, INVALID_PARAMS as PARAMS, INVALID_REQUEST as REQUEST, METHOD_NOT_FOUND as METHOD,
        PARSE_ERROR as NOT_JSON,
    };

    /// JSON-RPC leaves the codes from -32099 to -32000 to servers, and the protocol takes those from -32001 on.
    pub(crate) const SERVER: i32 = -32000;
    pub(crate) const UNKNOWN_TASK: i32 = -32001;
    pub(crate) const NOT_CANCELABLE: i32 = -32002;
    pub(crate) const NO_PUSH: i32 = -32003;
    pub(crate) const UNSUPPORTED: i32 = -32004;
    pub(crate) const CONTENT_TYPE: i32 = -32005;
    pub(crate) const NO_EXTENDED_CARD: i32 = -32007;
    pub(crate) const VERSION: i32 = -32009;
    /// A reminder to be revoked was already delivered. The protocol defines no code for this; ACP uses the same one.
    pub(crate) const ALREADY_DELIVERED: i32 = -32010;
}

/// Returns the default `reason`: the word that the protocol defines for a code.
fn usual_reason(rpc: i32) -> &'static str {
    match rpc {
        code::NOT_JSON => "parse_error",
        code::REQUEST => "invalid_request",
        code::METHOD => "method_not_found",
        code::PARAMS => "invalid_params",
        code::UNKNOWN_TASK => "task_not_found",
        code::NOT_CANCELABLE => "task_not_cancelable",
        code::NO_PUSH => "push_notification_not_supported",
        code::UNSUPPORTED => "unsupported_operation",
        code::CONTENT_TYPE => "content_type_not_supported",
        code::NO_EXTENDED_CARD => "extended_agent_card_not_configured",
        code::VERSION => "version_not_supported",
        _ => "internal_error",
    }
}

/// The `error` of a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    rpc: i32,
    code: CodeRef,
    reason: &'static str,
    message: String,
    more: Vec<(&'static str, Data)>,
    /// Whether the details are typed in every version.
    typed: bool,
}

impl RpcError {
    /// Creates an error from a JSON-RPC code, a diagnostic code, and a sentence.
    pub(crate) fn new(rpc: i32, code: impl Into<CodeRef>, message: impl Into<String>) -> RpcError {
        RpcError {
            rpc,
            code: code.into(),
            reason: usual_reason(rpc),
            message: message.into(),
            more: Vec::new(),
            typed: false,
        }
    }

    /// Sets the reason, a word for programs.
    pub(crate) fn reason(self, reason: &'static str) -> RpcError {
        RpcError { reason, ..self }
    }

    /// Returns the JSON-RPC code.
    pub(crate) fn rpc(&self) -> i32 {
        self.rpc
    }

    /// Returns the reason, a word for programs.
    pub(crate) fn word(&self) -> &'static str {
        self.reason
    }

    /// Names the invalid field.
    pub(crate) fn field(self, field: &str) -> RpcError {
        if field.is_empty() { self } else { self.with("field", field) }
    }

    /// Adds a suggestion.
    pub(crate) fn suggestion(mut self, suggestion: Option<&str>) -> RpcError {
        let Some(word) = suggestion else { return self };
        self.message.push_str(&format!("; did you mean `{word}`?"));
        self.with("suggestion", word)
    }

    /// Adds a detail.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Data>) -> RpcError {
        self.more.push((key, value.into()));
        self
    }

    /// Uses typed details in every version: the drafts of extensions know no other.
    pub(crate) fn typed(self) -> RpcError {
        RpcError { typed: true, ..self }
    }

    /// Converts the error to the format of a version.
    pub(crate) fn to_data(&self, version: Version) -> Data {
        let data = if self.typed || version == Version::V1_0 { self.error_info() } else { self.plain() };
        Data::dict([("code", Data::from(self.rpc)), ("message", self.message.as_str().into()), ("data", data)])
    }

    fn plain(&self) -> Data {
        let known = [("code", Data::from(self.code.as_str())), ("reason", self.reason.into())];
        Data::dict(known.into_iter().chain(self.more.iter().cloned()))
    }

    /// Returns the details in the format of version 1.0. Their metadata values are texts.
    fn error_info(&self) -> Data {
        let known = std::iter::once(("code", Data::from(self.code.as_str())));
        let more = self.more.iter().map(|(key, value)| (*key, Data::Str(value.to_text())));
        Data::list([Data::dict([
            ("@type", Data::from("type.googleapis.com/google.rpc.ErrorInfo")),
            ("reason", self.reason.to_ascii_uppercase().into()),
            ("domain", "a2a-protocol.org".into()),
            ("metadata", Data::dict(known.chain(more))),
        ])])
    }
}

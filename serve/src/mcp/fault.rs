//! [`McpFault`]: the error of a request. Messages are short, and contain neither source text nor paths.

use base::data::Data;
use jsonrpc::code;

pub(super) use crate::http::shortened;

/// The request has headers that contradict its body.
pub(super) const HEADER_MISMATCH: i32 = -32_020;
/// The client lacks a capability.
pub(super) const MISSING_CAPABILITY: i32 = -32_021;
/// The version is not supported.
pub(super) const UNSUPPORTED_VERSION: i32 = -32_022;
/// The server cannot take the request now.
pub(super) const UNAVAILABLE: i32 = -32_000;
/// The resource is not known; the version with sessions has a code of its own.
pub(super) const RESOURCE_NOT_FOUND: i32 = -32_002;

/// The error of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct McpFault {
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Data,
}

impl McpFault {
    pub(super) fn new(code: i32, message: impl Into<String>) -> McpFault {
        McpFault { code, message: message.into(), data: Data::Nil }
    }

    /// Creates the error for invalid parameters.
    pub(super) fn params(message: impl Into<String>) -> McpFault {
        McpFault::new(code::INVALID_PARAMS, message)
    }

    /// Creates the error for an unknown method.
    pub(super) fn method(method: &str) -> McpFault {
        McpFault::new(code::METHOD_NOT_FOUND, format!("unknown method `{}`", shortened(method)))
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<Data>) -> McpFault {
        if self.data.is_nil() {
            self.data = Data::empty_dict();
        }
        self.data.set(key, value.into());
        self
    }

    pub(super) fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("code", Data::from(i64::from(self.code))),
            ("message", self.message.as_str().into()),
            ("data", self.data.clone()),
        ])
    }
}

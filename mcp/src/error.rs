//! [`McpError`]: the reason why a server did not answer as it should.

use std::fmt;
use std::sync::Arc;

use base::data::Data;
use base::words::words;
use providers::web::{Failure, FailureKind};

words! {
    /// The kind of an [`McpError`].
    pub enum McpErrorKind {
        /// The program could not be started.
        NotStarted = "not_started",
        /// The server ended, or the connection broke off.
        Ended = "ended",
        /// The server could not be reached.
        Connection = "connection",
        /// The URL or a header is invalid.
        Address = "address",
        /// The server did not answer in time.
        Timeout = "timeout",
        /// A message is larger than allowed.
        TooLarge = "too_large",
        /// The server does not follow the protocol.
        Protocol = "protocol",
        /// The two sides share no version of the protocol.
        NoVersion = "no_version",
        /// The server wants credentials, or others.
        Refused = "refused",
        /// The user has to log in first.
        Login = "login",
        /// A login failed, or no token is available.
        Authorization = "authorization",
        /// The status of an HTTP response is an error.
        Status = "status",
        /// The server answered with an error.
        Answer = "answer",
    }
}

/// A failed request to a server.
#[derive(Debug, Clone)]
pub struct McpError {
    /// The kind.
    pub kind: McpErrorKind,
    /// One sentence that names the server.
    pub message: String,
    /// The way to fix it.
    pub help: Option<String>,
    /// The code of JSON-RPC, if the server sent one.
    pub rpc_code: Option<i64>,
    /// The `data` of a JSON-RPC error; else nil.
    pub data: Data,
    /// The status of an HTTP response.
    pub status: Option<u16>,
    /// The last lines that the server wrote to standard error; may be empty.
    pub stderr: Arc<str>,
}

impl McpError {
    pub(crate) fn new(kind: McpErrorKind, message: impl Into<String>) -> McpError {
        McpError {
            kind,
            message: message.into(),
            help: None,
            rpc_code: None,
            data: Data::Nil,
            status: None,
            stderr: "".into(),
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> McpError {
        self.help.get_or_insert(help.into());
        self
    }

    /// Returns the error of a failed HTTP request to the server `name`.
    pub(crate) fn of_web(name: &str, failure: &Failure) -> McpError {
        let (kind, help) = match failure.kind {
            FailureKind::Address => (McpErrorKind::Address, "write the full URL: `https://mcp.example.com/mcp`"),
            FailureKind::Connection => (McpErrorKind::Connection, "check that the server is running"),
            FailureKind::Timeout => (McpErrorKind::Timeout, "allow more time with `timeout_ms`"),
            FailureKind::TooLarge => (McpErrorKind::TooLarge, "ask the server for less at a time"),
            FailureKind::NotText => (McpErrorKind::Protocol, "the server must send UTF-8"),
        };
        McpError::new(kind, format!("MCP server `{name}`: {}", failure.message)).help(help)
    }

    /// Returns the error for a JSON-RPC error of the server `name`.
    pub(crate) fn of_answer(name: &str, error: &Data) -> McpError {
        let said = error.get("message").as_str().unwrap_or("an error without a message");
        let message = format!("MCP server `{name}` returned an error: {}", excerpt(said));
        McpError {
            rpc_code: error.get("code").as_int(),
            data: error.get("data").clone(),
            ..McpError::new(McpErrorKind::Answer, message)
        }
    }

    /// Returns the message with the last lines of standard error, for a model or a log.
    #[must_use]
    pub fn with_stderr(&self) -> String {
        match self.stderr.trim() {
            "" => self.message.clone(),
            lines => format!("{}\nlast lines of its standard error:\n{lines}", self.message),
        }
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The longest part of a server's text that a message quotes, in characters.
const EXCERPT: usize = 300;

/// Returns the beginning of a text of the server, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line: String = text.chars().take(EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(EXCERPT).is_some() { format!("{line}…") } else { line }
}

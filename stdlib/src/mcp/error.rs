//! Errors of servers as errors of scripts.

use super::spec::SpecError;
use crate::codes::McpCode;
use crate::convert::to_value;
use lang::diagnostic::code::CodeRef;
use lang::vm::Raise;
use mcp::{McpError, McpErrorKind};

fn code(kind: McpErrorKind) -> CodeRef {
    match kind {
        McpErrorKind::NotStarted => McpCode::NotStarted.code(),
        McpErrorKind::Ended => McpCode::Ended.code(),
        McpErrorKind::Connection | McpErrorKind::Address | McpErrorKind::Status => McpCode::Unreachable.code(),
        McpErrorKind::Timeout => McpCode::Timeout.code(),
        McpErrorKind::TooLarge | McpErrorKind::Protocol => McpCode::Invalid.code(),
        McpErrorKind::NoVersion => McpCode::NoVersion.code(),
        McpErrorKind::Refused => McpCode::Refused.code(),
        McpErrorKind::Login => McpCode::Login.code(),
        McpErrorKind::Authorization => McpCode::Authorization.code(),
        McpErrorKind::Answer => McpCode::Answer.code(),
    }
}

/// The number of lines of standard error that a message shows; the error has more.
const SHOWN_LINES: usize = 3;

/// Returns the error of a failed request to the server `name`.
pub(crate) fn of_mcp(name: &str, error: &McpError) -> Box<Raise> {
    let mut raise = Raise::error(code(error.kind), error.message.clone())
        .field("category", error.kind.as_str())
        .field("server", name);
    if let Some(code) = error.rpc_code {
        raise = raise.field("rpc_code", code);
    }
    if let Some(status) = error.status {
        raise = raise.field("status", i64::from(status));
    }
    if !error.data.is_nil() {
        raise = raise.field("data", to_value(&error.data));
    }
    if !error.stderr.is_empty() {
        raise = raise.field("stderr", &*error.stderr);
    }
    let lines: Vec<&str> = error.stderr.lines().collect();
    match (&error.help, lines.as_slice()) {
        (Some(help), _) => raise.help(help.clone()),
        (None, []) => raise,
        (None, lines) => {
            let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
            raise.help(format!("its standard error ends with:\n{last}"))
        }
    }
}

/// Returns the error of a description in the argument `arg`.
pub(crate) fn of_spec(error: &SpecError, arg: usize) -> Box<Raise> {
    let label = if error.key.is_empty() { String::new() } else { format!("invalid `{}`", error.key) };
    let raise = Raise::error(McpCode::Description, error.message.clone()).about(arg, label);
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

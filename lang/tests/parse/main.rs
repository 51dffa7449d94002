//! The lexer and the parser from outside: what scripts mean, and what is said about those that mean nothing.

mod bad;
mod good;
mod nodes;
mod printer;
mod soup;
mod spec;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../../tests/support/wait.rs"]
mod wait;

use lang::parse::{Parsed, parse};
use lang::source::Source;

/// Parses a text.
pub(crate) fn parsed(text: &str) -> Parsed {
    parse(&Source::new("test.harn", text))
}

/// The tree of a text without mistakes, as an S-expression.
#[track_caller]
pub(crate) fn tree(text: &str) -> String {
    let parsed = parsed(text);
    let messages: Vec<_> = parsed.diagnostics.iter().map(|d| (d.code, d.position(), &d.message)).collect();
    assert!(messages.is_empty(), "{text}\n{messages:#?}");
    printer::module(&parsed.module)
}

//! The messages of the compiler.

use super::CompileCode;
use crate::check::CheckCode;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, added_line};
use crate::source::{SourceRef, Span};

pub(super) fn too_large(source: &SourceRef, span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(CompileCode::TooLarge, format!("too many {what}"))
        .label(source, span, "this one exceeds the limit")
        .help("split the function, or read the data from a file")
}

/// Code that could run and would do nothing sensible.
pub(super) fn nonsense(source: &SourceRef, span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(CheckCode::Nonsense, message).label(source, span, "here").help(help)
}

/// The `else` of a `guard`, after which the statements that rely on the condition would run.
pub(super) fn falls_through(source: &SourceRef, otherwise: Span) -> Diagnostic {
    let message = "`else` of a `guard` must not fall through";
    nonsense(source, otherwise, message, "end it with `return`, `throw`, `break` or `continue`")
        .fix_by_some(Applicability::Unsafe, added_line(source.text(), otherwise, ";", "return").map(|edit| vec![edit]))
}

pub(super) fn not_verified(source: &SourceRef, refused: impl std::fmt::Display) -> Diagnostic {
    let message = format!("compiled code failed verification: {refused}");
    bug(Diagnostic::new(CompileCode::Refused, message).label(source, Span::default(), "in this file"))
}

pub(super) fn no_capture(source: &SourceRef, name: &str, bound: Span) -> Diagnostic {
    let message = format!("captured variable `{name}` not found");
    bug(Diagnostic::new(CompileCode::Refused, message).label(source, bound, "bound here"))
}

fn bug(d: Diagnostic) -> Diagnostic {
    d.note("the script did not run; this is a bug in harn, not in the script")
        .help("report the bug together with the script")
}

//! The messages of the compiler.

use super::CompileCode;
use crate::check::CheckCode;
use crate::diagnostic::Diagnostic;
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

//! What is certain to fail, found before the run.

use crate::ast::{Expr, ListItem};
use crate::source::{SourceRef, Span};

/// A call as a lint sees it.
pub struct CallView<'a> {
    /// The file.
    pub source: &'a SourceRef,
    /// Its arguments.
    pub args: &'a [ListItem],
    /// The whole call.
    pub span: Span,
    /// What a name is bound to, where that is a literal.
    pub bound: &'a dyn Fn(&Expr) -> Option<&'a Expr>,
}

/// Checks a resolved module.
pub fn check(
    _source: &SourceRef,
    _module: &crate::ast::Module,
    _names: &crate::resolve::Resolution,
    _registry: crate::builtins::Registry,
    _found: &mut Vec<crate::diagnostic::Diagnostic>,
) {
}

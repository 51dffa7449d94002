//! Tools that a model cannot choose well.

use super::messages;
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::source::SourceRef;

/// Checks the declarations of tools.
pub(super) struct Tools<'c> {
    source: &'c SourceRef,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Tools<'c> {
    pub(super) fn new(source: &'c SourceRef) -> Self {
        Self { source, found: Vec::new() }
    }

    /// Checks a declaration, without its parts.
    pub(super) fn item(&mut self, item: &Item) {
        let ItemKind::Tool { decl, description } = &item.kind else { return };
        let is_described = match description {
            Some(description) => description.plain_text().is_none_or(|text| !text.trim().is_empty()),
            None => item.doc.as_ref().is_some_and(|doc| !doc.trim().is_empty()),
        };
        if !is_described {
            self.found.push(messages::undescribed_tool(self.source, &decl.name));
        }
    }
}

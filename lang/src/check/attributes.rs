//! Attributes: which there are, what they stand before, and what they are given.

use super::messages;
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::source::SourceRef;

/// The attributes that there are.
const KNOWN: &[&str] = &["test", "deprecated", "resumable"];

/// Checks attributes.
pub(super) struct Attributes<'c> {
    source: &'c SourceRef,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Attributes<'c> {
    pub(super) fn new(source: &'c SourceRef) -> Self {
        Self { source, found: Vec::new() }
    }

    /// Checks the attributes of a declaration.
    pub(super) fn item(&mut self, item: &Item) {
        for attribute in &item.attributes {
            self.attribute(attribute, item);
        }
    }

    fn attribute(&mut self, attribute: &Attribute, item: &Item) {
        match attribute.name.text.as_str() {
            "test" => self.test(attribute, item),
            "deprecated" => self.deprecated(attribute),
            RESUMABLE => self.resumable(attribute, item),
            _ => self.found.push(messages::unknown_attribute(self.source, attribute, KNOWN)),
        }
    }

    fn test(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first() {
            let help = "remove the argument; the name of the function says what it tests";
            self.found.push(messages::unexpected_argument(self.source, "test", arg.span, help));
        }
        match &item.kind {
            ItemKind::Fn(decl) => {
                if let Some(param) = decl.params.iter().find(|p| p.default.is_none() && !p.rest) {
                    self.found.push(messages::test_parameters(self.source, param.span, attribute.name.span));
                }
            }
            ItemKind::Pipeline { .. } => {}
            _ => self.found.push(messages::misplaced_test(self.source, attribute.name.span)),
        }
    }

    fn resumable(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first() {
            let help = "remove the argument; the pipeline can read `context.resumed` when it runs again";
            self.found.push(messages::unexpected_argument(self.source, "resumable", arg.span, help));
        }
        if !matches!(item.kind, ItemKind::Pipeline { .. }) {
            self.found.push(messages::misplaced_resumable(self.source, attribute.name.span));
        }
    }

    fn deprecated(&mut self, attribute: &Attribute) {
        let wrong = match attribute.args.as_slice() {
            [] => return,
            [Expr { kind: ExprKind::Str(parts), .. }] if parts.iter().all(|p| matches!(p, StrPart::Text(_))) => {
                return;
            }
            [only] => only,
            [_, more, ..] => more,
        };
        self.found.push(messages::deprecated_argument(self.source, wrong.span));
    }
}

//! Attributes: which there are, what they stand before, and what they are given.

use super::CheckCode;
use crate::ast::*;
use crate::diagnostic::{Diagnostic, nearest};
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
            name => {
                let message = format!("unknown attribute `@{name}`");
                let d =
                    Diagnostic::new(CheckCode::Attribute, message).label(self.source, attribute.name.span, "unknown");
                self.found.push(match nearest(name, KNOWN.iter().copied()) {
                    Some(near) => d.help(format!("did you mean `@{near}`?")).fix(attribute.name.span, near),
                    None => d.note("the attributes are `@test`, `@resumable` and `@deprecated(\"…\")`"),
                });
            }
        }
    }

    fn test(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first() {
            self.found.push(
                Diagnostic::new(CheckCode::Attribute, "`@test` takes no arguments")
                    .label(self.source, arg.span, "unexpected argument")
                    .help("remove the argument; the name of the function says what it tests"),
            );
        }
        match &item.kind {
            ItemKind::Fn(decl) => {
                if let Some(param) = decl.params.iter().find(|p| p.default.is_none() && !p.rest) {
                    self.found.push(
                        Diagnostic::new(CheckCode::Attribute, "a test must not have required parameters")
                            .label(self.source, param.span, "no argument is passed for this")
                            .label(self.source, attribute.name.span, "declared as a test here")
                            .help("give it a default, or bind it in the function"),
                    );
                }
            }
            ItemKind::Pipeline { .. } => {}
            _ => self.found.push(
                Diagnostic::new(CheckCode::Attribute, "`@test` can be used only on a function or a pipeline")
                    .label(self.source, attribute.name.span, "here")
                    .help("put `@test` before a `fn`"),
            ),
        }
    }

    fn resumable(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first() {
            self.found.push(
                Diagnostic::new(CheckCode::Attribute, "`@resumable` takes no arguments")
                    .label(self.source, arg.span, "unexpected argument")
                    .help("remove the argument; the pipeline can read `context.resumed` when it runs again"),
            );
        }
        if !matches!(item.kind, ItemKind::Pipeline { .. }) {
            self.found.push(
                Diagnostic::new(CheckCode::Attribute, "`@resumable` can be used only on a pipeline")
                    .label(self.source, attribute.name.span, "here")
                    .help("put `@resumable` before the served `pipeline`"),
            );
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
        self.found.push(
            Diagnostic::new(CheckCode::Attribute, "`@deprecated` takes one string")
                .label(self.source, wrong.span, "not a single string")
                .help("say what to use instead: `@deprecated(\"use …\")`"),
        );
    }
}

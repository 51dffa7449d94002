//! Attributes: which there are, what they stand before, and what they are given.

use super::messages;
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::source::SourceRef;

/// The known attributes.
const KNOWN: &[&str] = &[TEST, BEFORE, AFTER, "deprecated", RESUMABLE];

/// The named arguments of `@test`.
const OF_TEST: &[&str] = &["cases", "recording"];

/// Checks attributes.
pub(super) struct Attributes<'c> {
    source: &'c SourceRef,
    /// Number of blocks around the declaration.
    pub(super) depth: usize,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Attributes<'c> {
    pub(super) fn new(source: &'c SourceRef) -> Self {
        Self { source, depth: 0, found: Vec::new() }
    }

    /// Checks the attributes of a declaration, and where a test is declared.
    pub(super) fn item(&mut self, item: &Item) {
        if let ItemKind::Test(decl) = &item.kind
            && (self.depth > 0 || item.public)
        {
            self.found.push(messages::misplaced_test_block(self.source, decl.name.span, item.public));
        }
        for attribute in &item.attributes {
            self.attribute(attribute, item);
        }
    }

    fn attribute(&mut self, attribute: &Attribute, item: &Item) {
        match attribute.name.text.as_str() {
            TEST => self.test(attribute, item),
            BEFORE | AFTER => self.around_test(attribute, item),
            "deprecated" => self.deprecated(attribute),
            RESUMABLE => self.resumable(attribute, item),
            _ => self.found.push(messages::unknown_attribute(self.source, attribute, KNOWN)),
        }
    }

    fn test(&mut self, attribute: &Attribute, item: &Item) {
        for arg in &attribute.args {
            match &arg.name {
                None => {
                    let help = "remove the argument; the name of the function says what it tests";
                    self.found.push(messages::unexpected_argument(self.source, TEST, arg.value.span, help));
                }
                Some(name) if !OF_TEST.contains(&name.text.as_str()) => {
                    self.found.push(messages::unknown_test_argument(self.source, name, OF_TEST));
                }
                Some(name) if name.text == "recording" && arg.value.plain_text().is_none() => {
                    self.found.push(messages::recording_argument(self.source, arg.value.span));
                }
                Some(_) => {}
            }
        }
        let cases = attribute.arg("cases");
        match &item.kind {
            ItemKind::Fn(decl) => {
                let required = decl.params.iter().find(|p| p.default.is_none() && !p.rest);
                match (cases, required) {
                    (None, Some(param)) => {
                        self.found.push(messages::test_parameters(self.source, param.span, attribute.name.span));
                    }
                    (Some(cases), _) if decl.params.is_empty() => {
                        self.found.push(messages::unused_cases(self.source, cases.span, decl.name.span));
                    }
                    (Some(cases), _) => self.cases(cases, decl.params.len()),
                    (None, None) => {}
                }
            }
            ItemKind::Pipeline { .. } if cases.is_none() => {}
            _ => self.found.push(messages::misplaced_attribute(self.source, attribute, "a function or a pipeline")),
        }
        self.at_top(attribute);
    }

    /// Checks the cases that are written as a list: each has a value for each parameter.
    fn cases(&mut self, cases: &Expr, params: usize) {
        let ExprKind::List(items) = &cases.kind else { return };
        for item in items.iter().filter(|item| !item.spread && params > 1) {
            let count = match &item.value.kind {
                ExprKind::List(values) if values.iter().any(|value| value.spread) => continue,
                ExprKind::List(values) => values.len(),
                ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Field { .. } | ExprKind::Index { .. } => continue,
                _ => 1,
            };
            if count != params {
                self.found.push(messages::case_values(self.source, item.value.span, count, params));
            }
        }
    }

    fn around_test(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first() {
            let name = attribute.name.text.as_str();
            let help = "remove the argument; the function runs around every test of the file";
            self.found.push(messages::unexpected_argument(self.source, name, arg.value.span, help));
        }
        match &item.kind {
            ItemKind::Fn(decl) => {
                if let Some(param) = decl.params.iter().find(|p| p.default.is_none() && !p.rest) {
                    self.found.push(messages::test_parameters(self.source, param.span, attribute.name.span));
                }
            }
            _ => self.found.push(messages::misplaced_attribute(self.source, attribute, "a function")),
        }
        self.at_top(attribute);
    }

    /// A test in a block would never run.
    fn at_top(&mut self, attribute: &Attribute) {
        if self.depth > 0 {
            self.found.push(messages::nested_test(self.source, attribute));
        }
    }

    fn resumable(&mut self, attribute: &Attribute, item: &Item) {
        if let Some(arg) = attribute.args.first().map(|arg| &arg.value) {
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
            [AttributeArg { name: None, value }] if value.plain_text().is_some() => return,
            [only] => &only.value,
            [_, more, ..] => &more.value,
        };
        self.found.push(messages::deprecated_argument(self.source, wrong.span));
    }
}

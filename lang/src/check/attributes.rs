//! Attributes: which there are, what they stand before, and what they are given.

use super::messages;
use crate::ast::*;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceRef, Span};
use std::collections::HashMap;

/// The known attributes.
const KNOWN: &[&str] = &[TEST, BEFORE, AFTER, "deprecated", RESUMABLE, RESOURCE, PROMPT, TAG];

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
        match &item.kind {
            ItemKind::Struct { fields, .. } => self.names_in_data(fields.iter().map(|f| (&f.name, &*f.attributes))),
            ItemKind::Enum { variants, .. } => self.names_in_data(variants.iter().map(|v| (&v.name, &*v.attributes))),
            _ => {}
        }
    }

    /// Checks the attributes of fields or variants: data calls each by a name of its own.
    fn names_in_data<'i>(&mut self, members: impl Iterator<Item = (&'i Name, &'i [Attribute])>) {
        // The names in data, with their places, and whether an attribute gives them.
        let mut known: HashMap<&str, (Span, bool)> = HashMap::new();
        for (name, attributes) in members {
            for attribute in attributes {
                if attribute.name.text != NAME {
                    self.found.push(messages::unknown_attribute(self.source, attribute, &[NAME]));
                } else if attribute.text().is_none_or(str::is_empty) {
                    self.found.push(messages::name_argument(self.source, attribute, "name in data"));
                }
            }
            let given = name_in_data(attributes);
            let in_data = given.unwrap_or(&name.text);
            // Members of the same name are reported elsewhere.
            if let Some((other, was_given)) = known.insert(in_data, (name.span, given.is_some()))
                && (was_given || given.is_some())
            {
                self.found.push(messages::name_taken(self.source, attributes, name, other, in_data));
            }
        }
    }

    fn tag(&mut self, attribute: &Attribute, item: &Item) {
        if !matches!(item.kind, ItemKind::Enum { .. }) {
            self.found.push(messages::misplaced_attribute(self.source, attribute, "an enum"));
        } else if attribute.text().is_none_or(str::is_empty) {
            self.found.push(messages::name_argument(self.source, attribute, "key that names the variant in data"));
        }
    }

    fn attribute(&mut self, attribute: &Attribute, item: &Item) {
        match attribute.name.text.as_str() {
            TEST => self.test(attribute, item),
            BEFORE | AFTER => self.around_test(attribute, item),
            "deprecated" => self.deprecated(attribute),
            RESUMABLE => self.resumable(attribute, item),
            RESOURCE => self.resource(attribute, item),
            PROMPT => self.prompt(attribute, item),
            TAG => self.tag(attribute, item),
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

    /// Checks the URI of a resource, and that the function can be called with what the URI says.
    fn resource(&mut self, attribute: &Attribute, item: &Item) {
        let Some(decl) = self.served(attribute, item) else { return };
        let uri = match attribute.args.as_slice() {
            [AttributeArg { name: None, value }, rest @ ..] => {
                for arg in rest {
                    let is_known = arg.name.as_ref().is_some_and(|name| name.text == MIME_TYPE);
                    if !is_known || arg.value.plain_text().is_none() {
                        self.found.push(messages::resource_argument(self.source, arg.value.span));
                    }
                }
                value
            }
            [AttributeArg { value, .. }, ..] => {
                return self.found.push(messages::resource_uri(self.source, value.span));
            }
            [] => return self.found.push(messages::resource_uri(self.source, attribute.name.span)),
        };
        let Some(variables) = uri.plain_text().and_then(uri_variables) else {
            return self.found.push(messages::resource_uri(self.source, uri.span));
        };
        let names: Vec<_> = decl.params.iter().map(|param| (bound(param), param)).collect();
        for variable in &variables {
            if !names.iter().any(|(name, _)| name == variable) {
                self.found.push(messages::unknown_variable(self.source, uri.span, variable, &decl.name.text));
            }
        }
        for (name, param) in &names {
            let is_needed = param.default.is_none() && !param.rest && !is_context(name, item);
            if is_needed && !variables.iter().any(|variable| variable == name) {
                self.found.push(messages::missing_variable(self.source, param.span, uri.span, name));
            }
        }
    }

    fn prompt(&mut self, attribute: &Attribute, item: &Item) {
        if self.served(attribute, item).is_none() {
            return;
        }
        if let Some(arg) = attribute.args.first() {
            let help = "remove the argument; the name of the function names the prompt, and its comment describes it";
            self.found.push(messages::unexpected_argument(self.source, PROMPT, arg.value.span, help));
        }
    }

    /// Returns the function that an attribute lets a host serve, if it is one that can be called from outside.
    fn served<'i>(&mut self, attribute: &Attribute, item: &'i Item) -> Option<&'i FnDecl> {
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Pipeline { decl, .. } if self.depth == 0 => Some(decl),
            ItemKind::Fn(_) | ItemKind::Pipeline { .. } => {
                self.found.push(messages::nested_attribute(self.source, attribute));
                None
            }
            _ => {
                self.found.push(messages::misplaced_attribute(self.source, attribute, "a function or a pipeline"));
                None
            }
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

/// Returns the names of the variables in a URI such as `orders://{id}`; `None` if the text is not such a URI.
fn uri_variables(uri: &str) -> Option<Vec<String>> {
    let (scheme, _) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme || uri.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let mut variables = Vec::new();
    let mut rest = uri;
    while let Some(at) = rest.find(['{', '}']) {
        let end = rest[at..].strip_prefix('{')?.find(['{', '}'])? + at + 1;
        let name = rest[at + 1..end].to_owned();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !rest[end..].starts_with('}') || !is_name || variables.contains(&name) {
            return None;
        }
        variables.push(name);
        rest = &rest[end + 1..];
        // Two variables side by side could be split anywhere.
        if rest.starts_with('{') {
            return None;
        }
    }
    Some(variables)
}

fn bound(param: &Param) -> String {
    match &param.pattern.kind {
        PatternKind::Bind(name) => name.to_string(),
        _ => String::new(),
    }
}

/// Whether it is the parameter of a pipeline that the host fills in.
fn is_context(name: &str, item: &Item) -> bool {
    name == "context" && matches!(item.kind, ItemKind::Pipeline { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_each_variable_once() {
        for (uri, names) in
            [("notes://today", &[][..]), ("orders://{id}/items/{n}", &["id", "n"]), ("a+b.c:{x_1}", &["x_1"])]
        {
            assert_eq!(uri_variables(uri).unwrap(), names, "{uri}");
        }
        for wrong in [
            "today",
            "://a",
            "1a://b",
            "a://b c",
            "a://{",
            "a://}",
            "a://{}",
            "a://{a-b}",
            "a://{x}{y}",
            "a://{x}/{x}",
            "a://{x{y}}",
        ] {
            assert_eq!(uri_variables(wrong), None, "{wrong}");
        }
    }
}

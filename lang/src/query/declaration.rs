//! Declarations by their names, and their heads as text.

use crate::ast::visit::{Visit, walk_item, walk_module, walk_stmt};
use crate::ast::{FnDecl, Item, ItemKind, Module, Name, Stmt};
use crate::parse::doc_text;
use crate::source::{Source, Span};

/// A declaration: an item, a function of an `impl` or interface, a field, a variant.
#[derive(Clone, Copy)]
pub struct DeclarationView<'a> {
    /// The item that it is or belongs to.
    pub item: &'a Item,
    /// Its function, if it is one.
    pub function: Option<&'a FnDecl>,
    /// Span of its text without documentation and attributes.
    pub span: Span,
}

/// Returns the declaration whose name is at a span.
#[must_use]
pub fn at<'a>(source: &Source, module: &'a Module, name: Span) -> Option<DeclarationView<'a>> {
    let mut visit = DeclarationVisit { source, name, found: None };
    walk_module(&mut visit, module);
    visit.found
}

struct DeclarationVisit<'s, 'a> {
    source: &'s Source,
    name: Span,
    found: Option<DeclarationView<'a>>,
}

impl<'a> Visit<'a> for DeclarationVisit<'_, 'a> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        if stmt.span.start <= self.name.start && self.name.end <= stmt.span.end {
            walk_stmt(self, stmt);
        }
    }

    fn item(&mut self, item: &'a Item) {
        if !(item.span.start <= self.name.start && self.name.end <= item.span.end) || self.found.is_some() {
            return;
        }
        let whole = Span::new(start(self.source, item), item.span.end);
        let view = |function: Option<&'a FnDecl>, span| DeclarationView { item, function, span };
        match &item.kind {
            ItemKind::Interface { methods, .. } => {
                let method = methods.iter().find(|method| method.name.span == self.name);
                self.found = method.map(|method| view(Some(method), method.name.span.to(method.body.span)));
            }
            ItemKind::Struct { fields, .. } => {
                let field = fields.iter().find(|field| field.name.span == self.name);
                self.found = field.map(|field| {
                    let end = field.ty.as_ref().map_or(field.name.span, |ty| ty.span);
                    view(None, field.name.span.to(field.default.as_ref().map_or(end, |e| e.span)))
                });
            }
            ItemKind::Enum { variants, .. } => {
                let variant = variants.iter().find(|variant| variant.name.span == self.name);
                self.found = variant.map(|variant| {
                    let Some(last) = variant.fields.last() else { return view(None, variant.name.span) };
                    let after = source_after(self.source, last.span.end);
                    let close = after.find(')').and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(0);
                    view(None, Span::new(variant.name.span.start, last.span.end + close))
                });
            }
            _ => {}
        }
        if self.found.is_none() && name(item).is_some_and(|name| name.span == self.name) {
            self.found = Some(view(function(item), whole));
        }
        if self.found.is_none() {
            walk_item(self, item);
        }
    }
}

fn source_after(source: &Source, at: u32) -> &str {
    source.text().get(at as usize..).unwrap_or("")
}

/// Returns the name of an item.
#[must_use]
pub fn name(item: &Item) -> Option<&Name> {
    match &item.kind {
        ItemKind::Struct { name, .. }
        | ItemKind::Enum { name, .. }
        | ItemKind::Interface { name, .. }
        | ItemKind::TypeAlias { name, .. } => Some(name),
        _ => function(item).map(|decl| &decl.name),
    }
}

/// Returns the function that an item declares.
#[must_use]
pub fn function(item: &Item) -> Option<&FnDecl> {
    match &item.kind {
        ItemKind::Fn(decl)
        | ItemKind::Test(decl)
        | ItemKind::Override(decl)
        | ItemKind::Tool { decl, .. }
        | ItemKind::Pipeline { decl, .. } => Some(decl),
        _ => None,
    }
}

/// Returns the doc comment that ends on the line before a statement that the tree keeps none for, such as a `let`.
#[must_use]
pub fn doc_before(source: &Source, comments: &[Span], statement: u32) -> Option<String> {
    let mut start = statement;
    let mut found = Vec::new();
    for comment in comments[..comments.partition_point(|comment| comment.end <= statement)].iter().rev() {
        let between = source.slice(Span::new(comment.end, start));
        let text = source.slice(*comment);
        let is_doc = (text.starts_with("///") && !text.starts_with("////")) || text.starts_with("/**");
        if !is_doc || !between.trim().is_empty() || between.matches('\n').count() > 1 {
            break;
        }
        found.push(doc_text(text));
        start = comment.start;
    }
    found.reverse();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Returns the start of an item after its documentation and attributes.
#[must_use]
pub fn start(source: &Source, item: &Item) -> u32 {
    if let Some(attribute) = item.attributes.last() {
        let rest = source.slice(Span::new(attribute.span.end, item.span.end));
        return item.span.end - u32::try_from(rest.trim_start().len()).unwrap_or(0);
    }
    let text = source.slice(item.span);
    let mut rest = text.trim_start();
    loop {
        let after = match rest.strip_prefix("/**") {
            Some(block) => block.split_once("*/").map(|(_, after)| after),
            None => rest.strip_prefix("///").and_then(|line| line.split_once('\n')).map(|(_, after)| after),
        };
        let Some(after) = after else { break };
        rest = after.trim_start();
    }
    item.span.start + u32::try_from(text.len() - rest.len()).unwrap_or(0)
}

/// Returns the head of a function in one line.
#[must_use]
pub fn head(source: &Source, item: &Item, decl: &FnDecl) -> String {
    let start = start(source, item);
    let span = Span { start, end: decl.body.span.start.max(start) };
    source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of a declaration: the head of a function, anything else whole.
#[must_use]
pub fn text(source: &Source, view: &DeclarationView<'_>) -> String {
    match view.function {
        Some(decl) => {
            let span = Span::new(view.span.start, decl.body.span.start.clamp(view.span.start, view.span.end));
            source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
        }
        None => source.slice(view.span).trim().to_owned(),
    }
}

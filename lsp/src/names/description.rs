//! A symbol as text.

use super::{GlobalSymbol, builtin, definitions_of, foreign_result};
use crate::workspace::{Analysis, Snapshot};
use lang::ast::visit::{Visit, walk_module, walk_stmt};
use lang::ast::{Expr, NodeId, PatternKind, Stmt, StmtKind};
use lang::check::TypeView;
use lang::declaration::{BindingId, BindingKind};
use lang::query::declaration;
use lang::source::Span;

/// Returns the declaration of a symbol as a script writes it, with the type of a variable.
pub(crate) fn title(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> Option<String> {
    match symbol {
        GlobalSymbol::Builtin(module, name) => builtin(module, name).map(|row| signature(row.module, row.sig)),
        GlobalSymbol::Namespace(name) => Some(format!("namespace {name}")),
        GlobalSymbol::File(file) => {
            let document = snapshot.analysis((*file)?)?;
            Some(format!("import \"{}\"", document.source().name()))
        }
        GlobalSymbol::Binding { file, id } => {
            let document = snapshot.analysis(*file)?;
            let binding = document.names.bindings.get(*id as usize)?;
            if let Some(text) = declared(&document, binding.span) {
                return Some(text);
            }
            let word = match binding.kind {
                BindingKind::Let => "let ",
                BindingKind::Var => "var ",
                BindingKind::Parameter => "(parameter) ",
                BindingKind::Loop => "(loop variable) ",
                BindingKind::Import => "(import) ",
                _ => "",
            };
            let inferred = document.types().binding(*id).filter(|ty| ty.is_known()).map(TypeView::full);
            let ty = inferred.or_else(|| foreign_result(snapshot, &document, value_of(&document, *id)?));
            let ty = ty.map_or(String::new(), |ty| format!(": {ty}"));
            Some(format!("{word}{}{ty}", binding.name))
        }
        GlobalSymbol::Member(member) => {
            let (document, span) = definitions_of(snapshot, symbol).into_iter().next()?;
            let text = declared(&document, span)?;
            let owner = &member.owner.name;
            // A field or variant is nothing without its type.
            let is_item = declaration::at(document.source(), document.module(), span)?.function.is_some();
            Some(if is_item { text } else { format!("{owner}.{text}") })
        }
    }
}

/// Returns the documentation of a symbol; empty if it has none.
pub(crate) fn documentation(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> String {
    match symbol {
        GlobalSymbol::Builtin(module, name) => builtin(module, name).map(stdlib::describe).unwrap_or_default(),
        GlobalSymbol::Namespace(name) => {
            let names: Vec<String> = stdlib::registry().module(name).map(|row| format!("`{}`", row.name)).collect();
            format!("Builtins: {}", names.join(", "))
        }
        _ => definitions_of(snapshot, symbol)
            .into_iter()
            .find_map(|(document, span)| {
                let view = declaration::at(document.source(), document.module(), span)?;
                let is_whole = declaration::name(view.item).is_some_and(|name| name.span == span);
                view.item.doc.clone().filter(|_| is_whole)
            })
            .map(|doc| doc.trim().to_owned())
            .unwrap_or_default(),
    }
}

/// Returns a symbol as Markdown: its declaration, then its documentation.
pub(crate) fn describe(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> Option<String> {
    let mut text = format!("```harn\n{}\n```", title(snapshot, symbol)?);
    let doc = documentation(snapshot, symbol);
    if !doc.is_empty() {
        text.push_str("\n\n");
        text.push_str(&doc);
    }
    if let GlobalSymbol::Builtin(module, _) = symbol {
        text.push_str("\n\n");
        text.push_str(&match module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
            Some(of) => format!("Builtin method of `{of}`."),
            None if module.is_empty() => "Builtin function.".to_owned(),
            None => format!("Builtin of the namespace `{module}`."),
        });
    }
    Some(text)
}

/// Returns the signature of a builtin with the namespace that it is called in.
fn signature(module: &str, sig: &str) -> String {
    match module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
        Some(_) => sig.to_owned(),
        None if module.is_empty() => sig.to_owned(),
        None => format!("{module}.{sig}"),
    }
}

fn declared(document: &Analysis, name: Span) -> Option<String> {
    let view = declaration::at(document.source(), document.module(), name)?;
    Some(declaration::text(document.source(), &view))
}

/// Returns the value that a `let` binds to a name.
fn value_of(document: &Analysis, id: BindingId) -> Option<&Expr> {
    let mut visit = ValueVisit { is_it: |pattern| document.names.made(pattern) == Some(id), found: None };
    walk_module(&mut visit, document.module());
    visit.found
}

struct ValueVisit<'a, F> {
    is_it: F,
    found: Option<&'a Expr>,
}

impl<'a, F: Fn(NodeId) -> bool> Visit<'a> for ValueVisit<'a, F> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Let { pattern, value: Some(value), .. } = &stmt.kind
            && let PatternKind::Bind(_) = pattern.kind
            && (self.is_it)(pattern.id)
        {
            self.found = Some(value);
        }
        walk_stmt(self, stmt);
    }
}

//! `textDocument/documentSymbol`: the declarations of a document, nested as they are in the text.

use crate::error::LspError;
use crate::workspace::{Analysis, Snapshot};
use lang::ast::{FnDecl, Item, ItemKind, Module, Name, Stmt, StmtKind};
use lang::source::Span;
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolInformation, SymbolKind};

pub(super) fn document_symbols(
    snapshot: &Snapshot<'_>,
    params: &DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let symbols = declarations(document.module());
    Ok(Some(if snapshot.client().nests_symbols() {
        DocumentSymbolResponse::Nested(symbols.iter().map(|symbol| nested(&document, symbol)).collect())
    } else {
        let mut found = Vec::new();
        flatten(&document, &symbols, None, &mut found);
        DocumentSymbolResponse::Flat(found)
    }))
}

/// A declaration of a text.
pub(super) struct Declaration {
    pub(super) name: String,
    /// The parameters of a function, or the type of a field.
    pub(super) detail: Option<String>,
    pub(super) kind: SymbolKind,
    /// The whole declaration.
    pub(super) span: Span,
    /// The name.
    pub(super) name_span: Span,
    pub(super) children: Vec<Declaration>,
}

/// Returns the declarations at the top level of a text, with their parts.
pub(super) fn declarations(module: &Module) -> Vec<Declaration> {
    module.body.iter().flat_map(of_statement).collect()
}

fn of_statement(stmt: &Stmt) -> Vec<Declaration> {
    match &stmt.kind {
        StmtKind::Item(item) => of_item(item).into_iter().collect(),
        StmtKind::Let { kind, pattern, .. } => {
            let kind = match kind {
                lang::ast::LetKind::Const => SymbolKind::CONSTANT,
                _ => SymbolKind::VARIABLE,
            };
            let mut found = Vec::new();
            pattern.names(&mut |name, at| {
                found.push(Declaration {
                    name: name.to_string(),
                    detail: None,
                    kind,
                    span: stmt.span,
                    name_span: at.span,
                    children: Vec::new(),
                });
            });
            found
        }
        _ => Vec::new(),
    }
}

fn of_item(item: &Item) -> Option<Declaration> {
    let declared = |name: &Name, kind, children| Declaration {
        name: name.text.to_string(),
        detail: None,
        kind,
        span: item.span,
        name_span: name.span,
        children,
    };
    Some(match &item.kind {
        ItemKind::Fn(decl) | ItemKind::Override(decl) => {
            let kind = if decl.takes_self() { SymbolKind::METHOD } else { SymbolKind::FUNCTION };
            declared(&decl.name, kind, in_body(decl))
        }
        ItemKind::Test(decl) => declared(&decl.name, SymbolKind::EVENT, in_body(decl)),
        ItemKind::Pipeline { decl, .. } => declared(&decl.name, SymbolKind::MODULE, in_body(decl)),
        ItemKind::Tool { decl, .. } => declared(&decl.name, SymbolKind::FUNCTION, in_body(decl)),
        ItemKind::Struct { name, fields, .. } => {
            let field = |field: &lang::ast::Field| part(&field.name, SymbolKind::FIELD);
            declared(name, SymbolKind::STRUCT, fields.iter().map(field).collect())
        }
        ItemKind::Enum { name, variants, .. } => {
            let variant = |variant: &lang::ast::Variant| part(&variant.name, SymbolKind::ENUM_MEMBER);
            declared(name, SymbolKind::ENUM, variants.iter().map(variant).collect())
        }
        ItemKind::Interface { name, methods, .. } => {
            let method = |method: &FnDecl| part(&method.name, SymbolKind::METHOD);
            declared(name, SymbolKind::INTERFACE, methods.iter().map(method).collect())
        }
        ItemKind::Impl { target, interface, methods } => {
            let mut found = declared(target, SymbolKind::CLASS, methods.iter().filter_map(of_item).collect());
            found.name = match interface {
                Some(interface) => format!("impl {} for {}", interface.text, target.text),
                None => format!("impl {}", target.text),
            };
            found
        }
        ItemKind::TypeAlias { name, .. } => declared(name, SymbolKind::TYPE_PARAMETER, Vec::new()),
        ItemKind::Import { .. } => return None,
    })
}

/// The declarations in the body of a function.
fn in_body(decl: &FnDecl) -> Vec<Declaration> {
    let items = decl.body.stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Item(item) => of_item(item),
        _ => None,
    });
    items.collect()
}

fn part(name: &Name, kind: SymbolKind) -> Declaration {
    Declaration {
        name: name.text.to_string(),
        detail: None,
        kind,
        span: name.span,
        name_span: name.span,
        children: Vec::new(),
    }
}

#[allow(deprecated, reason = "the type has a deprecated field, which must be set")]
fn nested(document: &Analysis, symbol: &Declaration) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.iter().map(|child| nested(document, child)).collect();
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: symbol.detail.clone(),
        kind: symbol.kind,
        tags: None,
        deprecated: None,
        range: document.range(symbol.span.to(symbol.name_span)),
        selection_range: document.range(symbol.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

#[allow(deprecated, reason = "the type has a deprecated field, which must be set")]
fn flatten(document: &Analysis, symbols: &[Declaration], container: Option<&str>, found: &mut Vec<SymbolInformation>) {
    for symbol in symbols {
        found.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: symbol.kind,
            tags: None,
            deprecated: None,
            location: lsp_types::Location::new(document.uri.clone(), document.range(symbol.name_span)),
            container_name: container.map(str::to_owned),
        });
        flatten(document, &symbol.children, Some(&symbol.name), found);
    }
}

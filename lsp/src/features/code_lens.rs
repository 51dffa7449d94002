//! `textDocument/codeLens`: commands above pipelines and tests. The client runs them in a terminal.

use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lang::ast::{Item, ItemKind, StmtKind};
use lang::query::Symbol;
use lang::source::Span;
use lsp_types::{CodeLens, CodeLensParams, Command};
use serde_json::json;

/// Runs a script: `harn run FILE`.
const RUN: &str = "harn.run";
/// Runs one test: `harn test FILE --filter NAME`.
const TEST: &str = "harn.test";
/// Shows the first prompt of a script: `harn preview FILE`.
const PREVIEW: &str = "harn.preview";

pub(super) fn lenses(snapshot: &Snapshot<'_>, params: &CodeLensParams) -> Result<Option<Vec<CodeLens>>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    if document.language != Language::Harn {
        return Ok(Some(Vec::new()));
    }
    let mut found = Vec::new();
    let items = || {
        document.module().body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Item(item) => Some(&**item),
            _ => None,
        })
    };
    if let Some(start) = start(&document, items()) {
        found.push(lens(&document, start, "Run", RUN, &[]));
        if calls_model(&document) {
            found.push(lens(&document, start, "Preview prompt", PREVIEW, &[]));
        }
    }
    for item in items() {
        if let Some((span, name)) = test(item) {
            found.push(lens(&document, span, "Test", TEST, &[name]));
        }
    }
    Ok(Some(found))
}

/// Returns where a run of the file starts: at the pipeline `default`, at the only one, or at the first statement.
fn start<'a>(document: &Analysis, items: impl Iterator<Item = &'a Item>) -> Option<Span> {
    let pipelines: Vec<Span> = items
        .filter_map(|item| match &item.kind {
            ItemKind::Pipeline { decl, .. } => Some(decl.name.span),
            _ => None,
        })
        .collect();
    let source = document.source();
    match pipelines.as_slice() {
        [] => document.module().body.iter().find(|stmt| matches!(stmt.kind, StmtKind::Expr(_))).map(|stmt| stmt.span),
        [only] => Some(*only),
        several => several.iter().find(|span| source.slice(**span) == "default").copied(),
    }
}

/// Returns whether the file asks a model, so that there is a prompt.
fn calls_model(document: &Analysis) -> bool {
    let asks = ["agent_loop", "llm_call", "llm_stream", "sub_agent_run", "spawn_agent"];
    let is_call = |symbol: &Symbol| matches!(symbol, Symbol::Builtin("", name) if asks.contains(name));
    document.occurrences().iter().any(|occurrence| is_call(&occurrence.symbol))
}

/// Returns the name of a test and its span.
fn test(item: &Item) -> Option<(Span, &str)> {
    match &item.kind {
        ItemKind::Test(decl) => Some((decl.name.span, decl.name.text.as_str())),
        ItemKind::Fn(decl) if item.attribute(lang::ast::TEST).is_some() => {
            Some((decl.name.span, decl.name.text.as_str()))
        }
        _ => None,
    }
}

fn lens(document: &Analysis, span: Span, title: &str, command: &str, more: &[&str]) -> CodeLens {
    let arguments = std::iter::once(json!(document.uri.as_str())).chain(more.iter().map(|text| json!(text))).collect();
    CodeLens {
        range: document.range(span),
        command: Some(Command { title: title.to_owned(), command: command.to_owned(), arguments: Some(arguments) }),
        data: None,
    }
}

//! The hierarchy of calls: the functions that call a function, and those that it calls.

use crate::error::LspError;
use crate::names::{GlobalSymbol, definitions_of, global, name_at, occurrences_of, title};
use crate::workspace::{Analysis, Snapshot};
use lang::ast::visit::{Visit, walk_item, walk_module};
use lang::ast::{FnDecl, Item, ItemKind};
use lang::query::{Occurrence, OccurrenceRole, declaration};
use lang::source::Span;
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem, CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, Range, SymbolKind, TextDocumentIdentifier,
    TextDocumentPositionParams,
};
use std::rc::Rc;

pub(super) fn prepare(
    snapshot: &Snapshot<'_>,
    params: &CallHierarchyPrepareParams,
) -> Result<Option<Vec<CallHierarchyItem>>, LspError> {
    let Some(found) = name_at(snapshot, &params.text_document_position_params)? else { return Ok(None) };
    let items = definitions_of(snapshot, &found.symbol).into_iter();
    let items: Vec<_> = items.filter_map(|(document, name)| item_at(snapshot, &document, name)).collect();
    Ok((!items.is_empty()).then_some(items))
}

pub(super) fn incoming(
    snapshot: &Snapshot<'_>,
    params: &CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>, LspError> {
    let Some((document, symbol)) = symbol_of(snapshot, &params.item)? else { return Ok(None) };
    let mut calls: Vec<CallHierarchyIncomingCall> = Vec::new();
    for (document, occurrences) in occurrences_of(snapshot, &symbol, document.id) {
        for occurrence in occurrences.iter().filter(|occurrence| occurrence.role == OccurrenceRole::Read) {
            let caller = match function_around(&document, occurrence.span) {
                Some(function) => item_at(snapshot, &document, function.name.span),
                None => Some(file_item(&document)),
            };
            let Some(caller) = caller else { continue };
            let range = document.range(occurrence.span);
            match calls.iter_mut().find(|call| call.from == caller) {
                Some(call) => call.from_ranges.push(range),
                None => calls.push(CallHierarchyIncomingCall { from: caller, from_ranges: vec![range] }),
            }
        }
    }
    Ok(Some(calls))
}

pub(super) fn outgoing(
    snapshot: &Snapshot<'_>,
    params: &CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>, LspError> {
    let document = snapshot.document(&params.item.uri)?;
    let name = document.span(params.item.selection_range)?;
    let body = declaration::at(document.source(), document.module(), name)
        .and_then(|view| view.function)
        .map(|function| function.body.span);
    // An item that is a file calls what its top level calls.
    let is_in = |occurrence: &&Occurrence| match body {
        Some(body) => body.start <= occurrence.span.start && occurrence.span.end <= body.end,
        None => function_around(&document, occurrence.span).is_none(),
    };
    let mut calls: Vec<CallHierarchyOutgoingCall> = Vec::new();
    let reads = document.occurrences().iter().filter(|occurrence| occurrence.role == OccurrenceRole::Read);
    for occurrence in reads.filter(is_in).collect::<Vec<_>>() {
        let symbol = global(snapshot, &document, &occurrence.symbol);
        if let GlobalSymbol::File(_) = symbol {
            continue;
        }
        let Some((callee_file, callee)) = definitions_of(snapshot, &symbol).into_iter().next() else { continue };
        let Some(to) = item_at(snapshot, &callee_file, callee) else { continue };
        let range = document.range(occurrence.span);
        match calls.iter_mut().find(|call| call.to == to) {
            Some(call) => call.from_ranges.push(range),
            None => calls.push(CallHierarchyOutgoingCall { to, from_ranges: vec![range] }),
        }
    }
    Ok(Some(calls))
}

/// Returns the symbol of an item that was sent to the client.
fn symbol_of(
    snapshot: &Snapshot<'_>,
    item: &CallHierarchyItem,
) -> Result<Option<(Rc<Analysis>, GlobalSymbol)>, LspError> {
    let at = TextDocumentPositionParams::new(TextDocumentIdentifier::new(item.uri.clone()), item.selection_range.start);
    Ok(name_at(snapshot, &at)?.map(|found| (found.document, found.symbol)))
}

/// Returns the item of the function whose name is at a span.
fn item_at(snapshot: &Snapshot<'_>, document: &Rc<Analysis>, name: Span) -> Option<CallHierarchyItem> {
    let view = declaration::at(document.source(), document.module(), name)?;
    let function = view.function?;
    let kind = match &view.item.kind {
        ItemKind::Pipeline { .. } => SymbolKind::MODULE,
        ItemKind::Test(_) => SymbolKind::EVENT,
        _ if function.takes_self() => SymbolKind::METHOD,
        _ => SymbolKind::FUNCTION,
    };
    let occurrence = document.occurrence_at(name);
    let detail = occurrence.and_then(|found| title(snapshot, &global(snapshot, document, &found.symbol)));
    Some(CallHierarchyItem {
        name: function.name.text.to_string(),
        kind,
        tags: None,
        detail,
        uri: document.uri.clone(),
        range: document.range(view.span.to(function.body.span).to(name)),
        selection_range: document.range(name),
        data: None,
    })
}

/// Returns the item of a file, for calls at its top level.
fn file_item(document: &Analysis) -> CallHierarchyItem {
    let name = document.source().name().rsplit('/').next().unwrap_or_default().to_owned();
    CallHierarchyItem {
        name,
        kind: SymbolKind::FILE,
        tags: None,
        detail: None,
        uri: document.uri.clone(),
        range: document.text.whole(),
        selection_range: Range::default(),
        data: None,
    }
}

/// Returns the innermost declared function whose body holds a span.
fn function_around(document: &Analysis, span: Span) -> Option<&FnDecl> {
    let mut visit = FunctionVisit { span, found: None };
    walk_module(&mut visit, document.module());
    visit.found
}

struct FunctionVisit<'a> {
    span: Span,
    found: Option<&'a FnDecl>,
}

impl<'a> Visit<'a> for FunctionVisit<'a> {
    fn item(&mut self, item: &'a Item) {
        if item.span.end < self.span.start || self.span.end < item.span.start {
            return;
        }
        if let Some(function) = declaration::function(item)
            && function.body.span.start <= self.span.start
            && self.span.end <= function.body.span.end
        {
            self.found = Some(function);
        }
        walk_item(self, item);
    }
}

//! `textDocument/definition`, `declaration` and `typeDefinition`: the places that declare a name, or the type of its values.

use crate::error::LspError;
use crate::names::{GlobalSymbol, definitions_of, global, name_at};
use crate::workspace::Snapshot;
use lang::check::TypeView;
use lang::query::Symbol;
use lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, Location, TextDocumentPositionParams};

pub(super) fn definition(
    snapshot: &Snapshot<'_>,
    params: &GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, LspError> {
    let Some(found) = name_at(snapshot, &params.text_document_position_params)? else { return Ok(None) };
    Ok(places(snapshot, &found.symbol))
}

pub(super) fn type_definition(
    snapshot: &Snapshot<'_>,
    params: &GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, LspError> {
    let symbol = type_at(snapshot, &params.text_document_position_params)?;
    Ok(symbol.and_then(|symbol| places(snapshot, &symbol)))
}

fn places(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> Option<GotoDefinitionResponse> {
    let found = definitions_of(snapshot, symbol).into_iter();
    let mut found: Vec<Location> =
        found.map(|(document, span)| Location::new(document.uri.clone(), document.range(span))).collect();
    match found.len() {
        0 => None,
        1 => found.pop().map(GotoDefinitionResponse::Scalar),
        _ => Some(GotoDefinitionResponse::Array(found)),
    }
}

/// Returns the declared type of the name at a position.
fn type_at(snapshot: &Snapshot<'_>, params: &TextDocumentPositionParams) -> Result<Option<GlobalSymbol>, LspError> {
    let Some(found) = name_at(snapshot, params)? else { return Ok(None) };
    let document = &found.document;
    let Symbol::Binding(id) = found.occurrence.symbol else { return Ok(None) };
    if document.names.binding(id).def.is_some() {
        return Ok(Some(found.symbol));
    }
    let types = document.types();
    let declared = types.binding(id).into_iter().flat_map(TypeView::alternatives).find_map(TypeView::declared);
    Ok(declared.map(|id| global(snapshot, document, &Symbol::Binding(id))))
}

//! `textDocument/references` and `textDocument/documentHighlight`: the places that name what a name means.

use crate::error::LspError;
use crate::names::{GlobalSymbol, global, name_at, occurrences_of};
use crate::workspace::Snapshot;
use lang::query::OccurrenceRole;
use lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, Location, ReferenceParams};

pub(super) fn references(snapshot: &Snapshot<'_>, params: &ReferenceParams) -> Result<Option<Vec<Location>>, LspError> {
    let Some(found) = name_at(snapshot, &params.text_document_position)? else { return Ok(None) };
    let wanted = |role: OccurrenceRole| params.context.include_declaration || role != OccurrenceRole::Definition;
    let mut places = Vec::new();
    for (document, occurrences) in occurrences_of(snapshot, &found.symbol, found.document.id) {
        let occurrences = occurrences.iter().filter(|occurrence| wanted(occurrence.role));
        places
            .extend(occurrences.map(|occurrence| Location::new(document.uri.clone(), document.range(occurrence.span))));
    }
    Ok(Some(places))
}

pub(super) fn highlights(
    snapshot: &Snapshot<'_>,
    params: &DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, LspError> {
    let Some(found) = name_at(snapshot, &params.text_document_position_params)? else { return Ok(None) };
    if matches!(found.symbol, GlobalSymbol::File(_)) {
        return Ok(None);
    }
    let document = &found.document;
    let same = document.occurrences().iter().filter(|o| global(snapshot, document, &o.symbol) == found.symbol);
    let highlight = |occurrence: &lang::query::Occurrence| DocumentHighlight {
        range: document.range(occurrence.span),
        kind: Some(match occurrence.role {
            OccurrenceRole::Definition | OccurrenceRole::Write => DocumentHighlightKind::WRITE,
            OccurrenceRole::Read | OccurrenceRole::Import => DocumentHighlightKind::READ,
        }),
    };
    Ok(Some(same.map(highlight).collect()))
}

//! `textDocument/formatting` and `rangeFormatting`: what `harn fmt` would change, as small edits.

use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, Position, Range, TextEdit};
use similar::{Algorithm, DiffOp, TextDiff};
use std::time::Duration;

/// The time after which the edits need not be the smallest any more.
const MOST_TIME: Duration = Duration::from_millis(200);

pub(super) fn document(
    snapshot: &Snapshot<'_>,
    params: &DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>, LspError> {
    Ok(edits(&*snapshot.document(&params.text_document.uri)?))
}

/// Formats the lines of a range: the edits of the document that touch them.
pub(super) fn range(
    snapshot: &Snapshot<'_>,
    params: &DocumentRangeFormattingParams,
) -> Result<Option<Vec<TextEdit>>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    document.span(params.range)?;
    let (first, last) = (params.range.start.line, params.range.end.line);
    let touches =
        |edit: &TextEdit| edit.range.start.line <= last && first <= edit.range.end.line.max(edit.range.start.line);
    Ok(edits(&document).map(|edits| edits.into_iter().filter(touches).collect()))
}

/// Returns the edits that format a document. `None` if it has syntax errors, which its diagnostics show, or is not written in Harn.
fn edits(document: &Analysis) -> Option<Vec<TextEdit>> {
    if document.language != Language::Harn {
        return None;
    }
    let formatted = fmt::format(document.text.source(), document.settings.width).ok()?;
    Some(line_edits(document, &formatted))
}

/// Returns the edits of whole lines that make another text of a document.
pub(super) fn line_edits(document: &Analysis, new: &str) -> Vec<TextEdit> {
    let old = document.text.text();
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(MOST_TIME).diff_lines(old, new);
    let lines: Vec<&str> = diff.iter_new_slices().collect();
    let mut starts = vec![0];
    for line in diff.iter_old_slices() {
        starts.push(starts.last().copied().unwrap_or(0) + line.len());
    }
    let position = |line: usize| {
        let offset = starts.get(line).copied().unwrap_or(old.len());
        document.text.position(u32::try_from(offset).unwrap_or(u32::MAX))
    };
    let edit = |op: &DiffOp| -> TextEdit {
        let (old, new) = (op.old_range(), op.new_range());
        let range: (Position, Position) = (position(old.start), position(old.end));
        TextEdit { range: Range::new(range.0, range.1), new_text: lines[new].concat() }
    };
    diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(edit).collect()
}

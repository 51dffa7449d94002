//! `textDocument/foldingRange`: bodies, lists, dicts, strings, comments and imports of several lines.

use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lang::ast::ItemKind;
use lang::lex::token::Token;
use lang::source::Span;
use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};

pub(super) fn folding_ranges(
    snapshot: &Snapshot<'_>,
    params: &FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    if document.language != Language::Harn {
        return Ok(None);
    }
    let mut found = brackets(&document);
    found.extend(comments(&document));
    found.extend(imports(&document));
    found.sort_by_key(|range| (range.start_line, range.end_line));
    // Two brackets on one line are folded as one.
    found.dedup_by_key(|range| range.start_line);
    Ok(Some(found))
}

fn folded(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    (start_line < end_line).then(|| FoldingRange { start_line, end_line, kind, ..FoldingRange::default() })
}

/// The ranges between brackets. The line of the closing bracket stays visible.
fn brackets(document: &Analysis) -> Vec<FoldingRange> {
    let mut open: Vec<Span> = Vec::new();
    let mut found = Vec::new();
    for (token, span) in document.lexed().tokens {
        if token.opens() {
            open.push(span);
        } else if token.closes()
            && let Some(start) = open.pop()
        {
            let (first, last) = (document.text.line_of(start.start), document.text.line_of(span.start));
            let closes_line = !matches!(token, Token::StrEnd);
            found.extend(folded(first, if closes_line { last.saturating_sub(1) } else { last }, None));
        }
    }
    // The widest of those that begin on a line comes first.
    found.sort_by_key(|range| (range.start_line, std::cmp::Reverse(range.end_line)));
    found.dedup_by_key(|range| range.start_line);
    found
}

/// Comments of several lines, and line comments on successive lines.
fn comments(document: &Analysis) -> Vec<FoldingRange> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for span in &document.parsed.comments {
        let text = document.text.source().slice(*span);
        let end = span.start + u32::try_from(text.trim_end().len()).unwrap_or(0);
        let (first, last) = (document.text.line_of(span.start), document.text.line_of(end));
        let stands_alone = document
            .text
            .line(first)
            .is_some_and(|line| line.trim_start().starts_with(text.lines().next().unwrap_or("")));
        match found.last_mut() {
            Some((_, before)) if *before + 1 == first && stands_alone => *before = last,
            _ if stands_alone => found.push((first, last)),
            _ => {}
        }
    }
    found.into_iter().filter_map(|(first, last)| folded(first, last, Some(FoldingRangeKind::Comment))).collect()
}

/// Imports on successive lines.
fn imports(document: &Analysis) -> Vec<FoldingRange> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for stmt in &document.module().body {
        if let Some(ItemKind::Import { .. }) = stmt.item() {
            let (first, last) = (document.text.line_of(stmt.span.start), document.text.line_of(stmt.span.end));
            match found.last_mut() {
                Some((_, before)) if *before + 1 == first => *before = last,
                _ => found.push((first, last)),
            }
        }
    }
    found.into_iter().filter_map(|(first, last)| folded(first, last, Some(FoldingRangeKind::Imports))).collect()
}

//! `textDocument/hover`: the declaration and documentation of a name, of a builtin, or of an option.

use crate::error::LspError;
use crate::names::{describe, name_at, word_at};
use crate::workspace::{Analysis, Language, Snapshot};
use lang::query::Cursor;
use lang::source::Span;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};
use stdlib::{Completion, describe as describe_builtin, option_at, reminder_lifetimes, rhai_builtin};

pub(super) fn hover(snapshot: &Snapshot<'_>, params: &HoverParams) -> Result<Option<Hover>, LspError> {
    let at = &params.text_document_position_params;
    let (document, offset) = snapshot.at(at)?;
    let found = match document.language {
        Language::Toml | Language::Markdown => None,
        Language::Rhai => of_rhai(&document, offset),
        Language::Harn => match option(&document, offset) {
            Some(found) => Some(found),
            None => name_at(snapshot, at)?
                .and_then(|found| Some((found.occurrence.span, describe(snapshot, &found.symbol)?))),
        },
    };
    Ok(found.map(|(span, value)| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(document.range(span)),
    }))
}

/// Describes the key of an option of a builtin.
fn option(document: &Analysis, offset: u32) -> Option<(Span, String)> {
    let text = document.text.text();
    let span = word_at(text, offset)?;
    if !text[span.range().end..].trim_start().starts_with(':') {
        return None;
    }
    let option = option_at(&Cursor::of(&text[..span.range().start]), &text[span.range()])?;
    let mut described = described(&option);
    let lifetimes = reminder_lifetimes(document.module(), &document.names);
    let around = lifetimes.iter().filter(|lifetime| lifetime.span.start <= offset && offset <= lifetime.span.end);
    if let Some(lifetime) = around.min_by_key(|lifetime| lifetime.span.end - lifetime.span.start) {
        described.push_str(&format!("\n\nLifetime of this reminder: {}.", lifetime.text));
    }
    Some((span, described))
}

fn described(option: &Completion) -> String {
    let between = if option.doc.is_empty() { "" } else { "\n\n" };
    format!("```harn\n{}: {}\n```{between}{}", option.text, option.detail, option.doc)
}

fn of_rhai(document: &Analysis, offset: u32) -> Option<(Span, String)> {
    let text = document.text.text();
    let span = word_at(text, offset)?;
    let row = rhai_builtin(text, span.range().start, span.range().end)?;
    Some((span, format!("```harn\n{}\n```\n\n{}", row.sig, describe_builtin(row))))
}

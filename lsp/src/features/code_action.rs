//! `textDocument/codeAction`: the fixes of diagnostics, and `source.fixAll`.

use super::diagnostics::of_diagnostic;
use super::formatting::line_edits;
use crate::error::LspError;
use crate::workspace::{Analysis, Snapshot};
use lang::diagnostic::Diagnostic;
use lang::diagnostic::fix::{Applicability, Fix};
use lang::repair::repair;
use lang::source::Span;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionOrCommand, CodeActionParams, CodeActionProviderCapability,
    CodeActionResponse, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit,
    WorkspaceEdit,
};
use std::sync::Arc;

/// The longest replaced text that a title shows, in characters.
const LONGEST_SHOWN: usize = 40;

pub(super) fn capability() -> CodeActionProviderCapability {
    CodeActionProviderCapability::Options(CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
        ..CodeActionOptions::default()
    })
}

pub(super) fn code_actions(
    snapshot: &Snapshot<'_>,
    params: &CodeActionParams,
) -> Result<Option<CodeActionResponse>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let part = document.span(params.range)?;
    let only = params.context.only.as_deref();
    let wants = |kind: &CodeActionKind| only.is_none_or(|only| only.iter().any(|wanted| includes(wanted, kind)));
    let mut found = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        found.extend(quick_fixes(snapshot, &document, part));
    }
    // It takes a check of the text for each pass, so only a client that asks for it gets it.
    if only.is_some() && wants(&CodeActionKind::SOURCE_FIX_ALL) {
        found.extend(fix_all(snapshot, &document));
    }
    Ok(Some(found.into_iter().map(CodeActionOrCommand::CodeAction).collect()))
}

/// Whether a kind is another one or below it: `source` includes `source.fixAll`.
fn includes(wanted: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let rest = kind.as_str().strip_prefix(wanted.as_str());
    wanted.as_str().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn quick_fixes(snapshot: &Snapshot<'_>, document: &Analysis, part: Span) -> Vec<CodeAction> {
    let mut found = Vec::new();
    for diagnostic in &document.diagnostics {
        let Some(label) = diagnostic.labels.first().filter(|label| Arc::ptr_eq(&label.source, document.source()))
        else {
            continue;
        };
        let touches = |span: Span| span.start <= part.end && part.start <= span.end;
        for fix in &diagnostic.fixes {
            // What is missing is often missed elsewhere: `fn f(a {` lacks its `)` before the `{`.
            if !touches(label.span) && !fix.edits.iter().any(|edit| touches(edit.span)) {
                continue;
            }
            let edits = fix
                .edits
                .iter()
                .map(|edit| TextEdit { range: document.range(edit.span), new_text: edit.replacement.clone() });
            found.push(CodeAction {
                title: title(document, diagnostic, fix),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![of_diagnostic(snapshot, document, diagnostic)]),
                edit: Some(edit(snapshot, document, edits.collect())),
                is_preferred: Some(fix.applicability == Applicability::Safe),
                ..CodeAction::default()
            });
        }
    }
    found
}

/// Says what a fix does.
fn title(document: &Analysis, diagnostic: &Diagnostic, fix: &Fix) -> String {
    let is_short = |text: &str| text.chars().count() <= LONGEST_SHOWN && !text.contains('\n');
    if let [edit] = fix.edits.as_slice() {
        let (old, new) = (document.source().slice(edit.span).trim(), edit.replacement.trim());
        if is_short(old) && is_short(new) {
            match (old.is_empty(), new.is_empty()) {
                (false, false) => return format!("Replace `{old}` with `{new}`"),
                (true, false) => return format!("Insert `{new}`"),
                (false, true) => return format!("Remove `{old}`"),
                (true, true) => {}
            }
        }
    }
    let help = diagnostic.help.first().unwrap_or(&diagnostic.message);
    let mut letters = help.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Applies all safe fixes, in passes until nothing more can be fixed.
fn fix_all(snapshot: &Snapshot<'_>, document: &Analysis) -> Option<CodeAction> {
    let is_fixable =
        |diagnostic: &Diagnostic| diagnostic.fixes.iter().any(|fix| fix.applicability == Applicability::Safe);
    if !document.diagnostics.iter().any(is_fixable) {
        return None;
    }
    let repaired = repair(document.source(), Applicability::Safe, |source| snapshot.check(document, source));
    let edits = line_edits(document, repaired.source.text());
    let count = repaired.applied;
    (count > 0).then(|| CodeAction {
        title: if count == 1 { "Fix 1 problem".to_owned() } else { format!("Fix {count} problems") },
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(edit(snapshot, document, edits)),
        ..CodeAction::default()
    })
}

/// Makes the edit of one document, in the form that the client accepts.
fn edit(snapshot: &Snapshot<'_>, document: &Analysis, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let uri = document.uri.clone();
    if snapshot.client().edits_versions() {
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: document.version };
        let edits = edits.into_iter().map(OneOf::Left).collect();
        let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
        return WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() };
    }
    #[allow(clippy::mutable_key_type, reason = "the type of the protocol; the key is not changed")]
    let changes = std::collections::HashMap::from([(uri, edits)]);
    WorkspaceEdit::new(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_includes_those_below_it() {
        let all = CodeActionKind::SOURCE_FIX_ALL;
        assert!(
            includes(&CodeActionKind::SOURCE, &all) && includes(&all, &all) && includes(&CodeActionKind::EMPTY, &all)
        );
        assert!(!includes(&CodeActionKind::from("sour"), &all) && !includes(&CodeActionKind::QUICKFIX, &all));
    }
}

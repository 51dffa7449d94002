//! `textDocument/completion` and `completionItem/resolve`: what can be written at a position.

use super::source_names::DocumentNames;
use crate::error::LspError;
use crate::names::builtin;
use crate::workspace::{Language, Snapshot};
use lang::query::Cursor;
use lang::source::Span;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemLabelDetails, CompletionList, CompletionParams,
    CompletionResponse, CompletionTextEdit, Documentation, InsertTextFormat, MarkupContent, MarkupKind, Range,
    TextEdit,
};
use serde_json::{Value, json};
use stdlib::{Completion, CompletionKind, complete, complete_rhai, describe, project_keys};

/// Snippets for the beginning of a statement: name, description, text.
const SNIPPETS: &[(&str, &str, &str)] = &[
    ("pipeline", "a pipeline", "pipeline ${1:default}(task, context) {\n  $0\n}"),
    (
        "tool",
        "a tool that a model can call",
        "tool ${1:name}(${2:path}: string) -> string {\n  description \"$3\"\n  $0\n}",
    ),
    ("fn", "a function", "fn ${1:name}(${2:value}) {\n  $0\n}"),
    ("test", "a test", "test \"${1:name}\" {\n  $0\n}"),
    ("struct", "a struct", "struct ${1:Name} {\n  ${2:field}: ${3:string}\n}"),
    ("enum", "an enum", "enum ${1:Name} {\n  ${2:Variant}\n}"),
    ("if", "a condition", "if ${1:true} {\n  $0\n}"),
    ("for", "a loop over a collection", "for ${1:item} in ${2:items} {\n  $0\n}"),
    ("while", "a loop with a condition", "while ${1:true} {\n  $0\n}"),
    ("match", "a match of a value", "match ${1:value} {\n  ${2:pattern} -> $0\n}"),
    ("try", "a block with a handler of errors", "try {\n  $1\n} catch (${2:error}) {\n  $0\n}"),
    ("import", "an import", "import {$2} from \"${1:path}\"$0"),
];

pub(super) fn completion(
    snapshot: &Snapshot<'_>,
    params: &CompletionParams,
) -> Result<Option<CompletionResponse>, LspError> {
    let (document, offset) = snapshot.at(&params.text_document_position)?;
    let text = document.text.text();
    let at = offset as usize;
    let (start, found) = match document.language {
        Language::Harn => complete(text, at, &DocumentNames::new(snapshot, &document, offset)),
        Language::Rhai => complete_rhai(text, at),
        Language::Toml if document.is_project_file() => complete_settings(text, at),
        Language::Toml | Language::Markdown => return Ok(None),
    };
    // A word that is searched for finds others when it goes on.
    let written = text.get(start..at).unwrap_or("");
    let is_incomplete = found.iter().any(|completion| completion.alias.as_deref() == Some(written));
    let start = u32::try_from(start).unwrap_or(offset).min(offset);
    let range = document.range(Span::new(start, offset));
    let has_colon = text[at..].trim_start().starts_with(':');
    let mut items: Vec<CompletionItem> =
        found.into_iter().map(|completion| item(completion, range, has_colon)).collect();
    if document.language == Language::Harn && snapshot.client().takes_snippets() && snapshot.settings().snippets {
        items.extend(snippets(text, start as usize, at, range));
    }
    Ok(Some(match is_incomplete {
        true => CompletionResponse::List(CompletionList { is_incomplete, items }),
        false => CompletionResponse::Array(items),
    }))
}

/// Completes `harn.toml`: the head of a table, and its keys. Returns the start of the word with what can replace it.
fn complete_settings(text: &str, at: usize) -> (usize, Vec<Completion>) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let written = before[line..].trim_start();
    let start = at - written.len();
    let completion = |word: &str| Completion::new(CompletionKind::Key, word, "");
    if written.starts_with('[') {
        let heads = project_keys().map(|(table, _)| table).into_iter().filter(|table| table.starts_with('['));
        return (start, heads.map(completion).collect());
    }
    let is_key = written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let head = before[..line].lines().rev().map(str::trim).find(|line| line.starts_with('['));
    let Some(head) = head.filter(|_| is_key) else { return (start, Vec::new()) };
    // Each provider has a table of its own.
    let is_provider = head.starts_with("[providers.");
    let is_of = |table: &str| table == if is_provider { "[providers.NAME]" } else { head };
    let found = project_keys().into_iter().find(|(table, _)| is_of(table));
    let after = text[at..].split('\n').next().unwrap_or("").trim_start();
    let sign = if after.starts_with('=') { "" } else { " = " };
    let keys = found.map_or(&[][..], |(_, keys)| keys);
    (start, keys.iter().map(|key| completion(&format!("{key}{sign}"))).collect())
}

fn item(completion: Completion, range: Range, has_colon: bool) -> CompletionItem {
    let label = completion.text.trim_end().trim_end_matches(':').to_owned();
    let is_option = completion.text.ends_with(": ");
    let new_text = if is_option && has_colon { label.clone() } else { completion.text };
    let doc = MarkupContent { kind: MarkupKind::Markdown, value: completion.doc };
    CompletionItem {
        label: if is_option { label } else { new_text.clone() },
        kind: Some(kind(completion.kind)),
        detail: (!completion.detail.is_empty()).then_some(completion.detail),
        documentation: (!doc.value.is_empty()).then_some(Documentation::MarkupContent(doc)),
        // What is offered for another name comes after what has the name.
        sort_text: Some(format!("{}{new_text}", if completion.alias.is_some() { 5 } else { rank(completion.kind) })),
        label_details: completion
            .alias
            .as_ref()
            .map(|alias| CompletionItemLabelDetails { detail: None, description: Some(alias.clone()) }),
        filter_text: completion.alias,
        data: completion.builtin.map(|(module, name)| json!({"module": module, "name": name})),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, new_text))),
        ..CompletionItem::default()
    }
}

const fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Key => CompletionItemKind::PROPERTY,
        CompletionKind::Field => CompletionItemKind::FIELD,
        CompletionKind::Variant => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Variable => CompletionItemKind::VARIABLE,
        CompletionKind::Function | CompletionKind::Builtin => CompletionItemKind::FUNCTION,
        CompletionKind::Type => CompletionItemKind::STRUCT,
        CompletionKind::Method => CompletionItemKind::METHOD,
        CompletionKind::Namespace => CompletionItemKind::MODULE,
        CompletionKind::Word => CompletionItemKind::CONSTANT,
        CompletionKind::File => CompletionItemKind::FILE,
        CompletionKind::Keyword => CompletionItemKind::KEYWORD,
    }
}

/// Returns the place of a kind in the list: what is nearest to the text first.
const fn rank(kind: CompletionKind) -> u8 {
    match kind {
        CompletionKind::Key | CompletionKind::Field | CompletionKind::Variant | CompletionKind::Word => 0,
        CompletionKind::Variable | CompletionKind::File => 1,
        CompletionKind::Function | CompletionKind::Type => 2,
        CompletionKind::Method | CompletionKind::Builtin | CompletionKind::Namespace => 3,
        CompletionKind::Keyword => 4,
    }
}

fn snippets(text: &str, start: usize, at: usize, range: Range) -> Vec<CompletionItem> {
    let written = &text[start..at];
    if written.is_empty() || !Cursor::of(&text[..at]).begins_statement {
        return Vec::new();
    }
    let fitting = SNIPPETS.iter().filter(|(name, ..)| name.starts_with(written));
    let snippet = |(name, what, body): &(&str, &str, &str)| CompletionItem {
        label: format!("{name} …"),
        filter_text: Some((*name).to_owned()),
        kind: Some(CompletionItemKind::SNIPPET),
        detail: Some((*what).to_owned()),
        sort_text: Some(format!("5{name}")),
        insert_text_format: Some(InsertTextFormat::SNIPPET),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, (*body).to_owned()))),
        ..CompletionItem::default()
    };
    fitting.map(snippet).collect()
}

pub(super) fn resolve(_: &Snapshot<'_>, params: &CompletionItem) -> Result<CompletionItem, LspError> {
    let mut item = params.clone();
    let part = |name: &str| item.data.as_ref().and_then(|data| data.get(name)).and_then(Value::as_str);
    if let (Some(module), Some(name)) = (part("module"), part("name"))
        && let Some(row) = builtin(module, name)
    {
        let doc = MarkupContent { kind: MarkupKind::Markdown, value: describe(row) };
        item.documentation = Some(Documentation::MarkupContent(doc));
    }
    Ok(item)
}

//! Completion of scripts in Rhai. Types are not known there, so a dot is followed by the methods of all of them.

use super::option::OptionShape;
use super::{Completion, CompletionKind, word};
use crate::table::registry;
use lang::builtins::Builtin;
use lang::query::{Cursor, Surrounding};
use std::collections::BTreeSet;

const KEYWORDS: &[&str] = &[
    "as", "break", "catch", "const", "continue", "do", "else", "export", "false", "fn", "for", "if", "import", "in",
    "let", "loop", "private", "return", "switch", "throw", "true", "try", "until", "while",
];

/// Returns the start of the word at a position of a script in Rhai, and what can replace it, sorted.
#[must_use]
pub fn complete_rhai(text: &str, at: usize) -> (usize, Vec<Completion>) {
    let Some(before) = text.get(..at) else { return (at, Vec::new()) };
    let cursor = Cursor::of(&rhai_as_harn(before));
    let written = before.get(cursor.word..).unwrap_or("");
    let mut found = candidates(&cursor, text, before, written);
    found.retain(|completion| completion.text.starts_with(written) && completion.text != written);
    found.sort_by(|a, b| (&a.text, a.kind).cmp(&(&b.text, b.kind)));
    found.dedup_by(|a, b| a.text == b.text);
    (cursor.word, found)
}

/// Returns the builtin whose name is at a span of a script in Rhai.
#[must_use]
pub fn rhai_builtin(text: &str, start: usize, end: usize) -> Option<&'static Builtin> {
    let (before, name) = (text.get(..start)?, text.get(start..end)?);
    if let Some(namespace) = before.strip_suffix("::") {
        let from = namespace.trim_end_matches(is_word).len();
        return registry().find(&namespace[from..], name);
    }
    if before.ends_with('.') {
        return registry().all().find(|row| row.is_method() && row.name == name);
    }
    registry().find("", name)
}

/// Returns a text of the same length in which brackets and calls are those of Harn, for [`Cursor`].
#[must_use]
pub fn rhai_as_harn(text: &str) -> String {
    text.replace("#{", " {").replace("::", " .").replace('`', "\"")
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn candidates(cursor: &Cursor, text: &str, before: &str, written: &str) -> Vec<Completion> {
    if cursor.in_comment {
        return Vec::new();
    }
    if cursor.in_string {
        return word::words(cursor);
    }
    let registry = registry();
    if let Some(namespace) = before[..cursor.word].strip_suffix("::") {
        let start = namespace.trim_end_matches(is_word).len();
        return registry.module(&namespace[start..]).map(Completion::of).collect();
    }
    if before[..cursor.word].ends_with('.') {
        return registry.all().filter(|row| row.is_method()).map(Completion::of).collect();
    }
    if let Some(Surrounding::Dict { key: None, keys, .. }) = cursor.around.first() {
        let mut found = OptionShape::at(cursor).map(|shape| shape.keys()).unwrap_or_default();
        found.retain(|key| !keys.contains(&key.text));
        found.iter_mut().for_each(|key| key.text.push_str(": "));
        if !found.is_empty() {
            return found;
        }
    }
    if written.is_empty() {
        return Vec::new();
    }
    let global = registry.all().filter(|row| row.module.is_empty()).map(Completion::of);
    let of_namespace = registry.all().filter(|row| !row.module.is_empty() && !row.is_method());
    let namespaces =
        of_namespace.map(|row| Completion::new(CompletionKind::Namespace, format!("{}::", row.module), "namespace"));
    let keywords = KEYWORDS.iter().map(|word| Completion::new(CompletionKind::Keyword, *word, "keyword"));
    declared(text).chain(global).chain(namespaces).chain(keywords).collect()
}

/// The names that a text declares, in whatever scope.
fn declared(text: &str) -> impl Iterator<Item = Completion> {
    let mut found = BTreeSet::new();
    let mut words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let kind = match word {
            "let" | "const" | "for" => CompletionKind::Variable,
            "fn" => CompletionKind::Function,
            _ => continue,
        };
        found.extend(words.next().map(|name| (name, kind)));
    }
    found.into_iter().map(|(name, kind)| Completion::new(kind, name, ""))
}

//! Completion of scripts: what can be written at the cursor. It reads text only, so a terminal and an editor can both use it.
//!
//! - [`complete`] for Harn, [`complete_rhai`] for Rhai.
//! - `names`: the [`NameSource`] of the names that a text can use, and that of a session.
//! - `option`: the keys of options, also nested ones.
//! - `word`: strings that are one of a few words, such as the names of events.

mod names;
mod option;
mod rhai;
mod word;

pub use names::{NameSource, ValueMembers};
pub use option::option_at;
pub use rhai::{complete_rhai, rhai_as_harn, rhai_builtin};

use crate::builtin_search::{global_aliases, method_aliases, search_builtins};
use crate::table::registry;
use lang::ast::{AFTER, BEFORE, PROMPT, RESOURCE, RESUMABLE, TEST};
use lang::builtin_type::BUILTIN_TYPES;
use lang::builtins::Builtin;
use lang::lex::token::KEYWORDS;
use lang::query::{Cursor, Surrounding};
use option::OptionShape;

/// Something that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text that replaces the word at the cursor.
    pub text: String,
    /// Kind of what it names.
    pub kind: CompletionKind,
    /// A signature or type; may be empty.
    pub detail: String,
    /// A sentence or two; may be empty.
    pub doc: String,
    /// Namespace and name of the builtin that it is.
    pub builtin: Option<(&'static str, &'static str)>,
    /// Name of another language, or word, for which it is offered.
    pub alias: Option<String>,
}

/// Kinds of what can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A key of a dict or an option.
    Key,
    /// A field of a struct.
    Field,
    /// A variant of an enum.
    Variant,
    /// A variable, parameter or constant.
    Variable,
    /// A function, tool or pipeline of a script.
    Function,
    /// A declared or built-in type.
    Type,
    /// A method.
    Method,
    /// A builtin function.
    Builtin,
    /// A namespace of builtins.
    Namespace,
    /// A word in a string, such as the name of an event.
    Word,
    /// A file or a standard module.
    File,
    /// A reserved word.
    Keyword,
}

impl Completion {
    /// Makes a completion without documentation.
    pub fn new(kind: CompletionKind, text: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { text: text.into(), kind, detail: detail.into(), doc: String::new(), builtin: None, alias: None }
    }

    /// Returns the completion as one that is offered for another name.
    fn offered_for(self, alias: &str) -> Self {
        Self { alias: Some(alias.to_owned()), ..self }
    }

    /// Makes the completion of a builtin. Its documentation is that of its row, [`describe`].
    #[must_use]
    pub fn of(row: &Builtin) -> Self {
        let kind = if row.is_method() { CompletionKind::Method } else { CompletionKind::Builtin };
        Self { builtin: Some((row.module, row.name)), ..Self::new(kind, row.name, row.sig) }
    }
}

/// Returns the documentation of a builtin, the capabilities that it needs, and its example as a block of Markdown.
#[must_use]
pub fn describe(row: &Builtin) -> String {
    let mut text = row.summary().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    if !row.caps.is_empty() {
        let capabilities: Vec<String> = row.caps.iter().map(|right| format!("`{}`", right.name())).collect();
        text.push_str(&format!("\nRequires the capability {}.", capabilities.join(", ")));
    }
    if let Some(lines) = row.example() {
        text.push_str(&format!("\n\n```harn\n{}\n```", lines.collect::<Vec<_>>().join("\n")));
    }
    text
}

/// Returns the start of the word at a position, and what can replace it, sorted.
#[must_use]
pub fn complete(text: &str, at: usize, names: &dyn NameSource) -> (usize, Vec<Completion>) {
    let Some(before) = text.get(..at) else { return (at, Vec::new()) };
    let cursor = Cursor::of(before);
    let written = before.get(cursor.word..).unwrap_or("");
    let mut found = candidates(&cursor, before, written, names);
    found.retain(|completion| completion.alias.as_ref().unwrap_or(&completion.text).starts_with(written));
    found.sort_by(|a, b| (&a.text, &a.alias, a.kind).cmp(&(&b.text, &b.alias, b.kind)));
    found.dedup_by(|a, b| a.text == b.text);
    (cursor.word, found)
}

fn candidates(cursor: &Cursor, before: &str, written: &str, names: &dyn NameSource) -> Vec<Completion> {
    if cursor.in_comment {
        return Vec::new();
    }
    if cursor.in_import {
        return if cursor.in_string { names.files(written) } else { names.exported() };
    }
    if cursor.in_string {
        return word::words(cursor);
    }
    if let Some(receiver) = before[..cursor.word].strip_suffix("?.").or_else(|| before[..cursor.word].strip_suffix('.'))
    {
        let mut found = members(receiver, names);
        if names.offers_aliases() && written.len() >= SHORTEST_ALIAS {
            let more: Vec<Completion> = method_aliases(written).filter_map(|alias| meant_by(alias, &found)).collect();
            found.extend(more);
        }
        return found;
    }
    if let Some(Surrounding::Dict { key: None, keys, name }) = cursor.around.first() {
        let mut found = match name {
            Some(name) => names.fields(name),
            None => OptionShape::at(cursor).map(|shape| shape.keys()).unwrap_or_default(),
        };
        found.retain(|key| !keys.contains(&key.text));
        found.iter_mut().for_each(|key| key.text.push_str(": "));
        if !found.is_empty() {
            return found;
        }
    }
    if cursor.before == "@" {
        let attributes = [RESUMABLE, TEST, BEFORE, AFTER, RESOURCE, PROMPT, "deprecated"];
        return attributes.map(|name| Completion::new(CompletionKind::Keyword, name, "attribute")).to_vec();
    }
    if written.is_empty() && !names.completes_empty() {
        return Vec::new();
    }
    let mut found = all_names(cursor, written, names);
    if names.offers_aliases() && written.len() >= SHORTEST_ALIAS && !may_be_type(cursor) {
        found.extend(aliases(written, &found));
    }
    found
}

/// Whether a type may be at the cursor.
fn may_be_type(cursor: &Cursor) -> bool {
    matches!(cursor.before.as_str(), ":" | "->" | "<" | "|")
}

/// Returns the member that a method of another language means.
fn meant_by((alias, names): (&str, &[&str]), found: &[Completion]) -> Option<Completion> {
    let member = |name: &&str| found.iter().find(|completion| completion.text == *name);
    names.iter().find_map(member).map(|member| member.clone().offered_for(alias))
}

/// The fewest letters for which names of other languages are offered.
const SHORTEST_ALIAS: usize = 2;
/// The fewest letters of a word that is searched for in the texts of builtins.
const SHORTEST_SEARCHED: usize = 4;
/// The most builtins that are offered for a word.
const MAX_SEARCHED: usize = 5;

/// Builtins that are offered for a name of another language; if a word is the beginning of no name at all, those whose texts it
/// fits, as `harn doc WORD` lists them.
fn aliases(written: &str, found: &[Completion]) -> Vec<Completion> {
    let mut more: Vec<Completion> =
        global_aliases(written).map(|(alias, row)| Completion::of(row).offered_for(alias)).collect();
    let is_known = more.len() + found.iter().filter(|completion| completion.text.starts_with(written)).count() > 0;
    if !is_known && written.len() >= SHORTEST_SEARCHED {
        let rows = search_builtins(written).into_iter().take(MAX_SEARCHED);
        more.extend(rows.map(|row| Completion::of(row).offered_for(written)));
    }
    more
}

fn all_names(cursor: &Cursor, written: &str, names: &dyn NameSource) -> Vec<Completion> {
    let registry = registry();
    let rows = || registry.all().filter(|row| !row.is_method());
    let global = rows().filter(|row| row.module.is_empty() && row.name.starts_with(written)).map(Completion::of);
    let of_namespace = rows().filter(|row| !row.module.is_empty() && row.module.starts_with(written));
    let namespaces = of_namespace.map(|row| Completion::new(CompletionKind::Namespace, row.module, "namespace"));
    let keywords = KEYWORDS.iter().map(|word| Completion::new(CompletionKind::Keyword, *word, "keyword"));
    let mut found: Vec<Completion> =
        names.bound(written).into_iter().chain(global).chain(namespaces).chain(keywords).collect();
    if may_be_type(cursor) {
        let builtin = BUILTIN_TYPES.iter().map(|row| row.name).chain(registry.types().iter().copied());
        found.extend(builtin.map(|name| Completion::new(CompletionKind::Type, name, "type")));
    }
    found
}

/// Returns the path of names at the end of a text, such as `answer.usage`; empty if there is none.
pub(crate) fn path_before(text: &str) -> &str {
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    &text[text.trim_end_matches(is_of_path).len()..]
}

/// The members of what is before a dot.
fn members(receiver: &str, names: &dyn NameSource) -> Vec<Completion> {
    let known = names.members(receiver).or_else(|| {
        let of = |name: &str| Some(ValueMembers { types: vec![name.to_owned()], keys: Vec::new() });
        match receiver.chars().next_back() {
            Some('"') => of("string"),
            Some(']') => of("list"),
            Some('}') => of("dict"),
            _ => None,
        }
    });
    let registry = registry();
    let Some(known) = known else {
        return registry.module(path_before(receiver)).map(Completion::of).collect();
    };
    let modules: Vec<String> = known.types.iter().map(|name| format!("<{name}>")).collect();
    let rows = modules.iter().flat_map(|module| registry.module(module)).map(Completion::of);
    known.keys.into_iter().chain(rows).collect()
}

#[cfg(test)]
mod tests;

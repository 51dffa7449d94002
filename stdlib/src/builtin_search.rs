//! Builtins by what people write: words, and names of other languages. `harn doc`, the REPL and editors ask here.

use crate::table::builtins;
use crate::word_search::{SearchText, Synonyms, nearest_word, rank};
use lang::builtins::Builtin;
use lang::{globals_elsewhere, methods_elsewhere, name_elsewhere};

/// Words that people search for, each with a word of the texts.
const SYNONYMS: Synonyms = &[
    ("average", "mean"),
    ("ask", "asks"),
    ("check", "whether"),
    ("command", "program"),
    ("convert", "parses"),
    ("current", "present"),
    ("datetime", "date"),
    ("delete", "removes"),
    ("dictionary", "dict"),
    ("directory", "folder"),
    ("directories", "folder"),
    ("download", "http"),
    ("duplicates", "unique"),
    ("environment", "env"),
    ("execute", "exec"),
    ("fetch", "http"),
    ("hash", "sha256"),
    ("html", "html"),
    ("json", "json"),
    ("length", "number"),
    ("llm", "model"),
    ("lowercase", "lower"),
    ("map", "dict"),
    ("merge", "deep_merge"),
    ("mkdir", "make_dir"),
    ("object", "dict"),
    ("pause", "sleep"),
    ("print", "println"),
    ("process", "program"),
    ("random", "random"),
    ("regex", "regex"),
    ("regexp", "regex"),
    ("rm", "remove"),
    ("run", "exec"),
    ("shell", "program"),
    ("string", "text"),
    ("substring", "part"),
    ("time", "moment"),
    ("timestamp", "moment"),
    ("today", "today"),
    ("uppercase", "upper"),
    ("wait", "sleep"),
];

/// Words that describe a builtin beside its name, for builtins whose name alone is rarely thought of.
const MORE_WORDS: &[(&str, &str)] = &[
    ("exec", "run a command or program"),
    ("now", "current time clock"),
    ("render", "fill a template"),
    ("round_to", "round a number to digits"),
    ("llm_call", "ask a model once"),
];

/// Returns the builtins that fit words, the best first.
#[must_use]
pub fn search_builtins(topic: &str) -> Vec<&'static Builtin> {
    let rows = rows();
    // An underscore joins the words of a name, and a dot follows a namespace.
    let topic = topic.replace(['_', '.'], " ").to_lowercase();
    let mut found: Vec<_> = rank(&topic, &texts(&rows), SYNONYMS).into_iter().map(|at| rows[at]).collect();
    // A name that consists of the words comes before texts that contain them.
    let is_named = |row: &Builtin| row.name.split('_').all(|part| topic.split_whitespace().any(|word| word == part));
    // Other agents are asked for by their protocol.
    let is_meant = |row: &Builtin| !is_remote(row) || topic.contains(row.module);
    found.sort_by_key(|row| (!is_named(row), !is_meant(row)));
    found
}

/// Whether a builtin is one of another agent or of a server.
fn is_remote(row: &Builtin) -> bool {
    matches!(row.module, "a2a" | "hub" | "mcp" | "channel")
}

/// The builtins: functions before methods, those of other agents last, and short names before long ones.
fn rows() -> Vec<&'static Builtin> {
    let mut rows: Vec<_> = builtins().collect();
    rows.sort_by_key(|row| (row.is_method(), is_remote(row), row.name.len(), row.full_name()));
    rows
}

fn texts(rows: &[&'static Builtin]) -> Vec<SearchText> {
    let text = |row: &&'static Builtin| SearchText {
        head: {
            let more = MORE_WORDS.iter().find(|(name, _)| *name == row.full_name()).map_or("", |(_, words)| words);
            format!("{} {more}", row.full_name().replace(['_', '.'], " ")).to_lowercase()
        },
        body: row.summary().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
        script: row.example().map_or_else(String::new, |lines| lines.collect::<Vec<_>>().join(" ").to_lowercase()),
    };
    rows.iter().map(text).collect()
}

/// Returns the word of names and texts that a misspelt one of the topic probably means.
#[must_use]
pub fn nearest_builtin_word(topic: &str) -> Option<String> {
    nearest_word(topic, &texts(&rows()))
}

/// Returns the advice for a name of another language, and the builtins that it names.
#[must_use]
pub fn builtins_elsewhere(name: &str) -> Option<(&'static str, Vec<&'static Builtin>)> {
    let help = name_elsewhere(name.trim_end_matches("()"))?;
    Some((help, named_in(help)))
}

/// Returns the global names of other languages that begin with `start`, each with a builtin that is written instead.
pub(crate) fn global_aliases(start: &str) -> impl Iterator<Item = (&'static str, &'static Builtin)> {
    let functions = |help| named_in(help).into_iter().find(|row| !row.is_method());
    globals_elsewhere(start).filter_map(move |(alias, help)| Some((alias, functions(help)?)))
}

/// Returns the methods of other languages that begin with `start`, each with the names of the methods that may be meant.
pub(crate) fn method_aliases(start: &str) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    methods_elsewhere(start)
}

/// Returns the builtins that an advice names in its code.
fn named_in(help: &'static str) -> Vec<&'static Builtin> {
    let quoted = help.split('`').skip(1).step_by(2);
    let name = |code: &'static str| code.split('(').next().map(|name| name.rsplit('.').next().unwrap_or(name));
    let mut found: Vec<&'static Builtin> = Vec::new();
    for name in quoted.filter_map(name) {
        found.extend(builtins().filter(|row| row.name == name));
    }
    found
}

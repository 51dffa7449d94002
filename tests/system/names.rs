//! Names of types are unique in their crate, and doc comments begin with a verb or a noun phrase.

use crate::harn::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose type names are unique, with their sources.
const UNIQUE: &[&str] = &[
    "a2a/src",
    "cli",
    "embed",
    "fmt/src",
    "json/src",
    "jsonrpc/src",
    "lang/src",
    "lsp/src",
    "hub/src",
    "mcp/src",
    "providers/src",
    "runtime/src",
    "serve/src",
    "stdlib/src",
    "testing/src",
];

/// The sources whose doc comments are held. Tests and benches are several crates, so their types may share names.
const WORDED: &[&str] = &[
    "a2a/src",
    "base",
    "benches",
    "cli",
    "embed",
    "eventlog",
    "fmt",
    "fuzz",
    "json/src",
    "jsonrpc/src",
    "lang",
    "lsp/src",
    "hub/src",
    "mcp/src",
    "providers/src",
    "runtime",
    "serve/src",
    "stdlib/src",
    "telemetry/src",
    "testing/src",
    "tests",
];

/// Words that no doc comment begins with: an item's comment says what the item does or is, not what something else is.
const FORBIDDEN: [&str; 13] =
    ["As", "How", "Nobody", "Of", "That", "The same", "Those", "What", "Where", "Which", "Who", "Whoever", "Whose"];

/// Returns the Rust files below a folder, build output left out.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the names of the types that a source defines, with their lines. An indented `type` belongs to a trait.
fn types(source: &str) -> Vec<(usize, String)> {
    let name_of = |line: &str| {
        let is_indented = line.starts_with(' ');
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
            Some(rest) => rest.trim_start(),
            None => line,
        };
        let (keyword, rest) = line.split_once(' ')?;
        let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union") || keyword == "type" && !is_indented;
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (is_type && !name.is_empty()).then_some(name)
    };
    source.lines().enumerate().filter_map(|(at, line)| Some((at + 1, name_of(line)?))).collect()
}

/// Returns the places of each type name that is defined more than once.
fn duplicates<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, source) in sources {
        for (line, name) in types(source) {
            places.entry(name).or_default().push(format!("{file}:{line}"));
        }
    }
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    several.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

/// Returns the paragraphs of doc comments that begin with a forbidden word. Help texts of the command end without a full stop
/// and are held by other tests.
fn misworded(source: &str) -> Vec<usize> {
    let comment = |line: &'_ str| {
        let line = line.trim_start();
        ["///", "//!"].into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?.trim().to_owned())))
    };
    let lines: Vec<_> = source.lines().map(comment).collect();
    let begins = |at: usize| {
        let (mark, text) = lines[at].as_ref()?;
        let before = at.checked_sub(1).and_then(|before| lines[before].as_ref());
        let is_first = before.is_none_or(|(of, text)| of != mark || text.is_empty() || text.starts_with('#'));
        let paragraph =
            lines[at..].iter().map_while(Option::as_ref).take_while(|(of, text)| of == mark && !text.is_empty());
        let is_sentence = paragraph.last().is_some_and(|(_, text)| text.ends_with(['.', ':']));
        let word = FORBIDDEN.iter().find(|word| {
            text.strip_prefix(**word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        });
        (is_first && is_sentence && word.is_some()).then_some(at + 1)
    };
    (0..lines.len()).filter_map(begins).collect()
}

fn read(path: &Path) -> (String, String) {
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    (name, fs::read_to_string(path).unwrap())
}

#[test]
fn type_names_are_unique_in_their_crate() {
    for folder in UNIQUE {
        let sources: Vec<_> = sources(&root().join(folder)).iter().map(|path| read(path)).collect();
        assert!(!sources.is_empty(), "{folder}");
        let found = duplicates(sources.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        assert!(found.is_empty(), "types that share a name:\n{}", found.join("\n"));
    }
}

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun_phrase() {
    let mut found = Vec::new();
    for path in WORDED.iter().flat_map(|folder| sources(&root().join(folder))) {
        let (name, text) = read(&path);
        found.extend(misworded(&text).into_iter().map(|line| format!("{name}:{line}")));
    }
    assert!(found.is_empty(), "doc comments that begin with one of {FORBIDDEN:?}:\n{}", found.join("\n"));
}

#[test]
fn duplicates_and_forbidden_words_are_found() {
    let one = "pub(crate) struct Place {\n}\n\nimpl Iterator for Place {\n    type Item = u8;\n}\n\nenum Kind {}\n";
    let other =
        "mod tests {\n    struct Place;\n}\n\npub type Kind = u8;\n\nimpl Iterator for X {\n    type Item = u8;\n}\n";
    assert_eq!(duplicates([("a.rs", one), ("b.rs", other)]), ["Kind: a.rs:8, b.rs:5", "Place: a.rs:1, b.rs:2"]);
    assert!(duplicates([("a.rs", one)]).is_empty());

    let text = "//! What a file\n//! holds.\n\n/// Returns a path.\n///\n/// # Errors\n/// Those of\n/// What follows.\nfn f() {}\n\
                /// How many.\nfn g() {}\n/// The samples.\n/// Asks.\n/// How many threads run [default: 8]\nfn h() {}\n\
                /// How many threads run [default: 8]\nfield: u8,\n// What a plain comment says.\n";
    assert_eq!(misworded(text), [1, 7, 10]);
}

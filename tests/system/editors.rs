//! `editors`: the queries of Helix and Zed are those of the tree-sitter grammar with the names that these editors use, and
//! the snippets of the extension for Visual Studio Code are well-formed scripts. `UPDATE=1` writes the queries.

use crate::diff::diff;
use crate::harn::root;
use lang::source::Source;
use serde_json::Value;
use std::fs;

/// The names of captures in an editor, where they differ from those of the grammar.
type Captures = &'static [(&'static str, &'static str)];

const HELIX: Captures = &[
    ("boolean", "constant.builtin.boolean"),
    ("comment.documentation", "comment.block.documentation"),
    ("function.call", "function"),
    ("function.method.call", "function.method"),
    ("keyword.conditional", "keyword.control.conditional"),
    ("keyword.coroutine", "keyword.control"),
    ("keyword.exception", "keyword.control.exception"),
    ("keyword.import", "keyword.control.import"),
    ("keyword.repeat", "keyword.control.repeat"),
    ("keyword.return", "keyword.control.return"),
    ("keyword.type", "keyword.storage.type"),
    ("none", "variable"),
    ("number", "constant.numeric.integer"),
    ("number.float", "constant.numeric.float"),
    ("property", "variable.other.member"),
    ("string.escape", "constant.character.escape"),
];

const ZED: Captures = &[
    ("comment.documentation", "comment.doc"),
    ("constant.builtin", "constant"),
    ("none", "embedded"),
    ("number.float", "number"),
    ("variable.builtin", "variable.special"),
];

/// The files that are made from a query of the grammar.
const MADE: &[(&str, &str, Captures)] = &[
    ("highlights", "helix/queries/highlights.scm", HELIX),
    ("highlights", "zed/languages/harn/highlights.scm", ZED),
    ("injections", "zed/languages/harn/injections.scm", &[]),
];

#[test]
fn the_queries_of_the_editors_are_made_of_those_of_the_grammar() {
    let editors = root().join("editors");
    for (query, file, captures) in MADE {
        let source = format!("tree-sitter-harn/queries/{query}.scm");
        let text = fs::read_to_string(editors.join(&source)).unwrap();
        let wanted = format!(
            "; Made of editors/{source} by `UPDATE=1 cargo test --test system editors`.\n\n{}",
            renamed(&text, captures)
        );
        let path = editors.join(file);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &wanted).unwrap();
        }
        assert_eq!(diff(&wanted, &fs::read_to_string(path).unwrap()), None, "editors/{file}");
    }
}

/// A query whose captures have the names of an editor.
fn renamed(query: &str, captures: Captures) -> String {
    let mut parts = query.split('@');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(part.len());
        let (name, after) = part.split_at(end);
        let name = captures.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs);
        text += &format!("@{name}{after}");
    }
    text
}

#[test]
fn every_snippet_of_the_extension_is_a_script() {
    let path = root().join("editors/vscode/snippets/harn.json");
    let snippets: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (name, snippet) in snippets.as_object().unwrap() {
        let lines: Vec<_> = snippet["body"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let text = expanded(&lines.join("\n"));
        let parsed = lang::parse::parse(&Source::new(name, &*text));
        assert!(parsed.is_ok(), "{name}:\n{text}\n{:?}", parsed.diagnostics);
    }
}

/// A snippet with its first choices, `${1:name}` and `${1|a,b|}`, and without its empty places, `$1`.
fn expanded(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(inside) = after.strip_prefix('{') {
            let (place, after) = inside.split_once('}').unwrap();
            let value = place.trim_start_matches(|c: char| c.is_ascii_digit());
            let choices = value.strip_prefix('|').and_then(|value| value.split(',').next());
            text.push_str(choices.unwrap_or_else(|| value.trim_start_matches(':')));
            rest = after;
        } else {
            rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    text + rest
}

//! Texts that people and models read use plain words: string literals (messages, `--help`) and Markdown do not contain the
//! phrases that `CONTRIBUTING.md` replaces.

use crate::borders::sources;
use crate::docs::pages;
use crate::harn::root;
use std::fs;
use std::path::Path;

/// The sources, tests left out.
const FOLDERS: &[&str] = &[
    "a2a/src",
    "base/src",
    "cli",
    "embed",
    "eventlog/src",
    "jsonrpc/src",
    "lang/src",
    "mcp/src",
    "providers/src",
    "runtime/src",
    "serve/src",
    "stdlib/src",
];

/// Phrases that no text contains, each with its replacement.
const PHRASES: &[(&str, &str)] = &[
    ("is no ", "is not a …, unknown …, … not found"),
    ("that there is not", "unknown …, … not found"),
    ("that there are not", "unknown …, … not found"),
    ("nobody", "the caller, no client, no subscriber"),
    ("somebody", "the caller, a client, a task"),
    ("whoever", "the caller, a client, a script that"),
    ("is told of", "gets, is notified, reports"),
    ("are told of", "get, are notified, report"),
    ("of one's own", "your own, separate, custom"),
    ("at fault", "invalid"),
];

/// Texts that may contain one of the phrases: the file, a part of the text, and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[("CONTRIBUTING.md", "", "its glossary quotes the phrases")];

/// Returns where the tests at the end of a Rust file begin.
pub(crate) fn tests_at_end(source: &str) -> Option<usize> {
    source.find("#[cfg(test)]\nmod ").filter(|at| source[*at..].lines().nth(1).unwrap_or("").ends_with('{'))
}

/// The string literals of a Rust file up to the tests at its end, with the number of the line where each begins.
fn literals(source: &str) -> Vec<(usize, String)> {
    parts(&source[..tests_at_end(source).unwrap_or(source.len())]).1
}

/// Returns the code of a Rust file without its comments and literals, line by line, and the string literals with the number of
/// the line where each begins.
pub(crate) fn parts(source: &str) -> (String, Vec<(usize, String)>) {
    let text: Vec<char> = source.chars().collect();
    let starts = |at: usize, part: &str| part.chars().enumerate().all(|(i, c)| text.get(at + i) == Some(&c));
    let (mut code, mut found, mut at, mut line) = (String::new(), Vec::new(), 0, 1);
    while at < text.len() {
        let begins_word = at == 0 || !(text[at - 1].is_alphanumeric() || text[at - 1] == '_');
        let hashes = text[at..].iter().skip(1).take_while(|c| **c == '#').count();
        if starts(at, "//") {
            at += text[at..].iter().take_while(|c| **c != '\n').count();
        } else if text[at] == 'r' && begins_word && text.get(at + 1 + hashes) == Some(&'"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let (begin, first) = (at + hashes + 2, line);
            at = (begin..text.len()).find(|i| starts(*i, &close)).unwrap_or(text.len());
            let literal: String = text[begin..at].iter().collect();
            line += literal.matches('\n').count();
            found.push((first, literal));
            at += close.len();
        } else if text[at] == '"' {
            let (mut literal, first) = (String::new(), line);
            at += 1;
            while at < text.len() && text[at] != '"' {
                if text[at] == '\\' && text.get(at + 1) == Some(&'\n') {
                    at += 1 + text[at + 1..]
                        .iter()
                        .take_while(|c| c.is_whitespace())
                        .inspect(|c| line += usize::from(**c == '\n'))
                        .count();
                    continue;
                }
                let length = 1 + usize::from(text[at] == '\\');
                line += usize::from(text[at] == '\n');
                literal.extend(text[at..].iter().take(length));
                at += length;
            }
            found.push((first, literal));
            at += 1;
        } else if text[at] == '\'' && (starts(at + 1, "\\") || text.get(at + 2) == Some(&'\'')) {
            let escaped = usize::from(text[at + 1] == '\\');
            at += 2 + escaped;
            at += text[at..].iter().take_while(|c| **c != '\'').count() + 1;
        } else {
            code.push(text[at]);
            line += usize::from(text[at] == '\n');
            at += 1;
            continue;
        }
        // The code keeps the lines of the literals.
        code.extend(std::iter::repeat_n('\n', line - 1 - code.matches('\n').count()));
    }
    (code, found)
}

/// The paragraphs, list items, headings and table cells of a page without its blocks and spans of code, with the number of the
/// line where each begins.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_code, mut is_new) = (false, true);
    for (i, line) in page.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            (is_code, is_new) = (!is_code, true);
        } else if is_code || trimmed.is_empty() {
            is_new = true;
        } else if let Some(cells) = trimmed.strip_prefix("| ") {
            found.extend(cells.split(" | ").map(|cell| (i + 1, cell.trim_end_matches(" |").to_owned())));
            is_new = true;
        } else if is_new || trimmed.starts_with("- ") || trimmed.starts_with('#') {
            found.push((i + 1, trimmed.trim_start_matches("- ").to_owned()));
            is_new = trimmed.starts_with('#');
        } else if let Some((_, text)) = found.last_mut() {
            text.push(' ');
            text.push_str(trimmed);
        }
    }
    for (_, text) in &mut found {
        *text = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    }
    found
}

/// The first phrase of a text that has a plainer word, with that word.
fn refused(text: &str) -> Option<(String, &'static str)> {
    let lower = text.to_lowercase();
    for (phrase, plain) in PHRASES {
        let hit = lower.match_indices(phrase).find(|(at, _)| {
            let before = &lower[..*at];
            let is_word = !before.ends_with(|c: char| c.is_alphanumeric());
            let is_longer = lower[*at..].starts_with("is no longer");
            let is_plain =
                *phrase == "is no " && (is_longer || (before.ends_with("there ") && before.trim() != "there"));
            is_word && !is_plain
        });
        if hit.is_some() {
            return Some(((*phrase).to_owned(), plain));
        }
    }
    // "What it threw is no data." has a clause as its subject. Questions, and headings without a full stop, are fine.
    let sentences = text.split_inclusive(['.', '?', '!', ':', ';']);
    let clause = sentences.map(str::trim).find(|sentence| sentence.starts_with("What ") && sentence.ends_with('.'));
    clause.map(|sentence| (sentence.to_owned(), "begin with the subject"))
}

fn check(file: &Path, texts: Vec<(usize, String)>, wrong: &mut Vec<String>) {
    let name = file.display().to_string();
    for (line, text) in texts {
        let is_allowed = ALLOWED.iter().any(|(allowed, part, _)| name == *allowed && text.contains(part));
        if let Some((phrase, plain)) = refused(&text).filter(|_| !is_allowed) {
            wrong.push(format!("{name}:{line}: `{phrase}`: {plain}"));
        }
    }
}

#[test]
fn messages_and_help_are_in_plain_words() {
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        let is_test = |file: &Path| {
            let mut parts = file.strip_prefix(root()).unwrap().components();
            parts.any(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs").ends_with("tests"))
        };
        for file in files.iter().filter(|file| !is_test(file)) {
            let name = file.strip_prefix(root()).unwrap();
            check(name, literals(&fs::read_to_string(file).unwrap()), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pages_are_in_plain_words() {
    let mut wrong = Vec::new();
    for page in pages() {
        check(&page, prose(&fs::read_to_string(root().join(&page)).unwrap()), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_finds_what_it_looks_for() {
    for text in [
        "the body is no JSON",
        "there is no method `x`",
        "a method that there is not",
        "nobody is there who could give it",
        "Whoever loads it is refused.",
        "a provider of one's own",
        "`x` is at fault",
        "The log is whole. What was not written is kept.",
    ] {
        assert!(refused(text).is_some(), "{text}");
    }
    for text in [
        "the file is no longer open",
        "If there is no key, the mock answers.",
        "What now?",
        "default",
        "What is trusted",
    ] {
        assert_eq!(refused(text), None, "{text}");
    }
    let source =
        "// a \"comment\"\nlet a = ('\"', 'x', r#\"raw \"one\"\"#, \"two \\\n    \\\"words\\\"\", \"three\");\n";
    assert_eq!(
        literals(source),
        [(2, "raw \"one\"".to_owned()), (2, "two \\\"words\\\"".to_owned()), (3, "three".to_owned())]
    );
    let page = "# Title\n\nOne\ntwo `is no code`.\n\n```text\nnobody\n```\n\n| a | b |\n- item\n  more\n";
    let texts: Vec<String> = prose(page).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["# Title", "One two `.", "a", "b", "item more"]);
}

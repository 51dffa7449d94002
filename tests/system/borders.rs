//! Allowed imports between crates, and allowed places of the words `ariadne` and `unsafe`.

use crate::harn::root;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// Our crates, where their manifests are, and which of ours each may import.
const BORDERS: &[(&str, &str, &[&str])] = &[
    ("base", "base/Cargo.toml", &["json"]),
    ("eventlog", "eventlog/Cargo.toml", &["base"]),
    ("a2a", "a2a/Cargo.toml", &["base", "eventlog", "runtime"]),
    ("json", "json/Cargo.toml", &[]),
    ("jsonrpc", "jsonrpc/Cargo.toml", &["json"]),
    ("mcp", "mcp/Cargo.toml", &["base", "jsonrpc", "runtime", "providers"]),
    ("lang", "lang/Cargo.toml", &["json"]),
    ("fmt", "fmt/Cargo.toml", &["lang"]),
    ("runtime", "runtime/Cargo.toml", &["base", "eventlog", "json"]),
    ("providers", "providers/Cargo.toml", &["base", "eventlog", "json", "runtime"]),
    (
        "stdlib",
        "stdlib/Cargo.toml",
        &["a2a", "base", "eventlog", "hub", "json", "jsonrpc", "mcp", "lang", "runtime", "providers"],
    ),
    ("serve", "serve/Cargo.toml", &["a2a", "base", "eventlog", "hub", "json", "jsonrpc", "mcp", "stdlib", "runtime"]),
    ("telemetry", "telemetry/Cargo.toml", &["base", "eventlog", "runtime", "providers"]),
    ("testing", "testing/Cargo.toml", &["base", "eventlog", "runtime", "stdlib"]),
    ("lsp", "lsp/Cargo.toml", &["fmt", "json", "jsonrpc", "lang", "stdlib"]),
    ("hub", "hub/Cargo.toml", &["base", "eventlog", "runtime"]),
    (
        "cli",
        "cli/Cargo.toml",
        &["base", "eventlog", "fmt", "hub", "lang", "lsp", "runtime", "stdlib", "serve", "telemetry", "testing"],
    ),
    (
        "harn",
        "Cargo.toml",
        &[
            "a2a",
            "base",
            "eventlog",
            "fmt",
            "hub",
            "lang",
            "lsp",
            "mcp",
            "runtime",
            "providers",
            "stdlib",
            "serve",
            "cli",
        ],
    ),
];

/// Words of the source and the only places that may hold them.
const WORDS: &[(&str, &[&str])] = &[
    ("ariadne", &["lang/src/diagnostic/draw.rs", "lang/src/diagnostic/draw/"]),
    // The parser's input implements a trait of chumsky whose functions are declared so; it holds no such block. The steps of a
    // child process between `fork` and `exec` can be given in no other way. A fix that needs a review is called so.
    (
        "unsafe",
        &[
            "lang/src/vm/",
            "lang/src/value/",
            "lang/src/parse/input.rs",
            "lang/src/diagnostic/fix.rs",
            "stdlib/src/before_exec.rs",
        ],
    ),
];

/// Text that the sources of the language must not contain, because the crates above know it: flags of the command, its
/// settings, and builtins of agents whose names the tables of [`AGENT_TABLES`] do not show.
const ABOVE_THE_LANGUAGE: &[&str] =
    &["--max-", "--timeout", "--fuel", "--deny", "harn.toml", "event_log", "transcript"];

/// The tables of agent builtins in `stdlib/src/table`.
const AGENT_TABLES: &[&str] = &[
    "agent_loop.rs",
    "audit.rs",
    "bridge.rs",
    "compact.rs",
    "fact.rs",
    "hook.rs",
    "llm.rs",
    "persona.rs",
    "provider.rs",
    "session.rs",
    "transcript.rs",
    "transcripts.rs",
    "workers.rs",
];

/// Returns the names of the builtins in a table. Names of a single word are left out, because comments use them too.
fn builtins(table: &str) -> Vec<String> {
    let name = |line: &str| {
        let (kind, signature) = line.trim_start().split_once(" \"")?;
        let (name, _) = signature.split_once('(')?;
        let is_row = kind.chars().all(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_row && name.contains('_')).then(|| name.to_owned())
    };
    table.lines().filter_map(name).collect()
}

/// Returns the lines of a source of the language, comments included, that contain one of the texts.
fn lines_that_know(texts: &[String], source: &str) -> Vec<usize> {
    let knows = |line: &str| texts.iter().any(|text| line.contains(text.as_str()));
    source.lines().enumerate().filter(|(_, line)| knows(line)).map(|(i, _)| i + 1).collect()
}

/// The crates of ours that a manifest imports and may not.
fn trespasses(manifest: &str, allowed: &[&str]) -> Vec<String> {
    let manifest: Table = manifest.parse().unwrap();
    let mut found = Vec::new();
    for table in dependency_tables(&manifest) {
        for (key, value) in table {
            // `alias = { package = "lang", … }` imports lang.
            let name = value.get("package").and_then(|package| package.as_str()).unwrap_or(key);
            let ours = BORDERS.iter().any(|(known, ..)| *known == name);
            if ours && !allowed.contains(&name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Dependencies of every kind, those of a single platform too.
fn dependency_tables(manifest: &Table) -> Vec<&Table> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let platforms = manifest.get("target").and_then(|t| t.as_table()).into_iter().flat_map(Table::values);
    let holders = std::iter::once(manifest).chain(platforms.filter_map(|platform| platform.as_table()));
    holders.flat_map(|holder| kinds.iter().filter_map(|kind| holder.get(*kind)?.as_table())).collect()
}

/// Returns the line numbers of code, without comments, that contain a word.
fn lines_with(word: &str, source: &str) -> Vec<usize> {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let names_it =
        |line: &str| line.split("//").next().unwrap_or("").split(|c| !part_of_name(c)).any(|name| name == word);
    source.lines().enumerate().filter(|(_, line)| names_it(line)).map(|(i, _)| i + 1).collect()
}

/// The Rust files of a folder.
pub(crate) fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn crates_import_only_those_they_may() {
    for (name, manifest, allowed) in BORDERS {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        assert_eq!(text.parse::<Table>().unwrap()["package"]["name"].as_str(), Some(*name));
        assert_eq!(trespasses(&text, allowed), Vec::<String>::new(), "{name} imports what it may not");
    }
}

#[test]
fn every_member_of_the_workspace_has_a_border() {
    let manifest: Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    for member in manifest["workspace"]["members"].as_array().unwrap() {
        let path = format!("{}/Cargo.toml", member.as_str().unwrap());
        assert!(BORDERS.iter().any(|(_, known, _)| *known == path), "{path} is not in BORDERS");
    }
}

#[test]
fn two_words_stay_where_they_are() {
    let mut files = Vec::new();
    for folder in [
        "a2a/src",
        "jsonrpc/src",
        "lang/src",
        "fmt/src",
        "runtime/src",
        "providers/src",
        "stdlib/src",
        "serve/src",
        "testing/src",
        "lsp/src",
        "hub/src",
        "cli",
        "embed",
    ] {
        sources(&root().join(folder), &mut files);
    }
    let mut wrong = Vec::new();
    for (word, places) in WORDS {
        let mut seen = false;
        for file in &files {
            let lines = lines_with(word, &fs::read_to_string(file).unwrap());
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap();
            if places.iter().any(|place| name.starts_with(place)) {
                seen |= !lines.is_empty();
            } else {
                wrong.extend(
                    lines.iter().map(|line| format!("{name}:{line}: `{word}` belongs into {}", places.join(", "))),
                );
            }
        }
        assert!(seen, "`{word}` is nowhere: is the list of places out of date?");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_broken_border_is_seen() {
    let plain = "[dependencies]\nlang.workspace = true\nserde = \"1\"\n";
    assert_eq!(trespasses(plain, &[]), ["lang"]);
    assert!(trespasses(plain, &["lang"]).is_empty());
    assert_eq!(
        trespasses("[dev-dependencies]\ncore = { package = \"runtime\", path = \"x\" }\n", &["lang"]),
        ["runtime"]
    );
    assert_eq!(trespasses("[target.'cfg(unix)'.dependencies]\nserve = \"1\"\n", &[]), ["serve"]);
    assert_eq!(lines_with("unsafe", "let a = 1;\nunsafe { x() }\n// unsafe\n#![allow(unsafe_code)]\n"), [2]);
    assert_eq!(lines_with("ariadne", "//! draws with ariadne\nuse ariadne::Report;\n"), [2]);
}

#[test]
fn the_language_knows_neither_the_command_nor_the_builtins_of_agents() {
    let mut texts: Vec<String> = ABOVE_THE_LANGUAGE.iter().map(|text| (*text).to_owned()).collect();
    for table in AGENT_TABLES {
        let found = builtins(&fs::read_to_string(root().join("stdlib/src/table").join(table)).unwrap());
        assert!(!found.is_empty(), "{table}");
        texts.extend(found);
    }
    let mut files = Vec::new();
    sources(&root().join("lang/src"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        assert_eq!(lines_that_know(&texts, &source), Vec::<usize>::new(), "{}", file.display());
    }
}

#[test]
fn a_flag_or_an_agent_builtin_in_the_language_is_found() {
    let table = "lang::builtins! { \"\" =>\n    /// Text (more).\n    waits \"store_fact(fact: dict) -> dict\" store;\n    plain \"read() -> any\" read;\n}\n";
    assert_eq!(builtins(table), ["store_fact"]);
    let texts = ["--fuel".to_owned(), "store_fact".to_owned()];
    let source = "/// Set by `--fuel`.\nfn fuel() {}\n\nfails: \"store_fact({})\",\n// A stored fact.\n";
    assert_eq!(lines_that_know(&texts, source), [1, 4]);
}

//! The stages of `lang` that each stage may know: earlier ones only.

use crate::borders::sources;
use crate::harn::root;
use std::collections::BTreeSet;
use std::fs;

/// The modules of `lang`, each after those that it may name.
const STAGES: &[(&str, &[&str])] = &[
    // What several stages use.
    ("source", &[]),
    ("article", &[]),
    ("hash", &[]),
    ("later", &[]),
    ("foreign", &[]),
    ("builtin_type", &[]),
    ("diagnostic", &["source"]),
    // From text to a tree.
    ("ast", &["source"]),
    // What the checker and the machine suggest.
    ("advice", &["foreign", "diagnostic", "ast"]),
    ("lex", &["source", "diagnostic"]),
    ("parse", &["source", "foreign", "diagnostic", "ast", "lex"]),
    // From a tree to names and types.
    ("declaration", &["source", "later", "ast"]),
    ("module", &["source", "later", "diagnostic", "ast", "parse", "declaration"]),
    ("resolve", &["source", "hash", "foreign", "builtin_type", "diagnostic", "ast", "declaration", "module"]),
    (
        "check",
        &[
            "source",
            "advice",
            "article",
            "hash",
            "later",
            "builtin_type",
            "diagnostic",
            "ast",
            "lex",
            "parse",
            "declaration",
            "module",
            "resolve",
        ],
    ),
    // What editors ask.
    ("query", &["source", "ast", "lex", "parse", "declaration", "resolve", "check"]),
    // What runs.
    ("value", &["source", "article", "hash", "later", "builtin_type", "declaration"]),
    ("vm", &["source", "advice", "later", "diagnostic", "ast", "declaration", "value"]),
    ("builtins", &["advice", "ast", "declaration", "value", "vm"]),
    (
        "compile",
        &[
            "source",
            "builtin_type",
            "diagnostic",
            "ast",
            "declaration",
            "module",
            "resolve",
            "check",
            "value",
            "vm",
            "builtins",
        ],
    ),
    ("script", &["source", "diagnostic", "ast", "parse", "declaration", "module", "resolve", "check", "vm", "compile"]),
    ("repair", &["source", "diagnostic", "lex", "parse"]),
];

/// The modules that a text names by `crate::`, without comments and what is built for tests only.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let indent = &line[..line.len() - line.trim_start().len()];
            let end = format!("{indent}}}");
            let one_line = |line: &str| line.ends_with(';') || line.ends_with('}');
            if lines.next().is_some_and(|first| !one_line(first)) {
                let _ = lines.by_ref().find(|line| *line == end);
            }
            continue;
        }
        let code = line.split("//").next().unwrap_or("");
        for after in code.split("crate::").skip(1) {
            let name: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

/// The modules that `lib.rs` declares.
fn modules() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("lang/src/lib.rs")).unwrap();
    let name = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The modules that the files of a stage name.
fn named_by(stage: &str) -> BTreeSet<String> {
    let folder = root().join("lang/src");
    let mut files = vec![folder.join(format!("{stage}.rs"))];
    if folder.join(stage).is_dir() {
        sources(&folder.join(stage), &mut files);
    }
    let is_test = |file: &&std::path::PathBuf| file.ends_with("tests.rs");
    let texts =
        files.iter().filter(|file| file.is_file() && !is_test(file)).map(|file| fs::read_to_string(file).unwrap());
    texts.flat_map(|text| named(&text)).filter(|name| name != stage && modules().contains(name)).collect()
}

#[test]
fn every_module_of_lang_is_a_stage() {
    let listed: BTreeSet<String> = STAGES.iter().map(|(stage, _)| (*stage).to_owned()).collect();
    assert_eq!(listed, modules());
}

#[test]
fn the_table_has_one_direction() {
    for (at, (stage, earlier)) in STAGES.iter().enumerate() {
        for name in *earlier {
            assert!(STAGES[..at].iter().any(|(known, _)| known == name), "`{name}` is not listed before `{stage}`");
        }
    }
}

#[test]
fn stages_name_only_those_they_may() {
    for (stage, allowed) in STAGES {
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(named_by(stage), allowed, "what `{stage}` names, and what it may name");
    }
}

#[test]
fn a_named_stage_is_seen() {
    let of = |text: &str| named(text).into_iter().collect::<Vec<_>>();
    assert_eq!(of("use crate::vm::Op;\nlet a = crate::value::Value::Nil; $crate::ast::x()\n"), ["ast", "value", "vm"]);
    assert_eq!(of("/// See [`crate::vm`].\nlet a = 1; // crate::vm\n"), Vec::<String>::new());
    assert_eq!(of("#[cfg(test)]\nuse crate::vm::Op;\nuse crate::ast::Expr;\n"), ["ast"]);
    assert_eq!(of("#[cfg(test)]\nmod tests {\n    use crate::vm::Op;\n}\nuse crate::ast::Expr;\n"), ["ast"]);
}

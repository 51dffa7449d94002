//! The stages of the crates that have them: each module of these crates may know earlier ones only.

use crate::borders::sources;
use crate::harn::root;
use std::collections::BTreeSet;
use std::fs;

/// Modules of a crate, each after those that it may name, with these.
type Stages = &'static [(&'static str, &'static [&'static str])];

/// The crates with stages.
const CRATES: &[(&str, Stages)] = &[("lang", LANG), ("runtime", RUNTIME), ("stdlib", STDLIB)];

const LANG: Stages = &[
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

const RUNTIME: Stages = &[
    ("cancel", &[]),
    ("event_log", &[]),
    ("events", &[]),
    ("loop_status", &[]),
    ("message", &[]),
    ("note", &[]),
    ("schema", &[]),
    ("seen_texts", &[]),
    ("spans", &[]),
    ("usage", &[]),
    ("watch", &[]),
    ("capabilities", &["usage"]),
    ("reminder", &["event_log", "message", "note", "capabilities"]),
    ("model", &["message", "usage", "capabilities", "reminder"]),
    ("receipt", &["events", "message", "reminder"]),
    ("transcript", &["message", "reminder"]),
    ("budget", &["usage", "capabilities", "model"]),
    ("lifecycle", &["event_log", "events", "message", "reminder", "model", "transcript"]),
    ("scope", &["cancel", "events", "note", "spans", "reminder", "receipt", "budget", "lifecycle"]),
    (
        "session",
        &[
            "cancel",
            "event_log",
            "events",
            "message",
            "note",
            "spans",
            "reminder",
            "model",
            "transcript",
            "lifecycle",
            "scope",
        ],
    ),
    ("stop", &["scope"]),
    ("timeout", &["cancel", "scope"]),
    ("seam", &["message", "reminder", "model", "budget", "lifecycle", "scope", "session", "timeout"]),
    ("hooks", &["events", "loop_status", "message", "reminder", "model", "lifecycle", "timeout", "seam"]),
    ("model_step", &["spans", "model", "budget", "scope", "stop", "seam"]),
    ("render", &["message", "note", "capabilities", "reminder", "model", "transcript", "lifecycle", "seam"]),
    ("text_tools", &["message", "model", "budget", "seam"]),
    (
        "activity",
        &["event_log", "events", "loop_status", "message", "spans", "usage", "model", "scope", "seam", "hooks"],
    ),
    ("conditions", &["message", "reminder", "timeout", "seam", "hooks"]),
    (
        "reminder_providers",
        &[
            "events",
            "note",
            "spans",
            "capabilities",
            "reminder",
            "lifecycle",
            "scope",
            "session",
            "timeout",
            "seam",
            "hooks",
        ],
    ),
    (
        "listeners",
        &[
            "events",
            "note",
            "reminder",
            "lifecycle",
            "scope",
            "session",
            "timeout",
            "seam",
            "hooks",
            "reminder_providers",
        ],
    ),
    (
        "compaction",
        &[
            "events",
            "message",
            "note",
            "usage",
            "reminder",
            "model",
            "budget",
            "lifecycle",
            "scope",
            "session",
            "timeout",
            "seam",
            "hooks",
            "model_step",
            "listeners",
        ],
    ),
    (
        "agent_loop",
        &[
            "cancel",
            "event_log",
            "events",
            "loop_status",
            "message",
            "note",
            "schema",
            "usage",
            "watch",
            "capabilities",
            "reminder",
            "model",
            "receipt",
            "transcript",
            "budget",
            "lifecycle",
            "scope",
            "session",
            "stop",
            "timeout",
            "seam",
            "hooks",
            "model_step",
            "render",
            "conditions",
            "reminder_providers",
            "listeners",
            "compaction",
        ],
    ),
    (
        "workers",
        &[
            "cancel",
            "events",
            "loop_status",
            "message",
            "note",
            "reminder",
            "lifecycle",
            "scope",
            "session",
            "stop",
            "seam",
            "hooks",
            "reminder_providers",
            "listeners",
            "agent_loop",
        ],
    ),
];

const STDLIB: Stages = &[
    ("argument_size", &[]),
    ("call_context", &[]),
    ("capability", &[]),
    ("clock", &[]),
    ("codes", &[]),
    ("confinement", &[]),
    ("convert", &[]),
    ("decode", &[]),
    ("descendants", &[]),
    ("disk", &[]),
    ("interrupt", &[]),
    ("lifetime", &[]),
    ("limits", &[]),
    ("lines", &[]),
    ("output", &[]),
    ("random", &[]),
    ("results", &[]),
    ("structured_text", &[]),
    ("system", &[]),
    ("testing", &[]),
    ("tool_search", &[]),
    ("variant", &[]),
    ("word_search", &[]),
    ("a2a", &["codes"]),
    ("before_exec", &["confinement"]),
    ("catalogue", &["codes"]),
    ("channel", &["clock", "codes", "convert"]),
    ("confined_folder", &["system"]),
    ("cookies", &["clock"]),
    ("payload", &["convert"]),
    ("read", &["codes"]),
    ("schema", &["codes", "convert"]),
    ("trust", &["codes"]),
    ("fact", &["catalogue"]),
    ("failed_loop", &["codes", "convert", "output", "catalogue"]),
    ("fault", &["codes", "convert", "a2a", "catalogue"]),
    ("group", &["confinement", "descendants", "before_exec"]),
    ("hosting", &["channel"]),
    ("hub", &["argument_size", "clock", "codes", "convert", "output", "a2a"]),
    ("recording", &["clock", "codes", "random", "fault"]),
    (
        "world",
        &[
            "capability",
            "clock",
            "disk",
            "interrupt",
            "output",
            "random",
            "testing",
            "variant",
            "a2a",
            "failed_loop",
            "fault",
            "hosting",
            "recording",
        ],
    ),
    ("bind", &["call_context", "clock", "codes", "convert", "decode", "payload", "fault", "hosting", "world"]),
    ("log", &["catalogue", "fault", "world"]),
    ("progress", &["interrupt", "world"]),
    ("skills", &["capability", "convert", "structured_text", "system", "confined_folder", "trust", "world"]),
    ("here", &["call_context", "fault", "world", "bind"]),
    ("tool_value", &["convert", "schema", "bind"]),
    ("arguments", &["codes", "convert", "world", "here"]),
    (
        "options",
        &[
            "capability",
            "convert",
            "limits",
            "tool_search",
            "cookies",
            "schema",
            "fault",
            "hosting",
            "world",
            "bind",
            "here",
            "arguments",
        ],
    ),
    ("answer", &["convert", "decode", "options"]),
    (
        "mcp",
        &[
            "capability",
            "codes",
            "convert",
            "system",
            "catalogue",
            "trust",
            "fault",
            "group",
            "hosting",
            "world",
            "bind",
            "options",
        ],
    ),
    ("persist", &["capability", "convert", "fault", "world", "log", "here", "options"]),
    ("lint", &["capability", "codes", "convert", "catalogue", "schema", "trust", "bind", "mcp"]),
    (
        "loops",
        &[
            "capability",
            "convert",
            "tool_search",
            "failed_loop",
            "fault",
            "world",
            "bind",
            "progress",
            "skills",
            "here",
            "tool_value",
            "options",
            "mcp",
        ],
    ),
    ("values", &["codes", "convert", "fault", "answer"]),
    ("http", &["clock", "codes", "lines", "world", "bind", "options", "values"]),
    ("workers", &["capability", "convert", "failed_loop", "fault", "world", "here", "options", "persist", "loops"]),
    (
        "table",
        &[
            "argument_size",
            "capability",
            "clock",
            "codes",
            "confinement",
            "convert",
            "disk",
            "lines",
            "results",
            "structured_text",
            "system",
            "testing",
            "a2a",
            "channel",
            "confined_folder",
            "cookies",
            "schema",
            "fact",
            "failed_loop",
            "fault",
            "group",
            "hosting",
            "hub",
            "world",
            "bind",
            "log",
            "here",
            "tool_value",
            "arguments",
            "options",
            "answer",
            "mcp",
            "persist",
            "lint",
            "loops",
            "values",
            "http",
            "workers",
        ],
    ),
    ("builtin_search", &["word_search", "table"]),
    ("reminder_files", &["capability", "codes", "catalogue", "payload", "trust", "fault", "world", "options", "table"]),
    (
        "rhai_front_end",
        &[
            "capability",
            "codes",
            "convert",
            "limits",
            "output",
            "catalogue",
            "schema",
            "fault",
            "hosting",
            "world",
            "table",
        ],
    ),
    ("project", &["capability", "codes", "limits", "catalogue", "read", "trust", "log", "mcp", "rhai_front_end"]),
    ("registry", &["read", "lint", "table", "rhai_front_end"]),
    (
        "engine",
        &[
            "capability",
            "clock",
            "codes",
            "convert",
            "decode",
            "interrupt",
            "limits",
            "output",
            "random",
            "testing",
            "variant",
            "catalogue",
            "failed_loop",
            "fault",
            "hosting",
            "recording",
            "world",
            "bind",
            "log",
            "mcp",
            "http",
            "workers",
            "table",
            "reminder_files",
            "rhai_front_end",
            "registry",
        ],
    ),
    ("completion", &["capability", "table", "builtin_search", "engine"]),
];

/// The lines of a text without comments and what is built for tests only.
fn code(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let indent = &line[..line.len() - line.trim_start().len()];
            let end = format!("{indent}}}");
            let one_line = |line: &str| line.ends_with(';') || line.ends_with('}');
            let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
            if item.next().is_some_and(|first| !one_line(first)) {
                let _ = lines.by_ref().find(|line| *line == end);
            }
            continue;
        }
        found.push(line.split("//").next().unwrap_or(""));
    }
    found
}

/// The modules that a text names by `crate::`. Other names after it, such as a group in braces or a type that the crate
/// exports, would hide a module, and are returned as well.
fn named(text: &str) -> BTreeSet<String> {
    let word = |after: &str| {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        let is_macro = after[end..].starts_with('!');
        (!is_macro).then(|| after[..end.max(1)].to_owned())
    };
    code(text).into_iter().flat_map(|line| line.split("crate::").skip(1).filter_map(word)).collect()
}

/// The modules that the `lib.rs` of a crate declares.
fn modules(of: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(of).join("src/lib.rs")).unwrap();
    let name = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    code(&text).into_iter().filter_map(name).collect()
}

/// The modules that the files of a stage name.
fn named_by(of: &str, stage: &str) -> BTreeSet<String> {
    let folder = root().join(of).join("src");
    let mut files = vec![folder.join(format!("{stage}.rs"))];
    if folder.join(stage).is_dir() {
        sources(&folder.join(stage), &mut files);
    }
    let is_test = |file: &std::path::PathBuf| file.iter().any(|part| part == "tests" || part == "tests.rs");
    let read = |file: &std::path::PathBuf| fs::read_to_string(file).unwrap();
    let texts =
        files.iter().filter(|file| file.is_file() && !is_test(&file.strip_prefix(root()).unwrap().into())).map(read);
    let known = modules(of);
    // A macro is imported by its name, as a module is.
    let is_macro = |name: &str| !known.contains(name) && name.starts_with(|c: char| c.is_ascii_lowercase());
    texts.flat_map(|text| named(&text)).filter(|name| name != stage && !is_macro(name)).collect()
}

#[test]
fn every_module_is_a_stage() {
    for (of, stages) in CRATES {
        let listed: BTreeSet<String> = stages.iter().map(|(stage, _)| (*stage).to_owned()).collect();
        assert_eq!(listed, modules(of), "{of}");
    }
}

#[test]
fn the_tables_have_one_direction() {
    for (of, stages) in CRATES {
        for (at, (stage, earlier)) in stages.iter().enumerate() {
            for name in *earlier {
                assert!(stages[..at].iter().any(|(known, _)| known == name), "{of}: `{name}` is not before `{stage}`");
            }
        }
    }
}

#[test]
fn stages_name_only_those_they_may() {
    for (of, stages) in CRATES {
        for (stage, allowed) in *stages {
            let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(named_by(of, stage), allowed, "what `{stage}` of `{of}` names, and what it may name");
        }
    }
}

#[test]
fn a_named_stage_is_seen() {
    let of = |text: &str| named(text).into_iter().collect::<Vec<_>>();
    assert_eq!(of("use crate::vm::Op;\nlet a = crate::value::Value::Nil; $crate::ast::x()\n"), ["ast", "value", "vm"]);
    assert_eq!(of("/// See [`crate::vm`].\nlet a = 1; // crate::vm\n"), Vec::<String>::new());
    assert_eq!(of("#[cfg(test)]\nuse crate::vm::Op;\nuse crate::ast::Expr;\n"), ["ast"]);
    assert_eq!(of("#[cfg(test)]\n#[path = \"a.rs\"]\nmod a;\nuse crate::ast::Expr;\n"), ["ast"]);
    assert_eq!(of("use crate::{vm, ast};\nuse crate::Source;\ncrate::bail!(1);\n"), ["Source", "{"]);
    assert_eq!(of("#[cfg(test)]\nmod tests {\n    use crate::vm::Op;\n}\nuse crate::ast::Expr;\n"), ["ast"]);
}

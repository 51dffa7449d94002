//! The fixes of diagnostics: what they make of every failing script of the catalogue, and of `tests/diagnostics`.
//!
//! The results are in `tests/fixes`; `UPDATE=1` writes them. A row of the catalogue is *mechanical* if the fixes make its fixed
//! script of its failing one; the test finds out which rows are. A row without a fix has a reason.

use crate::harn::{harn, root};
use serde_json::Value;
use similar::TextDiff;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stdlib::{Applicability, Diagnostic, Engine, Files, RunOptions, Severity, Source, SourceRef, repair};

/// Returns the diagnostics of a text in the place of a file.
fn check(source: &SourceRef) -> Vec<Diagnostic> {
    let loader = Rc::new(Files::of(Path::new(source.name())));
    Engine::new(RunOptions { loader, ..RunOptions::default() }).check(source)
}

fn errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Returns what the fixes of a level make of a row's failing script.
fn result(fails: &str, mended: &str, level: Applicability) -> &'static str {
    let source = Source::new("script.harn", fails);
    let repaired = repair(&source, level, check);
    let before = check(&source);
    assert!(errors(&repaired.found) <= errors(&before), "the fixes make errors:\n{}", repaired.source.text());
    match repaired.source.text() {
        text if text == mended => "mended",
        text if text == fails => "none",
        _ if repaired.found.is_empty() => "clean",
        _ => "partly",
    }
}

/// A row of the catalogue with a failing script.
struct Row {
    code: String,
    title: String,
    fails: String,
    mended: String,
}

/// Returns the rows, in their order. Examples that only the command has are read from it.
fn rows() -> Vec<Row> {
    let row = |code: &&stdlib::Code| {
        let (fails, mended) = if code.fails.is_empty() {
            let shown = harn(&["explain", code.code, "--json"]).out;
            let shown: Value = serde_json::from_str(&shown).unwrap();
            (shown["fails"].as_str()?.to_owned(), shown["mended"].as_str()?.to_owned())
        } else {
            (code.fails.to_owned(), code.mended.to_owned())
        };
        Some(Row { code: code.code.to_owned(), title: code.title.to_owned(), fails, mended })
    };
    stdlib::catalogue().iter().filter_map(row).collect()
}

fn hold(file: &str, actual: &str) {
    let path = root().join("tests/fixes").join(file);
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let diff = TextDiff::from_lines(expected.as_str(), actual).unified_diff().to_string();
    assert!(diff.is_empty(), "tests/fixes/{file} differs; read it, then run with UPDATE=1:\n{diff}");
}

/// Reasons why a row that `harn check` reports has no fix for its failing script.
const UNFIXED: &[(&str, &str)] = &[
    ("HARN-NAM-010", "only the author knows the values of the fields"),
    ("HARN-CHK-005", "the author must choose another name for the variable"),
    ("HARN-CHK-006", "only the author knows the case that needs no call"),
    ("HARN-CHK-007", "the author must choose another name, and other files may use it"),
    ("HARN-CHK-008", "only the author knows what the tool does"),
    ("HARN-FACT-004", "only the author knows which folder is meant"),
    ("HARN-FACT-005", "only the author knows which facts are meant"),
    ("HARN-IMP-001", "no file in the folder has a similar name"),
    ("HARN-LEX-001", "the character has no meaning that the language could express"),
    ("HARN-LEX-006", "the expression must be divided, and its parts named"),
    ("HARN-LEX-009", "only the author knows which number is meant"),
    ("HARN-LEX-014", "the author must choose another name, and other files may use it"),
    ("HARN-NAM-012", "the function needs another parameter, and each of its callers an argument"),
    ("HARN-NAM-015", "the task must return its result, and the code after it must combine the results"),
    ("HARN-PAR-002", "only the author knows which expression is missing"),
    ("HARN-PAR-006", "only the author knows the name"),
    ("HARN-PAR-009", "the statement may be a comparison, or mean another variable"),
    ("HARN-PAR-012", "only the author knows which file is meant"),
    ("HARN-PAR-020", "the statements must be moved into a function"),
    ("HARN-PAR-023", "the item must be produced in another block"),
    ("HARN-RMD-002", "only the author knows when the reminder is to be delivered"),
    ("HARN-RMD-007", "only the author knows which provider is not needed"),
    ("HARN-RMD-008", "only the author knows which other event could add the reminder"),
    ("HARN-TYP-004", "only the author knows the missing argument; arguments that are too many have a fix"),
    ("HARN-TYP-021", "only the author knows which function is meant; a call without arguments has a fix"),
    ("HARN-TYP-023", "the value is another one than the author assumed"),
];

/// Returns why a row has no fix.
fn reason(row: &Row) -> &'static str {
    let found = check(&Source::new("script.harn", row.fails.as_str()));
    let listed = UNFIXED.iter().find(|(code, _)| *code == row.code);
    match listed {
        Some((_, reason)) => reason,
        None if found.iter().all(|d| d.code.as_str() != row.code) => "only a run finds the error",
        None => panic!("{} has no fix: add one, or a reason to `UNFIXED`", row.code),
    }
}

#[test]
fn the_fixes_of_the_catalogue_are_those_of_the_list() {
    let (mut list, mut unfixed) = (String::new(), String::new());
    let mut counts = [0; 4];
    let rows = rows();
    for row in &rows {
        let safe = result(&row.fails, &row.mended, Applicability::Safe);
        let any = result(&row.fails, &row.mended, Applicability::Unsafe);
        for (place, (result, wanted)) in
            [(safe, "mended"), (safe, "clean"), (any, "mended"), (any, "clean")].into_iter().enumerate()
        {
            counts[place] += usize::from(result == wanted);
        }
        if any == "none" {
            writeln!(unfixed, "{:<13}  {}: {}", row.code, row.title, reason(row)).unwrap();
        } else {
            let listed = UNFIXED.iter().any(|(code, _)| *code == row.code);
            assert!(!listed, "{} has a fix and a reason not to", row.code);
            writeln!(list, "{:<13}  safe: {safe:<6}  unsafe: {any:<6}  {}", row.code, row.title).unwrap();
        }
    }
    let [mended, clean, mended_all, clean_all] = counts;
    let head = format!(
        "{} rows of the catalogue have a failing script. Safe fixes make the fixed script of {mended}, and another one\n\
         without findings of {clean}; with the unsafe fixes it is {mended_all} and {clean_all}.\n\n",
        rows.len()
    );
    let others = "\nThe failing scripts of the other rows have no fix, for the reason after the colon.\n\n";
    hold("catalogue.txt", &format!("{head}{list}{others}{unfixed}"));
}

fn scripts(folder: &Path, scripts: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "modules" {
                self::scripts(&path, scripts);
            }
        } else if path.extension().is_some_and(|end| end == "harn" || end == "rhai") {
            scripts.push(path);
        }
    }
}

/// The fixes of every script in `tests/diagnostics` as one patch. They are not tried on scripts that only fail when they run.
#[test]
fn the_fixes_of_the_diagnostics_are_those_of_the_patches() {
    let mut paths = Vec::new();
    scripts(Path::new("tests/diagnostics"), &mut paths);
    paths.sort();
    for (level, file) in [(Applicability::Safe, "safe.diff"), (Applicability::Unsafe, "unsafe.diff")] {
        let mut patch = String::new();
        for path in &paths {
            let text = fs::read_to_string(root().join(path)).unwrap();
            if !text.starts_with("// check") {
                continue;
            }
            // `cargo test` runs at the root.
            let source = Source::new(path.to_str().unwrap(), text);
            let before = check(&source);
            let repaired = repair(&source, level, check);
            let name = path.to_str().unwrap();
            let fixed = repaired.source.text();
            assert!(
                errors(&repaired.found) <= errors(&before) || before.iter().any(|d| d.code.as_str().contains("-PAR-")),
                "{name}: the fixes make errors:\n{fixed}"
            );
            // Fixing what is fixed changes nothing.
            assert_eq!(repair(&repaired.source, level, check).source.text(), fixed, "{name}");
            let diff = TextDiff::from_lines(source.text(), fixed)
                .unified_diff()
                .context_radius(0)
                .header(name, name)
                .to_string();
            patch.push_str(&diff);
        }
        hold(file, &patch);
    }
}

//! `harn lsp`, driven by the client of PyPI `pygls` on a project of 30 files.
//!
//! A case is a file `NAME.json` in a folder of [`lsp`](lsp) that is named after the feature: a list of steps, which
//! [`drive.py`](lsp/drive.py) explains. `NAME.out.json` next to it is what the server must answer; `UPDATE=1` writes it.

use crate::diff::diff;
use crate::harn::{root, scratch};
use crate::packages::python;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The folder of the cases.
fn folder() -> PathBuf {
    root().join("tests/clients/lsp")
}

/// Copies the project to a folder of its own, with a file that its `.gitignore` excludes.
fn project(name: &str) -> PathBuf {
    let copy = scratch(name).canonicalize().unwrap();
    copy_all(&folder().join("project"), &copy);
    fs::create_dir(copy.join("build")).unwrap();
    fs::write(copy.join("build/ignored.harn"), "fn ignored_by_git() {\n  return 1\n}\n").unwrap();
    // Its settings end here, and not at those of the repository.
    fs::create_dir(copy.join(".git")).unwrap();
    copy
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs the cases of a feature.
fn run(feature: &str) {
    let mut names: Vec<String> = fs::read_dir(folder().join(feature))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| !name.ends_with(".out"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{feature} has no cases");
    // A case may write files, so each has a project of its own.
    let mut problems = Vec::new();
    for name in names {
        let path = folder().join(feature).join(&name);
        let steps = fs::read_to_string(path.with_extension("json")).unwrap();
        let steps: Value = serde_json::from_str(&steps).unwrap_or_else(|error| panic!("{feature}/{name}: {error}"));
        let mut answers =
            answers(&json!([steps]), &project(&format!("lsp-{feature}-{name}")), &format!("{feature}/{name}"));
        sort_changes(&mut answers);
        let found = serde_json::to_string_pretty(&answers[0]).unwrap() + "\n";
        let expected = path.with_extension("out.json");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        problems.extend(diff(&wanted, &found).map(|diff| format!("{feature}/{name}:\n{diff}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Sorts the files of each edit: the protocol keeps them in a map, which has no order.
fn sort_changes(answer: &mut Value) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(sort_changes),
        Value::Object(members) => {
            if let Some(Value::Object(changes)) = members.get_mut("changes") {
                changes.sort_keys();
            }
            members.values_mut().for_each(sort_changes);
        }
        _ => {}
    }
}

fn answers(cases: &Value, project: &Path, name: &str) -> Value {
    let mut child = Command::new(python("lsp", "tests/clients/lsp/requirements.txt"))
        .arg("-B")
        .arg(folder().join("drive.py"))
        .args([Path::new(env!("CARGO_BIN_EXE_harn")), project])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, text) = (child.stdin.take().unwrap(), cases.to_string());
    let writer = thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: the client failed:\n{said}");
    // The server runs with its usual log level: warnings and errors.
    assert!(!said.contains("ERROR") && !said.contains("panicked"), "{name}:\n{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}\n{said}"))
}

/// Makes a test for the folder of each feature.
macro_rules! features {
    ($($feature:ident)*) => {
        $(#[test]
        fn $feature() {
            run(stringify!($feature));
        })*

        #[test]
        fn every_folder_is_a_feature() {
            let is_folder = |entry: &fs::DirEntry| entry.file_type().unwrap().is_dir();
            let folders = fs::read_dir(folder()).unwrap().map(Result::unwrap).filter(is_folder);
            let mut names: Vec<_> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.retain(|name| name != "project");
            names.sort();
            assert_eq!(names, [$(stringify!($feature)),*]);
        }
    };
}

features! {
    call_hierarchy
    code_action
    code_lens
    completion
    definition
    diagnostics
    document_highlight
    document_symbol
    folding_range
    formatting
    hover
    inlay_hint
    references
    rename
    selection_range
    semantic_tokens
    signature_help
    workspace_symbol
}

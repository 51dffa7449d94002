//! The diagnostics of a document are those that `harn check` finds in the file.

use crate::client::{Client, uri};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stdlib::{Engine, Files, Project, RunOptions, read_source};

/// The code, the first line and the message of a diagnostic.
type Found = (String, u64, String);

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|end| end == "harn" || end == "rhai") {
            found.push(path);
        }
    }
}

/// Returns what `harn check` finds in a file itself; what only the compiler finds is left out, since nothing is compiled.
fn checked(path: &Path) -> Option<Vec<Found>> {
    let source = read_source(path).ok()?;
    let denied = Project::of(path).map(|project| project.denied).unwrap_or_default();
    let engine = Engine::new(RunOptions { loader: Rc::new(Files::of(path)), denied, ..RunOptions::default() });
    let mut found = Vec::new();
    for diagnostic in engine.check(&source) {
        let Some(label) = diagnostic.labels.first().filter(|label| label.source.name() == source.name()) else {
            continue;
        };
        let code = diagnostic.code.to_string();
        if !code.starts_with("HARN-CMP") {
            found.push((code, u64::from(source.line(label.span.start)) - 1, diagnostic.message.clone()));
        }
    }
    found.sort();
    Some(found)
}

fn served(client: &mut Client, path: &Path) -> Vec<Found> {
    let found = |diagnostic: &Value| {
        let message = diagnostic["message"].as_str().unwrap().lines().next().unwrap().to_owned();
        (
            diagnostic["code"].as_str().unwrap().to_owned(),
            diagnostic["range"]["start"]["line"].as_u64().unwrap(),
            message,
        )
    };
    let mut found: Vec<Found> = client.diagnostics(&uri(path)).iter().map(found).collect();
    found.retain(|(code, ..)| !code.starts_with("HARN-CMP"));
    found.sort();
    found
}

#[test]
fn diagnostics_are_those_of_the_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap();
    let mut paths = Vec::new();
    for folder in ["tests/diagnostics", "tests/lang/imports", "tests/rhai/run", "tests/clients/lsp/project", "examples"]
    {
        scripts(&root.join(folder), &mut paths);
    }
    let mut client = Client::of_folder(&root);
    let (mut compared, mut reported, mut problems) = (0, 0, Vec::new());
    for path in &paths {
        let Some(mut wanted) = checked(path) else { continue };
        let mut found = served(&mut client, path);
        // Each file of a cycle reports it, and the message begins with another file.
        let cycle = |found: &Found| found.0 == "HARN-IMP-002";
        wanted.retain(|found| !cycle(found));
        found.retain(|found| !cycle(found));
        compared += 1;
        reported += found.len();
        let first_line = |text: &str| text.lines().next().unwrap_or("").to_owned();
        wanted.iter_mut().for_each(|(.., message)| *message = first_line(message));
        if wanted != found {
            problems.push(format!("{}\n  check: {wanted:?}\n  server: {found:?}", path.display()));
        }
    }
    client.end();
    assert!(problems.is_empty(), "{} of {compared}:\n{}", problems.len(), problems.join("\n"));
    assert!(compared > 300 && reported > 300, "{compared} files with {reported} diagnostics");
}

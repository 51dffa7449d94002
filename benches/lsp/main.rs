//! The time between a keystroke and what an editor shows.
//!
//! `cargo bench --bench lsp` starts `harn lsp` and drives it as an editor does: diagnostics and completion in a script of 2,000
//! lines, a rename across 30 files, and the memory for a folder of 500 files. Each step is repeated; the 95th percentile counts.
//! It also counts the instructions of a keystroke and of a completion under callgrind, and fails where a limit is exceeded;
//! `cargo bench --bench lsp -- count` does only this.
//!
//! - [`project`]: generated scripts. [`session`]: the editor's end. [`count`]: instructions; [`instructions`]: callgrind, shared
//!   by the benches.

#![allow(clippy::unwrap_used, reason = "a bench that panics has failed")]

mod count;
#[path = "../common/instructions.rs"]
mod instructions;
mod project;
mod session;

use project::Project;
use serde_json::json;
use session::{EditorSession, completion, diagnostics};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The repetitions of a step, and those before them that do not count.
const STEPS: usize = 200;
const WARM: usize = 20;

/// The lines of the large script.
const LINES: usize = 2_000;

/// The most milliseconds of each step.
const DIAGNOSTICS_MS: f64 = 30.0;
const COMPLETION_MS: f64 = 10.0;
const RENAME_MS: f64 = 50.0;
/// The most mebibytes with 500 files.
const MEMORY_MIB: f64 = 100.0;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs it without `--bench`.
    if !words.iter().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    let bars = if words.iter().any(|word| word == "count") {
        count::run(LINES)
    } else {
        [large_script(), rename(), memory(), count::run(LINES)].concat()
    };
    if bars.into_iter().all(|held| held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a bar and whether it is held.
fn bar(what: &str, value: f64, most: f64, unit: &str) -> bool {
    let held = value <= most;
    println!("{}  {what}: {value:.2} {unit}, at most {most} {unit}", if held { "held  " } else { "MISSED" });
    held
}

/// Prints that a request cannot be measured.
fn missing(what: &str) -> bool {
    println!("MISSED  {what}: the server does not offer it");
    false
}

/// Returns the 95th percentile of the time of a step in milliseconds.
fn p95(mut step: impl FnMut(usize)) -> f64 {
    (0..WARM).for_each(&mut step);
    let time = |number| {
        let start = Instant::now();
        step(WARM + number);
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..STEPS).map(time).collect();
    times.sort_unstable();
    times[STEPS * 95 / 100].as_secs_f64() * 1000.0
}

fn large_script() -> Vec<bool> {
    let project = Project::of_files("lsp-large", 1, LINES);
    let mut session = EditorSession::start(&[], &project.folder);
    let main = project.uri(0);
    session.open(&main, &project.texts[0]);
    let at = project.middle_of(0);
    let typed = p95(|number| {
        session.type_letter(&main, at, number);
        diagnostics(&mut session, &main);
    });
    let mut held = vec![bar("a keystroke to its diagnostics, 2,000 lines", typed, DIAGNOSTICS_MS, "ms")];
    held.push(if session.offers("completionProvider") {
        let completed = p95(|number| {
            session.type_letter(&main, at, number);
            completion(&mut session, &main, at);
        });
        bar("a keystroke to its completion, 2,000 lines", completed, COMPLETION_MS, "ms")
    } else {
        missing("completion")
    });
    session.end();
    held
}

fn rename() -> Vec<bool> {
    let project = Project::of_files("lsp-rename", 30, 100);
    let mut session = EditorSession::start(&[], &project.folder);
    if !session.offers("renameProvider") {
        session.end();
        return vec![missing("rename")];
    }
    let uri = project.uri(0);
    session.open(&uri, &project.texts[0]);
    let (line, character) = project.shared_name();
    let mut edited = 0;
    let renamed = p95(|number| {
        let params = json!({
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character}, "newName": format!("renamed_{number}"),
        });
        let edit = session.ask("textDocument/rename", &params);
        let of_versions = edit["documentChanges"].as_array().map_or(0, Vec::len);
        edited = edit["changes"].as_object().map_or(of_versions, serde_json::Map::len);
    });
    session.end();
    assert_eq!(edited, 30, "files are edited");
    vec![bar("a rename across 30 files", renamed, RENAME_MS, "ms")]
}

fn memory() -> Vec<bool> {
    let project = Project::of_files("lsp-memory", 500, 100);
    let mut session = EditorSession::start(&[], &project.folder);
    for at in 0..20 {
        session.open(&project.uri(at), &project.texts[at]);
        diagnostics(&mut session, &project.uri(at));
    }
    session.ask("workspace/symbol", &json!({"query": "step"}));
    // Every file is analysed once.
    (0..500).for_each(|at| diagnostics(&mut session, &project.uri(at)));
    let mib = session.peak_memory_kib() as f64 / 1024.0;
    session.end();
    vec![bar("memory with 500 files, 20 of them open", mib, MEMORY_MIB, "MiB")]
}

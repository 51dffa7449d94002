//! Runs the example of every builtin that has one.
//!
//! The lines are pieces of a REPL session in a folder of their own. A line that ends in `// => value` must have this value, as the
//! REPL shows it; `// => error: …` is the beginning of the message of an error. A piece without a value shows what it prints.

use crate::capability::Capability;
use crate::engine::{Engine, RunOptions};
use crate::output::Captured;
use crate::table::registry;
use lang::builtins::Builtin;
use lang::source::Source;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

/// Returns the rights that an example does not have, since it is the same on each machine: only that of a builtin that starts
/// programs starts one, and requests are those that it mocks.
fn denied(row: &Builtin, lines: &[&str]) -> Vec<Capability> {
    let is_mocked = lines.iter().any(|line| line.contains("http_mock("));
    let starts = row.caps.contains(&Capability::Process.right());
    let denied = [(Capability::Net, !is_mocked), (Capability::Process, !starts)];
    denied.into_iter().filter(|(_, denied)| *denied).map(|(right, _)| right).collect()
}

#[test]
fn every_example_has_the_value_that_it_shows() {
    let root = std::env::temp_dir().join(format!("harn-examples-{}", std::process::id()));
    let (mut ran, mut wrong) = (0, String::new());
    for row in registry().all() {
        let Some(lines) = row.example() else { continue };
        let folder = root.join(ran.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        let shown = lines.collect::<Vec<_>>();
        let has_value = shown.iter().any(|line| line.contains(MARK));
        if !has_value {
            let _ = writeln!(wrong, "{}: the example shows no value", row.full_name());
        }
        if let Err(error) = run(row, &shown, &folder) {
            let _ = writeln!(wrong, "{}: {error}", row.full_name());
        }
        ran += 1;
    }
    let _ = std::fs::remove_dir_all(&root);
    assert!(wrong.is_empty(), "{wrong}");
    assert!(ran > 20, "only {ran} rows have an example");
}

/// Builtins of this crate without an example, by the namespace or the beginning of the name, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("a2a.", "they ask another agent"),
    ("channel.", "they ask a daemon"),
    ("channel_connection.", "they ask a daemon"),
    ("mcp.", "they ask a server"),
    ("hub.connect", "it asks a hub"),
    ("task.", "they need a client"),
    ("assert_snapshot", "it needs a test"),
    ("hub.", "ids and times differ from run to run"),
    ("hub_task.", "ids and times differ from run to run"),
    ("send_input", "the worker must be waiting"),
    ("suspend_agent", "the worker must be running"),
    ("resume_agent", "the worker must be suspended"),
];

#[test]
fn builtins_of_this_crate_have_an_example_or_a_reason() {
    let mut missing = Vec::new();
    let mut unused: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    for row in crate::table::OWN.iter().flat_map(|table| table.iter()).filter(|row| row.example().is_none()) {
        let name = row.full_name();
        match WITHOUT.iter().find(|(known, _)| name == *known || (known.ends_with('.') && name.starts_with(known))) {
            Some((known, _)) => unused.retain(|name| name != known),
            None => missing.push(name),
        }
    }
    assert!(missing.is_empty() && unused.is_empty(), "without an example: {missing:?}; needless: {unused:?}");
}

const MARK: &str = "// => ";

fn run(row: &Builtin, lines: &[&str], folder: &Path) -> Result<(), String> {
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions {
        seed: Some(1),
        output: output.clone(),
        cwd: Some(folder.to_owned()),
        denied: denied(row, lines),
        ..RunOptions::default()
    });
    let (mut piece, mut printed) = (String::new(), 0);
    for line in lines {
        let (code, wanted) = line.split_once(MARK).map_or((*line, None), |(code, wanted)| (code, Some(wanted.trim())));
        piece.push_str(code.trim_end());
        piece.push('\n');
        let found = engine.piece(&Source::new("example", piece.as_str()));
        if found.incomplete && wanted.is_none() {
            continue;
        }
        let text = output.stdout();
        let shown = match (found.diagnostics.first(), found.value) {
            (Some(error), _) => format!("error: {}", error.message),
            (None, Some(value)) => value,
            (None, None) if text.len() > printed => text[printed..].trim_end().to_owned(),
            (None, None) => "nil".to_owned(),
        };
        printed = text.len();
        let holds = match wanted {
            Some(wanted) if wanted.starts_with("error: ") => shown.starts_with(wanted),
            Some(wanted) => shown == wanted,
            None => !shown.starts_with("error: "),
        };
        if !holds {
            return Err(format!(
                "`{}` is {shown}, not {}",
                piece.trim(),
                wanted.unwrap_or("a statement without an error")
            ));
        }
        piece.clear();
    }
    if piece.is_empty() { Ok(()) } else { Err(format!("`{piece}` is incomplete")) }
}

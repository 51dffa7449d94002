//! `tests/rhai/parity` has each program twice, in Harn and in Rhai. Both use the same builtins, so
//! with one seed they print the same output, end alike, fail with the same codes and messages, and
//! leave the same event log.
//!
//! - The last line of a program that succeeds is what it came to, as JSON.
//! - A program whose name begins with `fails-` ends with an error, on purpose.
//! - The first line may name options of the command: `// run --deny fs.write`.

use crate::check;
use crate::diff::diff;
use crate::harn::{Outcome, harn_in, root, scratch};
use libtest_mimic::Trial;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const FOLDER: &str = "tests/rhai/parity";

/// Returns a test for each pair, named by its path without an extension.
pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: String| Trial::test(format!("{FOLDER}/{name}"), move || Ok(compare(&name)?));
    names().into_iter().map(trial).collect()
}

/// Returns the scripts that a test runs: both of a pair, or the one that it is named after.
pub(crate) fn scripts(test: &str) -> Vec<String> {
    if Path::new(test).parent() == Some(Path::new(FOLDER)) {
        ["harn", "rhai"].map(|extension| format!("{test}.{extension}")).to_vec()
    } else {
        vec![test.to_owned()]
    }
}

/// Returns the checks of all pairs together.
pub(crate) fn checks() -> Vec<Trial> {
    vec![check("there_are_enough_pairs_and_some_fail_on_purpose", || {
        let names = names();
        let failing = names.iter().filter(|name| name.starts_with("fails-")).count();
        assert!(names.len() >= 60, "{} pairs", names.len());
        assert!(failing >= 10, "{failing} fail on purpose");
    })]
}

/// The names of the pairs. Whatever else is in the folder would never be compared with anything.
fn names() -> Vec<String> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(root().join(FOLDER)).unwrap() {
        let path = entry.unwrap().path();
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap().to_str().unwrap().to_owned();
        names.entry(part(path.file_stem())).or_default().push(part(path.extension()));
    }
    for (name, extensions) in &mut names {
        extensions.sort();
        assert_eq!(extensions, &["harn", "rhai"], "{name}");
    }
    names.into_keys().collect()
}

fn text(name: &str, extension: &str) -> String {
    fs::read_to_string(root().join(FOLDER).join(format!("{name}.{extension}"))).unwrap()
}

/// Counts the calls of each builtin of agents in a program.
fn calls(text: &str) -> BTreeMap<String, usize> {
    const OF_AGENTS: [&str; 29] = [
        "agent_",
        "atomic",
        "base64_",
        "channel",
        "clear_",
        "close_agent",
        "event_log.",
        "handoff",
        "invalidate_",
        "json_",
        "list_agents",
        "llm_",
        "mailbox_",
        "mock_time",
        "notify_",
        "recall_",
        "regex_",
        "register_",
        "resume_",
        "send",
        "shared_",
        "spawn_agent",
        "store_",
        "sub_agent",
        "suspend_",
        "task.",
        "tool_",
        "transcript",
        "wait_agent",
    ];
    let text = text.replace("::", ".");
    let mut found = BTreeMap::new();
    for (at, _) in text.match_indices('(') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let start = text[..at].rfind(|c| !is_name(c)).map_or(0, |i| i + 1);
        let name = &text[start..at];
        if OF_AGENTS.iter().any(|of| name.starts_with(of)) {
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
    found
}

/// The effects of a program.
struct ProgramRun {
    outcome: Outcome,
    /// Its event log, a line for each record.
    log: String,
}

/// Runs a program in a folder of its own.
fn run(name: &str, extension: &str) -> ProgramRun {
    let folder = scratch(&format!("parity-{name}-{extension}"));
    let script = format!("{FOLDER}/{name}.{extension}");
    let options = text(name, extension);
    let options = options.lines().next().and_then(|line| line.strip_prefix("// run ")).unwrap_or("");
    let log = folder.join("events.db");
    let home = format!("sqlite:{}", log.display());
    let path = root().join(&script);
    let mut command = vec!["run", "--seed", "7", "--event-log", &home];
    command.extend(options.split_whitespace());
    command.push(path.to_str().unwrap());
    let work = folder.join("cwd");
    fs::create_dir(&work).unwrap();
    let mut outcome = harn_in(&work, &command, b"", &[]);
    let here = [path.to_str().unwrap(), folder.to_str().unwrap()].map(str::to_owned);
    for text in [&mut outcome.out, &mut outcome.err] {
        *text = without_places(text, &here);
    }
    let log = without_places(&records(&log), &here);
    ProgramRun { outcome, log }
}

/// Names of the file and of the folder are all that may differ.
fn without_places(text: &str, here: &[String; 2]) -> String {
    text.replace(&here[0], "SCRIPT").replace(&here[1], "FOLDER")
}

/// Every record of a log, in order. What names the process is left out.
fn records(file: &Path) -> String {
    let log = rusqlite::Connection::open(file).unwrap();
    let mut rows =
        log.prepare("SELECT topic, id, kind, occurred_at_ms, payload, headers FROM log ORDER BY cursor").unwrap();
    let mut found = rows.query([]).unwrap();
    let mut text = String::new();
    while let Some(row) = found.next().unwrap() {
        let [topic, kind, payload]: [String; 3] = [0, 2, 4].map(|at| row.get(at).unwrap());
        let (id, at_ms): (i64, i64) = (row.get(1).unwrap(), row.get(3).unwrap());
        let headers: Option<String> = row.get(5).unwrap();
        let mut headers: Value = headers.map_or(Value::Null, |headers| serde_json::from_str(&headers).unwrap());
        if let Some(headers) = headers.as_object_mut() {
            headers.remove("run_id");
        }
        writeln!(text, "{topic} {id} {kind} at {at_ms} {payload} {headers}").unwrap();
    }
    text
}

/// The first line of every picture on standard error, and all of it where nothing was drawn.
fn heads(outcome: &Outcome) -> String {
    let is_head = |line: &&str| ["error[", "warning[", "info["].iter().any(|start| line.starts_with(start));
    let heads: Vec<&str> = outcome.err.lines().filter(is_head).collect();
    if heads.is_empty() { outcome.err.clone() } else { heads.join("\n") }
}

/// Runs both programs of a pair.
///
/// # Errors
/// Returns the difference between the two.
fn compare(name: &str) -> Result<(), String> {
    // Programs that call different builtins, or in different numbers, are not a pair.
    let [harn, rhai] = ["harn", "rhai"].map(|extension| format!("{:#?}\n", calls(&text(name, extension))));
    if let Some(diff) = diff(&harn, &rhai) {
        return Err(format!("the calls of builtins differ (-harn, +rhai)\n{diff}"));
    }
    let [harn, rhai] = ["harn", "rhai"].map(|extension| run(name, extension));
    let failing = name.starts_with("fails-");
    if failing != (harn.outcome.code == Some(1) && harn.outcome.drawn("error") > 0) {
        return Err(format!("its Harn program ends with {:?}\n{}", harn.outcome.code, harn.outcome.err));
    }
    let codes = [&harn, &rhai].map(|did| format!("{:?}", did.outcome.code));
    let drawn = [&harn, &rhai].map(|did| heads(&did.outcome));
    let seen = [
        ("standard output", [&harn.outcome.out, &rhai.outcome.out]),
        ("the exit code", [&codes[0], &codes[1]]),
        ("what was drawn", [&drawn[0], &drawn[1]]),
        ("the event log", [&harn.log, &rhai.log]),
    ];
    for (what, [harn, other]) in seen {
        if let Some(diff) = diff(harn, other) {
            return Err(format!("{what} differs (-harn, +rhai)\n{diff}\n{}", rhai.outcome.err));
        }
    }
    // A program that does nothing would agree with everything.
    let last = harn.outcome.out.lines().last().unwrap_or("");
    let value = serde_json::from_str(last).unwrap_or(Value::Null);
    if harn.outcome.code == Some(0) && !value.is_object() && !value.is_array() {
        return Err(format!("its last line is no JSON of what it came to: {last}"));
    }
    Ok(())
}

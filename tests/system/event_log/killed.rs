//! A writer that is killed at any moment: what it has acknowledged is there, nothing is there twice or half, and no id is
//! left out.

use super::*;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const KILLS: u64 = 50;

/// 64 tasks, each of which prints the id of a record once it has it, and goes on to the next.
const SCRIPT: &str = "
let run = args()[0]
let body = \"Run the narrow test first. \".repeat(20)

fn work(task) {
  let topic = \"topic-${task % 3}\"
  var n = 0
  while true {
    let key = \"${run}-${task}-${n}\"
    let id = event_log.emit(topic, \"kept\", {key: key, body: body})
    println(\"${topic} ${id} ${key}\")
    n = n + 1
  }
}

parallel 64 { task -> work(task) }
";

/// Starts a writer, kills it once it has printed so many lines, and returns its lines.
fn killed_after(project: &Project, script: &str, run: u64, count: usize) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "--event-log", &project.home(), script, "--", &run.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..count {
        assert_ne!(out.read_line(&mut text).unwrap(), 0, "it ends by itself");
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it is killed and does not end by itself");
    out.read_to_string(&mut text).unwrap();
    // An incomplete line is not an acknowledgement.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

#[test]
fn what_was_acknowledged_survives_fifty_kills() {
    let project = Project::new("killed");
    let script = project.script(SCRIPT);
    let mut acknowledged = Vec::new();
    for run in 0..KILLS {
        // From before the first record to some commits and checkpoints later; a step that shares no factor with the range.
        let count = usize::try_from(run * 37 % 101).unwrap() * 5;
        acknowledged.extend(killed_after(&project, &script, run, count));
    }
    assert!(acknowledged.len() > 1000, "{} were acknowledged", acknowledged.len());

    let integrity: String = project.sqlite().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let records = project.records();
    let body = "Run the narrow test first. ".repeat(20);
    let mut last_ids: HashMap<&str, u64> = HashMap::new();
    let mut keys = HashSet::new();
    let mut there = HashSet::new();
    for (record, cursor) in records.iter().zip(1..) {
        assert_eq!(record.cursor, cursor, "no cursor is left out");
        let last = last_ids.entry(&record.topic).or_default();
        *last += 1;
        assert_eq!(record.id, *last, "no id of {} is left out", record.topic);
        assert_eq!(record.payload.get("body").as_str(), Some(body.as_str()), "no record is there half");
        let key = record.payload.get("key").as_str().unwrap();
        assert!(keys.insert(key), "{key} is there twice");
        there.insert(format!("{} {} {key}", record.topic, record.id));
    }
    let lost: Vec<_> = acknowledged.iter().filter(|line| !there.contains(*line)).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), acknowledged.len());
}

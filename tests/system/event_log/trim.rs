//! `harn log trim`: what it removes and keeps, and what it refuses.

use base::data::Data;
use eventlog::{EventLog as _, NewRecord, SqliteLog, SqliteOptions};

use super::*;

/// A time for which every record of a test is old, unless it is written later.
const OLD: u64 = 1_000;

fn write(project: &Project, records: &[(&str, &str, Data, Option<&str>)]) {
    let log = SqliteLog::open(project.path("events.db"), &SqliteOptions::default()).unwrap();
    for (topic, kind, payload, run) in records {
        let headers = run.map_or(Data::Nil, |run| Data::dict([("run_id", Data::from(run))]));
        let (topic, kind, payload) = ((*topic).into(), (*kind).into(), payload.clone().into());
        log.append(NewRecord { topic, kind, payload, headers, occurred_at_ms: OLD });
    }
    log.look(|_| Ok(())).unwrap();
}

fn trim(project: &Project, options: &[&str]) -> Outcome {
    let log = project.path("events.db");
    let args: Vec<&str> = ["log", "trim", log.to_str().unwrap()].into_iter().chain(options.iter().copied()).collect();
    harn_with_input(&args, b"", &[])
}

/// Returns the kinds of the records, in order.
fn kinds(project: &Project) -> Vec<String> {
    project.records().iter().map(|record| record.kind.to_string()).collect()
}

fn task(id: &str, state: &str) -> Data {
    let fields = [("task_id", id), ("context_id", "c"), ("state", state), ("process", "1-1")];
    Data::dict(fields.map(|(key, value)| (key, Data::from(value))))
}

/// Writes a log with records of each kind.
fn written(name: &str) -> Project {
    let project = Project::new(name);
    let of = |key: &'static str, value: &str| Data::dict([(key, Data::from(value))]);
    write(
        &project,
        &[
            ("channel", "channel.enrolled", of("id", "chan-1"), None),
            ("hub.change", "hub.change.batch", Data::Nil, None),
            ("deploys", "deploy.done", Data::Nil, None),
            ("builds", "build.done", Data::Nil, None),
            ("channel", "channel.refused", of("reason", "scope"), None),
            ("channel", "channel.later_version", Data::Nil, None),
            ("transcript.turn", "transcript.turn.prompt", of("session_id", "s"), Some("run-1")),
            ("session.activity", "session.activity.loop", Data::Nil, Some("run-1")),
            ("a2a.task", "a2a.task.created", task("task_:open", "submitted"), Some("task_:open")),
            ("a2a.task", "a2a.task.created", task("task_:done", "submitted"), Some("task_:done")),
            ("a2a.task", "a2a.task.status", task("task_:done", "completed"), Some("task_:done")),
            ("session.life", "session.life.prompted", of("session_id", "sess_aa"), Some("sess_aa")),
        ],
    );
    project
}

const KEPT: [&str; 6] =
    ["channel.enrolled", "hub.change.batch", "deploy.done", "build.done", "channel.later_version", "a2a.task.created"];

#[test]
fn old_records_go_and_what_is_needed_stays() {
    let project = written("trim-kept");
    let before = kinds(&project);
    for options in [&["--before", "1d", "--dry-run"][..], &["--before", "1970-01-01"]] {
        let ran = printed(trim(&project, options));
        assert!(ran.contains(" of 12 records older than "), "{ran}");
        assert_eq!(kinds(&project), before, "{options:?}");
    }
    let ran = printed(trim(&project, &["--before", "1d"]));
    assert!(ran.starts_with("removed 6 of 12 records older than "), "{ran}");
    let removed = "  removed: 0 sessions, 1 finished task, 2 runs, 1 record about channels, 0 records of scripts\n";
    assert!(ran.contains(removed), "{ran}");
    let kept = "  kept: 0 sessions (0 old, with something pending), 1 task (1 unfinished), 0 runs, 1 channel, \
        0 links to tasks of peers, 1 record of a hub, 2 records of scripts\n";
    assert!(ran.contains(kept) && ran.contains("  size of the file: "), "{ran}");
    assert_eq!(kinds(&project), KEPT);
    let ran = printed(trim(&project, &["--before", "1d", "--topic", "deploys"]));
    assert!(ran.starts_with("removed 1 of 6 records") && ran.contains("1 record of scripts\n"), "{ran}");
    assert!(!kinds(&project).contains(&"deploy.done".to_owned()));
    // Numbers are not used again.
    assert_eq!(project.run("println(event_log.emit(\"deploys\", \"deploy.done\", nil))").out, "2\n");
    assert_eq!(project.records().last().map(|record| record.cursor > 12), Some(true));
}

#[test]
fn space_is_given_back() {
    let project = Project::new("trim-space");
    let big = Data::dict([("session_id", Data::from("s")), ("text", "x".repeat(4_000).into())]);
    let records = vec![("session.message", "session.message.appended", big, Some("run-1")); 2_000];
    write(&project, &records);
    let size = || fs::metadata(project.path("events.db")).unwrap().len();
    let before = size();
    let ran = printed(trim(&project, &["--before", "1h"]));
    assert!(ran.starts_with("removed 2000 of 2000 records"), "{ran}");
    assert!(before > 8_000_000 && size() < 200_000, "{before} {}", size());
    assert!(!project.path("events.db-wal").exists());
    let left: Vec<_> = fs::read_dir(&project.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["events.db"], "no lock stays");
}

#[test]
fn wrong_input_changes_nothing() {
    let project = written("trim-wrong");
    let before = fs::read(project.path("events.db")).unwrap();
    for (options, says) in [
        (&[][..], "--before <WHEN>"),
        (&["--before", "soon"], "`soon` is neither a duration nor a time"),
        (&["--before", "0s"], "`0s` is neither a duration nor a time"),
        (&["--before", "2999-01-01"], "`2999-01-01` is in the future"),
    ] {
        let refused = trim(&project, options);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.err.contains(says), "{refused:?}");
    }
    for (topic, says) in [
        ("hub.change", "the topic `hub.change` belongs to the runtime"),
        ("channel", "the topic `channel` belongs to the runtime"),
        ("unknown", "the event log has no topic `unknown`"),
    ] {
        failed(&trim(&project, &["--before", "1d", "--topic", topic]), "HARN-LOG-019", says);
    }
    assert_eq!(fs::read(project.path("events.db")).unwrap(), before);
    let trim_file = |name: &str| {
        let path = project.path(name);
        harn_with_input(&["log", "trim", path.to_str().unwrap(), "--before", "1d"], b"", &[])
    };
    failed(&trim_file("missing.db"), "HARN-LOG-002", "the file does not exist");
    assert!(!project.path("missing.db").exists());
    fs::write(project.path("text.db"), "not a database").unwrap();
    failed(&trim_file("text.db"), "HARN-LOG-003", "it is not a SQLite database");
    failed(&trim_file(""), "HARN-LOG-002", "it is a folder");
    // The path as `--event-log` takes it.
    let home = project.home();
    printed(harn_with_input(&["log", "trim", &home, "--before", "1d", "--dry-run"], b"", &[]));
}

#[test]
fn a_file_of_an_earlier_layout_is_trimmed() {
    for layout in ["layout_1", "layout_2"] {
        trimmed(layout);
    }
}

fn trimmed(layout: &str) {
    let project = Project::new(&format!("trim-{layout}"));
    let fixture = crate::harn::root().join(format!("tests/fixtures/{layout}/run.db"));
    fs::copy(fixture, project.path("events.db")).unwrap();
    let all = project.records().len();
    let dry = printed(trim(&project, &["--before", "1ms", "--dry-run"]));
    assert_eq!(project.records().len(), all);
    let done = printed(trim(&project, &["--before", "1ms"]));
    let number = |text: &str| text.split(' ').find_map(|word| word.parse::<usize>().ok());
    assert_eq!((number(&done), number(&dry)), (Some(24), Some(24)));
    let left = project.records();
    assert!(left.len() < all && left.iter().all(|record| !record.topic.starts_with("transcript.")), "{done}");
}

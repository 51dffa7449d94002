//! `harn log stats`, `export` and `verify`.

use base::data::Data;
use eventlog::{EventLog as _, NewRecord, SqliteLog, SqliteOptions};
use serde_json::{Value, json};

use super::*;

/// Writes a log with sessions, tasks, runs and records of scripts.
fn written(name: &str) -> Project {
    let project = Project::new(name);
    let log = SqliteLog::open(project.path("events.db"), &SqliteOptions::default()).unwrap();
    let task = |id: &str, state: &str| {
        let fields = [("task_id", id), ("context_id", "c"), ("state", state), ("process", "1-1")];
        Data::dict(fields.map(|(key, value)| (key, Data::from(value))))
    };
    let records = [
        ("session.life", "session.life.opened", Data::Nil, Some("sess_aa")),
        ("session.life", "session.life.opened", Data::Nil, Some("sess_bb")),
        ("a2a.task", "a2a.task.created", task("task_:open", "submitted"), Some("task_:open")),
        ("a2a.task", "a2a.task.created", task("task_:done", "submitted"), Some("task_:done")),
        ("deploys", "deploy.done", Data::from("\u{1b}[31m"), None),
        ("a2a.task", "a2a.task.status", task("task_:done", "completed"), Some("task_:done")),
        ("session.life", "session.life.closed", Data::Nil, Some("sess_bb")),
        ("transcript.turn", "transcript.turn.prompt", Data::Nil, Some("run-1")),
    ];
    for (at, (topic, kind, payload, run)) in records.into_iter().enumerate() {
        let headers = run.map_or(Data::Nil, |run| Data::dict([("run_id", Data::from(run))]));
        let (topic, kind, payload) = (topic.into(), kind.into(), payload.into());
        log.append(NewRecord { topic, kind, payload, headers, occurred_at_ms: (at as u64 + 1) * 1_000 });
    }
    log.look(|_| Ok(())).unwrap();
    project
}

fn log(project: &Project, command: &str, options: &[&str]) -> Outcome {
    let path = project.path("events.db");
    let args: Vec<&str> = ["log", command, path.to_str().unwrap()].into_iter().chain(options.iter().copied()).collect();
    harn_with_input(&args, b"", &[])
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn stats_count_records_topics_sessions_tasks_and_runs() {
    let project = written("log-stats");
    let before = fs::read(project.path("events.db")).unwrap();
    let stats: Value = serde_json::from_str(&printed(log(&project, "stats", &["--json"]))).unwrap();
    let part = |name: &str| {
        let part = &stats[name];
        let number = |key: &str| part[key].clone();
        json!([number("count"), number("open"), number("ended"), number("records")])
    };
    assert_eq!(part("sessions"), json!([2, 1, 1, 3]));
    assert_eq!(part("tasks"), json!([2, 1, 1, 3]));
    assert_eq!(part("runs"), json!([1, null, null, 1]));
    assert_eq!(stats["other"]["records"], 1);
    assert_eq!(json!([stats["records"], stats["oldest_ms"], stats["newest_ms"]]), json!([8, 1_000, 8_000]));
    let topics = stats["topics"].as_object().unwrap();
    assert_eq!(topics.keys().collect::<Vec<_>>(), ["a2a.task", "deploys", "session.life", "transcript.turn"]);
    let bytes = |of: &Value| of["bytes"].as_u64().unwrap();
    assert_eq!(topics.values().map(bytes).sum::<u64>(), bytes(&stats));
    assert!(stats["file_bytes"].as_u64() >= stats["used_bytes"].as_u64() && stats["used_bytes"].as_u64() > Some(0));
    let text = printed(log(&project, "stats", &[]));
    assert!(text.starts_with("8 records, "), "{text}");
    assert!(text.contains("\n  2 sessions (1 open, 1 ended): 3 records, "), "{text}");
    assert!(text.contains("\n4 topics\n  a2a.task: 3 records, "), "{text}");
    assert_eq!(fs::read(project.path("events.db")).unwrap(), before, "nothing is changed");
}

#[test]
fn an_export_is_json_lines_that_a_trace_reads() {
    let project = written("log-export");
    let all = printed(log(&project, "export", &[]));
    let records = lines(&all);
    let cursors: Vec<_> = records.iter().map(|record| record["cursor"].as_u64().unwrap()).collect();
    assert_eq!(cursors, (1..=8).collect::<Vec<_>>());
    let expected = json!({"id": 1, "cursor": 5, "topic": "deploys", "kind": "deploy.done", "payload": "\u{1b}[31m",
        "headers": null, "occurred_at_ms": 5_000});
    assert_eq!(records[4], expected);
    let kinds = |options: &[&str]| {
        let records = lines(&printed(log(&project, "export", options)));
        records.iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&["--run", "sess_bb"]), ["session.life.opened", "session.life.closed"]);
    assert_eq!(kinds(&["--since", "1970-01-01T00:00:07Z"]), ["session.life.closed", "transcript.turn.prompt"]);
    assert_eq!(kinds(&["--run", "sess_aa", "--since", "1d"]), Vec::<String>::new());
    let file = project.path("out.jsonl");
    let output = file.to_str().unwrap();
    assert_eq!(printed(log(&project, "export", &["--output", output])), "wrote 8 records\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), all);
    printed(harn_with_input(&["trace", output], b"", &[]));
    let unknown = log(&project, "export", &["--run", "sess_zz"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.err.contains("no records of `sess_zz`"), "{unknown:?}");
}

#[test]
fn an_export_that_fails_leaves_the_file_as_it_was() {
    let project = written("log-export-fails");
    let file = project.path("out.jsonl");
    fs::write(&file, "before").unwrap();
    let own = project.path("events.db");
    let refused = log(&project, "export", &["--output", own.to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.err.contains("the log itself"), "{refused:?}");
    project.sqlite().execute("UPDATE records SET payload = '{' WHERE cursor = 7", []).unwrap();
    failed(&log(&project, "export", &["--output", file.to_str().unwrap()]), "HARN-LOG-009", "the cursor 7");
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    let left = fs::read_dir(&project.0).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".part")
    });
    assert_eq!(left.count(), 0);
    // What does not contain it can be saved.
    assert_eq!(lines(&printed(log(&project, "export", &["--run", "task_:done"]))).len(), 2);
}

#[test]
fn a_file_is_verified_and_each_defect_is_printed() {
    let project = written("log-verify");
    assert_eq!(printed(log(&project, "verify", &[])), "verified 8 records: no defects\n");
    let whole: Value = serde_json::from_str(&printed(log(&project, "verify", &["--json"]))).unwrap();
    assert_eq!(whole, json!({"records": 8, "defect_count": 0, "defects": []}));
    project
        .sqlite()
        .execute_batch("UPDATE records SET payload = '{' WHERE cursor = 5; UPDATE head SET last_cursor = 2")
        .unwrap();
    let broken = log(&project, "verify", &[]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.out.contains("record 5: ") && broken.out.contains("the last cursor of the log is 2"), "{broken:?}");
    assert!(broken.err.contains("HARN-LOG-009") && broken.err.contains("2 defects in 8 records"), "{broken:?}");
    let json = log(&project, "verify", &["--json"]);
    let found: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &found["defect_count"]), (Some(1), &json!(2)));
}

#[test]
fn what_is_no_log_is_refused_by_each_command() {
    let project = Project::new("log-none");
    fs::write(project.path("events.db"), "not a database").unwrap();
    for command in ["stats", "export", "verify"] {
        failed(&log(&project, command, &[]), "HARN-LOG-003", "it is not a SQLite database");
        let missing = project.path("missing.db");
        let refused = harn_with_input(&["log", command, missing.to_str().unwrap()], b"", &[]);
        failed(&refused, "HARN-LOG-002", "the file does not exist");
        assert!(!missing.exists());
    }
}

//! Files that earlier builds wrote, in `tests/fixtures`: they open, and go on where they were.

use crate::harn::{Outcome, harn, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures/layout_1").join(name)
}

/// A copy of a fixture in a folder of the test's own.
fn copied(test: &str, name: &str) -> PathBuf {
    copied_from("layout_1", test, name)
}

fn copied_from(layout: &str, test: &str, name: &str) -> PathBuf {
    let path = scratch(&format!("{layout}-{test}")).join(name);
    fs::copy(root().join("tests/fixtures").join(layout).join(name), &path).unwrap();
    path
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn run(script: &Path, log: &str, args: &[&str]) -> Outcome {
    let mut all = vec!["run".to_owned(), "--seed".to_owned(), "1".to_owned(), "--event-log".to_owned(), log.to_owned()];
    all.extend([text(script), "--".to_owned()]);
    all.extend(args.iter().map(ToString::to_string));
    harn(&all)
}

fn sessions_of(log: &Path) -> Value {
    let traced = harn(&["trace", log.to_str().unwrap(), "--json"]);
    assert_eq!(traced.code, Some(0), "{traced:?}");
    serde_json::from_str::<Value>(&traced.out).unwrap()["sessions"].clone()
}

#[test]
fn the_log_of_a_run_is_read_as_it_is_and_migrated_when_it_is_written() {
    for earlier in [1, 2] {
        read_and_migrated(earlier);
    }
}

fn read_and_migrated(earlier: i64) {
    let log = copied_from(&format!("layout_{earlier}"), "run", "run.db");
    let sessions = sessions_of(&log);
    let tally = &sessions[0]["conservation"];
    assert_eq!((&sessions[0]["id"], &tally["holds"]), (&Value::from("s"), &Value::from(true)), "{sessions}");
    let layout = |log: &Path| {
        let file = rusqlite::Connection::open(log).unwrap();
        let number: i64 = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        number
    };
    assert_eq!(layout(&log), earlier, "reading changes nothing");
    let script = log.with_file_name("more.harn");
    fs::write(
        &script,
        "println(len(event_log.read({})), event_log.latest(\"deploys\"))\nprintln(event_log.emit(\"deploys\", \"deploy.done\", nil))\n\
         println(event_log.read(\"deploys\").map({ r -> r.headers }))\n",
    )
    .unwrap();
    let ran = run(&script, &format!("sqlite:{}", text(&log)), &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.out, "26 2\n3\n[{trace: t1}, nil, nil]\n");
    assert_eq!(layout(&log), 3);
    assert_eq!(sessions_of(&log), sessions);
    let file = rusqlite::Connection::open(&log).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let of_run = count("SELECT count(*) FROM log WHERE run_id = '6610602e1c03f-7611'");
    assert_eq!(of_run, count("SELECT count(*) FROM log WHERE headers LIKE '%run_id%'"));
    assert!(of_run > 20);
}

#[test]
fn a_suspended_worker_goes_on() {
    let snapshot = copied("worker", "worker.json");
    let ran = run(&fixture("worker.harn"), "memory", &["resume", &text(&snapshot)]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = "turn 2: [user dig, assistant , tool deeper, user Go on., user Bring a lamp.]\n\
                    System reminder:\nMind the roots.\n\nSystem reminder:\nCheck the walls.\n\nSystem reminder:\n\
                    You were suspended at turn 1. Reason: lunch\nYou have been resumed by the operator.\n\
                    The resumer provided input: Go on.\n\
                    completed found it 2\n\
                    Mind the roots. 1 inherited all\nCheck the walls. 1 hook session\n\
                    [forked, forked, injected]\n";
    assert_eq!(ran.out, expected);
}

#[test]
fn a_loop_whose_process_was_killed_goes_on() {
    let state = copied("loop", "loop.json");
    let ran = run(&fixture("loop.harn"), "memory", &[&text(&state), "batch"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for said in ["user: dig\n", "tool: not run: the process ended before this call was answered", "done\n"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
}

#[test]
fn a_loop_that_suspended_itself_goes_on() {
    let state = copied("suspended", "release.json");
    let script = root().join("examples/suspend/release.harn");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(script).args(["--", "Approved by Kim."]).env_clear().env("HARN_LLM_PROVIDER", "mock");
    let done = command.env("HARN_STATE", &state).output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{out}{}", String::from_utf8_lossy(&done.stderr));
    for said in
        ["published 2.0", "status: done after 4 turns", "Reason: approval of 2.0", "provided input: Approved by Kim."]
    {
        assert!(out.contains(said), "{said}: {out}");
    }
    assert!(!state.exists(), "the example deletes it at the end");
}

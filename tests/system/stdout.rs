//! Standard output that cannot be written: a full disk is an error, a reader that has gone away is none.

use crate::harn::{root, scratch};
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::process::{Command, Output, Stdio};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(args).current_dir(root()).env_clear().stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

fn script(name: &str, text: &str) -> String {
    let path = scratch(&format!("stdout-{name}")).join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Returns the result of a command whose output goes to a full disk.
fn to_full_disk(args: &[&str]) -> Output {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    command(args).stdout(full).output().unwrap()
}

#[test]
fn a_full_disk_is_an_error_of_every_command() {
    let prints = script("prints.harn", "println(\"hello\")\n");
    let caught = script(
        "caught.harn",
        "try {\n  println(\"hello\")\n} catch e {\n  eprintln(\"caught\")\n}\neprintln(\"went on\")\n",
    );
    let in_task = script("task.harn", "spawn { println(\"hello\") }\nsleep(60000)\n");
    let in_rhai = script("prints.rhai", "print(\"hello\"); sleep(60000);\n");
    let wrong = script("wrong.harn", "let x = \n");
    for args in [
        &["run", &prints][..],
        &["run", &caught],
        &["run", &in_task],
        &["run", &in_rhai],
        &["check", "--format", "json", &wrong],
        &["explain"],
        &["explain", "HARN-RUN-001", "--json"],
        &["doc"],
    ] {
        let ended = to_full_disk(args);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("cannot write to standard output: No space left on device"), "{args:?}: {said}");
        assert!(!said.contains("caught") && !said.contains("went on"), "{args:?}: {said}");
    }
}

#[test]
fn a_trace_that_cannot_be_printed_is_an_error() {
    let folder = scratch("stdout-trace");
    let log = format!("jsonl:{}", folder.join("log.jsonl").display());
    let reminds = script(
        "reminds.harn",
        "agent_session_inject_reminder(agent_session_open(\"s\"), {body: \"b\", ttl_turns: 1})\n",
    );
    let _ = command(&["run", &reminds, &format!("--event-log={log}")]).output().unwrap();
    let ended = to_full_disk(&["trace", &folder.join("log.jsonl").display().to_string()]);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
}

#[test]
fn a_reader_that_has_gone_away_ends_the_run_quietly() {
    for (name, text) in
        [("for-ever.harn", "while true {\n  println(\"y\")\n}\n"), ("for-ever.rhai", "while true { print(\"y\"); }\n")]
    {
        let path = script(name, text);
        let mut child = command(&["run", &path]).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 2];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_eq!(&first, b"y\n");
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), &*ended.stderr), (Some(141), &b""[..]), "{name}");
    }
    for args in [&["doc"][..], &["explain"]] {
        let mut child = command(args).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), &*ended.stderr), (Some(0), &b""[..]), "{args:?}");
    }
}

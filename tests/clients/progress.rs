//! The line of progress, in the pseudo-terminal of `tests/repl/screen.py`.

use crate::harn::{environment, root, scratch};
use crate::packages::python;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs a command in a terminal, waits until the screen shows each of the texts, and returns the last screen.
fn screen(folder: &std::path::Path, args: &[&str], waits: &[&str]) -> String {
    let mut child = Command::new(python("repl", "tests/repl/requirements.txt"))
        .arg(root().join("tests/repl/screen.py"))
        .arg(env!("CARGO_BIN_EXE_harn"))
        .args(args)
        .current_dir(folder)
        .env_clear()
        .envs(environment())
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let steps: String = waits.iter().map(|text| format!("{}\n", serde_json::json!(["wait", text]))).collect();
    child.stdin.take().unwrap().write_all(steps.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let screen = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}\n{screen}", String::from_utf8_lossy(&output.stderr));
    screen
}

#[test]
fn slow_tests_show_which_one_runs_and_leave_only_their_results() {
    let folder = scratch("progress-test");
    // The clock of a test stands still, a process takes its time.
    let slow = |name: &str| format!("test \"{name}\" {{ assert(exec(\"sleep\", \"0.7\").ok) }}\n");
    fs::write(folder.join("slow_test.harn"), ["first", "second", "third"].map(slow).concat()).unwrap();
    let shown = screen(&folder, &["test", "."], &["testing 3 slow_test.harn > third"]);
    assert!(!shown.contains("testing"), "the line is removed:\n{shown}");
    assert!(shown.contains("3 passed"), "{shown}");
}

#[test]
fn quick_tests_show_no_progress() {
    let folder = scratch("progress-quick");
    fs::write(folder.join("quick_test.harn"), "test \"quick\" { assert(true) }\n").unwrap();
    let shown = screen(&folder, &["test", "."], &["1 passed"]);
    assert!(!shown.contains("testing"), "{shown}");
}

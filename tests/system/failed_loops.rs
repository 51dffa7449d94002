//! Failures of more loops than a run keeps: each is reported, and what is handled is not counted.

use crate::harn::{harn, scratch};
use std::fs;

/// Runs a script whose 300 loops fail, and which then does the rest. Returns the exit code and standard error.
fn run(name: &str, rest: &str) -> (Option<i32>, String) {
    let folder = scratch(name);
    let script = format!(
        "let failing = {{llm_caller: {{ asked -> throw \"out of order\" }}, reminders: false}}\n\
         let results = (1 to 300).map({{ i -> agent_loop(\"go\", nil, failing) }})\n{rest}\n"
    );
    let path = folder.join("loops.harn");
    fs::write(&path, script).unwrap();
    let outcome = harn(&["run", path.to_str().unwrap()]);
    (outcome.code, outcome.err)
}

#[test]
fn loops_that_are_only_counted_fail_the_run() {
    let (code, err) = run("failed-loops-counted", "for i in 0 to 255 { println(results[i].stop_reason) }");
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("error[HARN-RUN-001]: 44 agent loops failed, and the script did not handle them"), "{err}");
    assert_eq!(err.matches("warning[HARN-RUN-001]: the agent loop failed: ").count(), 300, "{err}");
}

#[test]
fn loops_that_are_handled_late_are_not_counted() {
    let (code, err) = run("failed-loops-handled", "for result in results { println(result.stop_reason) }");
    assert_eq!(code, Some(0), "{err}");
    assert!(!err.contains("did not handle"), "{err}");
    let (code, err) = run(
        "failed-loops-handled",
        "for result in results { println(result.stop_reason) }\nagent_loop(\"go\", nil, failing)",
    );
    assert_eq!(code, Some(1), "{err}");
    assert_eq!(err.matches("did not handle it").count(), 1, "{err}");
    assert!(!err.contains("more agent loops"), "{err}");
}

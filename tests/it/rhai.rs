//! Scripts in Rhai with expected output, in `tests/rhai/run`: as those of `tests/lang`. And what needs real time.

use crate::harn::{harn, scratch};
use crate::scripts::{all, as_output};

#[test]
fn run() {
    all("tests/rhai/run", as_output);
}

/// What a script prints by the system's clock.
fn printed(name: &str, script: &str) -> String {
    let file = scratch(&format!("rhai-{name}")).join("script.rhai");
    std::fs::write(&file, script).unwrap();
    let outcome = harn(&["run", file.to_str().unwrap()]);
    format!("{}{}", outcome.out, outcome.err)
}

#[test]
fn a_loop_without_an_end_lets_others_have_their_turn() {
    let script = "let done = atomic(0);\nspawn_(|| { sleep(20); atomic_set(done, 1); });\nwhile atomic_get(done) == 0 {}\n\
                  print(\"seen\");";
    assert_eq!(printed("turns", script), "seen\n");
}

#[test]
fn a_loop_without_an_end_is_ended_by_a_deadline() {
    let script = "try { deadline(20, || { while true {} }); } catch (e) { print(e.message); }";
    assert_eq!(printed("deadline", script), "the deadline of 20ms passed\n");
}

#[test]
fn a_loop_without_an_end_is_ended_when_its_task_is_cancelled() {
    let script = "let task = spawn_(|| { try { while true {} } catch { print(\"caught\"); } });\nsleep(5);\ncancel(task);\n\
                  try { await_(task); } catch (e) { print(e.code); }";
    assert_eq!(printed("cancel", script), "HARN-RUN-033\n");
}

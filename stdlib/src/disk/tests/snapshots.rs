//! Snapshots and event logs on a disk that does not answer: the thread of the session goes on.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use eventlog::{EventLog, SqliteLog, SqliteOptions};
use lang::source::Source;
use lang::vm::RunCode;

use crate::disk::stall::Stalled;
use crate::engine::{Engine, RunOptions};
use crate::limits::RunLimits;
use crate::output::Captured;

/// A worker that is suspended in its second turn. The snapshot is the first step on the disk.
const SUSPENDED: &str = r#"
var turns = 0
let worker = spawn_agent({name: "w", task: "t", reminders: false, max_iterations: 4, llm_caller: { asked ->
  turns = turns + 1
  if turns > 1 { return "done" }
  sleep(1)
  return {tool_calls: [{id: "a", name: "none", arguments: {}}]}
}})
suspend_agent(worker, "night", {snapshot_path: "FOLDER/w.json"})
println(wait_agent(worker).status)
"#;

/// A folder that is removed at the end of the test.
struct SnapshotFolder(PathBuf);

impl std::ops::Deref for SnapshotFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for SnapshotFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scratch(name: &str) -> SnapshotFolder {
    let folder = std::env::temp_dir().join(format!("harn-disk-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    SnapshotFolder(folder)
}

fn run(folder: &Path, log: Option<Rc<dyn EventLog>>, text: &str) -> String {
    let text = text.replace("FOLDER", &folder.to_string_lossy());
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { output: output.clone(), log, ..RunOptions::default() });
    let ran = engine.run(&Source::new("a.harn", text));
    assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
    drop(engine);
    output.stdout()
}

/// Runs a script whose disk answers `passing` steps. Once the next one waits, `look` sees the folder, and then the disk
/// answers again. Returns what the script printed.
fn run_stalled(
    folder: &Path,
    passing: usize,
    log: Option<Rc<dyn EventLog>>,
    text: &str,
    look: impl FnOnce(&Path) + Send + 'static,
) -> String {
    let stalled = Stalled::after(passing);
    let seen = folder.to_owned();
    let disk = thread::spawn(move || {
        // It must wait on the pool: a run that waits on its own thread would not come so far.
        stalled.until_waiting(1);
        look(&seen);
        drop(stalled);
    });
    let printed = run(folder, log, text);
    assert!(disk.join().is_ok(), "step {passing} of {text} waits for the disk on the pool");
    printed
}

#[test]
fn the_lock_of_a_persisted_loop_is_taken_on_the_pool() {
    let text = "let options = {persist_path: \"FOLDER/loop\", llm_caller: { asked -> \"done\" }}\n\
        println(agent_loop(\"task\", nil, options).text)\n";
    let look = |folder: &Path| assert!(!folder.join("loop.lock").exists(), "the lock is not taken yet");
    assert_eq!(run_stalled(&scratch("lock"), 0, None, text, look), "done\n");
}

#[test]
fn the_lock_of_a_persisted_loop_is_released_on_the_pool() {
    let folder = scratch("release");
    let text = "let options = {persist_path: \"FOLDER/loop\", llm_caller: { asked -> \"done\" }}\n\
        println(agent_loop(\"task\", nil, options).text)\n";
    // The lock, two writes, then the release.
    let look = |folder: &Path| assert!(folder.join("loop.lock").exists(), "the lock is still held");
    assert_eq!(run_stalled(&folder, 3, None, text, look), "done\n");
    assert!(folder.join("loop").exists() && !folder.join("loop.lock").exists());
}

#[test]
fn a_loop_that_was_left_is_read_and_claimed_on_the_pool() {
    for step in 0..4 {
        let folder = scratch("left");
        let left = "agent_loop(\"task\", nil, {persist_path: \"FOLDER/one\", llm_caller: { asked -> \"done\" }})\n";
        run(&folder, None, left);
        // Read, lock, read again, claim.
        let text = "println(agent_loop(\"more\", nil, {resume_path: \"FOLDER/one\", llm_caller: { asked -> \"done\" }}).text)\n";
        let printed = run_stalled(&folder, step, None, text, move |folder| {
            let found = ["one", "one.lock", "one.resumed"].map(|name| folder.join(name).exists());
            assert_eq!(found, [true, step > 1, false], "step {step}");
        });
        assert_eq!(printed, "done\n");
        assert!(folder.join("one.resumed").exists());
    }
}

#[test]
fn a_suspended_worker_is_written_on_the_pool() {
    let look = |folder: &Path| assert!(!folder.join("w.json").exists());
    assert_eq!(run_stalled(&scratch("suspend"), 0, None, SUSPENDED, look), "suspended\n");
}

#[test]
fn input_for_a_suspended_worker_is_written_on_the_pool() {
    let text = format!("{SUSPENDED}println(send_input(worker, \"one more thing\").status)\n");
    let look = |folder: &Path| {
        assert!(!std::fs::read_to_string(folder.join("w.json")).unwrap().contains("one more thing"));
    };
    assert_eq!(run_stalled(&scratch("input"), 1, None, &text, look), "suspended\nsuspended\n");
}

#[test]
fn two_inputs_at_once_are_both_in_the_snapshot() {
    let text = format!(
        "{SUSPENDED}let both = [spawn {{ send_input(worker, \"first input\") }}, spawn {{ send_input(worker, \"second input\") }}]\n\
         both.map({{ task -> await(task) }})\nlet text = read_file(\"FOLDER/w.json\")\n\
         println(text.contains(\"first input\"), text.contains(\"second input\"))\n"
    );
    assert_eq!(run_stalled(&scratch("inputs"), 1, None, &text, |_| {}), "suspended\ntrue true\n");
}

#[test]
fn a_worker_is_resumed_on_the_pool() {
    let text = format!("{SUSPENDED}resume_agent(worker)\nprintln(wait_agent(worker).status)\n");
    let claimed = |folder: &Path| assert!(folder.join("w.json").exists() && !folder.join("w.json.resumed").exists());
    assert_eq!(run_stalled(&scratch("claim"), 1, None, &text, claimed), "suspended\ncompleted\n");
    let discarded = |folder: &Path| assert!(folder.join("w.json.resumed").exists());
    assert_eq!(run_stalled(&scratch("discard"), 2, None, &text, discarded), "suspended\ncompleted\n");
}

#[test]
fn the_snapshot_of_a_closed_worker_is_removed_on_the_pool() {
    let text = format!("{SUSPENDED}println(close_agent(worker).status)\n");
    let look = |folder: &Path| assert!(folder.join("w.json").exists());
    assert_eq!(run_stalled(&scratch("close"), 1, None, &text, look), "suspended\ncancelled\n");
}

#[test]
fn a_subscription_finds_its_first_record_on_the_pool() {
    let folder = scratch("subscribe-log");
    let log = SqliteLog::open(folder.join("events.db"), &SqliteOptions::default()).unwrap();
    let text = "event_log.emit(\"t\", \"k\", 1)\nlet stream = event_log.subscribe(\"t\")\nprintln(stream.next().value.payload)\n";
    let output = run_stalled(&scratch("subscribe"), 0, Some(Rc::new(log)), text, |_| {});
    assert_eq!(output, "1\n");
}

#[test]
fn a_disk_that_does_not_answer_ends_no_later_than_the_time_of_the_run() {
    let resumed = format!("{SUSPENDED}resume_agent(worker)\n");
    let closed = format!("{SUSPENDED}close_agent(worker)\n");
    let told = format!("{SUSPENDED}send_input(worker, \"more\")\n");
    for (passing, text) in [(0, SUSPENDED), (1, &resumed), (1, &closed), (1, &told)] {
        let folder = scratch("time-of-the-run");
        let stalled = Stalled::after(passing);
        let limits = RunLimits { time: Some(Duration::from_millis(500)), ..RunLimits::default() };
        let engine = Engine::new(RunOptions { limits, ..RunOptions::default() });
        let ran = engine.run(&Source::new("a.harn", text.replace("FOLDER", &folder.to_string_lossy())));
        drop(engine);
        assert!(ran.diagnostics.iter().any(|found| found.code == RunCode::Time), "{text}: {:?}", ran.diagnostics);
        // The run has ended although the disk has not answered.
        drop(stalled);
    }
}

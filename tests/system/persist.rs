//! Loops that outlive their process, however that ends.

use crate::harn::{Outcome, harn, scratch};
use crate::wait::{LIMIT, until};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// The first argument says where the state is. A first process works until it is killed; the next goes on.
const SCRIPT: &str = r#"
let state = args()[0]
let mode = args()[1]
let id = agent_session_open("s")
let is_first = !file_exists(state)
let tools = tool_define(tool_registry(), "dig", "Digs.", {parameters: {where: "string"}, handler: { a ->
  println("digging ${a.where}")
  if a.where == "right" {
    sleep(3600000)
  }
  return "stone"
}})
// Added after the state was written for this batch: it is lost with the process.
register_tool_hook({pattern: "dig", pre: { e -> {reminder: {body: "Dust.", dedupe_key: "dust", ttl_turns: 9}} }})
register_session_hook("session_start", { e -> {reminder: {body: "Mind the roots.", ttl_turns: 3}} })
register_session_hook("session_idle", { e ->
  if is_first {
    // Queued while it idles, for the record only: nothing delivers it before the end.
    agent_session_push_bridge_injection(id, {body: "For the record.", mode: "audit_only", ttl_turns: 1})
  }
  println("idle")
  return nil
})
let result = agent_loop("dig", "You dig.", {
  session_id: id, tools: tools, reminders: ["-idle_nudge"], persist_path: state, resume_path: state,
  daemon: mode == "daemon", wake_interval_ms: is_first ? 3600000 : 1, max_iterations: is_first ? 10 : 4,
  llm_caller: { asked ->
    if !is_first {
      for m in asked.messages {
        println("${m.role}: ${m.content}")
      }
      println(asked.system)
      return "done"
    }
    if mode == "batch" {
      return {tool_calls: [{id: "c1", name: "dig", arguments: {where: "left"}}, {id: "c2", name: "dig", arguments: {where: "right"}}]}
    }
    return "ready"
  },
})
println(result.status)
if mode == "batch" {
  for r in event_log.read({topic: "transcript.reminder.lifecycle"}).filter({ r -> r.payload.session_id == id }) {
    let word = r.kind.split(".").last()
    if ["injected", "forked", "expired", "discarded", "dropped"].contains(word) {
      println("${word} ${r.payload.reason ?? ""}".trim())
    }
  }
}
println(transcript_events_by_kind(result.transcript, "system_reminder").map({ e -> e.reminder.body }))
"#;

struct PersistedLoop {
    script: PathBuf,
    /// Both processes write to it.
    log: String,
    state: PathBuf,
}

impl PersistedLoop {
    fn new(name: &str) -> PersistedLoop {
        let dir = scratch(name);
        let (script, state) = (dir.join("dig.harn"), dir.join("state.json"));
        fs::write(&script, SCRIPT).unwrap();
        let log = format!("sqlite:{}", dir.join("log.db").display());
        PersistedLoop { script, log, state }
    }

    fn args<'a>(&'a self, mode: &'a str) -> Vec<&'a str> {
        vec!["run", "--event-log", &self.log, path(&self.script), "--", path(&self.state), mode]
    }

    fn run(&self, mode: &str) -> Outcome {
        harn(&self.args(mode))
    }

    /// Starts it and kills it once it has said something; `while_it_runs` comes before that.
    fn killed_after(&self, mode: &str, line: &str, while_it_runs: impl FnOnce()) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(self.args(mode)).env_clear().env("HARN_LLM_PROVIDER", "mock");
        let mut child = KilledOnDrop(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
        let out = BufReader::new(child.0.stdout.take().unwrap());
        let (said, hears) = mpsc::channel();
        thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(said.send(line))));
        while hears.recv_timeout(LIMIT).unwrap() != line {}
        while_it_runs();
    }
}

/// A process that does not outlive its test, and has no chance to clean up.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits until the state file contains a word: the hook prints its line before the state is
/// written.
fn until_written(state: &Path, word: &str) {
    until("the state is written", || fs::read_to_string(state).is_ok_and(|text| text.contains(word)));
}

#[test]
fn a_daemon_that_was_killed_goes_on_where_it_idled() {
    let case = PersistedLoop::new("persist-daemon");
    case.killed_after("daemon", "idle", || {
        until_written(&case.state, "was idle");
        // One process at a time: another one is refused and changes nothing.
        let before = fs::read(&case.state).unwrap();
        let refused = case.run("daemon");
        assert_eq!((refused.code, refused.drawn("error")), (Some(1), 1), "{refused:?}");
        assert!(
            refused.err.contains("HARN-WRK-003") && refused.err.contains("is already used by a loop"),
            "{refused:?}"
        );
        assert_eq!(fs::read(&case.state).unwrap(), before);
    });
    let second = case.run("daemon");
    assert_eq!((second.code, second.err.as_str()), (Some(0), ""), "{second:?}");
    // The task is not given again; what waited in the queue, and what is left of the reminder's life, came along.
    let expected = "user: dig\nassistant: ready\nuser: [{text: Go on., type: text}]\nYou dig.\n\nSystem reminder:\nMind the roots.\n\nSystem reminder:\n\
                    You were suspended at turn 1. Reason: the process ended while the loop was idle\n\
                    You have been resumed by the operator.\nidle\ndone\n[Mind the roots., For the record.]\n";
    assert_eq!(second.out, expected);
}

#[test]
fn calls_of_a_process_that_was_killed_among_them_are_answered() {
    let case = PersistedLoop::new("persist-batch");
    case.killed_after("batch", "digging right", || until_written(&case.state, "c2"));
    let second = case.run("batch");
    assert_eq!(second.code, Some(0), "{second:?}");
    let not_run =
        "not run: the process ended before this call was answered; the tool may have completed a part of its work";
    let expected = format!("user: dig\nassistant: \ntool: {not_run}\ntool: {not_run}\nYou dig.\n");
    assert!(second.out.starts_with(&expected), "{}", second.out);
    assert!(second.err.contains("2 of its calls have no result"), "{second:?}");
    // The log of both runs is consistent: of two reminders with one key the first was replaced, the
    // second was lost; one is still pending.
    let log = "injected\ninjected\ninjected\ndiscarded lost\ninjected\nexpired ttl\n";
    assert!(second.out.ends_with(&format!("done\n{log}[Mind the roots.]\n")), "{}", second.out);
}

#[test]
fn a_state_that_cannot_be_used_is_refused_and_left() {
    let case = PersistedLoop::new("persist-broken");
    case.killed_after("daemon", "idle", || until_written(&case.state, "was idle"));
    let whole = fs::read_to_string(&case.state).unwrap();
    let newer = whole.replacen("\"version\": 4", "\"version\": 5", 1);
    let unknown = whole.replacen("\"version\": 4", "\"version\": 4, \"colour\": \"red\"", 1);
    let snapshot = whole.find("\n{\"suspension\"").unwrap_or(whole.len());
    let worker = whole.replacen("\"mode\": \"loop\"", "\"mode\": \"agent\"", 1);
    for (text, why) in [
        (&whole[..snapshot / 2], "invalid snapshot"),
        ("", "invalid snapshot"),
        (newer.as_str(), "version 5"),
        (unknown.as_str(), "unknown field `colour`"),
        (worker.as_str(), "not of a loop"),
    ] {
        assert_ne!(text, whole);
        fs::write(&case.state, text).unwrap();
        let refused = case.run("daemon");
        assert_eq!((refused.code, refused.drawn("error")), (Some(1), 1), "{refused:?}");
        assert!(refused.err.contains("HARN-WRK-003") && refused.err.contains(why), "{why}: {refused:?}");
        assert_eq!(fs::read_to_string(&case.state).unwrap(), text);
    }
    fs::write(&case.state, &whole).unwrap();
    assert_eq!(case.run("daemon").code, Some(0));
}

#[test]
fn nothing_but_the_state_is_left_beside_it() {
    let case = PersistedLoop::new("persist-tidy");
    case.killed_after("daemon", "idle", || until_written(&case.state, "was idle"));
    assert_eq!(case.run("daemon").code, Some(0));
    let mut names: Vec<_> =
        fs::read_dir(case.state.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    names.retain(|name| !name.to_str().unwrap().starts_with("log.db"));
    assert_eq!(names, ["dig.harn", "state.json"]);
}

//! A worker that one process suspends and another, which runs the same script, resumes.

use crate::harn::{Outcome, harn, scratch};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// `suspend PATH` or `resume PATH`.
const SCRIPT: &str = r#"
let path = args()[1]
let dig = tool_define(tool_registry(), "dig", "Digs.", {parameters: {}, handler: { a ->
  sleep(10)
  return "deeper"
}})
let behaviour = {tools: dig, llm_caller: { asked ->
  println("turn ${asked.turn}: ${asked.messages.map({ m -> return "${m.role} ${m.content}" })}")
  println(asked.system)
  return asked.turn < 2 ? {tool_calls: [{id: "c${asked.turn}", name: "dig", arguments: {}}]} : "found it"
}}
register_session_hook("pre_suspend", { e -> return {reminder: {body: "Check the walls.", ttl_turns: 2}} })

if args()[0] == "suspend" {
  let worker = spawn_agent({
    name: "digger", task: "dig", ...behaviour,
    reminder_propagation: [{id: "r1", body: "Mind the roots.", propagate: "all", ttl_turns: 3}],
  })
  sleep(1)
  println(suspend_agent(worker, "lunch", {snapshot_path: path}).status)
  send_input(worker, "Bring a lamp.")
} else {
  let worker = resume_agent(path, "Go on.", true, behaviour)
  let done = wait_agent(worker)
  println("${done.status} ${done.result.text} ${done.result.llm.iterations}")
  for r in transcript.reminders(done.transcript) {
    println("${r.body} ${r.ttl_turns} ${r.source} ${r.propagate}")
  }
  let admitted = event_log.read({topic: "transcript.reminder.lifecycle"})
    .filter({ r -> return r.payload.session_id == done.session_id })
    .map({ r -> return r.kind.split(".").last() })
    .filter({ k -> return ["injected", "inherited", "forked"].contains(k) })
  println(admitted)
}
"#;

fn run(dir: &Path, what: &str, log: &str) -> Outcome {
    let (script, snapshot) = (dir.join("dig.harn"), dir.join("digger.json"));
    // Two runs may begin at one time.
    if !script.exists() {
        std::fs::write(&script, SCRIPT).unwrap();
    }
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let log = log.to_owned();
    harn(&[
        "run".into(),
        "--seed".into(),
        "1".into(),
        "--event-log".into(),
        log,
        path(&script),
        "--".into(),
        what.into(),
        path(&snapshot),
    ])
}

#[test]
fn another_process_resumes_a_worker_where_it_was() {
    let dir = scratch("snapshot-two-runs");
    let first = run(&dir, "suspend", "memory");
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(first.out, "turn 1: [user dig]\nSystem reminder:\nMind the roots.\nsuspended\n");
    let second = run(&dir, "resume", "memory");
    assert_eq!(second.code, Some(0), "{second:?}");
    let expected = "turn 2: [user dig, assistant , tool deeper, user Go on., user Bring a lamp.]\n\
                    System reminder:\nMind the roots.\n\nSystem reminder:\nCheck the walls.\n\nSystem reminder:\n\
                    You were suspended at turn 1. Reason: lunch\nYou have been resumed by the operator.\n\
                    The resumer provided input: Go on.\n\
                    completed found it 2\n\
                    Mind the roots. 1 inherited all\nCheck the walls. 1 hook session\n\
                    [forked, forked, injected]\n";
    assert_eq!(second.out, expected);
}

#[test]
fn what_two_processes_write_to_one_log_adds_up() {
    let dir = scratch("snapshot-one-log");
    let log = format!("sqlite:{}", dir.join("log.db").display());
    assert_eq!(run(&dir, "suspend", &log).code, Some(0));
    let second = run(&dir, "resume", &log);
    assert_eq!(second.code, Some(0), "{second:?}");
    // Inherited and reminded of by the first process, reminded of by the second: none twice.
    assert!(second.out.ends_with("[inherited, injected, injected]\n"), "{}", second.out);
}

#[test]
fn of_two_resumes_of_one_snapshot_one_is_refused() {
    let dir = scratch("snapshot-twice");
    run(&dir, "suspend", "memory");
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| run(&dir, "resume", "memory")));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let done = outcomes.iter().filter(|outcome| outcome.code == Some(0)).count();
    assert_eq!(done, 1, "{outcomes:?}");
    let refused = outcomes.iter().find(|outcome| outcome.code != Some(0)).unwrap();
    assert!(refused.err.contains("HARN-WRK-003") && refused.err.contains("was already resumed"), "{refused:?}");
}

/// `suspend PATH`, `again PATH` or `finish PATH`: three processes, one worker. The first two are killed after their suspension.
const THREE: &str = r#"
let path = args()[1]
let behaviour = {llm_caller: { asked ->
  if args()[0] == "finish" {
    println(asked.messages.filter({ m -> return m.role == "user" }).map({ m -> return m.content }))
    return "done"
  }
  sleep(20)
  return {tool_calls: [{id: "c${asked.turn}", name: "no_such_tool", arguments: {}}]}
}}
fn rest(worker) {
  suspend_agent(worker, "night", {snapshot_path: path})
  println("suspended")
  sleep(3600000)
}
match args()[0] {
  "suspend" -> {
    let worker = spawn_agent({name: "w", task: "work", reminders: false, ...behaviour})
    sleep(10)
    rest(worker)
  }
  "again" -> {
    let worker = resume_agent(path, "Second day.", true, behaviour)
    sleep(10)
    rest(worker)
  }
  _ -> println(wait_agent(resume_agent(path, "Third day.", true, behaviour)).status)
}
"#;

/// Starts a process and kills it once it says that its worker is suspended.
fn killed_when_suspended(script: &Path, what: &str, snapshot: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    let args = ["run", script.to_str().unwrap(), "--", what, snapshot.to_str().unwrap()];
    command.args(args).env_clear().env("HARN_LLM_PROVIDER", "mock");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).next();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(said.as_deref(), Some("suspended"), "{what}");
}

#[test]
fn a_worker_outlives_two_processes_that_are_killed() {
    let dir = scratch("snapshot-three");
    let (script, snapshot) = (dir.join("three.harn"), dir.join("worker.json"));
    std::fs::write(&script, THREE).unwrap();
    killed_when_suspended(&script, "suspend", &snapshot);
    killed_when_suspended(&script, "again", &snapshot);
    let last = harn(&["run", script.to_str().unwrap(), "--", "finish", snapshot.to_str().unwrap()]);
    assert_eq!((last.code, last.err.as_str()), (Some(0), ""), "{last:?}");
    assert_eq!(last.out, "[work, Second day., Third day.]\ncompleted\n");
}

#[test]
fn a_snapshot_cut_anywhere_is_refused_and_left() {
    let dir = scratch("snapshot-cut");
    run(&dir, "suspend", "memory");
    let snapshot = dir.join("digger.json");
    let whole = std::fs::read(&snapshot).unwrap();
    for part in 1..8 {
        let cut = &whole[..whole.len() * part / 8];
        std::fs::write(&snapshot, cut).unwrap();
        let refused = run(&dir, "resume", "memory");
        assert_eq!((refused.code, refused.drawn("error")), (Some(1), 1), "{refused:?}");
        assert!(refused.err.contains("HARN-WRK-003"), "{refused:?}");
        assert_eq!(std::fs::read(&snapshot).unwrap(), cut);
    }
    std::fs::write(&snapshot, whole).unwrap();
    assert_eq!(run(&dir, "resume", "memory").code, Some(0));
}

#[test]
fn what_no_worker_can_have_written_is_refused_or_made_good() {
    let dir = scratch("snapshot-tampered");
    run(&dir, "suspend", "memory");
    let snapshot = dir.join("digger.json");
    let whole: serde_json::Value = serde_json::from_slice(&std::fs::read(&snapshot).unwrap()).unwrap();
    for (pointer, why) in [
        ("/session/ids/counter", "`session.ids` is not a stream of ids"),
        ("/session/queue_ids/last_ms", "`session.queue_ids` is not a stream of ids"),
        ("/state/usage/input_tokens", "`state.usage.input_tokens` cannot be"),
        ("/state/started_at_ms", "`state.started_at_ms` cannot be"),
    ] {
        let mut tampered = whole.clone();
        *tampered.pointer_mut(pointer).unwrap() = u64::MAX.into();
        std::fs::write(&snapshot, tampered.to_string()).unwrap();
        let refused = run(&dir, "resume", "memory");
        assert_eq!((refused.code, refused.drawn("error")), (Some(1), 1), "{pointer}: {refused:?}");
        assert!(refused.err.contains("HARN-WRK-003") && refused.err.contains(why), "{pointer}: {refused:?}");
    }
    let mut turns = whole.clone();
    turns["session"]["turns"] = u32::MAX.into();
    std::fs::write(&snapshot, turns.to_string()).unwrap();
    assert!(run(&dir, "resume", "memory").err.contains("`session.turns` cannot be"));
    // The answer to the last call is gone: no model server would take that conversation.
    let mut dangling = whole;
    let messages = dangling["session"]["transcript"]["messages"].as_array_mut().unwrap();
    assert_eq!(messages.pop().unwrap()["role"], "tool");
    std::fs::write(&snapshot, dangling.to_string()).unwrap();
    let resumed = run(&dir, "resume", "memory");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.out.contains("tool not run: the process ended before this call was answered"), "{}", resumed.out);
}

#[test]
fn what_is_no_regular_file_is_no_snapshot() {
    let dir = scratch("snapshot-device");
    let pipe = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = dir.join("read.harn");
    let text = r#"
fn refused(go) {
  let error = unwrap_err(try { go() })
  println("${error.code} ${error.message.contains("not a regular file")}")
}
let mock = {provider: "mock"}
for path in args() {
  refused({ -> resume_agent(path) })
  refused({ -> agent_loop("x", nil, {...mock, resume_path: path}) })
}
refused({ -> agent_loop("x", nil, {...mock, persist_path: args()[1]}) })
"#;
    std::fs::write(&script, text).unwrap();
    let all = ["run", script.to_str().unwrap(), "--", "/dev/zero", pipe.to_str().unwrap(), dir.to_str().unwrap()];
    let outcome = harn(&all);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(outcome.out, "HARN-WRK-003 true\n".repeat(7));
}

#[test]
fn what_a_file_cannot_hold_must_be_given() {
    let dir = scratch("snapshot-needs");
    run(&dir, "suspend", "memory");
    let script = dir.join("bare.harn");
    std::fs::write(&script, "resume_agent(args()[0])\n").unwrap();
    let snapshot = dir.join("digger.json");
    let refused = harn(&["run", script.to_str().unwrap(), "--", snapshot.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("needs the tool `dig`, `llm_caller`"), "{refused:?}");
    assert!(snapshot.exists());
}

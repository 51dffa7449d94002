//! Deadlines: they are sent to the agent, and the wait ends by the run's clock.

use super::{Reply, agent, printed, result, run, task};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A script that asks by a deadline of a second on a mocked clock, waits by `arrived` until the agent has been asked, and says what
/// comes of it.
fn waits(asks: &str, arrived: &str) -> String {
    format!(
        r#"
mock_time(1735689600000)
let url = args()[0]
let begun = channel("begun", 1)
let waiting = spawn {{
  try {{ {asks} }} catch (e) {{
    println("${{e.code}} ${{e.category}} ${{e.deadline_ms}} ${{e.task_id}} ${{e.state}} ${{e.events}} at ${{now_ms()}}")
    println(e.message.replace(url, "URL"))
  }}
}}
{arrived}
sleep(5999)
println("nobody gave up before ${{now_ms()}}")
sleep(1)
await(waiting)
"#
    )
}

/// A peer that takes a message and answers in this way; its task waits once the message has come.
fn takes(reply: impl Fn() -> Reply + Send + Sync + 'static) -> super::Peer {
    let has_come = AtomicBool::new(false);
    agent(r#"{"streaming": true}"#, move |asked| match asked.method() {
        "GetTask" if !has_come.load(SeqCst) => result(&task("WORKING", "")),
        "GetTask" => result(&task("INPUT_REQUIRED", "")),
        _ => {
            has_come.store(true, SeqCst);
            reply()
        }
    })
}

#[test]
fn who_waits_for_a_task_does_so_until_its_deadline_and_a_little_more() {
    let peer = takes(Reply::silence);
    let script = waits(
        r#"a2a.send(url, "Look.", {deadline: now_ms() + 1000})"#,
        r#"while a2a.get(url, "t-1").state != "input-required" { }"#,
    );
    let wanted = "nobody gave up before 1735689605999\n\
                  HARN-A2A-111 deadline 1735689601000 nil nil nil at 1735689606000\n\
                  the agent at URL did not finish the task by its deadline, 2025-01-01T00:00:01.000Z\n";
    assert_eq!(printed("deadline-send", &script, &peer), wanted);
    let message =
        &peer.calls().into_iter().find(|call| call.method() == "SendMessage").unwrap().body["params"]["message"];
    assert_eq!(message["metadata"]["deadline"], 1_735_689_601_000_u64, "the agent is told");
    peer.waits_until_gone(1);
}

/// Returns an event with the task's status.
fn event(state: &str) -> String {
    format!(r#"{{"jsonrpc": "2.0", "id": "1", "result": {{"task": {}}}}}"#, task(state, ""))
}

#[test]
fn a_stream_is_followed_until_the_deadline_of_its_task() {
    let peer = takes(|| Reply::events(&[event("WORKING")]).held());
    let script = waits(
        r#"for e in a2a.stream(url, "Look.", {deadline: now_ms() + 1000}) { send(begun, e.state) }"#,
        "receive(begun)",
    );
    let wanted = "nobody gave up before 1735689605999\n\
                  HARN-A2A-111 deadline 1735689601000 t-1 working 1 at 1735689606000\n\
                  worker at URL/rpc did not finish the task by its deadline, 2025-01-01T00:00:01.000Z\n";
    assert_eq!(printed("deadline-stream", &script, &peer), wanted);
    peer.waits_until_gone(1);
}

#[test]
fn an_agent_that_keeps_talking_is_not_listened_to_beyond_the_deadline() {
    let talks = [vec![event("WORKING"); 9], vec![event("COMPLETED")]].concat();
    let peer = takes(move || Reply::events(&talks).held());
    let script = r#"
mock_time(1735689600000)
try {
  for e in a2a.stream(args()[0], "Look.", {deadline: now_ms() + 1000}) {
    println("${e.state} at ${now_ms() - 1735689600000}")
    sleep(2000)
  }
} catch (e) {
  println("${e.category} ${e.events} ${e.state} at ${now_ms() - 1735689600000}")
}
"#;
    let wanted = "working at 0\nworking at 2000\nworking at 4000\ndeadline 3 working at 6000\n";
    assert_eq!(printed("deadline-talks", script, &peer), wanted);
}

#[test]
fn a_stream_that_was_over_by_its_deadline_ends_in_peace() {
    let peer = takes(|| Reply::events(&[event("COMPLETED")]).held());
    let script = r#"
mock_time(1735689600000)
for e in a2a.stream(args()[0], "Look.", {deadline: now_ms() + 1000}) {
  println(e.state)
  sleep(60000)
}
"#;
    assert_eq!(printed("deadline-peace", script, &peer), "completed\n");
}

#[test]
fn what_an_agent_says_of_a_deadline_that_has_passed_is_heard() {
    let peer = takes(|| result(&format!(r#"{{"task": {}}}"#, task("REJECTED", ""))));
    let script = r#"println(a2a.send(args()[0], "Look.", {deadline: "1999-12-31T23:59:59Z"}).state)"#;
    assert_eq!(printed("deadline-past", script, &peer), "rejected\n");
}

#[test]
fn what_is_no_moment_is_not_sent() {
    let peer = agent("{}", |_| panic!("asked"));
    let script = r#"
for options in [{deadline: "tomorrow"}, {deadline: -1}, {deadline: 1.5}, {trust: ["agent.example.com"]}] {
  try { a2a.send(args()[0], "Look.", options) } catch (e) { println("${e.code} ${e.message}") }
}
"#;
    let outcome = run("deadline-none", script, &[&peer.url], &[]);
    let wanted = "HARN-A2A-110 `deadline` is not a time: \"tomorrow\"\n\
                  HARN-A2A-110 `deadline` is not a time: -1\n\
                  HARN-A2A-110 `deadline` is not a time: a float\n\
                  HARN-A2A-110 `trust` contains `agent.example.com`, which is not an origin\n";
    assert_eq!(outcome.out, wanted, "{}", outcome.err);
    assert!(peer.asked().is_empty(), "nothing was sent");
}

//! Reminders for peers, and what becomes of them where a peer takes none.

use super::{Peer, PeerRequest, agent, error, printed, result, run, task};
use serde_json::json;

const DECLARED: &str = r#"{"extensions": [{"uri": "urn:harn:ext:reminders:1", "required": false, "params": {"inject": true, "emit": true}}]}"#;

const INJECT: &str = r#"
let said = a2a.inject_reminder(args()[0], "t-1", {body: "Rebase.", tags: ["upstream"], dedupe_key: "k", ttl_turns: 2, mode: "interrupt_immediate"},
  {id: "r-1", source: "coordinator", metadata: {a: 1}, fallback: args()[1]})
println(said)
"#;

fn injects(name: &str, peer: &Peer, fallback: &str) -> String {
    let outcome = run(name, INJECT, &[&peer.url, fallback], &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}");
    outcome.out
}

#[test]
fn a_peer_that_takes_reminders_is_given_one_by_the_method() {
    let peer = agent(DECLARED, |asked| {
        assert_eq!(asked.method(), "tasks/inject_reminder");
        result(r#"{"reminderId": "r-1", "dedupedCount": 1, "acceptedAt": "2026-04-30T12:34:56.789Z"}"#)
    });
    assert_eq!(injects("method", &peer, "suppress"), "{deduped_count: 1, reminder_id: r-1, via: method}\n");
    let wanted = json!({
        "taskId": "t-1",
        "reminder": {"id": "r-1", "body": "Rebase.", "tags": ["upstream"], "dedupeKey": "k", "ttlTurns": 2,
                     "mode": "interrupt_immediate", "source": "coordinator"},
        "metadata": {"a": 1},
    });
    assert_eq!(peer.calls()[0].body["params"], wanted);
}

#[test]
fn the_rfcs_own_capability_counts_as_well() {
    let peer = agent(r#"{"reminders": {"inject": true, "emit": true}}"#, |_| {
        result(r#"{"reminderId": "r", "dedupedCount": 0}"#)
    });
    assert_eq!(injects("rfc", &peer, "suppress"), "{deduped_count: 0, reminder_id: r, via: method}\n");
}

#[test]
fn where_nothing_is_declared_nothing_is_sent() {
    let peer = agent("{}", |asked| panic!("asked {}", asked.method()));
    assert_eq!(
        injects("undeclared", &peer, "suppress"),
        "{reason: the agent does not support reminders, via: suppressed}\n"
    );
    assert!(peer.calls().is_empty());
}

#[test]
fn a_card_that_promises_too_much_is_found_out() {
    let peer = agent(DECLARED, |_| error(r#"{"code": -32601, "message": "Method not found"}"#));
    assert_eq!(
        injects("promised", &peer, "suppress"),
        "{reason: the agent does not support reminders, via: suppressed}\n"
    );
    let peer =
        agent(DECLARED, |_| error(r#"{"code": -32004, "message": "no task", "data": [{"reason": "TASK_NOT_FOUND"}]}"#));
    let script = "try { a2a.inject_reminder(args()[0], \"t\", {body: \"b\"}) } catch (e) { println(\"${e.code} ${e.reason}\") }\n";
    assert_eq!(printed("unknown-task", script, &peer), "HARN-A2A-105 TASK_NOT_FOUND\n");
}

/// A peer without reminders whose task is in this state.
fn plain(state: &'static str) -> Peer {
    agent("{}", move |asked: &PeerRequest| match asked.method() {
        "GetTask" => result(&task(state, "")),
        "SendMessage" => result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", ""))),
        other => panic!("{other}"),
    })
}

#[test]
fn a_reminder_goes_with_the_next_message_to_the_task() {
    let peer = plain("WORKING");
    let script = r#"
let url = args()[0]
for body in ["Old.", "New."] {
  println(a2a.inject_reminder(url, "t-1", {body: body, dedupe_key: "k"}, {fallback: "metadata", id: body}))
}
println(a2a.inject_reminder(url, "t-2", {body: "Another's."}, {fallback: "metadata"}).via)
a2a.send(url, "Go on.", {task_id: "t-1", reminders: [{body: "Beside."}]})
a2a.send(url, "Go on.", {task_id: "t-1"})
"#;
    let wanted = "{deduped_count: 0, reminder_id: Old., sent: false, via: metadata}\n{deduped_count: 1, reminder_id: New., sent: false, via: metadata}\nmetadata\n";
    assert_eq!(printed("queued", script, &peer), wanted);
    let sent: Vec<_> = peer.calls().into_iter().filter(|call| call.method() == "SendMessage").collect();
    let metadata = |call: &PeerRequest| call.body["params"]["message"]["metadata"].clone();
    assert_eq!(
        metadata(&sent[0]),
        json!({"harn.reminder": [{"body": "New.", "dedupeKey": "k", "id": "New."}, {"body": "Beside."}]})
    );
    assert_eq!(metadata(&sent[1]), json!(null), "each goes once");
}

#[test]
fn a_reminder_goes_with_an_answer_to_a_task_that_waits() {
    let peer = plain("INPUT_REQUIRED");
    let script = r#"
println(a2a.inject_reminder(args()[0], "t-1", {body: "Rebase."}, {fallback: "metadata", message: "Yes.", id: "r-1"}))
"#;
    assert_eq!(printed("answered", script, &peer), "{deduped_count: 0, reminder_id: r-1, sent: true, via: metadata}\n");
    let message = &peer.calls()[1].body["params"]["message"];
    assert_eq!((&message["taskId"], &message["parts"]), (&json!("t-1"), &json!([{"text": "Yes."}])));
    assert_eq!(message["metadata"], json!({"harn.reminder": {"body": "Rebase.", "id": "r-1"}}));
}

#[test]
fn a_task_that_is_over_needs_no_reminder() {
    let peer = plain("COMPLETED");
    assert_eq!(injects("over", &peer, "metadata"), "{reason: the task is completed, via: suppressed}\n");
}

#[test]
fn what_is_no_reminder_is_not_sent() {
    let peer = agent(DECLARED, |_| panic!("asked"));
    let script = r#"
let specs = [{}, {body: ""}, {body: "b", ttl_turn: 1}, {body: "b", propagate: "al"}, {body: "b", mode: "now"}]
for spec in specs {
  try { a2a.inject_reminder(args()[0], "t-1", spec) } catch (e) { println("${e.code} ${e.field}") }
}
"#;
    let wanted =
        "HARN-RMD-002 body\nHARN-RMD-002 body\nHARN-RMD-001 ttl_turn\nHARN-RMD-005 propagate\nHARN-RMD-002 mode\n";
    assert_eq!(printed("no-reminder", script, &peer), wanted);
    assert!(peer.asked().is_empty(), "nothing was sent");
}

#[test]
fn a_sub_task_inherits_the_reminders_that_go_all_the_way() {
    let peer = plain("COMPLETED");
    let script = r#"
let url = args()[0]
register_session_hook("session_start", { event ->
  a2a.send(url, "Do a part.")
  a2a.send(url, "And this.", {inherit: false})
  return nil
})
let id = agent_session_open("parent")
for spec in [{body: "For all.", propagate: "all", dedupe_key: "k"}, {body: "Mine.", propagate: "none"}, {body: "Ours."}] {
  agent_session_push_bridge_injection(id, {...spec, ttl_turns: 3})
}
agent_session_drain_bridge_injections(id, "iteration_start")
agent_loop("go", nil, {session_id: id, provider: "mock"})
"#;
    printed("inherits", script, &peer);
    let calls = peer.calls();
    let inherited = &calls[0].body["params"]["message"]["metadata"]["harn.reminder"];
    assert_eq!(inherited["body"], json!("For all."), "{calls:?}");
    assert_eq!(
        (&inherited["source"], &inherited["propagate"], &inherited["dedupeKey"]),
        (&json!("inherited"), &json!("all"), &json!("k"))
    );
    assert_eq!(calls[1].body["params"]["message"]["metadata"], json!(null));
}

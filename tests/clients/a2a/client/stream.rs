//! Streams of what becomes of a task.

use super::{Peer, Reply, agent, printed, result, run, task};

const STREAMS: &str = r#"{"streaming": true, "extensions": [{"uri": "urn:harn:ext:reminders:1", "params": {"inject": true, "emit": true}}]}"#;

fn framed(result: &str) -> String {
    format!(r#"{{"jsonrpc": "2.0", "id": "1", "result": {}}}"#, result.replace('\n', " "))
}

fn status(state: &str, more: &str) -> String {
    framed(&format!(
        r#"{{"statusUpdate": {{"taskId": "t-1", "contextId": "c-1", "status": {{"state": "TASK_STATE_{state}"{more}}}}}}}"#
    ))
}

fn chunk(text: &str, append: bool, last: bool) -> String {
    framed(&format!(
        r#"{{"artifactUpdate": {{"taskId": "t-1", "contextId": "c-1", "append": {append}, "lastChunk": {last},
            "artifact": {{"artifactId": "answer", "name": "answer", "parts": [{{"text": "{text}"}}]}}}}}}"#
    ))
}

fn begun() -> String {
    framed(&format!(r#"{{"task": {}}}"#, task("SUBMITTED", "")))
}

/// A peer whose streams say this.
fn streaming(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Peer {
    agent(STREAMS, move |_| reply())
}

#[test]
fn events_are_told_as_they_come() {
    let peer = streaming(|| {
        Reply::events(&[
            begun(),
            status(
                "WORKING",
                r#", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Looking."}]}"#,
            ),
            r#"{"jsonrpc": "2.0", "method": "tasks/reminderEmitted", "params": {"taskId": "t-1",
                "reminder": {"id": "r", "body": "Rebase.", "dedupeKey": "k", "firedAtTurn": 5}, "metadata": {}}}"#
                .replace('\n', " "),
            chunk("Do", false, false),
            chunk("ne.", true, false),
            framed(
                r#"{"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"},
                    "metadata": {"harn.reminder": {"event": "expired", "id": "r", "body": "Rebase.", "reason": "ttl_expired"}}}}"#,
            ),
            status("COMPLETED", ""),
            "no event after the last is read".to_owned(),
        ])
    });
    let script = r#"
for e in a2a.stream(args()[0], "Look.") {
  let more = if e.event == "reminder" { [e.what, e.reminder.body, e.reminder.dedupe_key] } else { [e.state, e.text] }
  println("${e.event} ${e.task_id} ${more}")
}
"#;
    let wanted = "task t-1 [submitted, ]\nstatus t-1 [working, Looking.]\nreminder t-1 [emitted, Rebase., k]\n\
                  artifact t-1 [nil, Do]\nartifact t-1 [nil, ne.]\nreminder t-1 [expired, Rebase., nil]\n\
                  status t-1 [completed, nil]\n";
    assert_eq!(printed("events", script, &peer), wanted);
    let call = &peer.calls()[0];
    assert_eq!((call.method(), call.header("a2a-extensions")), ("SendStreamingMessage", "urn:harn:ext:reminders:1"));
    let quiet = "for e in a2a.stream(args()[0], \"Look.\", {reminders: false}) { print(\"\") }\n";
    printed("quiet", quiet, &peer);
    assert_eq!(peer.calls()[1].header("a2a-extensions"), "");
}

#[test]
fn whoever_leaves_the_loop_closes_the_stream() {
    let peer = streaming(|| Reply::events(&[begun(), status("WORKING", "")]).held());
    let script = r#"
for e in a2a.stream(args()[0], "Look.") {
  println(e.event)
  if e.event == "status" { break }
}
println("left")
"#;
    assert_eq!(printed("left", script, &peer), "task\nstatus\nleft\n");
    peer.waits_until_gone(1);
    assert_eq!(peer.calls().len(), 1, "the task is not cancelled");
}

#[test]
fn a_stream_ends_where_the_task_waits_for_its_caller() {
    let peer = streaming(|| Reply::events(&[begun(), status("INPUT_REQUIRED", "")]).held());
    let script = "for e in a2a.stream(args()[0], \"Look.\") { println(e.state) }\n";
    assert_eq!(printed("waits", script, &peer), "submitted\ninput-required\n");
}

#[test]
fn a_stream_that_breaks_off_says_how_far_it_came() {
    let script = r#"
try {
  for e in a2a.stream(args()[0], "Look.", {timeout_ms: 400}) { println(e.event) }
} catch (e) {
  println("${e.code} ${e.category} ${e.events} ${e.state} ${e.task_id}")
}
"#;
    let said = |name: &str, peer: &Peer| run(name, script, &[&peer.url], &[]).out;
    let early = streaming(|| Reply::events(&[begun(), status("WORKING", "")]));
    assert_eq!(said("early", &early), "task\nstatus\nHARN-A2A-106 broke_off 2 working t-1\n");
    let empty = streaming(|| Reply::events(&[]));
    assert_eq!(said("empty", &empty), "HARN-A2A-106 broke_off 0 nil nil\n");
    let silent = streaming(|| Reply::events(&[begun()]).held());
    assert_eq!(said("stalled", &silent), "task\nHARN-A2A-107 timeout 1 submitted t-1\n");
    let odd = streaming(|| Reply::events(&[begun(), "this is no JSON".to_owned()]));
    assert_eq!(said("odd", &odd), "task\nHARN-A2A-102 not_an_agent 1 submitted t-1\n");
    let refused = streaming(|| {
        Reply::events(&[
            begun(),
            r#"{"jsonrpc": "2.0", "id": "1", "error": {"code": -32000, "message": "too slow"}}"#.to_owned(),
        ])
    });
    assert_eq!(said("refused", &refused), "task\nHARN-A2A-105 answer 1 submitted t-1\n");
    let other =
        streaming(|| Reply::events(&[r#"{"jsonrpc": "2.0", "method": "tasks/unheard", "params": {}}"#.to_owned()]));
    assert!(said("unheard", &other).starts_with("HARN-A2A-102 not_an_agent"), "{}", said("unheard", &other));
}

#[test]
fn an_event_is_not_listened_to_without_end() {
    let peer = streaming(|| Reply::events(&[begun()]).endless(&vec![b'x'; 1 << 16]));
    let script =
        "try { for e in a2a.stream(args()[0], \"Look.\") { println(e.event) } } catch (e) { println(e.code) }\n";
    assert_eq!(printed("endless-event", script, &peer), "task\nHARN-NET-004\n");
}

#[test]
fn an_agent_that_does_not_stream_tells_it_at_once() {
    let peer = agent("{}", |asked| {
        assert_eq!(asked.method(), "SendMessage");
        result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", "")))
    });
    let script = "for e in a2a.stream(args()[0], \"Look.\") { println(\"${e.event} ${e.state}\") }\n";
    assert_eq!(printed("at-once", script, &peer), "task completed\n");
}

#[test]
fn a_task_is_followed_anew() {
    let peer = agent(STREAMS, |asked| {
        assert_eq!((asked.method(), asked.body["params"]["id"].as_str()), ("SubscribeToTask", Some("t-1")));
        Reply::events(&[
            framed(&format!(r#"{{"task": {}}}"#, task("WORKING", ""))),
            status("INPUT_REQUIRED", ""),
            status("COMPLETED", ""),
        ])
    });
    let script = "for e in a2a.subscribe(args()[0], \"t-1\") { println(e.state) }\n";
    assert_eq!(printed("anew", script, &peer), "working\ninput-required\ncompleted\n");
}

#[test]
fn who_is_told_to_stop_lets_go_of_the_connection() {
    let peer = streaming(|| Reply::events(&[begun()]).held());
    let script = r#"
try {
  deadline 300ms {
    for e in a2a.stream(args()[0], "Look.") { println(e.event) }
  }
} catch (e) {
  println("over")
}
let waiting = spawn { a2a.get(args()[0], "t-1") }
sleep(100)
cancel(waiting)
println("cancelled")
"#;
    // A seeded clock does not run while the network is waited for.
    let path = crate::harn::scratch("a2a-client-stopped").join("script.harn");
    std::fs::write(&path, script).unwrap();
    let outcome = crate::harn::harn(&["run", path.to_str().unwrap(), "--", &peer.url]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "task\nover\ncancelled\n"), "{}", outcome.err);
    peer.waits_until_gone(1);
}

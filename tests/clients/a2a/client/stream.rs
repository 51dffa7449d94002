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
  for e in a2a.stream(args()[0], "Look.", {timeout_ms: args()[1] == "stalled" ? 2000 : 60000}) { println(e.event) }
} catch (e) {
  println("${e.code} ${e.category} ${e.events} ${e.state} ${e.task_id}")
}
"#;
    let said = |name: &str, peer: &Peer| run(name, script, &[&peer.url, name], &[]).out;
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
    // Unknown words say nothing about the end.
    let other = streaming(|| Reply::events(&[begun(), unheard(), status("ARCHIVED", "")]));
    assert_eq!(said("unheard", &other), "task\nstatus\nHARN-A2A-106 broke_off 2 unknown t-1\n");
}

/// A notification of a later version.
fn unheard() -> String {
    r#"{"jsonrpc": "2.0", "method": "tasks/unheard", "params": {"taskId": "t-1"}}"#.to_owned()
}

#[test]
fn events_and_states_of_later_versions_are_passed_over() {
    let script = r#"
for e in a2a.stream(args()[0], "Look.") { println("${e.event} ${e.state} ${e.text} ${e.data}") }
"#;
    let peer = streaming(|| {
        let mut events = vec![begun(), unheard(), framed(r#"{"taskArchived": {"taskId": "t-1"}}"#)];
        // More of them than are read at once.
        events.extend((0..100).map(|n| framed(&format!(r#"{{"heartbeat": {{"n": {n}}}}}"#))));
        events.push(status(
            "ARCHIVED",
            r#", "message": {"messageId": "m", "role": "ROLE_TOOL", "parts": [{"text": "Away."}]}"#,
        ));
        events.push(framed(
            r#"{"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": {"artifactId": "a",
                "parts": [{"text": "Seen."}, {"video": {"url": "v"}}]}}}"#,
        ));
        events.push(status("COMPLETED", ""));
        Reply::events(&events)
    });
    let wanted = "task submitted  nil\nstatus unknown Away. nil\nartifact nil Seen. {video: {url: v}}\n\
                  status completed nil nil\n";
    assert_eq!(printed("later", script, &peer), wanted);
    let of_0_3 = |event: &str| framed(event).replace("\"t-1\"", "\"t-1\", \"contextId\": \"c-1\"");
    let peer = Peer::start(move |asked, port| match asked.path.as_str() {
        "/" => Reply::events(&[
            of_0_3(r#"{"kind": "task", "id": "t-1", "status": {"state": "queued"}}"#),
            of_0_3(r#"{"kind": "task-moved", "taskId": "t-1", "final": true}"#),
            of_0_3(r#"{"kind": "status-update", "taskId": "t-1", "status": {"state": "completed"}, "final": true}"#),
        ]),
        _ => Reply::json(
            200,
            &format!(
                r#"{{"name": "old", "url": "http://127.0.0.1:{port}/", "protocolVersion": "0.3.0",
                    "capabilities": {{"streaming": true}}}}"#
            ),
        ),
    });
    assert_eq!(printed("later-0-3", script, &peer), "task unknown  nil\nstatus completed nil nil\n");
}

#[test]
fn a_state_of_a_later_version_is_neither_an_end_nor_a_success() {
    let looks = std::sync::atomic::AtomicUsize::new(0);
    let peer = agent("{}", move |asked| match asked.method() {
        "SendMessage" => result(&format!(r#"{{"task": {}}}"#, task("ARCHIVED", ""))),
        _ if looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => result(&task("ARCHIVED", "")),
        _ => result(&task("COMPLETED", "")),
    });
    let script = r#"
println(a2a.send(args()[0], "Look.", {wait: false}).state)
println(a2a.get(args()[0], "t-1").state)
println(a2a.send(args()[0], "Look.").state)
"#;
    assert_eq!(printed("later-state", script, &peer), "unknown\nunknown\ncompleted\n");
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

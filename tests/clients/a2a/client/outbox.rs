//! Reminders that wait for a message which does not arrive, or whose arrival is not confirmed: none
//! is lost, none is duplicated.

use super::{Reply, agent, error, printed, result, task};
use crate::a2a::client::peer::Peer;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A peer without reminders that answers its first message in this way, and the others as one does. Its task waits for an answer
/// once a message has come.
fn first(capabilities: &'static str, reply: impl Fn() -> Reply + Send + Sync + 'static) -> Peer {
    let messages = AtomicUsize::new(0);
    agent(capabilities, move |asked| match asked.method() {
        "GetTask" if messages.load(SeqCst) == 0 => result(&task("WORKING", "")),
        "GetTask" => result(&task("INPUT_REQUIRED", "")),
        _ if messages.fetch_add(1, SeqCst) == 0 => reply(),
        _ => result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", ""))),
    })
}

/// The reminders of each message that came.
fn carried(peer: &Peer) -> Vec<Value> {
    let calls = peer.calls().into_iter();
    let messages = calls.filter(|call| call.method().starts_with("Send"));
    messages.map(|call| call.body["params"]["message"]["metadata"]["harn.reminder"].clone()).collect()
}

/// Two reminders went with the first message, the same two with the second, and none with the third.
fn assert_same_and_once(carried: &[Value]) {
    let [lost, again, after] = carried else { panic!("{carried:?}") };
    assert_eq!(lost.as_array().map(Vec::len), Some(2), "{lost}");
    assert_eq!((lost, after), (again, &Value::Null), "the same reminders, by the same ids, and once");
    let id = |i: usize| lost[i]["id"].as_str().unwrap_or_default().to_owned();
    assert!(!id(0).is_empty() && id(1) == "mine" && id(0) != id(1), "{lost}");
}

const PUT: &str = r#"
let url = args()[0]
for options in [{fallback: "metadata"}, {fallback: "metadata", id: "mine"}] {
  a2a.inject_reminder(url, "t-1", {body: "Rebase."}, options)
}
"#;

#[test]
fn a_message_that_was_cancelled_gives_its_reminders_back() {
    let peer = first("{}", Reply::silence);
    let script = format!(
        r#"{PUT}
let lost = spawn {{ a2a.send(url, "One.", {{task_id: "t-1"}}) }}
while a2a.get(url, "t-1").state != "input-required" {{ }}
cancel(lost)
for text in ["Again.", "More."] {{ println(a2a.send(url, text, {{task_id: "t-1"}}).state) }}
"#
    );
    assert_eq!(printed("outbox-cancelled", &script, &peer), "completed\ncompleted\n");
    assert_same_and_once(&carried(&peer));
}

#[test]
fn a_message_that_is_not_answered_in_time_gives_its_reminders_back_as_they_were() {
    let peer = first("{}", Reply::silence);
    let script = format!(
        r#"{PUT}
try {{ a2a.send(url, "One.", {{task_id: "t-1", timeout_ms: 2000}}) }} catch (e) {{ println(e.category) }}
for text in ["Again.", "More."] {{ println(a2a.send(url, text, {{task_id: "t-1"}}).state) }}
"#
    );
    assert_eq!(printed("outbox-late", &script, &peer), "timeout\ncompleted\ncompleted\n");
    assert_same_and_once(&carried(&peer));
}

#[test]
fn a_stream_that_begins_with_a_refusal_has_delivered_nothing() {
    let refused = r#"{"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "no"}}"#;
    let peer = first(r#"{"streaming": true}"#, || Reply::events(&[refused.to_owned()]));
    let script = format!(
        r#"{PUT}
try {{ for e in a2a.stream(url, "One.", {{task_id: "t-1"}}) {{ println(e.event) }} }} catch (e) {{ println(e.category) }}
for text in ["Again.", "More."] {{ for e in a2a.stream(url, text, {{task_id: "t-1"}}) {{ println(e.state) }} }}
"#
    );
    assert_eq!(printed("outbox-stream", &script, &peer), "answer\ncompleted\ncompleted\n");
    assert_same_and_once(&carried(&peer));
}

#[test]
fn a_stream_that_says_nothing_by_its_deadline_gives_its_reminders_back() {
    let peer = first(r#"{"streaming": true}"#, || Reply::events(&[]).held());
    let script = format!(
        r#"mock_time(1735689600000)
{PUT}
let late = a2a.stream(url, "One.", {{task_id: "t-1", deadline: now_ms() + 1000}})
sleep(6000)
try {{ late.next() }} catch (e) {{ println(e.category) }}
for text in ["Again.", "More."] {{ println(a2a.send(url, text, {{task_id: "t-1"}}).state) }}
for e in late {{ println("more") }}
"#
    );
    assert_eq!(printed("outbox-deadline", &script, &peer), "deadline\ncompleted\ncompleted\n");
    assert_same_and_once(&carried(&peer));
}

#[test]
fn an_answer_that_is_refused_gives_the_reminder_that_it_was_sent_for_back() {
    for (name, again) in [
        ("send", r#"println(a2a.send(url, "Again.", {task_id: "t-1"}).state)"#),
        (
            "inject",
            r#"println(a2a.inject_reminder(url, "t-1", {body: "Rebase."}, {...options, id: id}).reminder_id == id)"#,
        ),
    ] {
        let messages = AtomicUsize::new(0);
        let peer = agent("{}", move |asked| match asked.method() {
            "GetTask" => result(&task("INPUT_REQUIRED", "")),
            _ if messages.fetch_add(1, SeqCst) == 0 => error(r#"{"code": -32004, "message": "busy"}"#),
            _ => result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", ""))),
        });
        let script = format!(
            r#"
let url = args()[0]
let options = {{fallback: "metadata", message: "One."}}
var id = nil
try {{ a2a.inject_reminder(url, "t-1", {{body: "Rebase."}}, options) }} catch (e) {{
  println(e.rpc_code)
  id = e.reminder_id
}}
{again}
println(a2a.send(url, "More.", {{task_id: "t-1"}}).state)
"#
        );
        let outcome = printed(&format!("outbox-answer-{name}"), &script, &peer);
        assert!(outcome.starts_with("-32004\n") && outcome.ends_with("completed\n"), "{name}: {outcome}");
        assert!(!outcome.contains("false"), "{name}: it says which one waits: {outcome}");
        let [lost, again, after] = &carried(&peer)[..] else { panic!("{name}") };
        assert_eq!(lost["body"], "Rebase.", "{name}");
        assert_eq!((lost, after), (again, &Value::Null), "{name}: the same reminder, and once");
    }
}

#[test]
fn a_message_that_is_refused_gives_its_reminders_back() {
    let peer = first("{}", || error(r#"{"code": -32004, "message": "busy"}"#));
    let script = format!(
        r#"{PUT}
try {{ a2a.send(url, "One.", {{task_id: "t-1"}}) }} catch (e) {{ println(e.rpc_code) }}
for text in ["Again.", "More."] {{ println(a2a.send(url, text, {{task_id: "t-1"}}).state) }}
"#
    );
    assert_eq!(printed("outbox-refused", &script, &peer), "-32004\ncompleted\ncompleted\n");
    assert_same_and_once(&carried(&peer));
}

//! The card, and the version that is spoken.

use super::{Peer, Reply, agent, card, printed, result, task};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn version_1_0_is_spoken_where_the_card_offers_it() {
    let peer = agent("{\"streaming\": true}", |_| {
        result(&format!(
            r#"{{"task": {}}}"#,
            task(
                "COMPLETED",
                r#", "artifacts": [{"artifactId": "a", "name": "n", "parts": [{"text": "Done."}, {"data": {"n": 3}}]}]"#
            )
        ))
    });
    let script = r#"
let card = a2a.card(args()[0])
println("${card.name} ${card.harn.version} ${card.harn.streaming} ${card.harn.reminders}")
let answer = a2a.send(args()[0], "Look.", {context_id: "c-1", metadata: {a: 1}, history_length: 2, deadline: 4102444800000})
println([answer.task_id, answer.context_id, answer.state, answer.text, answer.data, answer.status_text])
println(answer.artifacts[0].parts)
"#;
    let out = printed("1-0", script, &peer);
    assert_eq!(
        out,
        "worker 1.0 true nil\n[t-1, c-1, completed, Done., {n: 3}, nil]\n[{text: Done.}, {data: {n: 3}}]\n"
    );
    let asked = peer.asked();
    assert_eq!(asked.len(), 2, "the card is read once: {asked:?}");
    let call = &asked[1];
    assert_eq!((call.method(), call.header("a2a-version")), ("SendMessage", "1.0"));
    let params = &call.body["params"];
    assert_eq!(params["message"]["parts"], json!([{"text": "Look."}]));
    assert_eq!(params["message"]["contextId"], json!("c-1"));
    assert_eq!(params["message"]["metadata"], json!({"a": 1, "deadline": 4_102_444_800_000_i64}));
    assert_eq!(params["configuration"]["historyLength"], json!(2));
}

#[test]
fn an_agent_of_0_3_is_spoken_to_in_0_3() {
    let peer = Peer::start(|asked, port| match asked.path.as_str() {
        "/.well-known/agent.json" => Reply::json(
            200,
            &format!(
                r#"{{"name": "old", "url": "http://127.0.0.1:{port}/", "protocolVersion": "0.3.0", "capabilities": {{}}}}"#
            ),
        ),
        "/" => result(
            r#"{"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "rejected", "message":
                {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "Task rejected: CAPACITY_EXCEEDED"},
                 {"kind": "data", "data": {"rejection_reason": "CAPACITY_EXCEEDED"}}]}}}"#,
        ),
        _ => Reply::text(404, ""),
    });
    let script = r#"
let answer = a2a.send(args()[0], [{text: "Look."}, {data: {n: 1}}, {file: {name: "a.txt", mime_type: "text/plain", bytes: "aGk="}}])
println([answer.state, answer.rejection_reason, answer.text])
"#;
    assert_eq!(printed("0-3", script, &peer), "[rejected, CAPACITY_EXCEEDED, Task rejected: CAPACITY_EXCEEDED]\n");
    let call = &peer.calls()[0];
    assert_eq!((call.method(), call.header("a2a-version")), ("message/send", "0.3"));
    assert_eq!(
        call.body["params"]["message"]["parts"],
        json!([
            {"kind": "text", "text": "Look."},
            {"kind": "data", "data": {"n": 1}},
            {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/plain", "name": "a.txt"}},
        ])
    );
    assert_eq!(call.body["params"]["configuration"]["blocking"], json!(true));
}

#[test]
fn a_version_can_be_asked_for() {
    let peer = agent("{}", |asked| match asked.method() {
        "message/send" => {
            result(r#"{"kind": "task", "id": "t-1", "contextId": "c", "status": {"state": "completed"}}"#)
        }
        other => panic!("{other}"),
    });
    let script = r#"println(a2a.send(args()[0], "Look.", {version: "0.3"}).state)"#;
    assert_eq!(printed("asked-version", script, &peer), "completed\n");
    assert_eq!(peer.calls()[0].header("a2a-version"), "0.3");
}

#[test]
fn a_card_is_asked_for_again_by_its_etag() {
    let peer = Peer::start(|asked, port| match (asked.path.as_str(), asked.header("if-none-match")) {
        ("/.well-known/agent-card.json", "\"7\"") => Reply::whole(304, "Cache-Control: no-cache\r\n", ""),
        ("/.well-known/agent-card.json", "") => {
            Reply::whole(200, "ETag: \"7\"\r\nCache-Control: no-cache\r\n", &card(port, "{}"))
        }
        _ => Reply::text(404, ""),
    });
    let script = "for i in 1 to 3 { println(a2a.card(args()[0]).name) }\n";
    assert_eq!(printed("etag", script, &peer), "worker\nworker\nworker\n");
    let etags: Vec<String> = peer.asked().iter().map(|asked| asked.header("if-none-match").to_owned()).collect();
    assert_eq!(etags, ["", "\"7\"", "\"7\""]);
}

#[test]
fn a_card_has_a_url_of_its_own_below_a_path() {
    let peer = Peer::start(|asked, port| match asked.path.as_str() {
        "/agents/a/.well-known/agent-card.json" | "/cards/b.json" => Reply::json(200, &card(port, "{}")),
        _ => Reply::text(404, ""),
    });
    let script = "println(a2a.card(args()[0] + \"/agents/a/\").name + a2a.card(args()[0] + \"/cards/b.json\").name)\n";
    assert_eq!(printed("places", script, &peer), "workerworker\n");
}

#[test]
fn an_agent_that_does_not_wait_is_asked_until_the_task_is_over() {
    let looks = AtomicUsize::new(0);
    let peer = agent("{}", move |asked| match asked.method() {
        "SendMessage" => result(&format!(r#"{{"task": {}}}"#, task("SUBMITTED", ""))),
        "GetTask" if looks.fetch_add(1, Ordering::SeqCst) == 0 => result(&task("WORKING", "")),
        "GetTask" => result(&task("INPUT_REQUIRED", r#", "metadata": {"k": 1}"#)),
        other => panic!("{other}"),
    });
    let script = r#"
println(a2a.send(args()[0], "Look.", {wait: false}).state)
let answer = a2a.send(args()[0], "Look.")
println([answer.state, answer.metadata])
"#;
    assert_eq!(printed("polled", script, &peer), "submitted\n[input-required, {k: 1}]\n");
    let methods: Vec<String> = peer.calls().iter().map(|call| call.method().to_owned()).collect();
    assert_eq!(methods, ["SendMessage", "SendMessage", "GetTask", "GetTask"]);
    assert_eq!(peer.calls()[0].body["params"]["configuration"]["returnImmediately"], json!(true));
}

#[test]
fn an_answer_may_be_a_message_without_a_task() {
    let peer = agent("{}", |_| {
        result(r#"{"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Hello."}]}}"#)
    });
    let script = r#"
let answer = a2a.send(args()[0], "Hi.")
println([answer.task_id, answer.state, answer.text])
"#;
    assert_eq!(printed("message", script, &peer), "[nil, completed, Hello.]\n");
}

#[test]
fn a_task_is_got_and_cancelled() {
    let peer = agent("{}", |asked| match asked.method() {
        "GetTask" => result(&task(
            "WORKING",
            r#", "history": [{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Look."}]}]"#,
        )),
        "CancelTask" => result(&task("CANCELED", "")),
        other => panic!("{other}"),
    });
    let script = r#"
let now = a2a.get(args()[0], "t-1", {history_length: 1})
println([now.state, now.history[0].role, now.history[0].text])
println(a2a.cancel(args()[0], "t-1").state)
"#;
    assert_eq!(printed("get", script, &peer), "[working, user, Look.]\ncanceled\n");
    assert_eq!(peer.calls()[0].body["params"], json!({"id": "t-1", "historyLength": 1}));
}

#[test]
fn rhai_asks_as_well() {
    let peer = agent("{}", |_| result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", ""))));
    let path = crate::harn::scratch("a2a-client-rhai").join("script.rhai");
    std::fs::write(&path, "let answer = a2a::send(args()[0], \"Look.\");\nprint(answer.state);\n").unwrap();
    let outcome = crate::harn::harn(&["run", path.to_str().unwrap(), "--", &peer.url]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "completed\n"), "{}", outcome.err);
}

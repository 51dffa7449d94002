//! Addresses without an agent, and agents that answer incorrectly.

use super::{Peer, Reply, agent, card, error, result, run, task};

const SEND: &str = r#"
try {
  println(a2a.send(args()[0], "Look.", {timeout_ms: int_of(args()[1])}).state)
} catch (e) {
  println("${e.code} ${e.category}: ${e.message}")
}
fn int_of(text) { return to_int(text) }
"#;

/// Returns the script's output after asking, without the port.
fn said(name: &str, peer: &Peer, timeout_ms: &str) -> String {
    let outcome = run(name, SEND, &[&peer.url, timeout_ms], &[]);
    assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.err);
    outcome.out.replace(&format!(":{}", peer.port), "")
}

#[test]
fn what_is_no_agent_is_told_by_name() {
    let page = "<!doctype html>\n<html><body>It works!</body></html>";
    let cases: [(&str, u16, &str, &str); 6] = [
        (
            "none",
            404,
            page,
            "HARN-A2A-101 no_card: no agent card found at http://127.0.0.1/.well-known/agent-card.json\n",
        ),
        (
            "page",
            200,
            page,
            "HARN-A2A-102 not_an_agent: invalid agent card of http://127.0.0.1/.well-known/agent-card.json: <!doctype html> <html><body>It works!</body></html>\n",
        ),
        (
            "empty",
            200,
            "{}",
            "HARN-A2A-102 not_an_agent: invalid agent card of http://127.0.0.1/.well-known/agent-card.json: it has neither `supportedInterfaces` nor `url`\n",
        ),
        (
            "grpc",
            200,
            r#"{"url": "http://h/", "preferredTransport": "GRPC", "protocolVersion": "0.3.0"}"#,
            "HARN-A2A-103 no_version: the agent at http://127.0.0.1/.well-known/agent-card.json offers GRPC 0.3.0, but only JSON-RPC in the versions 1.0 and 0.3 is supported\n",
        ),
        (
            "later",
            200,
            r#"{"url": "http://h/", "protocolVersion": "2.0"}"#,
            "HARN-A2A-103 no_version: the agent at http://127.0.0.1/.well-known/agent-card.json offers JSONRPC 2.0, but only JSON-RPC in the versions 1.0 and 0.3 is supported\n",
        ),
        ("down", 503, "busy", "HARN-A2A-109 status: http://127.0.0.1/.well-known/agent-card.json answered 503\n"),
    ];
    for (name, status, body, wanted) in cases {
        let peer = Peer::start(move |_, _| Reply::whole(status, "", body));
        assert_eq!(said(name, &peer, "30000"), wanted, "{name}");
    }
}

#[test]
fn answers_that_are_none_are_told_by_name() {
    let who = "worker at http://127.0.0.1/rpc";
    let deep = format!(r#"{{"result": {}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let many = format!(r#"{{"result": [{}0]}}"#, "0,".repeat(2_000_000));
    let cases: Vec<(&str, Reply, String)> = vec![
        (
            "html",
            Reply::text(200, "<html>"),
            format!("HARN-A2A-102 not_an_agent: {who} did not answer with JSON-RPC: <html>\n"),
        ),
        (
            "nothing",
            Reply::json(200, ""),
            format!("HARN-A2A-102 not_an_agent: {who} did not answer with JSON-RPC: nothing\n"),
        ),
        (
            "half",
            Reply::json(200, r#"{"result": {"ta"#),
            format!("HARN-A2A-102 not_an_agent: {who} did not answer with JSON-RPC: {{\"result\": {{\"ta\n"),
        ),
        ("500", Reply::text(500, "it broke"), format!("HARN-A2A-109 status: {who} answered 500: it broke\n")),
        ("shape", result(r#"{"task": {"id": 3}}"#), "HARN-A2A-102 not_an_agent: the response of ".to_owned()),
        ("deep", Reply::json(200, &deep), "HARN-A2A-102 not_an_agent: ".to_owned()),
        ("many", Reply::json(200, &many), "HARN-A2A-102 not_an_agent: ".to_owned()),
    ];
    for (name, reply, wanted) in cases {
        let reply = std::sync::Mutex::new(Some(reply));
        let peer = agent("{}", move |_| reply.lock().unwrap().take().unwrap());
        let said = said(name, &peer, "30000");
        assert!(said.starts_with(&wanted), "{name}: {said}");
    }
}

#[test]
fn an_error_of_the_agent_is_handed_on_with_all_it_says() {
    let script = r#"
try { a2a.get(args()[0], "t-9") } catch (e) {
  println("${e.code} ${e.rpc_code} ${e.rpc_message} ${e.reason} ${e.peer_code} ${e.field} ${e.suggestion}")
}
"#;
    let peer = agent("{}", |_| {
        error(
            r#"{"code": -32001, "message": "there is no task t-9", "data": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org", "metadata": {"code": "HARN-A2A-020", "field": "id", "suggestion": "t-8"}}]}"#,
        )
    });
    let wanted = "HARN-A2A-105 -32001 there is no task t-9 TASK_NOT_FOUND HARN-A2A-020 id t-8\n";
    assert_eq!(run("error-1-0", script, &[&peer.url], &[]).out, wanted);
    let peer = agent("{}", |_| {
        error(
            r#"{"code": -32001, "message": "there is no task t-9", "data": {"reason": "TASK_NOT_FOUND", "code": "HARN-A2A-020", "field": "id", "suggestion": "t-8"}}"#,
        )
    });
    assert_eq!(run("error-0-3", script, &[&peer.url], &[]).out, wanted);
    let peer = agent("{}", |_| {
        Reply::json(400, r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}}"#)
    });
    assert_eq!(run("error-bare", script, &[&peer.url], &[]).out, "HARN-A2A-105 -32600 no nil nil nil nil\n");
}

#[test]
fn nobody_is_waited_for_longer_than_was_said() {
    let silent = Peer::start(|_, _| Reply::silence());
    assert_eq!(
        said("silent", &silent, "300"),
        "HARN-A2A-107 timeout: http://127.0.0.1/.well-known/agent-card.json timed out after 300 ms\n"
    );
    let working = agent("{}", |asked| match asked.method() {
        "SendMessage" => result(&format!(r#"{{"task": {}}}"#, task("WORKING", ""))),
        _ => result(&task("WORKING", "")),
    });
    assert_eq!(
        said("working", &working, "900"),
        "HARN-A2A-107 timeout: worker at http://127.0.0.1/rpc did not finish the task within 900 ms\n"
    );
}

#[test]
fn nobody_is_listened_to_without_end() {
    let more = vec![b' '; 1 << 16];
    let endless = Reply::open_end();
    let reply = std::sync::Mutex::new(Some(endless.endless(&more)));
    let peer = Peer::start(move |asked, port| match asked.path.as_str() {
        "/rpc" => reply.lock().unwrap().take().unwrap(),
        _ => Reply::json(200, &card(port, "{}")),
    });
    assert_eq!(
        said("endless", &peer, "60000"),
        "HARN-NET-004 too_large: the response of http://127.0.0.1/rpc is larger than 16 MiB\n"
    );
}

#[test]
fn a_server_that_is_away_is_a_failed_connection() {
    let peer = Peer::start(|_, _| Reply::nothing());
    let said = said("cut", &peer, "30000");
    assert!(said.starts_with("HARN-NET-002 connection: "), "{said}");
    let outcome = run("away", SEND, &["http://127.0.0.1:9", "30000"], &[]);
    assert!(
        outcome.out.starts_with("HARN-NET-002 connection: cannot connect to http://127.0.0.1:9"),
        "{}",
        outcome.out
    );
    let outcome = run("address", SEND, &["worker.example.com", "30000"], &[]);
    assert!(
        outcome.out.starts_with("HARN-NET-001 address: `worker.example.com` is not the URL of an agent"),
        "{}",
        outcome.out
    );
}

#[test]
fn a_message_that_says_nothing_is_not_sent() {
    let peer = agent("{}", |_| panic!("asked"));
    let script = r#"
for message in ["", "  ", [], {parts: []}, 3, {text: "a"}, {parts: [{txt: "a"}]}, {parts: ["a"], metadata: 3}] {
  try { a2a.send(args()[0], message) } catch (e) { println("${e.code} ${e.message}") }
}
let options = json_parse("[{\"reminders\": [{\"body\": \"b\", \"ttl_turn\": 1}]}, {\"task\": \"t\"}, {\"headers\": {\"a\": 3}}, {\"metadata\": 3}]")
try { a2a.send(args()[0], "a", options[0]) } catch (e) { println("${e.code} ${e.field} ${e.suggestion}") }
try { a2a.send(args()[0], "a", options[1]) } catch (e) { println("${e.code} ${e.message}") }
try { a2a.send(args()[0], "a", options[2]) } catch (e) { println("${e.code} ${e.message}") }
try { a2a.send(args()[0], "a", options[3]) } catch (e) { println("${e.code} ${e.message}") }
try { a2a.inject_reminder(args()[0], "t", {body: "b"}, options[3]) } catch (e) { println("${e.code} ${e.message}") }
"#;
    let outcome = run("unsendable", script, &[&peer.url], &[]);
    assert!(peer.asked().is_empty(), "nothing was sent: {:?}", peer.asked());
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!(lines.len(), 13, "{}{}", outcome.out, outcome.err);
    for line in &lines[..4] {
        assert_eq!(*line, "HARN-A2A-110 a message is empty");
    }
    assert!(lines[4].contains("not an int"), "{}", lines[4]);
    assert!(lines[5].contains("unknown field `text`"), "{}", lines[5]);
    assert!(lines[6].contains("unknown field `parts[0].txt`"), "{}", lines[6]);
    assert!(lines[7].contains("`metadata` of a message must be a dict"), "{}", lines[7]);
    assert_eq!(lines[8], "HARN-RMD-001 reminders.0.ttl_turn ttl_turns");
    assert!(lines[9].contains("unknown option `task`"), "{}", lines[9]);
    assert!(lines[10].contains("the header `a` must be a string"), "{}", lines[10]);
    for line in &lines[11..] {
        assert_eq!(*line, "HARN-TYP-001 `metadata` must be a dict, found 3");
    }
}

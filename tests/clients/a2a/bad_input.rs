//! Input that no client should send. Each time the next valid request is answered as usual.

use super::http::Request;
use super::server::{Server, ServerCommand, message};
use crate::wait::until;
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

/// The maximum size of a body, in bytes.
const BODY: usize = 1 << 20;

/// The maximum growth of memory under invalid input beyond an idle process, in bytes.
const ROOM: u64 = 64 << 20;

/// The pause of a slow client between two bytes, and the number of bytes after which its connection must be closed.
const SLOW: Duration = Duration::from_millis(500);
const SLOW_BYTES: usize = 80;

fn echo(server: &Server) -> Request {
    server.request(Some("1.0"), "SendMessage", json!({"message": message("echo x")}))
}

/// The error of JSON-RPC that a body is answered with.
fn error(server: &Server, body: impl Into<Vec<u8>>) -> Value {
    let request = Request::post(&server.address, body).header("A2A-Version", "1.0");
    let answer = server.ask(&request).json();
    answer.get("error").unwrap_or_else(|| panic!("it was not refused: {answer}")).clone()
}

#[test]
fn bodies_that_are_no_request() {
    let server = ServerCommand::agent("desk.harn", "bodies").spawn();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let deep_params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{deep}}}}}"#);
    let rows: Vec<(Vec<u8>, i64)> = vec![
        (b"".to_vec(), -32700),
        (b"{".to_vec(), -32700),
        (b"no json".to_vec(), -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}".to_vec(), -32700),
        (b"\xef\xbb\xbf{}".to_vec(), -32700),
        (b"{} {}".to_vec(), -32700),
        (b"null".to_vec(), -32600),
        (b"7".to_vec(), -32600),
        (b"\"SendMessage\"".to_vec(), -32600),
        (b"[]".to_vec(), -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}]"#.to_vec(), -32600),
        (b"{}".to_vec(), -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":1}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":7}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":"\ud800","method":"GetTask","params":{"id":"t"}}"#.to_vec(), -32700),
        (br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.to_vec(), -32601),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tasks/sent","params":{"id":"t"}}"#.to_vec(), -32601),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t"}}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":7}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}"#.to_vec(), -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":null}}"#.to_vec(), -32602),
    ];
    for (body, code) in rows {
        let shown = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(error(&server, body)["code"], code, "{shown}");
    }
    for body in [deep, deep_params] {
        let code = error(&server, body)["code"].as_i64().unwrap();
        assert!([-32700, -32600, -32602].contains(&code), "{code}");
    }
    server.still_answers();
    server.end();
}

#[test]
fn ids_come_back_as_they_were() {
    let server = ServerCommand::agent("desk.harn", "ids").spawn();
    for id in [json!(0), json!(-7), json!(i64::MAX), json!(""), json!("a\u{1f600}\n"), json!("i".repeat(1000))] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "GetTask", "params": {"id": "none"}});
        let answer = server.ask(&Request::post(&server.address, body.to_string()).header("A2A-Version", "1.0"));
        assert_eq!(answer.json()["id"], id);
    }
    let long = json!({"jsonrpc": "2.0", "id": "i".repeat(100_000), "method": "GetTask", "params": {"id": "none"}});
    assert_eq!(error(&server, long.to_string())["code"], -32600, "an id that each frame of a stream would carry");
    // A notification is answered by nothing, whatever it says.
    for body in
        [r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}"#, r#"{"jsonrpc":"2.0","method":"no/such"}"#]
    {
        let mut connection = server.connect();
        connection.send(&Request::post(&server.address, body));
        let answer = connection.answer();
        assert!(answer.body.is_empty() && [200, 202, 204].contains(&answer.status), "{answer:?}");
    }
    server.still_answers();
    server.end();
}

#[test]
fn bodies_that_are_too_large_are_refused_before_they_are_read() {
    let server = ServerCommand::agent("desk.harn", "large").spawn();
    server.still_answers();
    let before = server.memory();
    let fits =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x".repeat(BODY - 4096)}]}});
    assert!(server.rpc("SendMessage", fits)["result"].is_object());
    // Said beforehand: nothing of it need be sent.
    let mut connection = server.connect();
    let head = Request::post(&server.address, "").header("Content-Length", &(64u64 << 30).to_string());
    connection.try_send(&head.head());
    assert_eq!(connection.head().status, 413);
    // In pieces, without an end.
    let mut connection = server.connect();
    connection.try_send(&Request::post(&server.address, "").header("Transfer-Encoding", "chunked").head());
    let piece = format!("{:x}\r\n{}\r\n", 1 << 16, "x".repeat(1 << 16));
    let taken = (0..4096).take_while(|_| connection.try_send(piece.as_bytes())).count();
    assert!(taken < 4096, "256 MiB were taken");
    if let Some(answer) = connection.try_answer() {
        assert_eq!(answer.status, 413);
    }
    let answer = server.ask(&Request::post(&server.address, vec![b' '; BODY + 1]).header("A2A-Version", "1.0"));
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (413, &json!(-32600)));
    assert!(server.memory() < before + ROOM, "{} after {before}", server.memory());
    server.still_answers();
    server.end();
}

#[test]
fn heads_that_are_no_heads() {
    let server = ServerCommand::agent("desk.harn", "heads").spawn();
    let long = "x".repeat(1 << 20);
    let many: String = (0..5000).map(|number| format!("X-{number}: y\r\n")).collect();
    for bytes in [
        "\r\n\r\n\r\n\r\n".to_owned(),
        "nonsense\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "POST / HTTP/9.9\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!".to_owned(),
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n".to_owned(),
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_owned(),
    ] {
        let mut connection = server.connect();
        connection.try_send(bytes.as_bytes());
        connection.half_close();
        if let Some(answer) = connection.try_answer() {
            assert!((400..600).contains(&answer.status), "{}: {}", answer.status, &bytes[..bytes.len().min(80)]);
        }
        server.still_answers();
    }
    server.end();
}

#[test]
fn requests_of_another_kind() {
    let server = ServerCommand::agent("desk.harn", "kinds").spawn();
    let good = echo(&server);
    let rows = [
        (good.clone().header("Content-Type", "text/plain"), 415),
        (good.clone().header("Content-Type", "application/x-www-form-urlencoded"), 415),
        (good.clone().header("Content-Type", "nonsense"), 415),
        (good.clone().without("Content-Type"), 415),
        (good.clone().to("GET", "/"), 405),
        (good.clone().to("PUT", "/"), 405),
        (good.clone().to("DELETE", "/"), 405),
        (good.clone().to("POST", "/nowhere"), 404),
        (good.clone().to("GET", "/../../etc/passwd"), 404),
        (good.clone().to("GET", "/.well-known/other.json"), 404),
        (good.clone().to("POST", "/.well-known/agent-card.json"), 405),
        (good.clone().header("Origin", "https://evil.example"), 403),
        (good.clone().header("Origin", "null"), 403),
        (good.clone().header("Host", "evil.example"), 403),
        (good.clone().without("Host"), 400),
    ];
    for (request, status) in rows {
        let answer = server.ask(&request);
        assert_eq!(answer.status, status, "{:?} {:?}: {answer:?}", request.line, request.headers);
    }
    let taken = [
        good.clone().header("Content-Type", "application/json; charset=utf-8"),
        good.clone().header("Content-Type", "APPLICATION/JSON"),
        good.clone().header("Origin", &format!("http://{}", server.address)),
        good.clone().header("Host", &server.address.replace("127.0.0.1", "localhost")),
        good.clone().header("Accept", "application/json"),
    ];
    for request in taken {
        let answer = server.ask(&request);
        assert_eq!(answer.status, 200, "{:?}: {answer:?}", request.headers);
        assert!(answer.json()["result"]["task"].is_object());
    }
    let none = server.ask(&good.header("A2A-Version", "7.0"));
    assert_eq!((none.status, &none.json()["error"]["code"]), (200, &json!(-32009)));
    server.end();
}

#[test]
fn an_origin_that_is_allowed_is_let_in() {
    let server = ServerCommand::agent("desk.harn", "origin").with(&["--allow-origin", "https://good.example"]).spawn();
    assert_eq!(server.ask(&echo(&server).header("Origin", "https://good.example")).status, 200);
    for origin in ["https://good.example.evil", "http://good.example", "https://good.example:8443"] {
        assert_eq!(server.ask(&echo(&server).header("Origin", origin)).status, 403, "{origin}");
    }
    server.end();
}

#[test]
fn tokens_that_are_wrong() {
    let server = ServerCommand::agent("desk.harn", "tokens").with(&["--token", "a-token-of-24-characters"]).spawn();
    let good = echo(&server);
    let huge = format!("Bearer {}", "x".repeat(12_000));
    for header in [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "a-token-of-24-characters",
        "Bearer a-token-of-24-character",
        "Bearer a-token-of-24-characters!",
        "Bearer A-TOKEN-OF-24-CHARACTERS",
        "Digest a-token-of-24-characters",
        &huge,
    ] {
        let answer = server.ask(&good.clone().header("Authorization", header));
        assert_eq!(answer.status, 401, "{header}");
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        assert!(challenge.starts_with("Bearer") && !challenge.contains("token-of"), "{challenge}");
    }
    // Two at once are none.
    let mut twice = good.clone().header("Authorization", "Bearer a-token-of-24-characters");
    twice.headers.push(("Authorization".to_owned(), "Bearer another".to_owned()));
    assert_eq!(server.ask(&twice).status, 401);
    // Nothing is looked at before the token is.
    for (body, kind) in [("no json", "application/json"), ("x", "text/plain")] {
        let request = Request::post(&server.address, body).header("Content-Type", kind);
        assert_eq!(server.ask(&request).status, 401);
    }
    let taken = server.ask(&good.header("Authorization", "bearer a-token-of-24-characters"));
    assert_eq!(taken.status, 200);
    let said = server.said();
    assert!(!said.contains("a-token-of-24"), "the token is not to be written anywhere: {said}");
    server.end();
}

#[test]
fn those_who_dawdle_are_hung_up_on() {
    let server = ServerCommand::agent("desk.harn", "dawdle").spawn();
    let good = echo(&server);
    let (head, whole) = (good.head(), good.bytes());
    // How far each comes: nothing, half a head, a head, half a body; and two that send a byte now and then.
    let parts = [0, head.len() / 2, head.len(), head.len() + 5];
    let mut stuck: Vec<_> = parts.iter().map(|end| (server.connect(), *end)).collect();
    for (connection, end) in &mut stuck {
        connection.try_send(&whole[..*end]);
    }
    let slow = |from: usize| {
        let (mut connection, bytes) = (server.connect(), whole.clone());
        // Returns whether the server closes the connection before so many bytes.
        thread::spawn(move || {
            connection.try_send(&bytes[..from]);
            bytes[from..].iter().take(SLOW_BYTES).any(|byte| {
                thread::sleep(SLOW);
                !connection.try_send(&[*byte])
            })
        })
    };
    let (heads, bodies) = (slow(3), slow(head.len() + 1));
    server.still_answers();
    for (connection, end) in &mut stuck {
        if let Some(answer) = connection.try_answer() {
            assert_eq!(answer.status, 408, "at {end}");
        }
        assert!(connection.is_over(), "at {end}");
    }
    assert!(heads.join().unwrap() && bodies.join().unwrap());
    server.still_answers();
    server.end();
}

#[test]
fn many_requests_on_one_connection() {
    let server = ServerCommand::agent("desk.harn", "pipelined").spawn();
    let mut connection = server.connect();
    let requests: Vec<Request> =
        (0..50).map(|number| server.request(Some("1.0"), "GetTask", json!({"id": format!("none-{number}")}))).collect();
    let bytes: Vec<u8> = requests.iter().flat_map(Request::bytes).collect();
    // In pieces that end anywhere.
    for piece in bytes.chunks(997) {
        assert!(connection.try_send(piece));
    }
    for request in &requests {
        let answer = connection.answer();
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!((&answer.json()["id"], &answer.json()["error"]["code"]), (&asked["id"], &json!(-32001)));
        server.keep(request, &answer);
    }
    // Something wrong in the middle does not take what was before along.
    connection.send(&requests[0]);
    connection.try_send(b"nonsense\r\n\r\n");
    assert_eq!(connection.answer().status, 200);
    if let Some(answer) = connection.try_answer() {
        assert_eq!(answer.status, 400);
    }
    // Who closes its half after asking is answered.
    let mut half = server.connect();
    half.send(&requests[1]);
    half.half_close();
    assert_eq!(half.answer().json()["error"]["code"], -32001);
    server.still_answers();
    server.end();
}

#[test]
fn those_who_hang_up_in_the_middle_of_everything() {
    let start = ServerCommand::agent("desk.harn", "hang-up");
    let server = start.spawn();
    let whole = echo(&server).bytes();
    for end in (0..whole.len()).step_by(7).chain([whole.len()]) {
        let mut connection = server.connect();
        connection.try_send(&whole[..end]);
    }
    // In the middle of a stream, of a blocking call, of an answer.
    let mut said = message("wait");
    said["metadata"] = json!({"folder": start.folder()});
    let mut connection = server.connect();
    connection.send(&server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said})));
    connection.head();
    let task = connection.event(&mut Vec::new()).unwrap()["result"]["task"]["id"].clone();
    drop(connection);
    for method in ["SubscribeToTask", "GetTask"] {
        let mut connection = server.connect();
        connection.send(&server.request(Some("1.0"), method, json!({"id": task})));
        drop(connection);
    }
    server.still_answers();
    let state = || server.result("GetTask", json!({"id": task}))["status"]["state"].clone();
    until("the task is at work", || {
        let found = state();
        assert!(found == "TASK_STATE_SUBMITTED" || found == "TASK_STATE_WORKING", "{found}");
        found == "TASK_STATE_WORKING"
    });
    std::fs::write(start.folder().join("waiting.go"), "").unwrap();
    until("the task is completed", || state() == "TASK_STATE_COMPLETED");
    server.end();
}

#[test]
fn a_task_of_another_context_is_left_alone() {
    let server = ServerCommand::agent("desk.harn", "contexts").spawn();
    let asked = server.result("SendMessage", json!({"message": message("ask")}))["task"].clone();
    for context in
        [json!("another"), json!(format!("{}x", asked["contextId"].as_str().unwrap())), json!("x".repeat(128))]
    {
        let mut said = message("blue");
        said["taskId"] = asked["id"].clone();
        said["contextId"] = context;
        assert_eq!(server.refused("SendMessage", json!({"message": said}))["code"], -32602);
    }
    for id in ["", "task_none", "../../x", "\u{0}", &"x".repeat(100_000)] {
        let code = server.refused("GetTask", json!({"id": id}))["code"].as_i64().unwrap();
        assert!([-32001, -32602].contains(&code), "{code} for {}", id.len());
    }
    let state = server.result("GetTask", json!({"id": asked["id"]}))["status"]["state"].clone();
    assert_eq!(state, "TASK_STATE_INPUT_REQUIRED");
    server.end();
}

#[test]
fn what_is_not_offered_and_what_comes_twice_have_the_codes_of_the_protocol() {
    let server = ServerCommand::agent("desk.harn", "codes").spawn();
    let said = message("echo Hello.");
    let task = server.result("SendMessage", json!({"message": said}))["task"].clone();
    assert_eq!(server.result("SendMessage", json!({"message": said}))["task"]["id"], task["id"]);
    let mut other = said.clone();
    other["parts"] = json!([{"text": "echo Bye."}]);
    let another = server.result("SendMessage", json!({"message": other}))["task"].clone();
    assert_eq!(another["artifacts"][0]["parts"], json!([{"text": "Bye."}]), "{another}");
    assert_eq!(server.refused("SubscribeToTask", json!({"id": task["id"]}))["code"], -32004);
    assert_eq!(server.refused("GetExtendedAgentCard", json!({}))["code"], -32004);
    let asks = server.result("SendMessage", json!({"message": message("ask")}))["task"]["id"].clone();
    let reminder = json!({"body": "Mind the gap.", "tags": ["gap"]});
    server.result("tasks/inject_reminder", json!({"taskId": asks, "reminder": reminder}));
    for removed in [1, 0] {
        let cleared = server.result("tasks/clear_reminders", json!({"taskId": asks, "tag": "gap"}));
        assert_eq!(cleared, json!({"removedCount": removed}));
    }
    let unknown = server.refused("tasks/revoke_reminder", json!({"taskId": asks, "reminderId": "none"}));
    assert_eq!(unknown["data"][0]["metadata"]["code"], "HARN-SES-004");
    server.end();
}

#[test]
fn a_peer_hears_what_the_policy_refuses() {
    let start = ServerCommand::agent("desk.harn", "policy");
    let policy = start.folder().join("policy.toml");
    std::fs::write(&policy, "[reminders.policy]\nforbid_sources = [\"peer\"]\n").unwrap();
    let server = start.env("HARN_POLICY", policy.to_str().unwrap()).spawn();
    let asks = server.result("SendMessage", json!({"message": message("ask")}))["task"]["id"].clone();
    let reminder = json!({"body": "Mind the gap.", "tags": ["gap"]});
    let refused = server.refused("tasks/inject_reminder", json!({"taskId": asks, "reminder": reminder}));
    assert_eq!((&refused["code"], &refused["data"][0]["reason"]), (&json!(-32602), &json!("POLICY")), "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("reminders of the source `peer` are forbidden"), "{refused}");
}

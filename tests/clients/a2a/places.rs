//! Limits on counts: a client beyond the limit is refused with a clear error, and the next one is
//! accepted once a place is free.

use super::http::{Connection, Request};
use super::server::{Server, ServerCommand, message};
use crate::wait::until;
use serde_json::{Value, json};

/// A task that works until a file is there.
fn waiting(start: &ServerCommand) -> Value {
    let mut said = message("wait");
    said["metadata"] = json!({"folder": start.folder()});
    json!({"message": said})
}

#[test]
fn a_connection_too_many_is_told_to_come_again_and_finds_a_place_that_is_free() {
    let server = ServerCommand::agent("desk.harn", "connections").with(&["--max-connections", "2"]).spawn();
    let ask = server.request(None, "GetTask", json!({"id": "none"}));
    let mut held: Vec<Connection> = (0..2)
        .map(|_| {
            let mut connection = server.connect();
            connection.send(&ask);
            assert_eq!(connection.answer().status, 200);
            connection
        })
        .collect();
    for _ in 0..3 {
        // The connection is refused before it has sent a request, and closed.
        let mut third = server.connect();
        let refused = third.answer();
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
        assert_eq!(refused.header("connection"), Some("close"));
        let error = &refused.json()["error"];
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32000), &json!("too_many_connections")));
        assert!(third.is_over());
    }
    // Those who were there are served as ever.
    held[0].send(&ask);
    assert_eq!(held[0].answer().status, 200);
    held.pop();
    // The operating system may reset a connection that was refused while its request was still
    // arriving; then there is no answer.
    until("a place is free", || {
        let mut again = server.connect();
        again.try_send(&ask.bytes()) && again.try_answer().is_some_and(|answer| answer.status == 200)
    });
    drop(held);
    server.end();
}

/// A stream that has begun, of which the task was read; or the refusal.
fn begun(server: &Server, request: &Request) -> Result<Connection, Value> {
    let mut connection = server.connect();
    connection.send(request);
    if connection.head().header("transfer-encoding").is_some() {
        assert!(connection.event(&mut Vec::new()).unwrap()["result"].is_object());
        return Ok(connection);
    }
    // All of it is there already, as JSON or as the one event of a stream; to ask once more is simpler than to read on.
    let text = String::from_utf8(server.ask(request).body).unwrap();
    Err(serde_json::from_str(text.trim_start_matches("data: ")).unwrap())
}

#[test]
fn a_stream_too_many_is_refused_in_each_version_and_begins_no_task() {
    let start = ServerCommand::agent("desk.harn", "streams").with(&["--max-streams", "2"]);
    let server = start.spawn();
    let mut first = server.connect();
    first.send(&server.request(Some("1.0"), "SendStreamingMessage", waiting(&start)));
    first.head();
    let task = first.event(&mut Vec::new()).unwrap()["result"]["task"]["id"].clone();
    let subscribe = server.request(Some("1.0"), "SubscribeToTask", json!({"id": task}));
    let second = begun(&server, &subscribe).expect("a second stream");
    let too_many = [
        (Some("1.0"), "SubscribeToTask", json!({"id": task}), "TOO_MANY_STREAMS"),
        (Some("1.0"), "SendStreamingMessage", json!({"message": message("echo x")}), "TOO_MANY_STREAMS"),
        (Some("0.3"), "tasks/resubscribe", json!({"id": task}), "too_many_streams"),
    ];
    for (version, method, params, reason) in too_many {
        let request = server.request(version, method, params);
        let error = begun(&server, &request).err().expect("it is refused")["error"].clone();
        let told = if version == Some("1.0") { &error["data"][0]["reason"] } else { &error["data"]["reason"] };
        assert_eq!((&error["code"], told.as_str()), (&json!(-32000), Some(reason)), "{version:?} {method}: {error}");
    }
    assert_eq!(server.result("ListTasks", json!({}))["tasks"].as_array().unwrap().len(), 1, "nothing was begun");
    // Requests that are not streams need no such place.
    server.still_answers();
    drop(second);
    until("the server follows no more", || begun(&server, &subscribe).is_ok());
    std::fs::write(start.folder().join("waiting.go"), "").unwrap();
    server.end();
}

/// Says more than all buffers and the window hold together, once its caller says so.
const TALKER: &str = r#"
pipeline default(task) {
  task.ask("Ready?")
  let piece = "word ".repeat(8000)
  for n in 1 to 400 { task.status("${n} ${piece}") }
  return "Talked."
}
"#;

#[test]
fn a_stream_that_is_read_too_slowly_ends_with_an_error_in_each_version() {
    let start = ServerCommand::agent("desk.harn", "slow-reader");
    let script = start.folder().join("talker.harn");
    std::fs::write(&script, TALKER).unwrap();
    let server = ServerCommand::file(script, "slow-readers").spawn();
    let task = server.result("SendMessage", json!({"message": message("talk")}))["task"]["id"].clone();
    let versions = [(Some("1.0"), "SubscribeToTask"), (Some("0.3"), "tasks/resubscribe")];
    let slow = versions.map(|(version, method)| {
        let request = server.request(version, method, json!({"id": task}));
        let mut connection = server.connect();
        connection.send(&request);
        (version, request, connection)
    });
    // Each has its head: from now on it follows, and reads nothing.
    let mut slow = slow.map(|(version, request, mut connection)| {
        let head = connection.head();
        (version, request, head, connection)
    });
    let mut go_on = message("go on");
    go_on["taskId"] = task.clone();
    let done = server.result("SendMessage", json!({"message": go_on, "configuration": {"historyLength": 0}}));
    assert_eq!(done["task"]["status"]["state"], "TASK_STATE_COMPLETED", "nobody is waited for");
    for (version, request, head, connection) in &mut slow {
        let mut answer = head.clone();
        while let Some(mut chunk) = connection.chunk() {
            answer.body.append(&mut chunk);
        }
        let text = String::from_utf8(answer.body.clone()).unwrap();
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let error = &last["error"];
        assert_eq!((&last["id"], &error["code"]), (&asked["id"], &json!(-32000)), "{version:?}: {last}");
        let (code, reason) = match version {
            Some("1.0") => (&error["data"][0]["metadata"]["code"], "STREAM_TOO_SLOW"),
            _ => (&error["data"]["code"], "stream_too_slow"),
        };
        let told = if *version == Some("1.0") { &error["data"][0]["reason"] } else { &error["data"]["reason"] };
        assert_eq!((code, told), (&json!("HARN-A2A-012"), &json!(reason)), "{version:?}: {last}");
        assert_eq!(text.matches("\"error\"").count(), 1, "and only once");
        server.keep(request, &answer);
    }
    server.end();
}

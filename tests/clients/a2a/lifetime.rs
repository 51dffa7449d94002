//! The start and the end of a server.

use super::http::Connection;
use super::server::{ServerCommand, message};
use crate::harn::{root, scratch};
use crate::wait::ended;
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::Stdio;

#[test]
fn a_signal_ends_it_with_streams_open() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let start = ServerCommand::agent("desk.harn", &format!("ends-{signal}"));
        let server = start.spawn();
        let mut streams = Vec::new();
        for number in 0..20 {
            let folder = start.folder().join(number.to_string());
            std::fs::create_dir_all(&folder).unwrap();
            let mut said = message("wait");
            said["metadata"] = json!({"folder": folder});
            let mut connection = server.connect();
            connection.send(&server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said})));
            assert_eq!(connection.head().status, 200);
            let mut pending = Vec::new();
            let first = connection.event(&mut pending).unwrap();
            assert!(first["result"]["task"].is_object(), "{first}");
            streams.push((connection, pending));
        }
        let ended = server.ended_by(signal);
        assert_eq!(ended.code, Some(code), "{}", ended.said);
        // Each stream ends, so that no client waits forever.
        for (connection, pending) in streams {
            let status = &last(connection, pending)["result"]["statusUpdate"]["status"];
            assert_eq!(status["state"], "TASK_STATE_FAILED", "{status}");
            assert_eq!(status["message"]["parts"][1]["data"]["code"], "SERVER_STOPPED", "{status}");
        }
    }
}

/// Returns the last event of a stream.
fn last(mut connection: Connection, mut pending: Vec<u8>) -> Value {
    let mut last = Value::Null;
    while let Some(event) = connection.event(&mut pending) {
        last = event;
    }
    assert!(connection.is_over());
    last
}

#[test]
fn a_signal_tells_no_end_of_what_the_next_server_runs_again() {
    let text = std::fs::read_to_string(root().join("tests/a2a/agents/desk.harn")).unwrap();
    let script = scratch("a2a-script-ends-resumable").join("desk.harn");
    std::fs::write(&script, text.replace("pipeline default", "@resumable\npipeline default")).unwrap();
    let start = ServerCommand::file(script, "ends-resumable").logged();
    let server = start.spawn();
    let mut said = message("wait");
    said["metadata"] = json!({"folder": start.folder()});
    let mut connection = server.connect();
    connection.send(&server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said})));
    assert_eq!(connection.head().status, 200);
    let mut pending = Vec::new();
    let first = connection.event(&mut pending).unwrap();
    let id = first["result"]["task"]["id"].clone();
    let ended = server.ended_by("TERM");
    assert_eq!(ended.code, Some(143), "{}", ended.said);
    let error = &last(connection, pending)["error"];
    assert_eq!((&error["code"], &error["data"][0]["reason"]), (&json!(-32000), &json!("STOPPING")), "{error}");
    // The caller still has its task.
    let server = start.spawn();
    let task = server.ask(&server.request(Some("1.0"), "GetTask", json!({"id": id}))).json();
    let state = task["result"]["status"]["state"].as_str().unwrap();
    assert!(["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"].contains(&state), "{task}");
    server.end();
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_listens() {
    let rows: [(&[&str], &str); 6] = [
        (&["--listen", "0.0.0.0:0"], "token"),
        (&["--listen", "nonsense"], "listen"),
        (&["--listen", "127.0.0.1:99999"], "listen"),
        (&["--max-tasks", "none"], "max-tasks"),
        (&["--mode", "maybe"], "mode"),
        (&["--card", "other"], "card"),
    ];
    for (args, word) in rows {
        let start = ServerCommand::agent("desk.harn", "refused-start").with(args);
        let mut child = start.command().stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let code = ended(&mut child, |_| ());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(code.is_some_and(|code| code != 0 && code < 128), "{args:?}: {err}");
        assert!(err.contains(word) && !err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_port_that_is_taken_and_a_script_that_is_none_are_said() {
    let server = ServerCommand::agent("desk.harn", "first-of-two").spawn();
    let second = ServerCommand::agent("desk.harn", "second-of-two").with(&[&format!("--listen={}", server.address)]);
    let output = second.command().output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains(&server.address), "{err}");
    let missing = ServerCommand::agent("no-such.harn", "no-such");
    let output = missing.command().output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no-such.harn"));
    server.still_answers();
    server.end();
}

#[test]
fn the_token_may_come_from_the_environment() {
    let server = ServerCommand::agent("desk.harn", "token-env").env("HARN_A2A_TOKEN", "from-the-environment").spawn();
    let request = server.request(Some("1.0"), "SendMessage", json!({"message": message("echo x")}));
    let refused = server.ask(&request);
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").is_some_and(|header| header.starts_with("Bearer")), "{refused:?}");
    let taken = server.ask(&request.header("Authorization", "Bearer from-the-environment"));
    assert_eq!(taken.json()["result"]["task"]["artifacts"][0]["parts"][0]["text"], "x");
    server.end();
}

#[test]
fn a_task_that_never_waits_leaves_its_worker_to_the_others_and_can_be_cancelled() {
    let loops = [
        (
            "harn",
            "pipeline default(task) {\n  if task != \"spin\" { return task }\n  agent_loop(\"x\", nil, {max_iterations: 100000000, \
             max_nudges: 100000000, loop_until_done: true, reminders: false, llm_caller: { asked -> \"more\" }})\n}\n",
        ),
        (
            "harn",
            "register_session_hook(\"file_edited\", { event -> nil })\npipeline default(task) {\n  if task != \"spin\" { return task }\n  \
             while true { notify_file_edited(\"a\") }\n}\n",
        ),
        (
            "rhai",
            "fn main(task) {\n  if task != \"spin\" { return task; }\n  agent_loop(\"x\", (), #{max_iterations: 100000000, max_nudges: \
             100000000, loop_until_done: true, reminders: false, llm_caller: |asked| \"more\"});\n}\n",
        ),
    ];
    for (number, (language, text)) in loops.into_iter().enumerate() {
        let script = scratch(&format!("a2a-script-spins-{number}")).join(format!("spins.{language}"));
        std::fs::write(&script, text).unwrap();
        let server = ServerCommand::file(script, &format!("spins-{number}")).with(&["--workers", "1"]).spawn();
        let spin = json!({"message": message("spin"), "configuration": {"returnImmediately": true}});
        let spinning = server.result("SendMessage", spin)["task"].clone();
        // A worker that is not shared would never answer.
        for _ in 0..5 {
            let task = server.result("SendMessage", json!({"message": message("hello")}));
            assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{number}: {task}");
        }
        let cancelled = server.result("CancelTask", json!({"id": spinning["id"]}));
        assert_eq!(cancelled["status"]["state"], "TASK_STATE_CANCELED", "{number}: {cancelled}");
        server.end();
    }
}

//! A server as operators see it: its metrics under load, its end, its log lines, and the probes of `harn serve acp`.

use super::http::Request;
use super::server::{Server, ServerCommand, message};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The metrics of a server now.
fn metrics(server: &Server) -> String {
    let mut connection = server.connect();
    connection.send(&Request::get(&server.address, "/metrics"));
    let answer = connection.answer();
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.body).unwrap()
}

/// The value of a metric with its labels.
fn value(metrics: &str, name: &str) -> u64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("{name} is not in:\n{metrics}")).parse().unwrap()
}

fn readiness(server: &Server) -> (u16, String) {
    let mut connection = server.connect();
    connection.send(&Request::get(&server.address, "/readyz"));
    let answer = connection.answer();
    (answer.status, String::from_utf8(answer.body).unwrap())
}

#[test]
fn the_metrics_show_every_task_of_a_load() {
    const CALLERS: u64 = 8;
    const TASKS: u64 = 25;
    const WAITING: u64 = 5;
    let start = ServerCommand::agent("desk.harn", "operated-load");
    let server = start.spawn();
    // These tasks are open during the load.
    let streams: Vec<_> = (0..WAITING).map(|_| waiting(&server, &start)).collect();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut reads, mut before) = (0, [0, 0]);
            while !is_done.load(Ordering::Relaxed) {
                let told = metrics(&server);
                let open = value(&told, "harn_a2a_tasks_open");
                let now = ["harn_a2a_tasks_started_total", "harn_a2a_tasks_ended_total{state=\"completed\"}"]
                    .map(|name| value(&told, name));
                // A task that ends at this moment is neither open nor counted as ended.
                let between =
                    now[0].checked_sub(now[1] + open).unwrap_or_else(|| panic!("a task counts twice:\n{told}"));
                assert!(between <= CALLERS && (WAITING..=WAITING + CALLERS).contains(&open), "{told}");
                assert!(now[0] >= before[0] && now[1] >= before[1], "a counter went back:\n{told}");
                (reads, before) = (reads + 1, now);
            }
            reads
        });
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let server = &server;
                scope.spawn(move || {
                    let mut connection = server.connect();
                    for number in 0..TASKS {
                        let said = message(&format!("echo {caller} {number}"));
                        connection.send(&server.request(Some("1.0"), "SendMessage", json!({"message": said})));
                        let state = connection.answer().json()["result"]["task"]["status"]["state"].clone();
                        assert_eq!(state, "TASK_STATE_COMPLETED");
                    }
                })
            })
            .collect();
        let ended: Vec<_> = callers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
        assert!(watcher.join().unwrap() > 0, "the load was over before it was read");
    });
    let told = metrics(&server);
    assert_eq!(value(&told, "harn_a2a_tasks_started_total"), CALLERS * TASKS + WAITING);
    for name in ["tasks_open", "tasks{state=\"working\"}", "streams_open"] {
        assert_eq!(value(&told, &format!("harn_a2a_{name}")), WAITING, "{name}");
    }
    assert_eq!(value(&told, "harn_sessions_busy"), WAITING);
    std::fs::write(start.folder().join("waiting.go"), "").unwrap();
    for (mut connection, mut pending) in streams {
        while connection.event(&mut pending).is_some() {}
    }
    let told = metrics(&server);
    assert_eq!(value(&told, "harn_a2a_tasks_ended_total{state=\"completed\"}"), CALLERS * TASKS + WAITING);
    assert_eq!(value(&told, "harn_a2a_tasks_open"), 0);
    assert_eq!(value(&told, "harn_sessions_opened_total"), CALLERS * TASKS + WAITING);
    assert_eq!(value(&told, "harn_a2a_streams_open"), 0);
    server.end();
}

/// A task that waits until its folder says that it may go on, followed by a stream.
fn waiting(server: &Server, start: &ServerCommand) -> (super::http::Connection, Vec<u8>) {
    let mut said = message("wait");
    said["metadata"] = json!({"folder": start.folder()});
    let mut connection = server.connect();
    connection.send(&server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said})));
    assert_eq!(connection.head().status, 200);
    let mut pending = Vec::new();
    let first = connection.event(&mut pending).unwrap();
    assert!(first["result"]["task"].is_object(), "{first}");
    (connection, pending)
}

#[test]
fn a_server_that_drains_lets_its_tasks_end() {
    let start = ServerCommand::agent("desk.harn", "operated-drain").with(&["--drain", "60"]);
    let server = start.spawn();
    let (mut connection, mut pending) = waiting(&server, &start);
    let told = metrics(&server);
    assert_eq!(value(&told, "harn_a2a_tasks_open"), 1);
    assert_eq!(value(&told, "harn_a2a_streams_open"), 1);
    server.signal("TERM");
    server.says(|said| said.contains("harn: draining: waiting at most 60 s for 1 task"));
    assert_eq!(readiness(&server), (503, "draining\n".to_owned()));
    let refused = server.refused("SendMessage", json!({"message": message("echo late")}));
    assert!(refused["message"].as_str().unwrap().contains("stopping"), "{refused}");
    std::fs::write(start.folder().join("waiting.go"), "").unwrap();
    let mut last = Value::Null;
    while let Some(event) = connection.event(&mut pending) {
        last = event;
    }
    assert_eq!(last["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED", "{last}");
    let ended = server.ended();
    assert_eq!(ended.code, Some(143), "{}", ended.said);
    assert!(ended.said.contains("harn: drained"), "{}", ended.said);
}

#[test]
fn a_drain_has_an_end_and_a_second_signal_ends_it_at_once() {
    let start = ServerCommand::agent("desk.harn", "operated-grace").with(&["--drain", "1"]);
    let server = start.spawn();
    let (_connection, _) = waiting(&server, &start);
    let ended = server.ended_by("TERM");
    assert_eq!(ended.code, Some(143), "{}", ended.said);
    assert!(ended.said.contains("harn: not drained after 1 s: cancelling 1 task"), "{}", ended.said);

    let start = ServerCommand::agent("desk.harn", "operated-twice").with(&["--drain", "600"]);
    let server = start.spawn();
    let (_connection, _) = waiting(&server, &start);
    server.signal("TERM");
    server.says(|said| said.contains("harn: draining: "));
    // It does not wait for ten minutes.
    let ended = server.ended_by("TERM");
    assert_eq!(ended.code, Some(143), "{}", ended.said);
}

#[test]
fn log_lines_are_json_where_that_is_asked_for() {
    let start =
        ServerCommand::agent("desk.harn", "operated-json").with(&["--log-format", "json"]).env("HARN_LOG", "debug");
    let server = start.spawn();
    server.result("SendMessage", json!({"message": message("remember this")}));
    let ended = server.ended_by("TERM");
    let lines: Vec<Value> = ended.said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listening = &lines[0];
    assert!(listening["message"].as_str().unwrap().starts_with("listening on http://"), "{listening}");
    assert_eq!((&listening["level"], listening["timestamp"].is_string()), (&"INFO".into(), true));
    let answered = lines.iter().find(|line| line["message"] == "model answered");
    let answered = answered.unwrap_or_else(|| panic!("{lines:#?}"));
    let spans: Vec<&str> = answered["spans"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(spans, ["run", "session", "turn", "model_call"], "{answered}");
    let ids = &answered["spans"];
    assert!(ids[0]["run_id"].is_string() && ids[1]["session_id"].is_string() && ids[2]["turn"].is_u64(), "{ids}");
    assert!(!ended.said.contains("remember this"), "no prompt is logged: {}", ended.said);
}

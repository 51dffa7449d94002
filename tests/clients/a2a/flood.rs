//! Too much of what clients may do: the server answers all the same, and what it holds stays within bounds.

use super::http::{Connection, HttpResponse, Request};
use super::server::{Server, ServerCommand, message};
use super::wire;
use crate::wait::find;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// The maximum growth of memory under a flood beyond an idle process, in bytes.
const ROOM: u64 = 256 << 20;

/// The number of requests.
const REQUESTS: usize = 10_000;

/// Over how many connections at once.
const AT_ONCE: usize = 64;

/// The capacity of a task's injection queue.
const QUEUE: usize = 256;

/// The number of streams without a reader.
const STREAMS: usize = 1_000;

/// The number of silent connections.
const SILENT: usize = 3_000;

/// A script that shows more than anybody would keep, and counts how far it has come.
const TALKER: &str = r#"
pipeline default(task, context) {
  if task != "talk" { return "I am here." }
  let piece = "word ".repeat(4000)
  var turn = 0
  while turn < 200 {
    task.artifact({id: "talk", name: "talk", parts: ["${turn} ${piece}"], append: turn > 0, last_chunk: false})
    turn = turn + 1
  }
  write_file(path_join(context.cwd, "talked.txt"), "${turn}")
  return "Talked."
}
"#;

/// Connections are files, and the usual limit is a thousand.
fn more_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(8192)), hard);
    }
}

#[test]
fn ten_thousand_requests_each_have_an_answer() {
    let server = ServerCommand::agent("desk.harn", "requests").spawn();
    server.still_answers();
    let before = server.memory();
    let answered = AtomicUsize::new(0);
    let most = AtomicU64::new(0);
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let (server, answered, most) = (&server, &answered, &most);
            scope.spawn(move || {
                let mut connection = server.connect();
                for number in (worker..REQUESTS).step_by(AT_ONCE) {
                    let request = one_of_many(server, number);
                    connection.send(&request);
                    let answer = connection.answer();
                    fits(&request, &answer, number);
                    answered.fetch_add(1, Ordering::Relaxed);
                    if number % 1000 == 0 {
                        most.fetch_max(server.memory(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(answered.load(Ordering::Relaxed), REQUESTS);
    let most = most.load(Ordering::Relaxed);
    assert!(most < before + ROOM, "{most} after {before}");
    server.still_answers();
    server.end();
}

/// Returns one of many requests: of each hundred one starts a task, the others are invalid or ask
/// for something unknown.
fn one_of_many(server: &Server, number: usize) -> Request {
    match number % 100 {
        0 => server.request(Some("1.0"), "SendMessage", json!({"message": message("echo x")})),
        1 => server.request(Some("0.3"), "message/send", json!({"message": {"parts": []}})),
        2 => server.request(Some("1.0"), "no/such", json!({})),
        _ => server.request(Some("1.0"), "GetTask", json!({"id": format!("none-{number}")})),
    }
}

fn fits(request: &Request, answer: &HttpResponse, number: usize) {
    assert_eq!(answer.status, 200);
    let (asked, got): (Value, Value) = (serde_json::from_slice(&request.body).unwrap(), answer.json());
    assert_eq!(asked["id"], got["id"]);
    let code = match number % 100 {
        0 => json!(null),
        1 => json!(-32602),
        2 => json!(-32601),
        _ => json!(-32001),
    };
    assert_eq!(got["error"]["code"], code, "{got}");
    if number % 500 < 4 {
        wire::assert_fits(&wire::exchange(request, answer));
    }
}

#[test]
fn what_the_queue_of_a_task_cannot_take_is_refused_each_with_an_answer() {
    let start = ServerCommand::agent("desk.harn", "injections");
    let server = start.spawn();
    server.still_answers();
    let before = server.memory();
    let mut said = message("wait");
    said["metadata"] = json!({"folder": start.folder()});
    let sent = json!({"message": said, "configuration": {"returnImmediately": true}});
    let task = server.result("SendMessage", sent)["task"]["id"].clone();
    let (accepted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let (server, task, accepted, refused) = (&server, &task, &accepted, &refused);
            scope.spawn(move || {
                let mut connection = server.connect();
                for number in (worker..REQUESTS).step_by(AT_ONCE) {
                    let reminder = json!({"body": format!("reminder {number}")});
                    let params = json!({"taskId": task, "reminder": reminder});
                    let request = server.request(Some("1.0"), "tasks/inject_reminder", params);
                    connection.send(&request);
                    let answer = connection.answer().json();
                    if answer["result"]["reminderId"].is_string() {
                        accepted.fetch_add(1, Ordering::Relaxed);
                    } else {
                        let error = &answer["error"];
                        let told = (&error["code"], &error["data"][0]["reason"]);
                        assert_eq!(told, (&json!(-32000), &json!("QUEUE_FULL")), "{answer}");
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!((accepted.into_inner(), refused.into_inner()), (QUEUE, REQUESTS - QUEUE));
    let pending = server.result("tasks/pending_injections", json!({"taskId": task}));
    assert_eq!(pending["pendingCount"], QUEUE);
    assert!(server.memory() < before + ROOM / 4, "{} after {before}", server.memory());
    server.still_answers();
    std::fs::write(start.folder().join("waiting.go"), "").unwrap();
    server.end();
}

#[test]
fn a_thousand_streams_that_nobody_reads_hold_nobody_up() {
    more_files();
    let start = ServerCommand::agent("desk.harn", "unread");
    let script = start.folder().join("talker.harn");
    std::fs::write(&script, TALKER).unwrap();
    let server = ServerCommand::file(script.clone(), "unread-streams").with(&["--max-tasks", "2000"]).spawn();
    server_is_here(&server);
    let before = server.memory();
    let mut said = message("talk");
    said["contextId"] = json!("the-talker");
    let talks = server.request(Some("1.0"), "SendStreamingMessage", json!({"message": said}));
    let mut first = server.connect();
    first.send(&talks);
    first.head();
    let task = first.event(&mut Vec::new()).unwrap()["result"]["task"]["id"].clone();
    let mut streams: Vec<Connection> = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        let mut connection = server.connect();
        connection.send(&server.request(Some("1.0"), "SubscribeToTask", json!({"id": task})));
        streams.push(connection);
    }
    // The task ends even though its subscribers do not read.
    find("the end of the task", || {
        let now = server.result("GetTask", json!({"id": task, "historyLength": 0}))["status"]["state"].clone();
        if now == "TASK_STATE_COMPLETED" { Ok(()) } else { Err(now.to_string()) }
    });
    let most = server.memory();
    server_is_here(&server);
    assert!(most < before + 2 * ROOM, "{most} after {before}");
    drop(streams);
    drop(first);
    server_is_here(&server);
    server.end();
}

fn server_is_here(server: &Server) {
    let task = server.result("SendMessage", json!({"message": message("hello")}));
    assert_eq!(task["task"]["artifacts"][0]["parts"][0]["text"], "I am here.", "{task}");
}

#[test]
fn thousands_of_connections_that_say_nothing_hold_nobody_up() {
    more_files();
    let server = ServerCommand::agent("desk.harn", "silent").spawn();
    server.still_answers();
    let before = server.memory();
    let silent: Vec<Connection> = (0..SILENT).map(|_| server.connect()).collect();
    server.still_answers();
    assert!(server.memory() < before + ROOM, "{} after {before}", server.memory());
    drop(silent);
    // One after the other, gone at once.
    for _ in 0..SILENT {
        drop(server.connect());
    }
    server.still_answers();
    assert!(server.memory() < before + ROOM, "{} after {before}", server.memory());
    server.end();
}

//! The HTTP port of a hub: the client of PyPI `a2a-sdk` over both bindings, and bare requests.

use super::RunningHub;
use crate::harn::{root, scratch};
use crate::packages::python;
use crate::wait::{LIMIT, find};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// A worker that answers with the text that it gets, and an agent that never works.
const WORKER: &str = r#"
let worker = hub.connect(env("HUB_URL")).register({
  name: "echo", skills: [{id: "echo", tags: ["echoes"]}],
})
hub.connect(env("HUB_URL")).register({name: "sleeper"})
println("ready")
for task in worker.tasks() {
  task.accept("at work")
  task.complete(task.text)
}
"#;

/// Starts the worker, and waits until it is registered.
pub(super) fn start_worker(folder: &Path, script: &str, hub: &RunningHub, args: &[&str]) -> Child {
    let file = folder.join("worker.harn");
    fs::write(&file, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(&file).args(args).env("HUB_URL", format!("http://{}", hub.grpc)).stdout(Stdio::piped());
    let mut worker = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(worker.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    worker
}

/// Sends a request, and returns the response with its head.
pub(super) fn ask(hub: &RunningHub, head: &str, body: &str) -> String {
    let address = hub.http.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let length = body.len();
    write!(stream, "{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_official_client_uses_the_hub_over_json_rpc_and_rest() {
    let folder = scratch("hub-http");
    let hub = RunningHub::start(&folder, &["--store", "memory"]);
    let mut worker = start_worker(&folder, WORKER, &hub, &[]);
    let client = python("a2a-python-v1", "tests/a2a/python/v1/requirements.txt");
    let output =
        Command::new(client).arg("-B").arg(root().join("tests/hub/python/http_client.py")).arg(&hub.http).output();
    let output = output.unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ok JSONRPC\nok HTTP+JSON\n", "{err}");
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn wrong_requests_over_rest_get_the_errors_of_the_protocol() {
    let folder = scratch("hub-rest");
    let hub = RunningHub::start(&folder, &["--store", "memory"]);
    let json = "Content-Type: application/json";
    for (head, body, status, word) in [
        ("GET /tasks/none HTTP/1.1".to_owned(), "", "404", "TASK_NOT_FOUND"),
        ("GET /tasks?pageSize=many HTTP/1.1".to_owned(), "", "400", "INVALID_PARAMS"),
        ("GET /tasks?pageToken=x HTTP/1.1".to_owned(), "", "400", "INVALID_PARAMS"),
        (format!("POST /message:send HTTP/1.1\r\n{json}"), "{", "400", "PARSE_ERROR"),
        (format!("POST /message:send HTTP/1.1\r\n{json}"), "{}", "400", "INVALID_PARAMS"),
        // Not a broadcast to all agents.
        (format!("POST /message:send HTTP/1.1\r\n{json}"), UNKNOWN, "404", "TASK_NOT_FOUND"),
        (format!("POST /message:send HTTP/1.1\r\n{json}\r\nA2A-Version: 0.3"), "{}", "400", "VERSION_NOT_SUPPORTED"),
        ("GET /tasks/t/pushNotificationConfigs HTTP/1.1".to_owned(), "", "400", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ("POST /tasks/t:frobnicate HTTP/1.1".to_owned(), "", "404", "METHOD_NOT_FOUND"),
    ] {
        let answer = ask(&hub, &head, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(word), "{head}: {answer}");
    }
    assert!(ask(&hub, "GET /message:send HTTP/1.1", "").starts_with("HTTP/1.1 405 "));
    let large = format!("\"{}\"", "x".repeat(17 << 20));
    let answer = ask(&hub, &format!("POST /message:send HTTP/1.1\r\n{json}"), &large);
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("\"status\":\"RESOURCE_EXHAUSTED\""), "{answer}");
    assert_eq!(hub.stop(), Some(143));
}

/// A message to a task that the hub does not know.
const UNKNOWN: &str =
    r#"{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "more"}], "taskId": "forgotten"}}"#;

/// A server whose answers have the status that the test sets.
fn health_server(status: Arc<AtomicU16>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
            let status = status.load(Ordering::SeqCst);
            let elsewhere = if status == 302 { "Location: http://localhost:1/\r\n" } else { "" };
            write!(stream, "HTTP/1.1 {status} x\r\n{elsewhere}Content-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    format!("http://{address}/health")
}

#[test]
fn an_agent_that_fails_its_health_checks_is_unhealthy_until_it_answers() {
    let folder = scratch("hub-health");
    let status = Arc::new(AtomicU16::new(200));
    let url = health_server(status.clone());
    let hub = RunningHub::start(&folder, &["--store", "memory", "--health-interval", "100ms"]);
    let script = format!(
        "let agent = hub.connect(env(\"HUB_URL\"), {{agent: \"watched\"}})\n\
         agent.register({{name: \"watched\"}}, {{health_check_url: \"{url}\"}})\n\
         println(\"ready\")\n\
         let events = hub.connect(env(\"HUB_URL\")).register({{name: \"other\"}}).events({{types: [\"agent.updated\"]}})\n\
         for event in events {{ println(event.agent, event.what) }}\n"
    );
    let mut worker = start_worker(&folder, &script, &hub, &[]);
    let shows = |wanted: &str| {
        find(wanted, || {
            let metrics = hub.get("/metrics", "");
            if metrics.lines().any(|line| line == wanted) { Ok(()) } else { Err(metrics) }
        });
    };
    shows("harn_hub_unhealthy_agents 0");
    for bad in [500, 302] {
        status.store(bad, Ordering::SeqCst);
        shows("harn_hub_unhealthy_agents 1");
        status.store(204, Ordering::SeqCst);
        shows("harn_hub_unhealthy_agents 0");
    }
    let metrics = hub.get("/metrics", "");
    let failed =
        metrics.lines().find_map(|line| line.strip_prefix("harn_hub_health_checks_total{outcome=\"failed\"} "));
    assert!(failed.unwrap().parse::<u32>().unwrap() >= 4, "two failed checks make an agent unhealthy: {metrics}");
    worker.kill().unwrap();
    let output = worker.wait_with_output().unwrap();
    let events = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(events.lines().filter(|line| *line == "watched updated").count() >= 3, "{events}");
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_subscription_of_a_script_resumes_when_the_hub_is_back() {
    let folder = scratch("hub-resume");
    let hub = RunningHub::start(&folder, &["--store", "sqlite:hub.db"]);
    let address = hub.grpc.clone();
    let script = "let me = hub.connect(env(\"HUB_URL\")).register({name: \"reader\"})\n\
         let messages = me.messages()\n\
         println(\"ready\")\n\
         for message in messages { println(message.text) }\n";
    let mut reader = start_worker(&folder, script, &hub, &[]);
    let send = |text: &str| {
        let file = folder.join("send.harn");
        let publish = format!(
            "hub.connect(\"http://{address}\", {{agent: \"a\"}}).publish(\"{text}\", {{to: \"reader\", task: false}})\n"
        );
        fs::write(&file, publish).unwrap();
        let sent = Command::new(env!("CARGO_BIN_EXE_harn")).arg("run").arg(&file).output().unwrap();
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    };
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    send("before");
    assert_eq!(next(), "before");
    hub.kill();
    let hub = RunningHub::start_at(&folder, &address, &["--store", "sqlite:hub.db"]);
    send("after");
    assert_eq!(next(), "after");
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert_eq!(hub.stop(), Some(143));
}

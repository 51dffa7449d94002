//! `harn serve acp` as operators see it: health and metrics on a port of their own, and a drain.

use super::start::AgentCommand;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A pipeline that waits until its folder says that it may go on.
const WAITS: &str = r#"
pipeline default(task, context) {
  write_file(path_join(context.cwd, "waiting.here"), "")
  while !file_exists(path_join(context.cwd, "waiting.go")) { sleep(2) }
  return "Waited."
}
"#;

/// The status and the body of what is answered at a path, with more of a request's head.
fn get(address: &str, path: &str, head: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{head}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn health_and_metrics_are_answered_on_a_port_and_a_drain_lets_a_prompt_end() {
    let start = AgentCommand::script(WAITS, "operated").with(&["--metrics", "127.0.0.1:0", "--drain", "60"]);
    let mut client = start.env("HARN_METRICS_TOKEN", "not-to-be-guessed").initialized();
    let address = client.said("/metrics on http://");
    assert_eq!(get(&address, "/healthz", ""), (200, "ok\n".to_owned()));
    assert_eq!(get(&address, "/readyz", ""), (200, "ready\n".to_owned()));
    assert_eq!(get(&address, "/metrics", "").0, 401);
    let session = client.session();
    let asked = client.prompt(&session, "Wait.");
    client.arrived("waiting");
    let (status, metrics) = get(&address, "/metrics", "Authorization: Bearer not-to-be-guessed\r\n");
    assert_eq!(status, 200);
    for line in ["harn_sessions_open 1", "harn_sessions_busy 1", "harn_draining 0"] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in:\n{metrics}");
    }
    client.signal("TERM");
    client.said("harn: draining: waiting at most 60 s for 1 session");
    assert_eq!(get(&address, "/readyz", ""), (503, "draining\n".to_owned()));
    let cwd = client.folder().display().to_string();
    let refused = client.refused("session/new", json!({"cwd": cwd, "mcpServers": []}));
    assert_eq!(refused["data"]["reason"], "stopping", "{refused}");
    client.open("waiting");
    let answer: Value = client.result(asked);
    assert_eq!(answer["stopReason"], "end_turn", "{answer}");
    let ended = client.ended();
    assert_eq!(ended.code, Some(143), "{}", ended.err);
    assert!(ended.err.contains("harn: drained"), "{}", ended.err);
}

#[test]
fn a_port_that_others_reach_needs_a_token() {
    let mut client = AgentCommand::script(WAITS, "operated-open").with(&["--metrics", "0.0.0.0:0"]).spawn();
    let ended = client.ended();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("HARN-ACP-012") && ended.err.contains("HARN_METRICS_TOKEN"), "{}", ended.err);
}

#[test]
fn a_port_that_is_taken_is_reported_with_its_option() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut client = AgentCommand::script(WAITS, "operated-taken").with(&["--metrics", &address]).spawn();
    let ended = client.ended();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("HARN-ACP-011") && ended.err.contains("`--metrics 127.0.0.1:0`"), "{}", ended.err);
}

#[test]
fn a_token_that_cannot_be_sent_is_reported() {
    let start = AgentCommand::script(WAITS, "operated-token").with(&["--metrics", "127.0.0.1:0"]);
    let mut client = start.env("HARN_METRICS_TOKEN", "two words").spawn();
    let ended = client.ended();
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("HARN-ACP-013") && ended.err.contains("HARN_METRICS_TOKEN"), "{}", ended.err);
}

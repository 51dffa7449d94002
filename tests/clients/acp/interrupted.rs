//! Answers that were given up in the middle: what was shown of them stays in the conversation.

use super::client::Client;
use super::start::AgentCommand;
use crate::harn::harn;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A model that streams the number of each piece, ten in a second and without an end, to a prompt that says "slowly", and `Said.`
/// to any other. The bodies of the requests.
fn model() -> (u16, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (bodies, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bodies = bodies.clone();
            thread::spawn(move || {
                let body = body(&stream);
                let slow = body["messages"]
                    .as_array()
                    .and_then(|all| all.last())
                    .is_some_and(|last| last.to_string().contains("slowly"));
                let _ = bodies.send(body);
                answer(stream, slow);
            });
        }
    });
    (port, asked)
}

fn body(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn answer(mut stream: TcpStream, slow: bool) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    let mut piece = |delta: Value, finish: Value| {
        let event = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        stream.write_all(format!("data: {event}\n\n").as_bytes()).is_ok()
    };
    let _ = piece(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut number = 0;
    while slow && piece(json!({"content": format!("{number} ")}), Value::Null) {
        number += 1;
        thread::sleep(Duration::from_millis(100));
    }
    let _ = piece(json!({"content": "Said."}), Value::Null);
    let _ = piece(json!({}), "stop".into());
    let _ = stream.write_all(b"data: [DONE]\n\n");
}

const SCRIPT: &str = "pipeline default(task) { agent_loop(task, \"You count.\", {model: \"m\", reminders: false})? }\n";

fn start(test: &str) -> (AgentCommand, Receiver<Value>) {
    let (port, asked) = model();
    let start =
        AgentCommand::script(SCRIPT, test).logged().env("HARN_LLM_PROVIDER", "openai").env("OPENAI_API_KEY", "k");
    (start.env("OPENAI_BASE_URL", &format!("http://127.0.0.1:{port}")), asked)
}

/// The text of the agent's messages since this many frames.
fn text(client: &Client, from: usize) -> String {
    let updates = client.frames[from..].iter().map(|frame| &frame["params"]["update"]);
    let chunks = updates.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}

/// Waits until the model has said this.
fn says(client: &mut Client, wanted: &str) {
    let mut said = String::new();
    let said = &mut said;
    while !said.contains(wanted) {
        let frame = client
            .until("a piece of text", |frame| frame["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
        said.push_str(frame["params"]["update"]["content"]["text"].as_str().unwrap());
    }
}

/// Returns the model's earlier messages, as the last request contains them.
fn earlier(asked: &Receiver<Value>) -> Vec<String> {
    let body = asked.try_iter().last().unwrap();
    let said = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    said.map(|message| message["content"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()).collect()
}

fn load(client: &mut Client, session: &str) {
    let cwd = client.folder().to_owned();
    client.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
}

#[test]
fn what_was_shown_of_a_cancelled_answer_reaches_the_next_prompt() {
    let (start, asked) = start("interrupted-cancelled");
    let mut client = start.initialized();
    let session = client.session();
    let prompt = client.prompt(&session, "Count slowly.");
    says(&mut client, "2 ");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.result(prompt)["stopReason"], "cancelled");
    let shown = text(&client, 0);
    let kept = shown.clone();
    assert!(kept.starts_with("0 1 2 ") && kept.ends_with("\n\n[interrupted: cancelled]"), "{kept}");
    client.prompted(&session, "Go on.");
    assert_eq!(earlier(&asked), [kept.as_str()]);
    assert_eq!(client.end().code, Some(0));

    let mut client = start.initialized();
    load(&mut client, &session);
    assert_eq!(text(&client, 0), format!("{kept}Said."), "shown again as it was");
    client.prompted(&session, "And on.");
    assert_eq!(earlier(&asked), [kept.as_str(), "Said."]);
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn what_streamed_until_a_second_before_a_kill_is_kept() {
    let (start, asked) = start("interrupted-killed");
    let mut client = start.initialized();
    let session = client.session();
    let began = Instant::now();
    client.prompt(&session, "Count slowly.");
    says(&mut client, "25 ");
    client.signal("KILL");
    let at_most = began.elapsed().as_millis() / 100 + 1;
    assert_eq!(client.ended().code, None);
    let log = start.folder().join("log.db");

    let mut client = start.initialized();
    load(&mut client, &session);
    let shown = text(&client, 0);
    let mark = "\n\n[interrupted: the process ended]";
    let numbers = shown.strip_suffix(mark).unwrap_or_else(|| panic!("{shown}"));
    let count =
        numbers.split_whitespace().enumerate().inspect(|(at, number)| assert_eq!(at.to_string(), **number)).count();
    // Ten a second; the rest is for a machine that is busy.
    assert!(count >= 10 && (count as u128) <= at_most, "{count} of {at_most}: {shown}");
    // Neither a second load nor another kill says it twice.
    client.signal("KILL");
    client.ended();
    let mut client = start.initialized();
    load(&mut client, &session);
    assert_eq!(text(&client, 0), shown);
    client.prompted(&session, "Go on.");
    assert_eq!(earlier(&asked), [shown.as_str()]);
    client.prompted(&session, "And on.");
    assert_eq!(earlier(&asked), [shown.as_str(), "Said."]);
    assert_eq!(client.end().code, Some(0));
    let ran = harn(&["trace", log.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

//! Load beyond the limits: floods, and clients that do not read.

use super::client::Client;
use super::start::AgentCommand;
use crate::wait::find;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The maximum growth of memory under a flood beyond an idle process, in bytes.
const ROOM: u64 = 96 << 20;

/// The number of requests of a flood.
const FLOOD: usize = 100_000;

/// The number of requests of 1.5 kB from a client that reads no answers.
const QUESTIONS: usize = 12_000;

/// The capacity of a session's queue.
const QUEUE: usize = 256;

#[test]
fn a_hundred_thousand_injections_each_have_an_answer() {
    let mut client = AgentCommand::agent("seams.harn", "flood").initialized();
    let (one, two) = (client.session_in("one"), client.session_in("two"));
    let before = client.memory();
    let mut stdin = client.take_stdin();
    let (flooded, other) = (one.clone(), two.clone());
    let writer = thread::spawn(move || {
        let mut lines = String::new();
        for id in 0..FLOOD {
            let params = json!({"sessionId": flooded, "body": format!("reminder {id}")});
            lines.push_str(&json!({"jsonrpc": "2.0", "id": format!("f{id}"), "method": "session/inject_reminder", "params": params}).to_string());
            lines.push('\n');
            if id == FLOOD / 2 {
                let prompt = json!({"sessionId": other, "prompt": [{"type": "text", "text": "Look."}]});
                lines.push_str(
                    &json!({"jsonrpc": "2.0", "id": "prompt", "method": "session/prompt", "params": prompt})
                        .to_string(),
                );
                lines.push('\n');
            }
            if lines.len() > 60_000 {
                stdin.write_all(lines.as_bytes()).unwrap();
                lines.clear();
            }
        }
        stdin.write_all(lines.as_bytes()).unwrap();
        stdin
    });
    client.expects(&json!("prompt"), "session/prompt");
    for id in 0..FLOOD {
        client.expects(&json!(format!("f{id}")), "session/inject_reminder");
    }
    let mut most = 0;
    let answers = client.answers(FLOOD + 1, |client| most = most.max(client.memory()));
    client.give_stdin(writer.join().unwrap());
    assert!(most < before + ROOM, "{most} bytes after {before}");
    let at = |id: &str| answers.iter().position(|answer| answer["id"] == *id);
    assert_eq!(answers[at("prompt").unwrap()]["result"]["stopReason"], "end_turn");
    let taken: Vec<&Value> = answers.iter().filter(|answer| answer["result"]["reminderId"].is_string()).collect();
    assert_eq!(taken.len(), QUEUE);
    let refused = answers
        .iter()
        .filter(|answer| answer["error"]["code"] == -32000 && answer["error"]["data"]["reason"] == "queue_full");
    assert_eq!(refused.count(), FLOOD - QUEUE);
    // In order, and the first ones were taken.
    let order: Vec<usize> =
        answers.iter().filter_map(|answer| answer["id"].as_str()?.strip_prefix('f')?.parse().ok()).collect();
    assert!(order.is_sorted() && order.len() == FLOOD);
    assert!((0..QUEUE).all(|id| at(&format!("f{id}")).is_some_and(|at| answers[at].get("result").is_some())));
    let pending = client.ask("session/pending_injections", json!({"sessionId": one}));
    let bodies: Vec<&str> =
        pending["injections"].as_array().unwrap().iter().map(|row| row["body"].as_str().unwrap()).collect();
    assert!(bodies.iter().enumerate().all(|(id, body)| *body == format!("reminder {id}")), "{bodies:?}");
    assert_eq!(client.ask("session/pending_injections", json!({"sessionId": two}))["pendingCount"], 0);
    // What was taken is shown to the model.
    let answer = client.prompted(&one, "Look.");
    let prompt = answer["_meta"]["harn"]["data"]["prompts"][0].as_str().unwrap();
    let shown = |id: usize| ["\n", "["].iter().any(|end| prompt.contains(&format!("reminder {id}{end}")));
    assert!((0..QUEUE).all(shown) && !shown(QUEUE), "{prompt}");
}

#[test]
fn a_client_that_asks_and_never_reads_is_held_back() {
    let start = AgentCommand::agent("seams.harn", "deaf").deaf();
    let mut client = start.spawn();
    let mut stdin = client.take_stdin();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let writer = thread::spawn(move || {
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{{"protocolVersion":1}}}}"#)
            .unwrap();
        let padding = "p".repeat(1000);
        for id in 0..QUESTIONS {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/lost","params":{{"_meta":{{"p":"{padding}"}}}}}}"#
            );
            if writeln!(stdin, "{line}").is_err() {
                return stdin;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
        stdin
    });
    let stuck = stands_still(&client, || sent.load(Ordering::Relaxed));
    assert!(stuck < QUESTIONS, "all was read of a client that reads nothing");
    assert!(client.memory() < ROOM + (64 << 20), "{}", client.memory());
    // It reads after all: each question has its answer, in order.
    client.listen();
    client.expects(&json!("hello"), "initialize");
    for id in 0..QUESTIONS {
        client.expects(&json!(id), "session/lost");
    }
    let answers = client.answers(QUESTIONS + 1, |_| ());
    let order: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    assert!(order.is_sorted() && order.len() == QUESTIONS);
    client.give_stdin(writer.join().unwrap());
    assert_eq!(client.end().code, Some(0));
}

/// A script that shows more than anybody would keep, and counts how far it has come.
const TALKER: &str = r#"
pipeline default(task, context) {
  let piece = "word ".repeat(20000)
  let tools = tool_define(tool_registry(), "go_on", "Goes on.", {handler: { args -> "on" }})
  var turn = 0
  agent_loop(task, nil, {tools: tools, max_iterations: 3000, max_repeats: 0, llm_caller: { asked ->
    turn = turn + 1
    write_file(path_join(context.cwd, "turns.txt"), "${turn}")
    return {text: "${turn} ${piece}", tool_calls: [{name: "go_on", arguments: {turn: turn}}]}
  }})
  return nil
}
"#;

#[test]
fn a_session_that_talks_to_nobody_waits() {
    let start = AgentCommand::script(TALKER, "talker").deaf();
    let mut client = start.spawn();
    let cwd = start.folder().to_str().unwrap().to_owned();
    client.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {"protocolVersion": 1}}));
    client.send(
        &json!({"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}}),
    );
    // The session's id is needed, and the pipe holds the answers so far.
    client.expects(&json!("hello"), "initialize");
    client.expects(&json!("new"), "session/new");
    let session = client.read_lines(2)[1]["result"]["sessionId"].as_str().unwrap().to_owned();
    client.prompt(&session, "Talk.");
    let turns = || {
        std::fs::read_to_string(start.folder().join("turns.txt"))
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0usize)
    };
    let stuck = stands_still(&client, turns);
    assert!(stuck < 2000, "it talked on to nobody: {stuck} turns of 100 kB");
    assert!(client.memory() < ROOM + (96 << 20), "{}", client.memory());
    let ended = client.disconnect();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

/// Waits until a count no longer changes while the agent does nothing, and returns the count.
fn stands_still(client: &Client, count: impl Fn() -> usize) -> usize {
    let (mut before, mut looks) = (0, 0);
    find("a count that stands still", || {
        let now = count();
        looks = if now > 0 && now == before && client.is_asleep() { looks + 1 } else { 0 };
        before = now;
        // The agent also sleeps while its threads wake each other, or wait for the clock.
        if looks == 50 { Ok(now) } else { Err(format!("{now}")) }
    })
}

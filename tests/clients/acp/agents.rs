//! The agents of `examples/acp`, as an editor sees them.

use super::client::Client;
use super::start::AgentCommand;
use crate::harn::{harn_with_input, root};
use crate::wait::find;
use serde_json::{Value, json};
use std::fs;

const AGENTS: [&str; 2] = ["coding_agent", "watching_agent"];

fn example(name: &str, test: &str) -> AgentCommand {
    let text = fs::read_to_string(root().join(format!("examples/acp/{name}.harn"))).unwrap();
    AgentCommand::script(&text, test)
}

fn answer(client: &mut Client, question: &Value, option: &str) {
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
}

/// Returns the agent's text since the client's last request.
fn said(client: &Client, from: usize) -> String {
    let chunk = |frame: &Value| {
        let update = &frame["params"]["update"];
        let is_text = update["sessionUpdate"] == "agent_message_chunk";
        is_text.then(|| update["content"]["text"].as_str().unwrap_or_default().to_owned())
    };
    client.frames[from..].iter().filter_map(chunk).collect()
}

#[test]
fn each_agent_checks_clean() {
    for name in AGENTS {
        let outcome = harn_with_input(&["check", &format!("examples/acp/{name}.harn")], b"", &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}");
    }
}

#[test]
fn the_coding_agent_plans_and_asks_before_it_changes_something() {
    let start = example("coding_agent", "coding-agent");
    let mut client = start.initialized();
    let session = client.session_in("project");
    let project = start.folder().join("project");
    fs::write(project.join("AGENTS.md"), "Be kind.").unwrap();
    let prompt = client.prompt(&session, "Greet the world.");
    let plan = client.update(&session, "plan");
    assert_eq!(plan["params"]["update"]["entries"][0]["status"], "in_progress");

    let write = client.question();
    let call = &write["params"]["toolCall"];
    let file = project.join("GREETING.md");
    assert_eq!((&call["kind"], &call["locations"][0]["path"]), (&json!("edit"), &json!(file)));
    assert_eq!(call["content"][0], json!({"type": "diff", "path": file, "newText": "Hello.\n"}));
    assert!(!file.exists(), "nothing is written before somebody has agreed");
    answer(&mut client, &write, "allow_once");

    let edit = client.question();
    assert_eq!(edit["params"]["toolCall"]["content"][0]["oldText"], "Hello.");
    answer(&mut client, &edit, "allow_once");
    let shell = client.question();
    assert_eq!(shell["params"]["toolCall"]["kind"], "execute");
    answer(&mut client, &shell, "reject_once");
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    assert_eq!(fs::read_to_string(&file).unwrap(), "Hello, world.\n");
    let last = client.frames.iter().rfind(|frame| frame["params"]["update"]["sessionUpdate"] == "plan").unwrap();
    assert_eq!(last["params"]["update"]["entries"][2]["status"], "completed");
    let rules = client.frames.iter().any(|frame| frame.to_string().contains("Be kind."));
    assert!(rules, "the project's rules are a reminder, and the client is told of it");

    // In the mode `plan` nothing is changed and nothing asked.
    fs::remove_file(&file).unwrap();
    client.ask("session/set_mode", json!({"sessionId": session, "modeId": "plan"}));
    let from = client.frames.len();
    assert_eq!(client.prompted(&session, "Once more.")["stopReason"], "end_turn");
    assert!(!file.exists());
    assert!(client.frames[from..].iter().all(|frame| frame["method"] != "session/request_permission"));
}

#[test]
fn the_watching_agent_is_reminded_of_what_changes_between_two_prompts() {
    let start = example("watching_agent", "watching-agent");
    let mut client = start.spawn();
    client.initialize(json!({"_meta": {"harn": {"reminders": true}}}));
    let session = client.session_in("project");
    let project = start.folder().join("project");
    fs::write(project.join("README.md"), "A project.").unwrap();
    client.prompted(&session, "What is it?");
    assert_eq!(said(&client, 0), "Changed meanwhile: .");
    fs::write(project.join("news.txt"), "New.").unwrap();
    // The operating system reports the change with some delay.
    find("the change", || {
        let from = client.frames.len();
        client.prompted(&session, "What is new?");
        let said = said(&client, from);
        if said == "Changed meanwhile: news.txt." { Ok(()) } else { Err(said) }
    });
    // The agent's workspace is a reminder too.
    client.until("the reminder of what changed", |frame| {
        let update = &frame["params"]["update"];
        let body = update["body"].as_str().unwrap_or_default();
        update["sessionUpdate"] == "reminder_emitted" && body.starts_with("news.txt was created by somebody else.")
    });
}

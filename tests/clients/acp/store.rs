//! Sessions over two processes: the first is killed, the second loads what it has left.

use super::client::Client;
use super::start::AgentCommand;
use crate::harn::{harn, root};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const REMINDER: &str = "Mind the gap.";

/// Returns for each of a model's prompts how often it contained the reminder.
fn reminded(answer: &Value) -> Vec<usize> {
    let prompts = answer["_meta"]["harn"]["data"]["prompts"].as_array().unwrap_or_else(|| panic!("{answer}"));
    prompts.iter().map(|prompt| prompt.as_str().unwrap().matches(REMINDER).count()).collect()
}

fn load(client: &mut Client, session: &str) -> Value {
    let cwd = client.folder().to_owned();
    client.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}))
}

/// Returns the updates of a session that the client received since it had this many frames: kind
/// and text.
fn shown(client: &Client, session: &str) -> Vec<(String, String)> {
    let of_session = client.frames.iter().filter(|frame| frame["params"]["sessionId"] == session);
    let updates = of_session.filter_map(|frame| frame["params"].get("update"));
    let text = |update: &Value| match &update["content"]["text"] {
        Value::String(text) => text.clone(),
        _ => update["status"].as_str().unwrap_or_default().to_owned(),
    };
    updates.map(|update| (update["sessionUpdate"].as_str().unwrap().to_owned(), text(update))).collect()
}

fn said(shown: &[(String, String)], kind: &str) -> Vec<String> {
    shown.iter().filter(|(it, _)| it == kind).map(|(_, text)| text.clone()).collect()
}

/// Serves `seams.harn`, reminds it for three prompts, and kills it at a gate of its first prompt. The session.
fn killed_at(start: &AgentCommand, gate: &str) -> String {
    let mut client = start.initialized();
    let session = client.session();
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": REMINDER, "ttlTurns": 3}));
    client.prompt(&session, &format!("Go {gate}"));
    client.arrived(gate);
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": "Later.", "dedupeKey": "later"}));
    client.signal("KILL");
    assert_eq!(client.ended().code, None);
    session
}

#[test]
fn killed_in_mid_turn_a_session_goes_on_where_it_was() {
    for (gate, left, calls) in [("in-model-1", 3, 0), ("in-tool", 2, 1), ("in-model-2", 2, 1), ("after-loop", 1, 1)] {
        let start = AgentCommand::agent("seams.harn", &format!("killed-{gate}")).logged();
        let session = killed_at(&start, gate);
        let mut client = start.initialized();
        let listed = client.ask("session/list", json!({}));
        let row = &listed["sessions"][0];
        assert_eq!((&row["sessionId"], &row["title"]), (&json!(session), &json!(format!("Go {gate}"))), "{listed}");
        load(&mut client, &session);
        let seen = shown(&client, &session);
        assert_eq!(said(&seen, "user_message_chunk"), [format!("Go {gate}")], "{gate}: {seen:?}");
        assert_eq!(said(&seen, "tool_call").len(), calls, "{gate}: {seen:?}");
        assert!(seen.iter().all(|(_, text)| !text.contains(REMINDER)), "{gate}: {seen:?}");
        let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
        assert_eq!(pending["pendingCount"], 1, "{gate}: {pending}");
        // Each of these prompts asks the model twice.
        let first = client.prompted(&session, "What now?");
        let prompts = first["_meta"]["harn"]["data"]["prompts"].clone();
        assert!(prompts[0].as_str().unwrap().contains("Later."), "the queue is delivered: {gate}: {prompts}");
        let history = prompts[0].as_str().unwrap();
        assert!(history.contains(&format!("Go {gate}")), "{gate}: the model sees what was before: {history}");
        assert_eq!(history.contains("not run: the process ended"), gate == "in-tool", "{gate}: {history}");
        let second = client.prompted(&session, "And then?");
        let times: usize = reminded(&first).into_iter().chain(reminded(&second)).sum();
        assert_eq!(times, left, "{gate}: {first}");
        assert_eq!(client.end().code, Some(0));
        adds_up(&start, &session);
    }
}

/// Each reminder of the session is accounted for over both processes, by the log alone.
fn adds_up(start: &AgentCommand, session: &str) {
    let log = start.folder().join("log.db");
    let ran = harn(&["trace", log.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let trace: Value = serde_json::from_str(&ran.out).unwrap();
    let lives: Vec<&Value> =
        trace["sessions"].as_array().unwrap().iter().filter(|life| life["id"] == session).collect();
    assert_eq!(lives.len(), 1, "one life over both processes: {trace}");
    let tally = &lives[0]["conservation"];
    assert_eq!(tally["holds"], true, "{tally}");
}

#[test]
fn what_was_shown_is_shown_again_in_order_and_resumed_without() {
    let start = AgentCommand::agent("tools.harn", "shown-again").logged();
    let mut client = start.initialized();
    let session = client.session();
    client.ask("session/set_mode", json!({"sessionId": session, "modeId": "auto"}));
    client.prompted(&session, "A note.");
    let live = shown(&client, &session);
    let again = |client: &mut Client| {
        let before = shown(client, &session).len();
        let loaded = load(client, &session);
        assert_eq!(loaded["modes"]["currentModeId"], "auto", "{loaded}");
        let all = shown(client, &session);
        let texts = |kind: &str| said(&all[before..], kind);
        assert_eq!(texts("user_message_chunk"), ["A note."]);
        assert_eq!(texts("agent_message_chunk").concat(), said(&live, "agent_message_chunk").concat());
        assert_eq!(texts("tool_call").len(), said(&live, "tool_call").len());
        assert!(texts("tool_call_update").iter().all(|status| status == "completed"), "{all:?}");
    };
    // One that is open here is shown again and goes on as it is.
    again(&mut client);
    assert_eq!(client.end().code, Some(0));
    let mut client = start.initialized();
    let cwd = client.folder().to_owned();
    client.ask("session/resume", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    assert!(said(&shown(&client, &session), "user_message_chunk").is_empty());
    again(&mut client);
    client.ask("session/close", json!({"sessionId": session}));
    again(&mut client);
}

#[test]
fn a_session_is_open_in_one_process_at_a_time() {
    let start = AgentCommand::agent("seams.harn", "elsewhere").logged();
    let mut here = start.initialized();
    let session = here.session();
    here.prompted(&session, "Look.");
    let mut there = start.initialized();
    let params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
    let error = there.refused("session/load", params.clone());
    assert_eq!((&error["data"]["code"], &error["data"]["reason"]), (&json!("HARN-LOG-012"), &json!("open_elsewhere")));
    here.ask("session/close", json!({"sessionId": session}));
    there.ask("session/load", params);
    assert_eq!(there.prompted(&session, "Look.")["stopReason"], "end_turn");
    assert_eq!(
        here.refused("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "x"}]}))["code"],
        -32002
    );
}

#[test]
fn what_was_compacted_is_loaded_compacted() {
    let text = r#"
pipeline default(task) {
  if task == "compact" {
    agent_session_compact(agent_session_current_id(), {keep_last: 1})
    return nil
  }
  let result = agent_loop(task, nil, {reminders: false, llm_caller: { asked -> "heard ${len(asked.messages)}" }})
  return result
}
"#;
    let start = AgentCommand::script(text, "compacted").logged();
    let mut client = start.initialized();
    let session = client.session();
    for _ in 0..3 {
        client.prompted(&session, "tell");
    }
    client.prompted(&session, "compact");
    client.signal("KILL");
    client.ended();
    let mut client = start.initialized();
    load(&mut client, &session);
    let seen = shown(&client, &session);
    assert_eq!(said(&seen, "user_message_chunk"), ["tell", "tell", "tell", "compact"], "all is shown again");
    client.prompted(&session, "tell");
    let heard = said(&shown(&client, &session), "agent_message_chunk");
    let last: usize = heard.last().unwrap().trim_start_matches("heard ").parse().unwrap();
    assert!(last < 7, "the model sees what compaction has left: {heard:?}");
}

/// Kind and text of each message since this many frames, by `messageId`.
fn messages(client: &Client, from: usize) -> BTreeMap<String, (String, String)> {
    let mut messages = BTreeMap::<String, (String, String)>::new();
    for update in client.frames[from..].iter().filter_map(|frame| frame["params"].get("update")) {
        let Some(id) = update["messageId"].as_str() else { continue };
        let kind = update["sessionUpdate"].as_str().unwrap().to_owned();
        let (known, text) = messages.entry(id.to_owned()).or_insert_with(|| (kind.clone(), String::new()));
        assert_eq!(*known, kind, "{id}");
        text.push_str(&update["content"].to_string());
    }
    messages
}

#[test]
fn no_message_id_is_given_to_two_messages_over_two_processes() {
    let text = r#"
pipeline default(task) {
  task.status("beginning")
  task.artifact({name: "notes", parts: ["about ${task}"]})
  let answer = if task == "first" { task.ask("Which of them?") } else { "none" }
  agent_loop(task, "You answer.", {llm_caller: { call -> {text: "Said of ${task}.", reasoning: "About ${task}."} }})
  return "All of ${task}: ${answer}."
}
"#;
    for (method, seed) in [("session/load", "--seed=7"), ("session/resume", "--seed=7"), ("session/load", "--seed=8")] {
        let test = format!("message-ids-{}{}", &method[8..], &seed[7..]);
        let start = AgentCommand::script(text, &test).logged().with(&[seed]);
        let mut client = start.initialized();
        let session = client.session();
        client.prompted(&session, "first");
        client.prompted(&session, "the second");
        let mut all = messages(&client, 0);
        assert_eq!(all.len(), 6, "status, artifact, question, thought, text, and what is returned: {all:#?}");
        assert_eq!(client.end().code, Some(0));

        let mut client = start.initialized();
        let cwd = client.folder().to_owned();
        client.ask(method, json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
        let again = messages(&client, 0);
        let (user, agent): (Vec<_>, Vec<_>) = again.into_iter().partition(|(_, (kind, _))| kind.starts_with("user"));
        assert_eq!((user.len(), agent.len()), if method == "session/load" { (2, 5) } else { (0, 0) });
        for (id, message) in agent {
            assert_eq!(all.get(&id), Some(&message), "a message that is shown again has the id that it had");
        }
        all.extend(user);
        // Which has a question of its own, after a status and an artifact.
        let from = client.frames.len();
        client.prompted(&session, "third");
        client.prompted(&session, "first");
        let new = messages(&client, from);
        assert_eq!(new.len(), 8, "{new:#?}");
        for (id, message) in new {
            assert_eq!(all.insert(id.clone(), message.clone()), None, "{id}: {message:?}");
        }
        let from = client.frames.len();
        load(&mut client, &session);
        for (id, message) in messages(&client, from).into_iter().filter(|(_, (kind, _))| !kind.starts_with("user")) {
            assert_eq!(all.get(&id), Some(&message), "{id}");
        }
        assert_eq!(client.end().code, Some(0));
    }
}

#[test]
fn sessions_that_an_earlier_build_wrote_are_listed_and_go_on() {
    for layout in ["layout_1", "layout_2"] {
        sessions_go_on(layout);
    }
}

fn sessions_go_on(layout: &str) {
    let start = AgentCommand::agent("seams.harn", layout).logged();
    let log = start.folder().join("log.db");
    std::fs::copy(root().join(format!("tests/fixtures/{layout}/sessions.db")), &log).unwrap();
    let mut client = start.initialized();
    let listed = client.ask("session/list", json!({}));
    let rows = listed["sessions"].as_array().unwrap();
    let titles: Vec<&str> = rows.iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Go in-tool", "Look about."], "{listed}");
    let [killed, done] = [0, 1].map(|n| rows[n]["sessionId"].as_str().unwrap().to_owned());
    load(&mut client, &done);
    let seen = shown(&client, &done);
    assert_eq!(said(&seen, "user_message_chunk"), ["Look about."], "{seen:?}");
    assert!(said(&seen, "agent_message_chunk").concat().starts_with("I look.I have looked."), "{seen:?}");
    load(&mut client, &killed);
    let pending = client.ask("session/pending_injections", json!({"sessionId": killed}));
    assert_eq!(pending["pendingCount"], 1, "{pending}");
    let first = client.prompted(&killed, "What now?");
    let prompt = first["_meta"]["harn"]["data"]["prompts"][0].as_str().unwrap();
    for part in ["Later.", "Go in-tool", "not run: the process ended", REMINDER] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert_eq!(client.end().code, Some(0));
    adds_up(&start, &killed);
    adds_up(&start, &done);
}

#[test]
fn a_log_is_not_trimmed_beside_an_agent() {
    let start = AgentCommand::agent("seams.harn", "trim-beside").logged();
    let log = start.folder().join("log.db");
    let trim = |more: &[&str]| harn(&[&["log", "trim", log.to_str().unwrap(), "--before", "1ms"], more].concat());
    let mut client = start.initialized();
    client.session();
    let refused = trim(&[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.err.contains("HARN-LOG-018"), "{refused:?}");
    assert_eq!(trim(&["--dry-run"]).code, Some(0));
    assert_eq!(client.end().code, Some(0));
    let done = trim(&[]);
    assert!(done.out.contains("  removed: 1 session, "), "{done:?}");
}

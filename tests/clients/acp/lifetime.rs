//! The end of a process, and the state that it leaves.

use super::client::Client;
use super::start::AgentCommand;
use crate::harn::harn;
use crate::wait::{find, until};
use serde_json::{Value, json};
use std::path::Path;

/// A handler that cleans up when it is cancelled.
const TIDY: &str = r#"
pipeline default(task, context) {
  let tools = tool_define(tool_registry(), "wait", "Waits.", {handler: { args ->
    try {
      write_file(path_join(context.cwd, "in-tool.here"), "")
      sleep(600000)
    } finally {
      write_file(path_join(context.cwd, "tidy.txt"), "tidied up")
    }
  }})
  agent_loop(task, nil, {tools: tools, llm_caller: { asked -> {text: "I wait.", tool_calls: [{name: "wait", arguments: {}}]} }})
  return nil
}
"#;

fn load(client: &mut Client, session: &str) -> Vec<Value> {
    let before = client.frames.len();
    let cwd = client.folder().to_str().unwrap().to_owned();
    client.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    client.frames[before..]
        .iter()
        .filter(|frame| frame["method"] == "session/update")
        .map(|frame| frame["params"]["update"].clone())
        .collect()
}

fn bodies(client: &mut Client, session: &str) -> Vec<String> {
    let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
    pending["injections"].as_array().unwrap().iter().map(|row| row["body"].as_str().unwrap().to_owned()).collect()
}

/// The log can be read from the first record to the last.
fn whole(folder: &Path) -> String {
    let outcome = harn(&["trace", folder.join("log.db").to_str().unwrap()]);
    assert_eq!(outcome.code, Some(0), "{}\n{}", outcome.out, outcome.err);
    outcome.out
}

#[test]
fn the_end_of_the_input_ends_an_idle_process() {
    for logged in [false, true] {
        let start = AgentCommand::agent("seams.harn", if logged { "eof-logged" } else { "eof" });
        let start = if logged { start.logged() } else { start };
        let ended = start.spawn().end();
        assert_eq!((ended.code, ended.frames.len(), ended.err.as_str()), (Some(0), 0, ""), "before a word was said");
        let mut client = start.initialized();
        let session = client.session();
        client.prompted(&session, "Look.");
        let ended = client.end();
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    }
}

#[test]
fn the_end_of_the_input_cancels_what_runs() {
    let start = AgentCommand::script(TIDY, "eof-busy").logged();
    let mut client = start.initialized();
    let session = client.session();
    client.prompt(&session, "Wait.");
    client.arrived("in-tool");
    let ended = client.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(std::fs::read_to_string(start.folder().join("tidy.txt")).unwrap(), "tidied up");
    let answer = ended.frames.iter().find(|frame| frame["result"]["stopReason"].is_string());
    assert_eq!(answer.map(|frame| &frame["result"]["stopReason"]), Some(&json!("cancelled")));
    whole(start.folder());
}

#[test]
fn signals_end_it_like_a_run() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let start = AgentCommand::script(TIDY, &format!("signal-{signal}")).logged();
        let mut idle = start.initialized();
        idle.session();
        idle.signal(signal);
        assert_eq!(idle.ended().code, Some(code), "{signal}, idle");
        let mut client = start.initialized();
        let session = client.session();
        client.prompt(&session, "Wait.");
        client.arrived("in-tool");
        client.signal(signal);
        let ended = client.ended();
        assert_eq!(ended.code, Some(code), "{signal}: {}", ended.err);
        assert!(start.folder().join("tidy.txt").exists(), "{signal}");
        whole(start.folder());
    }
}

#[test]
fn a_client_that_goes_away_in_the_middle_leaves_a_log_to_go_on_from() {
    let start = AgentCommand::agent("seams.harn", "gone").logged();
    let mut client = start.initialized();
    let session = client.session();
    client.prompted(&session, "My name is Ada.");
    client.prompt(&session, "Stop in-tool.");
    client.arrived("in-tool");
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": "The build is red."}));
    client.ask("session/inject", json!({"sessionId": session, "content": "Hurry up.", "mode": "audit_only"}));
    let ended = client.disconnect();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    whole(start.folder());

    let mut client = start.initialized();
    let shown = load(&mut client, &session);
    let text = |kind: &str| -> String {
        let pieces = shown.iter().filter(|update| update["sessionUpdate"] == *kind);
        pieces.filter_map(|update| update["content"]["text"].as_str()).collect()
    };
    assert!(text("user_message_chunk").contains("My name is Ada."), "{shown:?}");
    assert!(!text("user_message_chunk").contains("The build is red."), "{shown:?}");
    let answer = client.prompted(&session, "Who am I?");
    let first = answer["_meta"]["harn"]["data"]["prompts"][0].as_str().unwrap().to_owned();
    assert!(first.contains("My name is Ada.") && first.contains("The build is red."), "{first}");
}

#[test]
fn what_was_answered_for_survives_a_kill() {
    let start = AgentCommand::agent("seams.harn", "killed").logged();
    let mut client = start.initialized();
    let session = client.session();
    client.prompted(&session, "My name is Ada.");
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": "First.", "ttlTurns": 5}));
    client.prompt(&session, "Stop in-tool.");
    client.arrived("in-tool");
    // The first is in the transcript now, these two wait.
    let revoked = client.ask("session/inject_reminder", json!({"sessionId": session, "body": "Revoked."}));
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": "Second.", "dedupeKey": "k"}));
    client.ask("session/revoke_reminder", json!({"sessionId": session, "reminderId": revoked["reminderId"]}));
    client.signal("KILL");
    assert_eq!(client.ended().code, None);
    whole(start.folder());

    let mut client = start.initialized();
    let found = client.ask("session/list", json!({}));
    assert_eq!(found["sessions"][0]["sessionId"], json!(session), "{found}");
    let shown = load(&mut client, &session);
    let call = shown.iter().rfind(|update| update["toolCallId"].is_string()).unwrap();
    assert_ne!(call["status"], "in_progress", "a call of a process that is gone does not go on: {shown:?}");
    assert_eq!(bodies(&mut client, &session), ["Second."]);
    let again =
        client.ask("session/revoke_reminder", json!({"sessionId": session, "reminderId": revoked["reminderId"]}));
    assert_eq!(again["status"], "already_revoked");
    let answer = client.prompted(&session, "Who am I?");
    let first = answer["_meta"]["harn"]["data"]["prompts"][0].as_str().unwrap().to_owned();
    for told in ["My name is Ada.", "First.", "Second.", "not run: "] {
        assert!(first.contains(told), "{told} is not in {first}");
    }
    assert!(!first.contains("Revoked."), "{first}");
}

/// The program that a shell tool runs has no time to clean up after its agent, so the kernel ends it.
#[cfg(target_os = "linux")]
#[test]
fn the_program_of_a_shell_tool_ends_with_an_agent_that_is_killed() {
    let text = r#"
pipeline default(task) {
  let shell = shell_tool({root: ".", allow: ["sh"]})
  agent_loop(task, "You run commands.", {
    tools: [shell],
    llm_caller: { call -> {text: "", tool_calls: [{name: "shell", arguments: {command: "sh run.sh"}}]} },
  })
}
"#;
    let start = AgentCommand::script(text, "shell-killed").with(&["--mode=auto"]);
    let run = "echo $$ > pid.new; mv pid.new pid; exec sleep 60\n";
    std::fs::write(start.folder().join("run.sh"), run).unwrap();
    let mut client = start.initialized();
    let session = client.session();
    client.prompt(&session, "Run it.");
    let pid =
        find("the program", || std::fs::read_to_string(start.folder().join("pid")).map_err(|error| error.to_string()));
    let stat = format!("/proc/{}/stat", pid.trim());
    // A process that its parent has not waited for is a zombie.
    let is_over = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    assert!(!is_over());
    client.signal("KILL");
    assert_eq!(client.ended().code, None);
    until("the program ends", is_over);
}

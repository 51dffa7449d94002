//! The client is asked whether a tool may run; the model sees the outcome of the call, whatever the
//! answer is.

use super::client::Client;
use super::start::AgentCommand;
use serde_json::{Value, json};

/// Two tools that need a permission and one that does not; the prompt names those that are called.
const AGENT: &str = r#"
fn of(reg, name, annotations) {
  return tool_define(reg, name, "A tool.", {handler: { args -> "${name} ran" }, parameters: {}, annotations: annotations})
}
let tools = of(of(of(tool_registry(), "pay", {permission: "It costs money."}), "send", {permission: true}), "look", {kind: "read"})
pipeline default(task, context) {
  llm_mock_clear()
  llm_mock({tool_calls: task.split(" ").map({ name -> {id: "c-${name}", name: name, arguments: {}} })})
  llm_mock({text: "well"})
  return agent_loop(task, nil, {provider: "mock", tools: tools, reminders: false})
}
"#;

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn answer(client: &mut Client, question: &Value, result: Value) {
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
}

/// Returns the outcome of a call: its last status, and the text for the model.
fn fate(client: &mut Client, session: &str, call: &str) -> (String, String) {
    let (session, call) = (session.to_owned(), call.to_owned());
    let ended = client.until(&format!("the end of {call}"), move |frame| {
        let update = &frame["params"]["update"];
        let over = matches!(update["status"].as_str(), Some("completed" | "failed"));
        over && frame["params"]["sessionId"] == *session && update["toolCallId"] == *call
    });
    let update = &ended["params"]["update"];
    let text = update["content"][0]["content"]["text"].as_str().unwrap_or_default();
    (update["status"].as_str().unwrap().to_owned(), text.to_owned())
}

#[test]
fn a_question_names_the_call_its_reason_and_what_may_be_said() {
    let mut client = AgentCommand::script(AGENT, "permission-question").initialized();
    let session = client.session();
    let prompt = client.prompt(&session, "pay");
    let question = client.question();
    assert_eq!(question["method"], "session/request_permission");
    let params = &question["params"];
    assert_eq!((&params["sessionId"], &params["toolCall"]["toolCallId"]), (&json!(session), &json!("c-pay")));
    assert_eq!(params["toolCall"]["content"][0]["content"]["text"], "It costs money.");
    assert_eq!(params["_meta"]["harn"]["reason"], "It costs money.");
    let kinds: Vec<_> = params["options"].as_array().unwrap().iter().map(|option| option["kind"].clone()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once", "reject_always"]);
    answer(&mut client, &question, selected("allow_once"));
    assert_eq!(fate(&mut client, &session, "c-pay"), ("completed".to_owned(), "pay ran".to_owned()));
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    let at = |fits: &dyn Fn(&Value) -> bool| client.frames.iter().position(fits).unwrap();
    let shown = at(&|frame| frame["params"]["update"]["sessionUpdate"] == "tool_call");
    assert!(shown < at(&|frame| frame["method"] == "session/request_permission"), "the call itself comes first");
}

#[test]
fn an_answer_that_cannot_be_read_is_no_permission() {
    let mut client = AgentCommand::script(AGENT, "permission-unreadable").initialized();
    let session = client.session();
    let prompt = client.prompt(&session, "pay");
    let question = client.question();
    client.send_line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"outcome":NaN}}}}"#, question["id"]).as_bytes());
    let (status, text) = fate(&mut client, &session, "c-pay");
    assert!(status == "failed" && text.starts_with("not run: permission denied"), "{status}: {text}");
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
}

#[test]
fn several_calls_are_asked_about_at_once_and_each_runs_by_itself() {
    let mut client = AgentCommand::script(AGENT, "permission-several").initialized();
    let session = client.session();
    let prompt = client.prompt(&session, "pay send look");
    let (first, second) = (client.question(), client.question());
    assert_eq!(first["params"]["toolCall"]["toolCallId"], "c-pay");
    answer(&mut client, &second, selected("allow_once"));
    answer(&mut client, &first, selected("reject_once"));
    let refused = "not run: permission denied: the user refused it";
    assert_eq!(fate(&mut client, &session, "c-pay"), ("failed".to_owned(), refused.to_owned()));
    assert_eq!(fate(&mut client, &session, "c-send").1, "send ran");
    assert_eq!(fate(&mut client, &session, "c-look").1, "look ran");
    client.result(prompt);
}

#[test]
fn always_holds_for_the_tool_in_this_session() {
    let mut client = AgentCommand::script(AGENT, "permission-always").initialized();
    let (session, other) = (client.session(), client.session());
    let prompt = client.prompt(&session, "pay");
    let question = client.question();
    answer(&mut client, &question, selected("allow_always"));
    client.result(prompt);
    let prompt = client.prompt(&session, "send pay");
    let question = client.question();
    assert_eq!(question["params"]["toolCall"]["toolCallId"], "c-send", "nobody is asked about the other");
    answer(&mut client, &question, selected("reject_always"));
    client.result(prompt);
    assert_eq!(client.prompted(&session, "send pay look")["stopReason"], "end_turn");
    let prompt = client.prompt(&other, "pay");
    let question = client.question();
    assert_eq!(question["params"]["sessionId"], json!(other), "another session is asked for itself");
    answer(&mut client, &question, selected("reject_once"));
    client.result(prompt);
}

#[test]
fn what_is_no_consent_refuses_with_the_reason() {
    let mut client = AgentCommand::script(AGENT, "permission-answers").initialized();
    for (result, why) in [
        (json!({"outcome": {"outcome": "cancelled"}}), "the permission request was cancelled"),
        (selected("yes"), "unknown option `yes`"),
        (json!({"outcome": {"outcome": "selected"}}), "`outcome.optionId` is missing"),
        (json!({"outcome": "selected"}), "`outcome.outcome` is missing"),
        (json!({}), "`outcome.outcome` is missing"),
        (json!(null), "`outcome.outcome` is missing"),
        (json!([[[]]]), "`outcome.outcome` is missing"),
        (json!({"outcome": {"outcome": "allowed"}}), "unknown outcome `allowed`"),
    ] {
        let session = client.session();
        let prompt = client.prompt(&session, "pay");
        let question = client.question();
        answer(&mut client, &question, result.clone());
        let (status, text) = fate(&mut client, &session, "c-pay");
        assert!(status == "failed" && text.contains(why), "{result}: {status} {text}");
        assert_eq!(client.result(prompt)["stopReason"], "end_turn", "{result}");
    }
    for (code, why) in [
        (-32601, "does not support permission requests"),
        (-32603, "no dialog here"),
        (-32800, "the permission request was cancelled"),
    ] {
        let session = client.session();
        let prompt = client.prompt(&session, "pay");
        let id = client.question()["id"].clone();
        client.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no dialog here"}}));
        let (_, text) = fate(&mut client, &session, "c-pay");
        assert!(text.contains(why), "{code}: {text}");
        assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    }
}

#[test]
fn the_mode_of_the_session_says_whether_it_is_asked() {
    let mut client = AgentCommand::script(AGENT, "permission-modes").initialized();
    let session = client.session();
    client.ask("session/set_mode", json!({"sessionId": session, "modeId": "auto"}));
    assert_eq!(client.prompted(&session, "pay send")["stopReason"], "end_turn");
    let error = client.refused("session/set_mode", json!({"sessionId": session, "modeId": "paln"}));
    assert_eq!((&error["data"]["field"], &error["data"]["suggestion"]), (&json!("modeId"), &json!("plan")));
    assert!(client.frames.iter().all(|frame| frame["method"] != "session/request_permission"));
    let mut client = AgentCommand::script(AGENT, "permission-mode-option").with(&["--mode", "auto"]).initialized();
    let session = client.session();
    assert_eq!(client.prompted(&session, "pay")["stopReason"], "end_turn");
}

#[test]
fn a_prompt_that_is_cancelled_takes_its_questions_back() {
    let mut client = AgentCommand::script(AGENT, "permission-cancel").initialized();
    let (session, other) = (client.session(), client.session());
    let prompt = client.prompt(&session, "pay send");
    let (first, second) = (client.question(), client.question());
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.result(prompt)["stopReason"], "cancelled");
    // Answers that come too late change nothing.
    answer(&mut client, &first, selected("allow_always"));
    answer(&mut client, &second, json!({"outcome": {"outcome": "cancelled"}}));
    let prompt = client.prompt(&session, "pay");
    let question = client.question();
    answer(&mut client, &question, selected("allow_once"));
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    assert_eq!(client.prompted(&other, "look")["stopReason"], "end_turn");
}

#[test]
fn a_client_that_leaves_while_it_is_asked_ends_the_process() {
    let mut client = AgentCommand::script(AGENT, "permission-leaves").initialized();
    let session = client.session();
    client.prompt(&session, "pay");
    client.question();
    assert_eq!(client.end().code, Some(0));
}

/// An agent with the file tools below the session's folder; the prompt is the path that it writes to.
const WRITER: &str = r#"
pipeline default(task, context) {
  llm_mock_clear()
  llm_mock({tool_calls: [{id: "c-write", name: "write_file", arguments: {path: task, content: "new\n"}}]})
  llm_mock({text: "well"})
  return agent_loop(task, nil, {provider: "mock", tools: file_tools({root: context.cwd}), reminders: false})
}
"#;

#[test]
fn a_write_over_a_file_shows_what_it_replaces_and_is_refused_once_that_has_changed() {
    let start = AgentCommand::script(WRITER, "permission-old-text");
    let mut client = start.initialized();
    let session = client.session_in("project");
    let file = start.folder().join("project/notes.txt");
    std::fs::write(&file, "old\n").unwrap();
    let prompt = client.prompt(&session, "notes.txt");
    let question = client.question();
    let diff = &question["params"]["toolCall"]["content"][0];
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("old\n"), &json!("new\n")));
    std::fs::write(&file, "changed meanwhile\n").unwrap();
    answer(&mut client, &question, selected("allow_once"));
    client.result(prompt);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "changed meanwhile\n");
    let refused = |frame: &Value| {
        frame["params"]["update"]["status"] == "failed"
            && frame["params"]["update"]["rawOutput"]
                .to_string()
                .contains("because it changed after the permission was requested")
    };
    assert!(client.frames.iter().any(refused), "{:?}", client.frames);

    // Unchanged, it is written.
    let prompt = client.prompt(&session, "notes.txt");
    let question = client.question();
    assert_eq!(question["params"]["toolCall"]["content"][0]["oldText"], "changed meanwhile\n");
    let name = &question["params"]["options"][1]["name"];
    assert_eq!(name, "Always allow `write_file` in the folder `.` in this session");
    answer(&mut client, &question, selected("allow_always"));
    client.result(prompt);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");

    // The answer covers this folder and no other.
    assert_eq!(client.prompted(&session, "other.txt")["stopReason"], "end_turn");
    let prompt = client.prompt(&session, "below/other.txt");
    let question = client.question();
    assert!(question["params"]["toolCall"]["content"][0].get("oldText").is_none(), "the file is new");
    answer(&mut client, &question, selected("reject_once"));
    client.result(prompt);
}

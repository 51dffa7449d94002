//! An agent that answers with messages in place of tasks: `[agent] replies = "message"`.

use super::server::{Server, ServerCommand, message};
use super::wire::EXTENSION;
use crate::harn::scratch;
use serde_json::{Value, json};
use std::fs;

fn replies(test: &str) -> ServerCommand {
    ServerCommand::agent("replies/agent.harn", &format!("replies-{test}"))
}

fn send(server: &Server, text: &str) -> Value {
    server.result("SendMessage", json!({"message": message(text)}))
}

/// The results of all events of a stream.
fn streamed(server: &Server, version: &str, method: &str, message: &Value) -> Vec<Value> {
    let answer = server.ask(&server.request(Some(version), method, json!({"message": message})));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let body = String::from_utf8(answer.body).unwrap();
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.map(|event| serde_json::from_str::<Value>(event).unwrap()["result"].clone()).collect()
}

fn of_0_3(text: &str) -> Value {
    let mut message = message(text);
    message["kind"] = json!("message");
    message["role"] = json!("user");
    message["parts"] = json!([{"kind": "text", "text": text}]);
    message
}

#[test]
fn an_answer_is_a_message_and_no_task() {
    let server = replies("send").spawn();
    for (text, parts) in [
        ("Hello.", json!([{"text": "echo Hello."}])),
        ("data", json!([{"data": {"answer": 42}}])),
        ("loop", json!([{"text": "I have looked."}])),
    ] {
        let result = send(&server, text);
        let said = &result["message"];
        assert_eq!(result.as_object().unwrap().len(), 1, "{result}");
        let keys: Vec<_> = said.as_object().unwrap().keys().filter(|key| *key != "metadata").collect();
        assert_eq!(keys, ["contextId", "messageId", "parts", "role"], "{result}");
        assert_eq!((&said["role"], &said["parts"]), (&json!("ROLE_AGENT"), &parts));
    }
    let said = server.ask(&server.request(Some("0.3"), "message/send", json!({"message": of_0_3("Hello.")}))).json();
    let said = &said["result"];
    assert_eq!((&said["kind"], &said["role"]), (&json!("message"), &json!("agent")), "{said}");
    assert_eq!((&said["parts"][0]["text"], said.get("taskId")), (&json!("echo Hello."), None), "{said}");
    server.end();
}

#[test]
fn a_stream_is_one_message() {
    let server = replies("stream").spawn();
    let told = streamed(&server, "1.0", "SendStreamingMessage", &message("Hello."));
    let [only] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(only["message"]["parts"], json!([{"text": "echo Hello."}]), "{only}");
    let told = streamed(&server, "0.3", "message/stream", &of_0_3("Hello."));
    let [only] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((&only["kind"], &only["parts"][0]["text"]), (&json!("message"), &json!("echo Hello.")), "{only}");
    server.end();
}

#[test]
fn what_a_message_has_no_place_for_is_a_task() {
    let server = replies("task").spawn();
    for (text, state) in [
        ("status", "COMPLETED"),
        ("title", "COMPLETED"),
        ("artifact", "COMPLETED"),
        ("closing", "COMPLETED"),
        ("nothing", "COMPLETED"),
        ("cut", "COMPLETED"),
        ("ask", "INPUT_REQUIRED"),
        ("reject", "REJECTED"),
        ("fail", "FAILED"),
    ] {
        let state = format!("TASK_STATE_{state}");
        let task = send(&server, text);
        assert_eq!(task["task"]["status"]["state"], *state, "{text}: {task}");
        let told = streamed(&server, "1.0", "SendStreamingMessage", &message(text));
        assert!(told[0]["task"].is_object(), "{text}: {told:?}");
        let last = told.last().unwrap();
        let status = last.get("statusUpdate").unwrap_or(&last["task"]);
        assert_eq!(status["status"]["state"], *state, "{text}: {told:?}");
        if text == "ask" {
            let mut answer = message("red");
            answer["taskId"] = task["task"]["id"].clone();
            let task = server.result("SendMessage", json!({"message": answer}));
            assert_eq!(task["task"]["artifacts"][0]["parts"], json!([{"text": "You like red."}]), "{task}");
        }
    }
    server.end();
}

#[test]
fn who_needs_the_id_of_a_task_gets_one() {
    let server = replies("asked").spawn();
    let now = json!({"message": message("Hello."), "configuration": {"returnImmediately": true}});
    assert!(server.result("SendMessage", now)["task"].is_object());
    let request = server.request(Some("1.0"), "SendMessage", json!({"message": message("Hello.")}));
    let answer = server.ask(&request.header("A2A-Extensions", EXTENSION)).json();
    assert!(answer["result"]["task"].is_object(), "{answer}");
    let mut reminded = message("Hello.");
    reminded["metadata"] = json!({"harn.reminder": {"body": "Be brief.", "mode": "finish_step"}});
    let answer = server.result("SendMessage", json!({"message": reminded}));
    assert!(answer["task"].is_object(), "{answer}");
    server.end();
}

#[test]
fn the_same_message_gives_the_same_message_in_the_next_process_too() {
    let start = replies("repeat").logged();
    let server = start.spawn();
    let mut said = message("count");
    said["contextId"] = json!("mine");
    let params = json!({"message": said});
    let first = server.result("SendMessage", params.clone());
    assert_eq!(first["message"]["contextId"], "mine", "{first}");
    assert_eq!(first["message"]["parts"], json!([{"text": "1"}]), "{first}");
    assert_eq!(server.result("SendMessage", params.clone()), first);
    let told = streamed(&server, "1.0", "SendStreamingMessage", &said);
    assert_eq!(told, std::slice::from_ref(&first));
    let mut other = said.clone();
    other["parts"] = json!([{"text": "other"}]);
    // Other content with the same id is another message.
    other["contextId"] = json!("another");
    let answer = server.result("SendMessage", json!({"message": other.clone()}));
    assert_ne!(answer["message"]["messageId"], first["message"]["messageId"], "{answer}");
    // Nothing ran twice, and the conversation goes on.
    let mut next = message("count");
    next["contextId"] = json!("mine");
    let next = server.result("SendMessage", json!({"message": next}));
    assert_eq!(next["message"]["parts"], json!([{"text": "2"}]), "{next}");
    // Who runs the server finds what was done.
    let listed = server.result("ListTasks", json!({"contextId": "mine"}));
    let ids: Vec<_> =
        listed["tasks"].as_array().unwrap().iter().map(|task| &task["metadata"]["harn.message_id"]).collect();
    assert_eq!(ids, [&next["message"]["messageId"], &first["message"]["messageId"]], "{listed}");
    server.end();
    let server = start.spawn();
    assert_eq!(server.result("SendMessage", params), first);
    // Each content of the id is found on the log; a third one is new.
    assert_eq!(server.result("SendMessage", json!({"message": other.clone()})), answer);
    other["parts"] = json!([{"text": "third"}]);
    let third = server.result("SendMessage", json!({"message": other}));
    assert_eq!(third["message"]["parts"], json!([{"text": "echo third"}]), "{third}");
    server.end();
}

#[test]
fn the_agent_says_in_words_what_it_replies_with() {
    let folder = scratch("a2a-script-replies");
    fs::write(folder.join("agent.harn"), "pipeline default(task) { return task }\n").unwrap();
    fs::write(folder.join("harn.toml"), "[agent]\nreplies = \"msg\"\n").unwrap();
    let start = ServerCommand::file(folder.join("agent.harn"), "replies-wrong");
    let ended = start.command().output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success());
    assert!(said.contains("`replies` must be `\"task\"` or `\"message\"`"), "{said}");
}

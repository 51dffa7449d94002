//! Version 0.1: its names and shapes over plain HTTP, with the header and without.

use super::http::Request;
use super::server::{Server, Start};
use super::wire;
use serde_json::{Value, json};

/// Asks without a header, as callers of that time do; `version` is the header of somebody else.
fn ask(server: &Server, version: Option<&str>, method: &str, params: Value) -> Value {
    let request = server.request(version, method, params);
    let answer = server.ask(&request);
    // Kept once more as what it has to be: methods that all versions have do not tell which is meant.
    if version.is_none() {
        let mut exchange = wire::exchange(&request, &answer);
        exchange["spoken"] = json!("0.1");
        wire::assert_fits(&exchange);
    }
    answer.json()
}

fn first(server: &Server, method: &str, params: Value) -> Value {
    let request = server.request(None, method, params);
    let mut connection = server.connect();
    connection.send(&request);
    let answer = connection.answer();
    let mut exchange = wire::exchange(&request, &answer);
    exchange["spoken"] = json!("0.1");
    wire::assert_fits(&exchange);
    let answer = answer.json();
    answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
}

fn message(text: &str) -> Value {
    json!({"role": "user", "parts": [{"type": "text", "text": text}]})
}

#[test]
fn a_task_is_sent_asked_for_and_cancelled_under_its_first_names() {
    let server = Start::agent("desk.harn", "first-names").spawn();
    let params = json!({"id": "task-of-mine", "sessionId": "session-of-mine", "message": message("echo Hello.")});
    let task = first(&server, "tasks/send", params);
    assert_eq!((&task["id"], &task["sessionId"]), (&json!("task-of-mine"), &json!("session-of-mine")), "{task}");
    assert_eq!(task["status"]["state"], "completed", "{task}");
    assert_eq!(task["artifacts"][0]["parts"][0], json!({"type": "text", "text": "Hello."}), "{task}");
    // Whoever named the task so is answered so.
    let again = first(&server, "tasks/get", json!({"id": "task-of-mine"}));
    assert_eq!((&again["sessionId"], &again["status"]["state"]), (&task["sessionId"], &json!("completed")), "{again}");
    let newer = ask(&server, Some("1.0"), "GetTask", json!({"id": "task-of-mine"}));
    assert_eq!(newer["result"]["status"]["state"], "TASK_STATE_COMPLETED", "{newer}");
    let middle = ask(&server, Some("0.3"), "tasks/get", json!({"id": "task-of-mine"}));
    assert_eq!(middle["result"]["kind"], "task", "{middle}");
    // Nobody else is.
    let message_1_0 = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "echo Hello."}]});
    let other = ask(&server, Some("1.0"), "SendMessage", json!({"message": message_1_0}));
    let request = server.request(None, "tasks/get", json!({"id": other["result"]["task"]["id"]}));
    let plain = server.ask(&request).json();
    assert_eq!(plain["result"]["kind"], "task", "{plain}");

    let asked = first(&server, "tasks/send", json!({"id": "asks", "message": message("ask")}));
    assert_eq!(asked["status"]["state"], "input-required", "{asked}");
    assert_eq!(asked["status"]["message"]["parts"][0]["text"], "Which colour do you like?", "{asked}");
    let answered = first(&server, "tasks/send", json!({"id": "asks", "message": message("blue")}));
    assert_eq!(answered["artifacts"][0]["parts"][0]["text"], "You like blue.", "{answered}");
    first(&server, "tasks/send", json!({"id": "cancelled", "message": message("ask")}));
    let cancelled = first(&server, "tasks/cancel", json!({"id": "cancelled"}));
    assert_eq!(cancelled["status"]["state"], "canceled", "{cancelled}");
    server.end();
}

#[test]
fn what_0_1_has_no_word_for_is_said_in_its_words() {
    let server = Start::agent("desk.harn", "first-words").spawn();
    let rejected = first(&server, "tasks/send", json!({"id": "r", "message": message("reject CAPACITY_EXCEEDED")}));
    assert_eq!(rejected["status"]["state"], "failed", "{rejected}");
    assert_eq!(
        rejected["status"]["message"]["parts"][1]["data"]["rejection_reason"], "CAPACITY_EXCEEDED",
        "{rejected}"
    );
    let made = first(&server, "tasks/send", json!({"id": "m", "message": message("artifacts")}));
    let artifacts = made["artifacts"].as_array().unwrap();
    let indexes: Vec<u64> = artifacts.iter().map(|artifact| artifact["index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, (0..6).collect::<Vec<u64>>(), "{made}");
    assert_eq!(artifacts[1]["parts"][0]["file"]["bytes"], "aGFybg==", "{made}");
    let fields = first(&server, "tasks/send", json!({"id": "d", "message": message("data")}));
    assert_eq!(fields["artifacts"][0]["parts"][0]["data"]["answer"], 42, "{fields}");
    server.end();
}

#[test]
fn a_stream_of_0_1_ends_with_a_final_update() {
    let server = Start::agent("desk.harn", "first-stream").spawn();
    let params = json!({"id": "streamed", "message": message("loop Hello.")});
    let request = server.request(None, "tasks/sendSubscribe", params);
    let mut connection = server.connect();
    connection.send(&request);
    let answer = connection.answer();
    wire::assert_fits(&wire::exchange(&request, &answer));
    let text = String::from_utf8(answer.body).unwrap();
    let frames: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let last = &frames.last().unwrap()["result"];
    assert_eq!((&last["final"], &last["status"]["state"]), (&json!(true), &json!("completed")), "{text}");
    assert!(frames.iter().any(|frame| frame["result"]["artifact"].is_object()), "{text}");
    server.end();
}

#[test]
fn both_cards_are_found_and_say_when_they_have_changed() {
    let server = Start::agent("desk.harn", "first-card").spawn();
    for path in ["/.well-known/agent.json", "/.well-known/agent-card.json"] {
        for version in [None, Some("1.0"), Some("0.3")] {
            let mut request = Request::get(&server.address, path);
            if let Some(version) = version {
                request = request.header("A2A-Version", version);
            }
            let answer = server.ask(&request);
            assert_eq!(answer.status, 200);
            assert!(answer.header("etag").is_some() && answer.header("cache-control").is_some(), "{answer:?}");
            let tagged = request.header("If-None-Match", answer.header("etag").unwrap());
            let mut connection = server.connect();
            connection.send(&tagged);
            assert_eq!(connection.head().status, 304);
        }
    }
    server.end();
}

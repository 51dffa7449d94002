//! The message of the status that ends a task.

use super::server::{Server, ServerCommand, message};
use serde_json::{Value, json};

fn said(task: &Value) -> (&str, Option<&str>) {
    let status = &task["status"];
    (status["state"].as_str().unwrap(), status["message"]["parts"][0]["text"].as_str())
}

fn task(server: &Server, text: &str, now: bool) -> Value {
    let params = json!({"message": message(text), "configuration": {"returnImmediately": now}});
    server.result("SendMessage", params)["task"].clone()
}

#[test]
fn a_completed_task_has_the_last_closing_message() {
    let server = ServerCommand::agent("desk.harn", "closing").spawn();
    let task = task(&server, "closing", false);
    assert_eq!(said(&task), ("TASK_STATE_COMPLETED", Some("All sorted.")));
    let of_status = &task["status"]["message"];
    assert_eq!((&of_status["role"], &of_status["taskId"]), (&json!("ROLE_AGENT"), &task["id"]), "{task}");
    assert_eq!(task["artifacts"].as_array().unwrap().len(), 1, "{task}");
    assert_eq!(task["artifacts"][0]["parts"], json!([{"text": "a, b"}]), "it is no part of the answer");
    assert_eq!(said(&server.result("GetTask", json!({"id": task["id"]}))), said(&task));
    server.end();
}

#[test]
fn a_stream_ends_with_the_closing_message() {
    let server = ServerCommand::agent("desk.harn", "closing-stream").spawn();
    for (version, method, text) in
        [("1.0", "SendStreamingMessage", json!("All sorted.")), ("0.3", "message/stream", json!("All sorted."))]
    {
        let mut message = message("closing");
        if version == "0.3" {
            message["role"] = json!("user");
            message["parts"] = json!([{"kind": "text", "text": "closing"}]);
            message["kind"] = json!("message");
        }
        let request = server.request(Some(version), method, json!({"message": message}));
        let answer = server.ask(&request);
        let body = String::from_utf8(answer.body).unwrap();
        let last = body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
        let result = serde_json::from_str::<Value>(last).unwrap()["result"].clone();
        let update = if version == "1.0" { &result["statusUpdate"] } else { &result };
        assert_eq!(update["status"]["message"]["parts"][0]["text"], text, "{version}: {body}");
        assert_eq!(body.matches("All sorted.").count(), 1, "{version}: {body}");
        assert!(!body.contains("Almost done."), "{version}: {body}");
    }
    server.end();
}

#[test]
fn a_task_that_does_not_end_well_has_none() {
    let start = ServerCommand::agent("desk.harn", "closing-not");
    let server = start.spawn();
    let failed = task(&server, "closing throw", false);
    assert_eq!(failed["status"]["state"], "TASK_STATE_FAILED", "{failed}");
    assert!(!failed.to_string().contains("All sorted."), "{failed}");
    let waiting = task(&server, "closing wait", true);
    let cancelled = server.result("CancelTask", json!({"id": waiting["id"]}));
    assert_eq!(said(&cancelled), ("TASK_STATE_CANCELED", None));
    assert!(!cancelled.to_string().contains("All sorted."), "{cancelled}");
    server.end();
}

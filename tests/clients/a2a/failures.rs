//! The report that a caller receives about a failed task, and the records in the server's log.

use super::server::{ServerCommand, message};
use crate::harn::root;
use serde_json::{Value, json};

/// The status message of a task that is sent and waited for, with its state.
fn ended(server: &super::server::Server, text: &str) -> (String, Value) {
    let task = server.result("SendMessage", json!({"message": message(text)}))["task"].clone();
    (task["status"]["state"].as_str().unwrap().to_owned(), task)
}

#[test]
fn a_caller_gets_a_code_and_an_id_and_the_log_has_the_rest() {
    let server = ServerCommand::agent("failing.harn", "failures").spawn();
    let folder = root().display().to_string();
    for (text, code) in [
        ("throws", "HARN-RUN-001"),
        ("reads", "HARN-RUN-016"),
        ("passes on", "HARN-RUN-001"),
        ("ignores", "HARN-LLM-001"),
        ("raises", "HARN-LLM-001"),
        ("returns", "HARN-LLM-001"),
    ] {
        let (state, task) = ended(&server, text);
        assert_eq!(state, "TASK_STATE_FAILED", "{text}: {task}");
        let whole = task.to_string();
        for secret in ["s3cret", "failing.harn", &folder, "╭", "at <"] {
            assert!(!whole.contains(secret), "{text}: {secret} leaves: {whole}");
        }
        let parts = &task["status"]["message"]["parts"];
        let id = parts[1]["data"]["correlation_id"].as_str().unwrap();
        assert_eq!(parts[1]["data"]["code"], code, "{text}: {parts}");
        let shown = parts[0]["text"].as_str().unwrap();
        assert!(shown.starts_with("the task failed: ") && shown.contains(id), "{text}: {shown}");
        server.says(|said| {
            let logged = said.split_once(id).map_or("", |(_, logged)| logged);
            logged.contains(&format!("error[{code}]")) && logged.contains("s3cret")
        });
    }
    server.end();
}

#[test]
fn the_words_of_the_script_reach_its_caller() {
    let server = ServerCommand::agent("failing.harn", "own-words").spawn();
    let (state, task) = ended(&server, "declines");
    assert_eq!(
        (&*state, task["status"]["message"]["parts"][0]["text"].as_str()),
        ("TASK_STATE_FAILED", Some("no such ticket"))
    );
    let (state, task) = ended(&server, "rejects");
    let text = task["status"]["message"]["parts"][0]["text"].as_str();
    assert_eq!((&*state, text), ("TASK_STATE_REJECTED", Some("Task rejected: no such ticket")));
    let (state, task) = ended(&server, "checks");
    let text = task["artifacts"][0]["parts"][0]["text"].as_str();
    assert_eq!((&*state, text), ("TASK_STATE_COMPLETED", Some("the model said: provider_error")));
    server.end();
}

#[test]
fn the_worker_of_the_guide_fails_where_its_model_cannot_be_reached() {
    let start = ServerCommand::file(root().join("examples/a2a/worker.harn"), "worker-without-model");
    let server = start
        .env("HARN_LLM_PROVIDER", "openai")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9")
        .env("OPENAI_API_KEY", "k")
        .spawn();
    let (state, task) = ended(&server, "Add the login to the changelog.");
    assert_eq!(state, "TASK_STATE_FAILED", "{task}");
    assert_eq!(task["status"]["message"]["parts"][1]["data"]["code"], "HARN-LLM-001", "{task}");
    server.end();
}

#[test]
fn a_task_with_a_value_beyond_reason_ends_alone() {
    let server =
        ServerCommand::agent("large.harn", "large-values").with(&["--timeout", "2s", "--max-memory", "256m"]).spawn();
    for (text, expected) in [
        ("returns", "FAILED"),
        ("prints", "FAILED"),
        // Parts that are the same are not gone through.
        ("compares", "COMPLETED"),
        ("contains", "COMPLETED"),
        ("data", "FAILED"),
        ("range", "FAILED"),
        ("grows", "FAILED"),
        ("restless", "FAILED"),
        ("answers", "COMPLETED"),
    ] {
        let (state, task) = ended(&server, text);
        assert_eq!(state, format!("TASK_STATE_{expected}"), "{text}: {task}");
        if expected == "FAILED" {
            let code = task["status"]["message"]["parts"][1]["data"]["code"].as_str();
            assert!(code.is_some_and(|code| code.starts_with("HARN-")), "{text}: {task}");
        }
    }
    assert!(server.memory() < 500 << 20, "{}", server.memory());
    server.end();
}

//! Tasks over two processes: the first is killed, the second tells what has become of them.

use super::server::{Server, ServerCommand, message};
use crate::harn::{harn, root, scratch};
use crate::wait::find;
use serde_json::{Value, json};
use std::fs;

/// Returns the start options that serve `kept.harn`, with `@resumable` or without.
fn kept(test: &str, resumable: bool) -> ServerCommand {
    let test = format!("kept-{test}-{resumable}");
    let script = fs::read_to_string(root().join("tests/a2a/agents/kept.harn")).unwrap();
    let script = if resumable { script } else { script.replace("@resumable\n", "") };
    let path = scratch(&format!("a2a-script-{test}")).join("kept.harn");
    fs::write(&path, script).unwrap();
    ServerCommand::file(path, &test)
}

/// A message, and the task as it is when it rests; at once with `now`.
fn send(server: &Server, text: &str, more: &Value, now: bool) -> Value {
    let mut message = message(text);
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let params = json!({"message": message, "configuration": {"returnImmediately": now}});
    server.result("SendMessage", params)["task"].clone()
}

fn task(server: &Server, task: &Value) -> Value {
    server.result("GetTask", json!({"id": task["id"]}))
}

/// A task that has made the half of it, and waits.
fn hold(server: &Server, more: &Value) -> Value {
    let task = send(server, "hold", more, true);
    until(server, &task, |task| task["artifacts"].is_array())
}

fn until(server: &Server, asked: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    find("the state of a task", || {
        let now = task(server, asked);
        if wanted(&now) { Ok(now) } else { Err(now.to_string()) }
    })
}

fn settled(server: &Server, task: &Value) -> Value {
    until(server, task, |task| !["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"].contains(&state(task)))
}

fn kill(server: Server) {
    assert_eq!(server.ended_by("KILL").code, None);
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task}"))
}

/// The text of an artifact's first part.
fn artifact<'a>(task: &'a Value, id: &str) -> &'a str {
    let artifacts = task["artifacts"].as_array().unwrap_or_else(|| panic!("{task}"));
    let found = artifacts.iter().find(|artifact| artifact["artifactId"] == id);
    found.and_then(|artifact| artifact["parts"][0]["text"].as_str()).unwrap_or_else(|| panic!("{task}"))
}

#[test]
fn what_is_over_is_read_and_what_was_in_the_middle_has_failed() {
    let start = kept("failed", false).logged();
    let first = start.spawn();
    let done = send(&first, "hello", &json!({}), false);
    let held = hold(&first, &json!({}));
    let permitted = send(&first, "permit", &json!({}), false);
    assert_eq!(state(&permitted), "TASK_STATE_INPUT_REQUIRED");
    kill(first);
    let second = start.spawn();
    assert_eq!(task(&second, &done), done);
    for (before, says) in [(held, "while the task was running"), (permitted, "while the task waited for input")] {
        let after = task(&second, &before);
        assert_eq!(state(&after), "TASK_STATE_FAILED");
        let said = &after["status"]["message"]["parts"];
        assert!(said[0]["text"].as_str().unwrap().contains(says), "{after}");
        assert_eq!(said[1]["data"]["code"], "HARN-LOG-017");
        assert_eq!((&after["artifacts"], &after["history"]), (&before["artifacts"], &before["history"]));
        let refused = second.refused("CancelTask", json!({"id": before["id"]}));
        assert_eq!(refused["code"], -32002, "{refused}");
    }
    let page = second.result("ListTasks", json!({"pageSize": 2}));
    assert_eq!((&page["totalSize"], page["tasks"].as_array().map(Vec::len)), (&json!(3), Some(2)));
    let rest = second.result("ListTasks", json!({"pageSize": 2, "pageToken": page["nextPageToken"]}));
    assert_eq!(rest["tasks"][0]["id"], done["id"]);
    assert_eq!(rest["nextPageToken"], "");
    second.end();
}

#[test]
fn what_may_run_again_does_and_asks_again() {
    let start = kept("again", true).logged();
    let first = start.spawn();
    let held = hold(&first, &json!({}));
    let asked = send(&first, "ask", &json!({}), false);
    kill(first);
    let second = start.spawn();
    let held = settled(&second, &held);
    assert_eq!((state(&held), artifact(&held, "answer")), ("TASK_STATE_COMPLETED", "held, resumed: true"));
    let again = settled(&second, &asked);
    assert_eq!((state(&again), &again["id"]), ("TASK_STATE_INPUT_REQUIRED", &asked["id"]));
    assert_eq!(again["status"]["message"]["parts"][0]["text"], "Which?");
    let answered = send(&second, "this", &json!({"taskId": asked["id"]}), false);
    assert_eq!((state(&answered), artifact(&answered, "answer")), ("TASK_STATE_COMPLETED", "this, resumed: true"));
    // A server that is shut down leaves its running tasks to the next one as well.
    let held = hold(&second, &json!({}));
    second.end();
    let third = start.spawn();
    assert_eq!(artifact(&settled(&third, &held), "answer"), "held, resumed: true");
    third.end();
}

/// The pipeline asks three times; processes end between the questions, in good order and not.
#[test]
fn a_question_waits_for_its_answer_over_processes() {
    for resumable in [false, true] {
        let start = kept("questions", resumable).logged();
        let mut server = start.spawn();
        let asked = send(&server, "form", &json!({}), false);
        let question = |task: &Value| task["status"]["message"]["parts"][0]["text"].clone();
        for (number, (asks, says)) in [("Name?", "Kim"), ("Age?", "7"), ("Sure?", "yes")].into_iter().enumerate() {
            let before = task(&server, &asked);
            assert_eq!((state(&before), question(&before)), ("TASK_STATE_INPUT_REQUIRED", json!(asks)));
            if number == 1 {
                server.end();
            } else {
                kill(server);
            }
            server = start.spawn();
            let now = task(&server, &asked);
            assert_eq!((state(&now), question(&now)), ("TASK_STATE_INPUT_REQUIRED", json!(asks)));
            assert_eq!(now["history"], before["history"]);
            let reminder = json!({"taskId": asked["id"], "reminder": {"body": "Mind the gap."}});
            server.result("tasks/inject_reminder", reminder);
            let mut message = message(says);
            message["taskId"] = asked["id"].clone();
            let params = json!({"message": message, "configuration": {"returnImmediately": false}});
            let answered = server.result("SendMessage", params.clone())["task"].clone();
            if number == 2 {
                assert_eq!((state(&answered), artifact(&answered, "answer")), ("TASK_STATE_COMPLETED", "Kim, 7, yes"));
                // The file has a line for each time that the pipeline began.
                let began = fs::read_to_string(start.folder().join("began.txt")).unwrap();
                assert_eq!(began.lines().count(), 4);
            } else {
                assert_eq!(state(&answered), "TASK_STATE_INPUT_REQUIRED");
            }
        }
        let said: Vec<Value> = task(&server, &asked)["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|said| said["parts"][0]["text"].clone())
            .collect();
        assert_eq!(said, ["form", "Name?", "Kim", "Age?", "7", "Sure?", "yes"]);
        server.end();
    }
}

#[test]
fn a_repeated_first_message_is_its_task_in_the_next_process_too() {
    let start = kept("repeated", false).logged();
    let first = start.spawn();
    let mut params = json!({"message": message("hello")});
    let done = first.result("SendMessage", params.clone())["task"].clone();
    kill(first);
    let second = start.spawn();
    assert_eq!(second.result("SendMessage", params.clone())["task"], done);
    assert_eq!(second.result("ListTasks", json!({}))["totalSize"], 1);
    params["message"]["parts"][0]["text"] = "something else".into();
    // Other content with the same id is another task, and found again as well.
    let other = second.result("SendMessage", params.clone())["task"].clone();
    assert_ne!(other["id"], done["id"]);
    kill(second);
    let third = start.spawn();
    for (text, task) in [("hello", &done), ("something else", &other)] {
        params["message"]["parts"][0]["text"] = text.into();
        assert_eq!(third.result("SendMessage", params.clone())["task"], *task);
    }
    assert_eq!(third.result("ListTasks", json!({}))["totalSize"], 2);
    third.end();
}

#[test]
fn a_task_that_asks_can_be_cancelled_in_the_next_process() {
    let start = kept("asks-cancelled", false).logged();
    let first = start.spawn();
    let asked = send(&first, "ask", &json!({}), false);
    kill(first);
    let second = start.spawn();
    assert_eq!(state(&second.result("CancelTask", json!({"id": asked["id"]}))), "TASK_STATE_CANCELED");
    second.end();
}

#[test]
fn a_reminder_that_was_accepted_reaches_the_conversation_in_the_next_process() {
    for resumable in [false, true] {
        let start = kept("reminded", resumable).logged();
        let first = start.spawn();
        let context = json!({"contextId": "conversation"});
        send(&first, "look", &context, false);
        let held = hold(&first, &context);
        let reminder = json!({"id": "r-1", "body": "Mind the gap.", "ttlTurns": 3});
        let inject = json!({"taskId": held["id"], "reminder": reminder});
        let accepted = first.result("tasks/inject_reminder", inject.clone());
        kill(first);
        let second = start.spawn();
        settled(&second, &held);
        // The same once more is the same, also for a task that is over by now.
        assert_eq!(second.result("tasks/inject_reminder", inject.clone()), accepted);
        let looked = send(&second, "look", &context, false);
        let seen = artifact(&looked, "answer");
        // A task that runs again to its end without a loop takes its reminder with it; one that is lost leaves it to the next.
        assert_eq!(seen.matches("Mind the gap.").count(), usize::from(!resumable), "{seen}");
        assert_eq!(seen.matches("I have seen it.").count(), 1, "the conversation goes on: {seen}");
        second.end();
    }
}

#[test]
fn two_processes_on_one_log_have_tasks_of_their_own() {
    let start = kept("two", false).logged();
    let first = start.spawn();
    let held = hold(&first, &json!({}));
    let second = start.spawn();
    assert_eq!(task(&second, &held), held, "it is at work there");
    let refused = second.refused("CancelTask", json!({"id": held["id"]}));
    assert_eq!(refused["code"], -32004, "{refused}");
    let other = send(&second, "hello", &json!({}), false);
    assert_eq!(task(&first, &other), other);
    for one in [&first, &second] {
        assert_eq!(one.result("ListTasks", json!({}))["totalSize"], 2);
    }
    assert_eq!(state(&first.result("CancelTask", json!({"id": held["id"]}))), "TASK_STATE_CANCELED");
    assert_eq!(state(&task(&second, &held)), "TASK_STATE_CANCELED");
    let held = hold(&first, &json!({}));
    kill(first);
    assert_eq!(state(&task(&second, &held)), "TASK_STATE_FAILED", "nobody works on it any more");
    second.end();
}

#[test]
fn without_a_log_tasks_live_as_long_as_their_process() {
    let start = kept("memory", true);
    let first = start.spawn();
    let done = send(&first, "hello", &json!({}), false);
    assert_eq!(task(&first, &done), done);
    first.end();
    let second = start.spawn();
    let unknown = second.refused("GetTask", json!({"id": done["id"]}));
    assert_eq!(unknown["code"], -32001, "{unknown}");
    second.end();
}

#[test]
fn tasks_that_an_earlier_build_wrote_are_read_and_ended_or_answered() {
    for layout in ["layout_1", "layout_2"] {
        tasks_are_read(layout);
    }
}

fn tasks_are_read(layout: &str) {
    let start = kept(layout, false).logged();
    fs::copy(root().join(format!("tests/fixtures/{layout}/tasks.db")), start.folder().join("log.db")).unwrap();
    let server = start.spawn();
    let page = server.result("ListTasks", json!({"pageSize": 10, "includeArtifacts": true}));
    assert_eq!(page["totalSize"], 3, "{page}");
    let of = |text: &str| -> Value {
        let tasks = page["tasks"].as_array().unwrap();
        let whole = tasks.iter().map(|listed| task(&server, listed));
        whole.into_iter().find(|task| task["history"][0]["parts"][0]["text"] == *text).unwrap()
    };
    let done = of("hello");
    assert_eq!((state(&done), artifact(&done, "answer")), ("TASK_STATE_COMPLETED", "echo hello"));
    let held = of("hold");
    assert_eq!(state(&held), "TASK_STATE_FAILED");
    assert_eq!(held["status"]["message"]["parts"][1]["data"]["code"], "HARN-LOG-017", "{held}");
    assert_eq!(held["artifacts"][0]["parts"][0]["text"], "half of it", "{held}");
    let asked = of("ask");
    assert_eq!(
        (state(&asked), &asked["status"]["message"]["parts"][0]["text"]),
        ("TASK_STATE_INPUT_REQUIRED", &json!("Which?"))
    );
    server.end();
}

#[test]
fn a_log_is_not_trimmed_beside_a_server_and_keeps_unfinished_tasks() {
    let start = kept("trim", false).logged();
    let log = start.folder().join("log.db");
    let trim = |more: &[&str]| harn(&[&["log", "trim", log.to_str().unwrap(), "--before", "1ms"], more].concat());
    let server = start.spawn();
    let (held, done) = (hold(&server, &json!({})), send(&server, "quick", &json!({}), false));
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done}");
    let refused = trim(&[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{refused:?}");
    let holder = format!("(process {})", server.id());
    assert!(refused.err.contains("HARN-LOG-018") && refused.err.contains(&holder), "{refused:?}");
    kill(server);
    let trimmed = trim(&[]);
    assert!(trimmed.out.contains("1 finished task, ") && trimmed.out.contains("1 task (1 unfinished)"), "{trimmed:?}");
    let server = start.spawn();
    let failed = task(&server, &held);
    assert_eq!(state(&failed), "TASK_STATE_FAILED", "{failed}");
    assert!(failed["artifacts"].is_array(), "{failed}");
    server.refused("GetTask", json!({"id": done["id"]}));
    server.end();
}

//! Turns, questions and tasks that a killed daemon has left, after the next one has started.

use super::acp_client::AcpClient;
use super::daemon::DaemonFolder;
use serde_json::{Value, json};

#[test]
fn a_turn_of_a_killed_daemon_ends_in_the_log_and_its_session_is_idle() {
    let folder = DaemonFolder::new("killed-turn");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let (session, asking) = (client.open(), client.open());
    let mut events = client.events(&session, None);
    client.prompt(&session, "sleep 600000");
    let submitted = events.next_of("turn.submitted");
    client.prompt(&asking, "question");
    let mut asked = client.events(&asking, Some(0));
    let answered = asked.next_of("turn.completed");
    assert_eq!(client.events(&asking, None).snapshot["payload"]["state"], "asking");
    let (last, last_asked) = (events.last, asked.last);
    daemon.kill();
    let daemon = folder.start();
    let client = daemon.client(&secret);
    assert_eq!(client.events(&session, None).snapshot["payload"]["state"], "idle");
    let ended = client.events(&session, last).next_of("turn.failed");
    assert_eq!(ended["payload"], json!({"stop": "failed", "reason": "interrupted"}));
    assert_eq!(ended["turnId"], submitted["turnId"]);
    // The question went with its process.
    assert_eq!(client.events(&asking, None).snapshot["payload"]["state"], "idle");
    let ended = client.events(&asking, last_asked).next_of("turn.failed");
    assert_eq!((&ended["payload"]["reason"], &ended["turnId"]), (&json!("interrupted"), &answered["turnId"]));
    // The session goes on, and no later process ends the turn again.
    client.prompt(&session, "hello");
    client.events(&session, Some(ended["sequence"].as_u64().unwrap())).next_of("turn.completed");
    daemon.kill();
    let _daemon = folder.start();
    assert_eq!(folder.records("session.life.answered").len(), 4);
}

#[test]
fn an_editor_is_asked_with_the_call_and_its_question_is_withdrawn_after_a_kill() {
    let folder = DaemonFolder::new("killed-question");
    let secret = folder.channel("editor", "view,prompt,permit", &[]);
    let daemon = folder.start();
    let address = daemon.address.clone();
    let mut editor = AcpClient::editor(&folder, &daemon, &secret);
    let session = editor.open();
    let id = editor.prompt(&session, "write");
    let asked = ["call-3", "call-2", "call-1"].map(|call| {
        let is_its = |it: &Value| it["params"]["toolCall"]["toolCallId"] == call;
        editor.wait("question", |it| it["method"] == "session/request_permission" && is_its(it))
    });
    let [.., asked] = asked;
    let call = &asked["params"]["toolCall"];
    assert_eq!((&call["kind"], &call["rawInput"]), (&json!("edit"), &json!({"path": "a/x"})), "{asked}");
    let label = "Always allow `note` in the folder `a` in this session, while this channel is connected";
    assert_eq!(asked["params"]["options"][1]["name"], label, "{asked}");
    assert_eq!(asked["params"]["_meta"]["harn"]["reason"], "it writes a file");
    daemon.kill();
    let _daemon = folder.start_at(&address);
    editor.wait("withdrawal", |it| it["method"] == "$/cancel_request" && it["params"]["requestId"] == asked["id"]);
    let answer = editor.answer(id);
    assert_eq!(answer["error"]["data"]["reason"], "interrupted", "{answer}");
    // Each of the questions is withdrawn once.
    let id = editor.prompt(&session, "hello");
    editor.answer(id);
    let questions = editor.seen.iter().filter(|it| it["method"] == "session/request_permission").count();
    let withdrawn = editor.seen.iter().filter(|it| it["method"] == "$/cancel_request").count();
    assert_eq!((questions, withdrawn), (3, 3), "{:#?}", editor.seen);
}

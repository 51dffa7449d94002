//! Notifications of reminders, in frames and bytes: for a client that requested them, and for one
//! that did not.

use super::client::Client;
use super::start::AgentCommand;
use serde_json::{Value, json};

/// Two rules that one prompt of the model holds, a tool call, and two more answers. One rule replaces another before.
const SCRIPT: &str = r#"
pipeline default(task, context) {
  agent_session_inject_reminder(context.session_id, {body: "The tests are failing.", dedupe_key: "tests", ttl_turns: 2})
  agent_session_inject_reminder(context.session_id, {body: "The tests are passing again since the last commit.", dedupe_key: "tests", ttl_turns: 2})
  agent_session_inject_reminder(context.session_id, {body: "Never write outside of the folder `notes`.", tags: ["rule"], ttl_turns: 1})
  var asked = 0
  let tools = tool_define(tool_registry(), "look", "Looks around.", {handler: { args -> "a room" }})
  return agent_loop(task, "You look around.", {
    tools: tools,
    llm_caller: { call ->
      asked = asked + 1
      if asked == 1 { return {text: "I look.", tool_calls: [{name: "look", arguments: {}}]} }
      return "It is a room with a table and two chairs in it."
    },
  })
}
"#;

/// The frames without an id, one prompt long.
fn notifications(start: &AgentCommand, capabilities: Value) -> Vec<Value> {
    let mut client: Client = start.spawn();
    client.initialize(capabilities);
    let session = client.session();
    assert_eq!(client.prompted(&session, "Look around.")["stopReason"], "end_turn");
    client.frames.iter().filter(|frame| frame.get("id").is_none()).cloned().collect()
}

/// Returns a frame's report about a reminder, if any.
fn told(frame: &Value) -> Option<&Value> {
    frame.pointer("/params/update/_meta/harn/reminder")
}

/// Returns the percentage of bytes in frames that report reminders.
fn share(frames: &[Value]) -> usize {
    let bytes = |frame: &Value| frame.to_string().len();
    let own: usize = frames.iter().filter(|frame| told(frame).is_some()).map(bytes).sum();
    100 * own / frames.iter().map(bytes).sum::<usize>()
}

/// The word of each event, in order.
const EVENTS: [&str; 6] = ["deduped", "emitted", "emitted", "expired", "emitted", "expired"];

#[test]
fn a_client_that_did_not_ask_is_told_of_each_reminder_event_once() {
    let start = AgentCommand::script(SCRIPT, "reminders-silent");
    let frames = notifications(&start, json!({}));
    let told: Vec<&Value> = frames.iter().filter_map(told).collect();
    assert_eq!(told.iter().map(|told| told["event"].as_str().unwrap()).collect::<Vec<_>>(), EVENTS);
    for frame in &frames {
        assert_eq!(frame["method"], "session/update", "{frame}");
        let update = frame["params"]["update"].as_object().unwrap();
        let carries = frame.to_string().contains("reminder");
        assert_eq!(carries, update["sessionUpdate"] == "session_info_update", "{frame}");
        assert!(!carries || update.len() == 2, "nothing but the kind and `_meta`: {frame}");
    }
    let text = Value::from(frames.clone()).to_string();
    assert_eq!(text.matches("Never write outside").count(), 1, "emitted once, so told once: {text}");
    assert_eq!(text.matches("passing again").count(), 2, "emitted twice: {text}");
    // It was 86 when each event was a notification and was repeated beside the next update, with
    // 5,923 bytes in all.
    assert!(share(&frames) < 70 && text.len() < 4_000, "{}, {}", share(&frames), text.len());
}

#[test]
fn a_client_that_asked_gets_each_event_as_one_update_with_the_fields_of_the_rfc() {
    let start = AgentCommand::script(SCRIPT, "reminders-asked");
    let frames = notifications(&start, json!({"_meta": {"harn": {"reminders": true}}}));
    let updates: Vec<&Value> =
        frames.iter().filter(|frame| told(frame).is_some()).map(|frame| &frame["params"]["update"]).collect();
    let words = EVENTS.map(|event| format!("reminder_{event}"));
    assert_eq!(updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect::<Vec<_>>(), words);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let meta = |update: &Value| keys(&update["_meta"]["harn"]["reminder"]);
    let fields = [
        "sessionUpdate reminderId dedupeKey droppedReminderIds _meta",
        "sessionUpdate reminderId body dedupeKey source firedAtTurn _meta",
        "sessionUpdate reminderId body tags source firedAtTurn _meta",
        "sessionUpdate reminderId phase expiredAtTurn _meta",
    ];
    let sorted = |fields: &str| {
        let mut fields: Vec<&str> = fields.split(' ').collect();
        fields.sort_unstable();
        fields.join(" ")
    };
    for (update, fields) in updates.iter().zip(fields) {
        assert_eq!(sorted(&keys(update)), sorted(fields));
    }
    assert_eq!(meta(updates[0]), "event");
    assert_eq!(sorted(&meta(updates[1])), "event preserveOnCompact propagate roleHint ttlTurns turn");
    let others = frames.iter().filter(|frame| told(frame).is_none());
    assert!(others.into_iter().all(|frame| !frame.to_string().contains("eminder")), "{frames:#?}");
}

#[test]
fn a_source_is_spelled_alike_while_a_reminder_waits_and_when_it_is_emitted() {
    let start = AgentCommand::agent("seams.harn", "reminders-source");
    let mut client = start.initialized();
    let session = client.session();
    client.ask("session/inject_reminder", json!({"sessionId": session, "body": "The build is red."}));
    let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
    client.prompted(&session, "Look.");
    let emitted = client.frames.iter().filter_map(told).find(|told| told["event"] == "emitted").unwrap();
    assert_eq!((&pending["injections"][0]["source"], &emitted["source"]), (&json!("host"), &json!("host")));
}

#[test]
fn a_client_hears_what_the_policy_refuses() {
    let start = AgentCommand::script(SCRIPT, "reminders-policy");
    let policy = start.folder().join("policy.toml");
    let rules =
        "[reminders.policy]\nforbid_tags = [\"promotion*\"]\n\n[reminders.policy.sources.host]\nmax_body = \"20\"\n";
    std::fs::write(&policy, rules).unwrap();
    let mut client = start.env("HARN_POLICY", policy.to_str().unwrap()).spawn();
    client.initialize(json!({}));
    let session = client.session();
    let remind = |body: &str, tag: &str| json!({"sessionId": session, "body": body, "tags": [tag]});
    for (params, reason) in [
        (remind("Buy!", "promotion"), "the tag `promotion` is forbidden"),
        (remind("This is longer than it may be.", "rule"), "the source `host` may use at most 20"),
    ] {
        let error = client.refused("session/inject_reminder", params);
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32602), &json!("policy")), "{error}");
        assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
    }
    let taken = client.ask("session/inject_reminder", remind("Read NOTES.md.", "rule"));
    assert!(taken["reminderId"].is_string(), "{taken}");
    assert_eq!(client.ask("session/pending_injections", json!({"sessionId": session}))["pendingCount"], 1);
}

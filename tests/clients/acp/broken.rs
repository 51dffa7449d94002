//! The check of frames can fail: a good frame of each sort, broken in each of its places.

use super::schema::protocol;
use serde_json::{Value, json};

/// Keys that are required at every place in the frames below.
const NEEDED: [&str; 9] =
    ["jsonrpc", "sessionId", "update", "sessionUpdate", "toolCallId", "reminderId", "stopReason", "code", "params"];

/// Returns valid frames, each with the method that it answers, if any.
fn good() -> Vec<(Option<&'static str>, Value)> {
    let mut frames: Vec<(Option<&str>, Value)> = updates()
        .into_iter()
        .map(|update| {
            let params = json!({"sessionId": "s", "update": update, "_meta": {"harn": {"x": 1}}});
            (None, json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
        })
        .collect();
    let reminders = json!({"inject": true, "emit": true, "propagate": ["all"], "roleHints": ["system"]});
    let answers = [
        (
            "initialize",
            json!({"protocolVersion": 1, "authMethods": [], "agentInfo": {"name": "harn", "version": "1"},
            "agentCapabilities": {"loadSession": true, "promptCapabilities": {"image": false}, "sessionCapabilities": {"list": {}},
            "reminders": reminders, "_meta": {"harn": {"reminders": reminders}}}}),
        ),
        (
            "session/new",
            json!({"sessionId": "s", "modes": {"currentModeId": "ask",
            "availableModes": [{"id": "ask", "name": "Ask", "description": "Asks."}]}}),
        ),
        ("session/load", json!({"modes": {"currentModeId": "ask", "availableModes": []}})),
        (
            "session/list",
            json!({"sessions": [{"sessionId": "s", "cwd": "/", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"}],
            "nextCursor": "c"}),
        ),
        ("session/prompt", json!({"stopReason": "end_turn", "_meta": {"harn": {"inputRequired": true}}})),
        ("session/inject_reminder", json!({"reminderId": "r", "dedupedCount": 1})),
        ("_session/inject_reminder", json!({"reminderId": "r"})),
        ("session/inject", json!({"injectionId": "i"})),
        ("session/revoke_reminder", json!({"status": "revoked"})),
        ("session/clear_reminders", json!({"removedCount": 1})),
        (
            "session/pending_injections",
            json!({"pendingCount": 1, "injections": [{"kind": "reminder", "reminderId": "r",
            "mode": "finish_step", "body": "b", "tags": ["t"], "dedupeKey": "k", "ttlTurns": 1, "roleHint": "system",
            "source": "host"}]}),
        ),
    ];
    frames.extend(answers.map(|(method, result)| (Some(method), json!({"jsonrpc": "2.0", "id": 1, "result": result}))));
    let question = json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "T", "kind": "edit"},
        "options": [{"optionId": "o", "name": "Allow", "kind": "allow_once"}]});
    frames.push((None, json!({"jsonrpc": "2.0", "id": 3, "method": "session/request_permission", "params": question})));
    let error = json!({"code": -32602, "message": "It is wrong.", "data": {"code": "HARN-ACP-001", "field": "f"}});
    frames.push((Some("session/new"), json!({"jsonrpc": "2.0", "id": 1, "error": error})));
    frames
}

fn updates() -> Vec<Value> {
    let text = json!({"type": "text", "text": "t"});
    vec![
        json!({"sessionUpdate": "user_message_chunk", "content": text, "messageId": "m"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": text}),
        json!({"sessionUpdate": "agent_thought_chunk", "content": text}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "read", "status": "pending",
            "locations": [{"path": "/a", "line": 1}], "content": [{"type": "content", "content": text}]}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "content": [{"type": "diff", "path": "/a", "oldText": "o", "newText": "n"}]}),
        json!({"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "high", "status": "pending"}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}),
        json!({"sessionUpdate": "session_info_update", "title": "T"}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "reminder_emitted", "reminderId": "r", "body": "b", "source": "host", "firedAtTurn": 1}),
        json!({"sessionUpdate": "reminder_deduped", "reminderId": "r", "dedupeKey": "k", "droppedReminderIds": ["o"]}),
        json!({"sessionUpdate": "reminder_expired", "reminderId": "r", "phase": "ttl_expired"}),
    ]
}

#[test]
fn frames_with_one_fault_are_found() {
    let mut broken = 0;
    for (method, frame) in good() {
        assert_eq!(protocol().problem(&frame, method), None);
        for (how, worse) in broken_frames(&frame) {
            assert!(protocol().problem(&worse, method).is_some(), "{how} was let through: {worse}");
            broken += 1;
        }
    }
    assert!(broken > 300, "{broken}");
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert!(protocol().problem(&answer, None).is_some(), "an answer that nobody asked for");
    assert!(protocol().problem(&answer, Some("session/new")).is_some(), "an answer to something else");
}

/// Returns the frame with an unknown key, without a required key, or with a value of a wrong type,
/// in each place; `_meta` of others and `id` are unconstrained.
fn broken_frames(good: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut todo = vec![(String::new(), good)];
    while let Some((path, value)) = todo.pop() {
        let mut put = |how: &str, change: &dyn Fn(&mut Value)| {
            let mut worse = good.clone();
            change(worse.pointer_mut(&path).unwrap());
            found.push((format!("{how} at {path}"), worse));
        };
        match value {
            Value::Object(fields) => {
                put("an unknown key", &|value| value["noSuchKey"] = json!(1));
                for key in NEEDED.iter().filter(|key| fields.contains_key(**key)) {
                    put(&format!("no `{key}`"), &|value| {
                        value.as_object_mut().unwrap().remove(*key);
                    });
                }
                todo.extend(
                    fields
                        .iter()
                        .filter(|(key, _)| !["_meta", "id", "data"].contains(&key.as_str()))
                        .map(|(key, value)| (format!("{path}/{key}"), value)),
                );
            }
            Value::Array(items) => {
                put("a wrong type", &|value| *value = json!(7));
                todo.extend(items.iter().enumerate().map(|(index, item)| (format!("{path}/{index}"), item)));
            }
            _ => put("a wrong type", &|value| *value = json!([[]])),
        }
    }
    found
}

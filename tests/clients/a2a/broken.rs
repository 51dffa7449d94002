//! The check of answers can fail: a good answer of each sort, broken in each of its places.

use super::wire::{EXTENSION, NOTIFICATIONS_URI, check};
use serde_json::{Value, json};

/// Keys that are required at every place in the answers below.
const NEEDED: [&str; 18] = [
    "jsonrpc",
    "id",
    "contextId",
    "taskId",
    "status",
    "state",
    "messageId",
    "role",
    "parts",
    "artifactId",
    "kind",
    "final",
    "code",
    "reason",
    "reminderId",
    "acceptedAt",
    "skills",
    "domain",
];

/// A request and what answers it well.
struct ValidExchange {
    version: Option<&'static str>,
    method: &'static str,
    frames: Vec<Value>,
    is_stream: bool,
}

fn exchange(good: &ValidExchange, frames: &[Value]) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": good.method, "params": {}});
    let mut headers = json!({"a2a-extensions": NOTIFICATIONS_URI});
    if let Some(version) = good.version {
        headers["a2a-version"] = json!(version);
    }
    let (path, kind) = match good.method {
        "" => ("/.well-known/agent-card.json", "application/json"),
        _ if good.is_stream => ("/", "text/event-stream"),
        _ => ("/", "application/json"),
    };
    let body = if good.is_stream {
        frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
    } else {
        frames[0].to_string()
    };
    json!({
        "request": {"method": "POST", "path": path, "headers": headers, "body": request.to_string()},
        "response": {"status": 200, "headers": {"content-type": kind}, "body": body},
    })
}

fn result(result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "result": result})
}

fn good() -> Vec<ValidExchange> {
    let mut all = of_1_0();
    all.extend(of_0_3());
    all.extend(of_all());
    all
}

fn of_1_0() -> Vec<ValidExchange> {
    let version = Some("1.0");
    let parts =
        json!([{"text": "t"}, {"data": {"n": 1}}, {"raw": "aGk=", "mediaType": "x/y"}, {"url": "u", "filename": "f"}]);
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": parts});
    let status = json!({"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:00.123Z", "message": message});
    let artifact = json!({"artifactId": "a", "name": "n", "parts": parts});
    let task = json!({"id": "t", "contextId": "c", "status": status, "artifacts": [artifact], "history": [message]});
    let emitted = json!({"event": "emitted", "id": "r", "body": "b", "source": "host", "firedAtTurn": 0, "turn": 1,
        "preserveOnCompact": false, "propagate": "all", "roleHint": "system"});
    let update = json!({"taskId": "t", "contextId": "c", "status": status, "metadata": {"harn.reminder": emitted}});
    let made = json!({"taskId": "t", "contextId": "c", "artifact": artifact, "append": true, "lastChunk": false});
    let page = json!({"tasks": [task], "nextPageToken": "", "pageSize": 50, "totalSize": 1});
    let detail = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org", "metadata": {"code": "HARN-A2A-001"}});
    let error =
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32001, "message": "There is none.", "data": [detail]}});
    let stream = vec![
        result(json!({"task": task})),
        result(json!({"statusUpdate": update})),
        result(json!({"artifactUpdate": made})),
    ];
    vec![
        ValidExchange { version, method: "SendMessage", frames: vec![result(json!({"task": task}))], is_stream: false },
        ValidExchange { version, method: "GetTask", frames: vec![result(task)], is_stream: false },
        ValidExchange { version, method: "ListTasks", frames: vec![result(page)], is_stream: false },
        ValidExchange { version, method: "CancelTask", frames: vec![error], is_stream: false },
        ValidExchange { version, method: "SendStreamingMessage", frames: stream, is_stream: true },
    ]
}

fn of_0_3() -> Vec<ValidExchange> {
    let version = Some("0.3");
    let parts = json!([{"kind": "text", "text": "t"}, {"kind": "data", "data": {"n": 1}},
        {"kind": "file", "file": {"uri": "u", "mimeType": "x/y"}}]);
    let message = json!({"kind": "message", "messageId": "m", "role": "agent", "parts": parts});
    let status = json!({"state": "working", "message": message});
    let artifact = json!({"artifactId": "a", "parts": parts});
    let task = json!({"kind": "task", "id": "t", "contextId": "c", "status": status, "artifacts": [artifact], "history": [message]});
    let update = json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": status, "final": true});
    let made = json!({"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": artifact});
    let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32001, "message": "There is none.", "data": {"code": "HARN-A2A-001"}}});
    let emitted = json!({"jsonrpc": "2.0", "method": "tasks/reminderEmitted",
        "params": {"taskId": "t", "reminder": {"id": "r", "body": "b", "source": "host", "firedAtTurn": 0},
        "metadata": {"harn.reminder": {"turn": 1, "preserveOnCompact": false, "propagate": "all", "roleHint": "system"}}}});
    vec![
        ValidExchange { version, method: "message/send", frames: vec![result(task.clone())], is_stream: false },
        ValidExchange { version, method: "tasks/get", frames: vec![error], is_stream: false },
        ValidExchange {
            version,
            method: "message/stream",
            frames: vec![result(task), result(made), emitted, result(update)],
            is_stream: true,
        },
    ]
}

fn of_all() -> Vec<ValidExchange> {
    let taken = json!({"reminderId": "r", "dedupedCount": 0, "acceptedAt": "2026-01-01T00:00:00.123Z"});
    let card = json!({
        "name": "n", "description": "d", "version": "1", "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "skills": [{"id": "i", "name": "n", "description": "d", "tags": ["t"]}],
        "capabilities": {
            "streaming": true, "reminders": capability(), "_meta": {"harn": {"reminders": capability()}},
            "extensions": [{"uri": EXTENSION, "required": false, "params": capability()}],
        },
    });
    vec![
        ValidExchange {
            version: Some("1.0"),
            method: "tasks/inject_reminder",
            frames: vec![result(taken)],
            is_stream: false,
        },
        ValidExchange { version: Some("1.0"), method: "", frames: vec![card], is_stream: false },
    ]
}

fn capability() -> Value {
    json!({"inject": true, "emit": true, "propagate": ["all"], "roleHints": ["system"]})
}

/// The value with each of its places broken in turn, and what was done.
fn broken(value: &Value, path: &str, made: &mut Vec<(Value, String)>) {
    match value {
        Value::Object(fields) => {
            let is_open = path.ends_with("/data") || path.ends_with("/metadata");
            if !is_open {
                let mut more = fields.clone();
                more.insert("unheardOf".to_owned(), json!(1));
                made.push((Value::Object(more), format!("{path}: a key that there is not")));
            }
            for (key, inner) in fields {
                let of_data = path.ends_with("/data") && key != "code";
                let of_error = key == "message" && path.ends_with("/error");
                if (of_error || NEEDED.contains(&key.as_str())) && !of_data {
                    let mut less = fields.clone();
                    less.remove(key);
                    made.push((Value::Object(less), format!("{path}: without {key}")));
                }
                let mut inside = Vec::new();
                if !of_data {
                    broken(inner, &format!("{path}/{key}"), &mut inside);
                }
                for (inner, what) in inside {
                    let mut other = fields.clone();
                    other.insert(key.clone(), inner);
                    made.push((Value::Object(other), what));
                }
            }
        }
        Value::Array(items) => {
            made.push((json!({}), format!("{path}: an object in place of a list")));
            for (at, item) in items.iter().enumerate() {
                let mut inside = Vec::new();
                broken(item, &format!("{path}/{at}"), &mut inside);
                for (inner, what) in inside {
                    let mut other = items.clone();
                    other[at] = inner;
                    made.push((Value::Array(other), what));
                }
            }
        }
        Value::String(_) => made.push((json!(12), format!("{path}: a number in place of a text"))),
        _ => made.push((json!("no"), format!("{path}: a text in place of {value}"))),
    }
}

#[test]
fn good_answers_fit() {
    for good in good() {
        if let Err(problem) = check(&exchange(&good, &good.frames)) {
            panic!("{} {:?}: {problem}", good.method, good.version);
        }
    }
}

#[test]
fn an_answer_that_is_broken_anywhere_is_refused() {
    let (mut tried, mut through) = (0, Vec::new());
    for good in good() {
        for (at, frame) in good.frames.iter().enumerate() {
            let mut made = Vec::new();
            broken(frame, "", &mut made);
            for (frame, what) in made {
                let mut frames = good.frames.clone();
                frames[at] = frame;
                if check(&exchange(&good, &frames)).is_ok() {
                    through.push(format!("{} of {:?}: {what}", good.method, good.version));
                }
                tried += 1;
            }
        }
    }
    assert!(through.is_empty(), "{through:#?}");
    assert!(tried > 400, "{tried} are too few");
}

#[test]
fn streams_that_are_no_streams_of_the_protocol_are_refused() {
    let all = of_0_3();
    let good = &all[2];
    let [task, made, emitted, last] = good.frames.as_slice() else { panic!("four frames") };
    let refused = |frames: &[Value], what: &str| {
        let cloned: Vec<Value> = frames.to_vec();
        assert!(check(&exchange(good, &cloned)).is_err(), "{what}");
    };
    refused(&[made.clone(), last.clone()], "it begins without the task");
    refused(&[task.clone(), task.clone()], "the task comes twice");
    refused(&[task.clone(), last.clone(), made.clone()], "something comes behind the last");
    let mut unasked = exchange(good, &[task.clone(), emitted.clone()]);
    for other in ["urn:another", EXTENSION] {
        unasked["request"]["headers"]["a2a-extensions"] = json!(other);
        assert!(check(&unasked).is_err(), "a notification that no client asked for");
    }
    let mut card = exchange(&of_all()[1], &of_all()[1].frames);
    card["request"]["headers"]["a2a-extensions"] = json!("");
    assert!(check(&card).is_err(), "`capabilities.reminders` that nobody has asked for");
}

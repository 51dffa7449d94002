//! Each field of each payload wrong in turn: -32602 with a code, the field, and no trace of the request.

use super::client::Client;
use super::start::AgentCommand;
use serde_json::{Value, json};

/// Parameters that are right, with `S` in place of the session, and what may be wrong with them.
struct Payload {
    method: &'static str,
    right: Value,
    /// Path, field that is named, values.
    wrong: Vec<(&'static str, &'static str, Vec<Wrong>)>,
}

/// A value in a place, or none.
enum Wrong {
    Is(Value),
    Missing,
}

use Wrong::{Is, Missing};

/// Returns values that are not strings.
fn no_string() -> Vec<Wrong> {
    vec![Is(json!(7)), Is(json!(true)), Is(json!([])), Is(json!({})), Is(json!(1.5))]
}

/// Returns values that are not strings, and a missing value.
fn needs_string() -> Vec<Wrong> {
    no_string().into_iter().chain([Missing, Is(Value::Null)]).collect()
}

fn no_object() -> Vec<Wrong> {
    vec![Is(json!(7)), Is(json!("x")), Is(json!([]))]
}

fn is(values: &[Value]) -> Vec<Wrong> {
    values.iter().cloned().map(Is).collect()
}

fn payloads() -> Vec<Payload> {
    let opening = |method| Payload {
        method,
        right: json!({"sessionId": "S", "cwd": "/", "mcpServers": []}),
        wrong: vec![
            ("/sessionId", "sessionId", needs_string()),
            ("/cwd", "cwd", needs_string()),
            ("/cwd", "cwd", is(&[json!("relative"), json!("")])),
            ("/mcpServers", "mcpServers", is(&[json!(7), json!("x"), json!({})])),
            ("/mcpServers", "mcpServers[0]", is(&[json!([7])])),
            ("/mcpServers", "mcpServers[0].name", is(&[json!([{}]), json!([{"name": 7}])])),
            ("/additionalDirectories", "additionalDirectories", is(&[json!(7), json!("x"), json!({})])),
            ("/additionalDirectories", "additionalDirectories[0]", is(&[json!([7])])),
            ("/_meta", "_meta", no_object()),
        ],
    };
    let mut new = opening("session/new");
    new.wrong.remove(0);
    vec![new, opening("session/load"), opening("session/resume"), initialize(), prompt(), list(), set_mode(), close()]
}

fn initialize() -> Payload {
    Payload {
        method: "initialize",
        right: json!({"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "n", "version": "1"}}),
        wrong: vec![
            ("/protocolVersion", "protocolVersion", vec![Missing]),
            ("/protocolVersion", "protocolVersion", is(&[json!("1"), json!(-1), json!(1.5), json!([]), json!(1e300)])),
            ("/clientCapabilities", "clientCapabilities", no_object()),
            ("/clientInfo", "clientInfo", no_object()),
            ("/clientInfo/name", "clientInfo.name", needs_string()),
            ("/_meta", "_meta", no_object()),
        ],
    }
}

fn prompt() -> Payload {
    Payload {
        method: "session/prompt",
        right: json!({"sessionId": "S", "prompt": [{"type": "text", "text": "Hi."}, {"type": "resource_link", "uri": "file:///a",
            "name": "a"}, {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}}]}),
        wrong: vec![
            ("/sessionId", "sessionId", needs_string()),
            (
                "/prompt",
                "prompt",
                vec![Missing, Is(json!(7)), Is(json!("Hi.")), Is(json!({})), Is(json!([])), Is(Value::Null)],
            ),
            ("/prompt/0", "prompt[0]", is(&[json!(7), json!("Hi."), json!([])])),
            ("/prompt/0/type", "prompt[0].type", needs_string()),
            ("/prompt/0/type", "prompt[0].type", is(&[json!("txet"), json!("image"), json!("audio"), json!("")])),
            ("/prompt/0/text", "prompt[0].text", needs_string()),
            ("/prompt/1/uri", "prompt[1].uri", needs_string()),
            ("/prompt/1/name", "prompt[1].name", needs_string()),
            ("/prompt/2/resource", "prompt[2].resource", vec![Missing, Is(json!(7)), Is(json!([]))]),
            ("/prompt/2/resource/uri", "prompt[2].resource.uri", needs_string()),
            ("/prompt/2/resource/text", "prompt[2].resource.text", needs_string()),
            ("/_meta", "_meta", no_object()),
        ],
    }
}

fn list() -> Payload {
    Payload {
        method: "session/list",
        right: json!({"cwd": "/", "cursor": null}),
        wrong: vec![
            ("/cwd", "cwd", no_string()),
            ("/cwd", "cwd", is(&[json!("relative")])),
            ("/cursor", "cursor", no_string()),
        ],
    }
}

fn set_mode() -> Payload {
    Payload {
        method: "session/set_mode",
        right: json!({"sessionId": "S", "modeId": "ask"}),
        wrong: vec![
            ("/sessionId", "sessionId", needs_string()),
            ("/modeId", "modeId", needs_string()),
            ("/modeId", "modeId", is(&[json!("aks"), json!("")])),
        ],
    }
}

fn close() -> Payload {
    Payload {
        method: "session/close",
        right: json!({"sessionId": "S"}),
        wrong: vec![("/sessionId", "sessionId", needs_string())],
    }
}

/// Sends every payload with each error, and returns the number of requests.
fn refused(
    client: &mut Client,
    session: &str,
    payload: &Payload,
    code: impl Fn(&str, &Value) -> &'static str,
) -> usize {
    let right: Value =
        serde_json::from_str(&payload.right.to_string().replace("\"S\"", &json!(session).to_string())).unwrap();
    let mut count = 0;
    for (path, field, values) in &payload.wrong {
        for wrong in values {
            let mut params = right.clone();
            let (parent, key) = path.rsplit_once('/').unwrap();
            let object = params.pointer_mut(parent).unwrap();
            let value = match (wrong, key.parse::<usize>()) {
                (Is(value), Ok(index)) => {
                    object[index] = value.clone();
                    value.clone()
                }
                (Is(value), Err(_)) => {
                    object[key] = value.clone();
                    value.clone()
                }
                (Missing, _) => {
                    object.as_object_mut().unwrap().remove(key);
                    Value::Null
                }
            };
            let error = client.refused(payload.method, params.clone());
            let told = (error["code"].as_i64(), error["data"]["code"].as_str(), error["data"]["field"].as_str());
            let expected = (Some(-32602), Some(code(path, &value)), Some(*field));
            assert_eq!(told, expected, "{} {params}\n{error}", payload.method);
            count += 1;
        }
    }
    count
}

#[test]
fn each_field_of_the_protocol_wrong_in_turn() {
    let mut client = AgentCommand::agent("seams.harn", "fields").logged().initialized();
    let session = client.session();
    let count: usize =
        payloads().iter().map(|payload| refused(&mut client, &session, payload, |_, _| "HARN-ACP-006")).sum();
    assert!(count > 120, "{count}");
    for method in
        ["session/new", "session/prompt", "session/close", "session/set_mode", "initialize", "session/inject_reminder"]
    {
        let error = client.refused(method, json!([1]));
        assert_eq!(
            (error["code"].as_i64(), error["data"]["field"].as_str()),
            (Some(-32602), Some("params")),
            "{method}: {error}"
        );
        client.refused(method, Value::Null);
    }
    let error = client.refused("authenticate", json!({"methodId": "x"}));
    assert_eq!((error["code"].as_i64(), error["data"]["field"].as_str()), (Some(-32602), Some("methodId")));
    // Nothing of all that has happened: there is one session, and it answers.
    assert_eq!(client.ask("session/list", json!({}))["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.prompted(&session, "Look.")["stopReason"], "end_turn");
}

/// Each with the code of its row in the guide.
fn reminder(method: &'static str) -> Payload {
    Payload {
        method,
        right: json!({"sessionId": "S", "body": "b", "tags": ["t"], "dedupeKey": "k", "ttlTurns": 1, "preserveOnCompact": true,
            "propagate": "all", "roleHint": "system", "mode": "finish_step", "_meta": {}}),
        wrong: vec![
            ("/body", "body", needs_string()),
            ("/body", "body", is(&[json!(""), json!("  \n\t")])),
            ("/tags", "tags", is(&[json!(7), json!("t"), json!({})])),
            ("/tags", "tags[0]", is(&[json!([7]), json!([null]), json!([["t"]]), json!([""])])),
            ("/dedupeKey", "dedupeKey", no_string()),
            (
                "/ttlTurns",
                "ttlTurns",
                is(&[json!(0), json!(-1), json!(1.5), json!("1"), json!([]), json!(true), json!(1e300)]),
            ),
            ("/preserveOnCompact", "preserveOnCompact", is(&[json!("true"), json!(1), json!([]), json!({})])),
            ("/propagate", "propagate", is(&[json!("everyone"), json!(""), json!(7), json!([])])),
            ("/roleHint", "roleHint", is(&[json!("sytem"), json!(""), json!(7), json!([])])),
            ("/mode", "mode", is(&[json!("finish"), json!(""), json!(7), json!([]), json!("wait_for_completion")])),
            ("/_meta", "_meta", no_object()),
            ("/bdy", "bdy", is(&[json!("b")])),
            ("/ttl", "ttl", is(&[json!(1)])),
            ("/source", "source", is(&[json!("hook")])),
        ],
    }
}

#[test]
fn each_field_of_a_reminder_wrong_in_turn() {
    let mut client = AgentCommand::agent("seams.harn", "fields-reminder").initialized();
    let session = client.session();
    let code = |path: &str, _: &Value| match path {
        "/bdy" | "/ttl" | "/source" => "HARN-RMD-001",
        "/propagate" => "HARN-RMD-005",
        _ => "HARN-RMD-002",
    };
    let mut count = 0;
    for method in ["session/inject_reminder", "session/remind", "_session/inject_reminder", "_session/remind"] {
        count += refused(&mut client, &session, &reminder(method), code);
    }
    assert!(count > 160, "{count}");
    let suggestion = |client: &mut Client, key: &str, value: &str| {
        let error = client.refused("session/inject_reminder", json!({"sessionId": session, "body": "b", key: value}));
        error["data"]["suggestion"].clone()
    };
    assert_eq!(suggestion(&mut client, "roleHint", "sytem"), "system");
    assert_eq!(suggestion(&mut client, "propagate", "sesion"), "session");
    assert_eq!(suggestion(&mut client, "mode", "finish_stp"), "finish_step");
    assert_eq!(suggestion(&mut client, "dedupKey", "k"), "dedupeKey");
    let long = client.refused("session/inject_reminder", json!({"sessionId": session, "body": "b".repeat(2_000_000)}));
    assert_eq!((long["code"].as_i64(), long["data"]["field"].as_str()), (Some(-32602), Some("body")), "{long}");
    // Nothing of all that is in the queue.
    assert_eq!(client.ask("session/pending_injections", json!({"sessionId": session}))["pendingCount"], 0);
}

#[test]
fn each_field_of_the_other_methods_of_the_queue_wrong_in_turn() {
    let mut client = AgentCommand::agent("seams.harn", "fields-queue").initialized();
    let session = client.session();
    // Without a session's id the only one that is open is meant.
    let pending = Payload {
        method: "session/pending_injections",
        right: json!({"sessionId": "S"}),
        wrong: vec![("/sessionId", "sessionId", no_string()), ("/sesionId", "sesionId", is(&[json!("S")]))],
    };
    let inject = Payload {
        method: "session/inject",
        right: json!({"sessionId": "S", "content": "Hurry."}),
        wrong: vec![
            ("/sessionId", "sessionId", no_string()),
            ("/content", "content", is(&[json!(7), json!(true), json!({}), json!(""), json!([])])),
            ("/content", "content", vec![Missing]),
            ("/mode", "mode", is(&[json!("finish"), json!(7), json!([])])),
        ],
    };
    let revoke = Payload {
        method: "session/revoke_reminder",
        right: json!({"sessionId": "S", "reminderId": "r"}),
        wrong: vec![("/sessionId", "sessionId", no_string()), ("/reminderId", "reminderId", needs_string())],
    };
    let mut count = 0;
    for payload in [pending, inject, revoke] {
        count += refused(&mut client, &session, &payload, |path, _| match path {
            "/sesionId" => "HARN-RMD-001",
            _ => "HARN-RMD-002",
        });
    }
    assert!(count > 22, "{count}");
    assert_eq!(client.ask("session/pending_injections", json!({"sessionId": session}))["pendingCount"], 0);
    let about = json!({"sessionId": session, "body": "b", "tags": ["t"]});
    client.ask("session/inject_reminder", about);
    let clear = json!({"sessionId": session, "tag": "t"});
    for removed in [1, 0] {
        assert_eq!(client.ask("session/clear_reminders", clear.clone()), json!({"removedCount": removed}));
    }
    let unknown = client.refused("session/revoke_reminder", json!({"sessionId": session, "reminderId": "no-such"}));
    assert_eq!(
        (unknown["code"].as_i64(), unknown["data"]["field"].as_str()),
        (Some(-32002), Some("reminderId")),
        "{unknown}"
    );
}

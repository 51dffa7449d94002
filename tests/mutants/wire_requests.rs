//! Good requests of every wire, from which mutants are made.

use crate::http::{get, post};
use serde_json::{Value, json};

/// Words in requests, in whose place the worker puts the ids of its server. That of sessions has their length, since frames
/// say theirs.
pub(crate) const SESSION: &str = "sess_SESSIONxSESSIONxSESSIONxSESSIONx";
pub(crate) const TASK: &str = "TASK-ID";
pub(crate) const ACTION: &str = "ACTION-ID";
pub(crate) const SECRET: &str = "CHANNEL-SECRET";

/// A wire, and sessions of good requests.
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    pub(crate) sessions: Vec<Vec<Vec<u8>>>,
    /// Whether a request is a line.
    pub(crate) is_lines: bool,
}

/// Returns a request of JSON-RPC.
#[allow(clippy::needless_pass_by_value, reason = "callers write the parameters in place")]
pub(crate) fn rpc(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn lines(messages: Vec<Value>) -> Vec<Vec<u8>> {
    messages.into_iter().map(|message| message.to_string().into_bytes()).collect()
}

/// Messages of ACP within a session.
fn acp_messages() -> Vec<Vec<Value>> {
    let prompt = |id: u64, text: &str| {
        let prompt = json!([{"type": "text", "text": text}, {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mimeType": "text/plain"}}]);
        rpc(id, "session/prompt", json!({"sessionId": SESSION, "prompt": prompt, "_meta": {"a": 1}}))
    };
    let of = |id: u64, method: &str, more: Value| {
        let mut params = json!({"sessionId": SESSION});
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        rpc(id, method, params)
    };
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": SESSION}});
    let allowed =
        json!({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}});
    let reminder = json!({"reminder": {"body": "Be brief.", "ttlTurns": 2, "dedupeKey": "k", "tags": ["a"],
        "priority": "high", "roleHint": "system", "propagate": "all", "preserveOnCompact": true}});
    vec![
        vec![prompt(1, "go"), of(2, "session/pending_injections", json!({}))],
        vec![of(1, "session/remind", reminder.clone()), prompt(2, "loop twice")],
        vec![
            of(1, "session/inject_reminder", reminder),
            of(2, "session/inject", json!({"message": {"content": "Look.", "mode": "queue"}})),
            of(3, "session/revoke_reminder", json!({"reminderId": "r"})),
            of(4, "session/clear_reminders", json!({"tags": ["a"]})),
        ],
        vec![prompt(1, "tool"), allowed, cancel.clone()],
        vec![prompt(1, "ask me"), prompt(2, "blue"), cancel],
        vec![prompt(1, "fail"), of(2, "session/set_mode", json!({"modeId": "plan"}))],
        vec![
            rpc(1, "session/new", json!({"cwd": "/", "mcpServers": [], "additionalDirectories": ["/"]})),
            rpc(2, "session/list", json!({"cwd": "/", "cursor": null})),
            of(3, "session/load", json!({"cwd": "/", "mcpServers": []})),
            of(4, "session/resume", json!({"cwd": "/", "mcpServers": []})),
        ],
        vec![
            of(1, "session/close", json!({})),
            of(2, "session/delete", json!({})),
            of(3, "session/fork", json!({"cwd": "/", "mcpServers": []})),
            of(4, "session/set_config_option", json!({"configId": "mode", "value": "plan"})),
        ],
        vec![rpc(1, "initialize", initialize_params()), rpc(2, "authenticate", json!({"methodId": "m"}))],
    ]
}

/// Returns what a client of ACP says of itself.
pub(crate) fn initialize_params() -> Value {
    json!({"protocolVersion": 1, "clientInfo": {"name": "n", "version": "1"},
        "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false}})
}

/// The description that a request of MCP without a session has of itself.
pub(crate) fn mcp_meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}})
}

fn mcp_messages() -> Vec<Value> {
    let mut all = Vec::new();
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "count", "arguments": {"of": "abc", "most": 2}})),
        ("tools/call", json!({"name": "fail", "arguments": {"why": "no"}, "task": {"ttl": 1000}})),
        ("tools/call", json!({"name": "slow", "arguments": {"steps": 2}})),
        ("resources/list", json!({"cursor": "x"})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "things://all"})),
        ("resources/read", json!({"uri": "things://7"})),
        ("resources/subscribe", json!({"uri": "things://all"})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "count", "arguments": {"of": "abc"}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": "things://{id}"}, "argument": {"name": "id", "value": "1"}}),
        ),
        ("logging/setLevel", json!({"level": "debug"})),
        ("server/discover", json!({})),
        ("tasks/get", json!({"taskId": TASK})),
        ("tasks/cancel", json!({"taskId": TASK})),
        ("tasks/list", json!({})),
        ("tasks/result", json!({"taskId": TASK})),
        ("ping", json!({})),
    ] {
        let mut params = params;
        params["_meta"] = mcp_meta();
        params["_meta"]["progressToken"] = json!(7);
        all.push(rpc(u64::try_from(all.len()).unwrap_or(0) + 1, method, params));
    }
    all.push(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "r"}}));
    all.push(json!({"jsonrpc": "2.0", "id": 9, "result": {"action": "accept", "content": {"a": 1}}}));
    all
}

/// The handshake of the versions with sessions.
fn mcp_initialize() -> Vec<Value> {
    let params = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "n", "version": "1"},
        "capabilities": {"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}}});
    vec![rpc(0, "initialize", params), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})]
}

fn a2a_messages() -> Vec<(&'static str, Value)> {
    let message = |text: &str| {
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "contextId": "c", "metadata": {"a": 1}, "parts": [{"text": text},
            {"data": {"n": 1}}, {"raw": "aGk=", "mediaType": "x/y", "filename": "f"}, {"url": "https://example.org/a"}]},
            "configuration": {"returnImmediately": false, "historyLength": 3, "acceptedOutputModes": ["text/plain"]}})
    };
    let legacy = |text: &str| {
        json!({"message": {"kind": "message", "messageId": "m", "role": "user", "taskId": TASK, "parts": [{"kind": "text", "text": text},
            {"kind": "data", "data": {"n": 1}}, {"kind": "file", "file": {"name": "f", "mimeType": "x/y", "bytes": "aGk="}}]},
            "configuration": {"blocking": true, "historyLength": 3}})
    };
    let reminder =
        json!({"taskId": TASK, "reminder": {"body": "Be brief.", "ttlTurns": 2, "tags": ["a"], "dedupeKey": "k"}});
    vec![
        ("SendMessage", message("echo x")),
        ("SendMessage", message("artifact")),
        ("SendMessage", message("ask me")),
        ("SendStreamingMessage", message("status")),
        ("SendStreamingMessage", message("fail")),
        ("GetTask", json!({"id": TASK, "historyLength": 2})),
        (
            "ListTasks",
            json!({"contextId": "c", "status": "TASK_STATE_COMPLETED", "pageSize": 5, "pageToken": "", "includeArtifacts": true,
            "statusTimestampAfter": "2026-01-01T00:00:00Z"}),
        ),
        ("CancelTask", json!({"id": TASK})),
        ("SubscribeToTask", json!({"id": TASK})),
        ("GetExtendedAgentCard", json!({})),
        ("CreateTaskPushNotificationConfig", json!({"taskId": TASK, "url": "https://example.org"})),
        ("message/send", legacy("echo y")),
        ("message/stream", legacy("loop")),
        ("tasks/get", json!({"id": TASK, "historyLength": 1})),
        ("tasks/cancel", json!({"id": TASK})),
        ("tasks/resubscribe", json!({"id": TASK})),
        (
            "tasks/send",
            json!({"id": TASK, "sessionId": "s", "message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}}),
        ),
        ("tasks/inject_reminder", reminder),
        ("tasks/pending_injections", json!({"taskId": TASK})),
        ("tasks/revoke_reminder", json!({"taskId": TASK, "reminderId": "r"})),
        ("agent/getAuthenticatedExtendedCard", json!({})),
        (
            "tasks/pushNotificationConfig/set",
            json!({"taskId": TASK, "pushNotificationConfig": {"url": "https://example.org"}}),
        ),
    ]
}

/// The masked frame of a WebSocket with a key of zeros, which leaves the text as it is.
fn socket_frame(opcode: u8, text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut frame = vec![0x80 | opcode];
    match u8::try_from(length) {
        Ok(short @ ..126) => frame.push(0x80 | short),
        _ => {
            frame.push(0x80 | 126);
            frame.extend(length.to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend_from_slice(text.as_bytes());
    frame
}

fn channel_sessions() -> Vec<Vec<Vec<u8>>> {
    let secret = format!("Authorization: Bearer {SECRET}\r\n");
    let mut sessions = Vec::new();
    for (kind, params) in [
        ("open", json!({"cwd": "/", "mode": "auto", "metadata": {"a": 1}})),
        ("load", json!({})),
        ("prompt", json!({"text": "go", "metadata": {}})),
        ("prompt", json!({"text": "tool"})),
        ("prompt", json!({"text": "ask"})),
        ("inject", json!({"reminder": {"body": "Be brief.", "ttlTurns": 1}})),
        ("inject", json!({"message": {"content": "Look."}})),
        ("permit", json!({"request": "r", "verdict": "allow_once"})),
        ("cancel", json!({"reason": "r"})),
        ("mode", json!({"mode": "plan"})),
        ("message", json!({"text": "x", "data": {"a": [1]}})),
        ("ack", json!({"cursor": 1})),
        ("heartbeat", json!({})),
        ("close", json!({})),
    ] {
        let action = json!({"actionId": ACTION, "sessionId": SESSION, "kind": kind, "params": params});
        sessions.push(vec![post("/actions", &secret, &action.to_string())]);
    }
    for path in [
        &format!("/events?session={SESSION}&after=0"),
        "/events",
        "/sessions",
        "/sessions?cursor=zzz",
        "/healthz",
        "/metrics",
    ] {
        sessions.push(vec![get(path, &format!("{secret}Last-Event-ID: 3\r\n"))]);
    }
    let upgrade = format!(
        "GET /acp HTTP/1.1\r\nHost: localhost\r\n{secret}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    for messages in acp_messages() {
        let mut bytes = upgrade.clone().into_bytes();
        bytes.extend(socket_frame(1, &rpc(99, "initialize", initialize_params()).to_string()));
        messages.iter().for_each(|message| bytes.extend(socket_frame(1, &message.to_string())));
        bytes.extend(socket_frame(8, "\u{3}"));
        sessions.push(vec![bytes]);
    }
    sessions
}

/// Returns all wires.
pub(crate) fn wires() -> Vec<Wire> {
    let version = |method: &str| match method.contains('/') {
        true => "A2A-Version: 0.3\r\n",
        false => "A2A-Version: 1.0\r\nA2A-Extensions: https://harn.dev/a2a/reminders\r\n",
    };
    let a2a = |(method, params): (&str, Value)| post("/", version(method), &rpc(1, method, params).to_string());
    let rest = |(method, params): (&str, Value)| match method {
        "SendMessage" => post("/message:send", version(method), &params.to_string()),
        "SendStreamingMessage" => post("/message:stream", version(method), &params.to_string()),
        "GetTask" => get(&format!("/tasks/{TASK}?historyLength=2"), version(method)),
        "ListTasks" => get("/tasks?contextId=c&pageSize=5&pageToken=&status=TASK_STATE_COMPLETED", version(method)),
        "CancelTask" => post(&format!("/tasks/{TASK}:cancel"), version(method), "{}"),
        _ => post("/", version(method), &rpc(1, method, params).to_string()),
    };
    let mcp_http = |message: Value| {
        let (method, name) = (&message["method"], &message["params"]["name"]);
        let of =
            |name: &str, value: &Value| value.as_str().map_or_else(String::new, |value| format!("{name}: {value}\r\n"));
        let uri = of("Mcp-Name", &message["params"]["uri"]);
        let headers = format!(
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n{}{}{uri}",
            of("Mcp-Method", method),
            of("Mcp-Name", name)
        );
        post("/mcp", &headers, &message.to_string())
    };
    let one = |request: Vec<u8>| vec![request];
    let mcp: Vec<Vec<Vec<u8>>> = mcp_messages().chunks(4).map(|some| lines(some.to_vec())).collect();
    let with_handshake = mcp.iter().map(|some| [lines(mcp_initialize()), some.clone()].concat());
    vec![
        Wire { name: "acp", sessions: acp_messages().into_iter().map(lines).collect(), is_lines: true },
        Wire { name: "mcp", sessions: mcp.iter().cloned().chain(with_handshake).collect(), is_lines: true },
        Wire {
            name: "mcp_http",
            sessions: mcp_messages()
                .into_iter()
                .chain(mcp_initialize())
                .map(|message| one(mcp_http(message)))
                .collect(),
            is_lines: false,
        },
        Wire { name: "a2a", sessions: a2a_messages().into_iter().map(|it| one(a2a(it))).collect(), is_lines: false },
        Wire { name: "channels", sessions: channel_sessions(), is_lines: false },
        Wire { name: "hub", sessions: a2a_messages().into_iter().map(|it| one(rest(it))).collect(), is_lines: false },
    ]
}

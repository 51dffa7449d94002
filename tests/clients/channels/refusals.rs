//! Refused requests change nothing: neither the state of a session nor its events, and the log has only the refusal.

use super::acp_client::{AcpClient, connect, initialize_params};
use super::daemon::{ChannelClient, DaemonFolder, RunningDaemon, action, fresh_id};
use eventlog::{LogFile, Record, RecordFilter};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};

const ALL: &str = "view,prompt,inject,permit,permit:session,admin";

/// Returns the kinds of all records but refusals and those of connections, whose begin and end are recorded when the daemon
/// notices them.
fn kinds(folder: &DaemonFolder) -> Vec<String> {
    let file = LogFile::open(folder.log_path()).unwrap();
    let records = file.read(&RecordFilter::default(), usize::MAX).unwrap();
    let is_meant = |record: &&Arc<Record>| match &*record.kind {
        "channel.refused" | "channel.identity" => false,
        "channel.event" => {
            let event = record.payload.get("event").as_str();
            !matches!(event, Some("channel.connected" | "channel.disconnected" | "channel.resumed"))
        }
        _ => true,
    };
    records.iter().filter(is_meant).map(|record| record.kind.to_string()).collect()
}

/// A daemon with a session whose turn asks a permission question, and a channel that may only see it.
struct RefusingDaemon {
    folder: DaemonFolder,
    daemon: RunningDaemon,
    phone: ChannelClient,
    viewer: ChannelClient,
    /// The session with the question, and an idle one.
    sessions: [String; 2],
    request: Value,
}

fn refusing(name: &str) -> RefusingDaemon {
    let folder = DaemonFolder::new(&format!("refusals-{name}")).with(&["--max-rate", "1000"]);
    let secrets = [folder.channel("phone", ALL, &[]), folder.channel("viewer", "view", &[])];
    let daemon = folder.start();
    let [phone, viewer] = secrets.map(|secret| daemon.client(&secret));
    let sessions = [phone.open(), phone.open()];
    phone.prompt(&sessions[0], "pay");
    let forwarded = phone.events(&sessions[0], Some(0)).next_of("channel.permission_forwarded");
    RefusingDaemon { folder, daemon, phone, viewer, sessions, request: forwarded["payload"]["request"].clone() }
}

#[test]
fn a_refused_action_of_each_kind_changes_nothing() {
    let RefusingDaemon { folder, daemon, phone, viewer, sessions, request } = refusing("actions");
    let [asking, idle] = sessions.each_ref().map(String::as_str);
    let nowhere = "sess_0123456789abcdef0123456789abcdef";
    let allow = json!({"request": request, "verdict": "allow_once"});
    let rows: Vec<(&ChannelClient, &str, &str, Value, u16, &str)> = vec![
        (&viewer, "", "open", json!({}), 403, "scope"),
        (&phone, "", "open", json!({"cwd": "here"}), 400, "invalid"),
        (&phone, "", "open", json!({"mode": "fast"}), 400, "invalid"),
        (&phone, "", "open", json!({"metadata": 7}), 400, "invalid"),
        (&phone, nowhere, "load", json!({}), 404, "unknown_session"),
        (&viewer, idle, "prompt", json!({"text": "x"}), 403, "scope"),
        (&phone, idle, "prompt", json!({}), 400, "invalid"),
        (&phone, idle, "prompt", json!({"text": 7}), 400, "invalid"),
        (&phone, asking, "prompt", json!({"text": "x"}), 409, "busy"),
        (&phone, nowhere, "prompt", json!({"text": "x"}), 404, "unknown_session"),
        (&viewer, idle, "inject", json!({"message": {"content": "x"}}), 403, "scope"),
        (&phone, idle, "inject", json!({}), 400, "invalid"),
        (&phone, idle, "inject", json!({"reminder": {"body": ""}}), 400, "invalid_injection"),
        (&phone, idle, "inject", json!({"reminder": {"body": "x", "ttlTurns": 0}}), 400, "invalid_injection"),
        (&phone, idle, "inject", json!({"message": {"content": ""}}), 400, "invalid_injection"),
        (&phone, idle, "inject", json!({"message": {"content": [{"type": "image", "data": ""}]}}), 400, "invalid"),
        (&viewer, asking, "permit", allow.clone(), 403, "scope"),
        (&phone, asking, "permit", json!({"request": request}), 400, "invalid"),
        (&phone, asking, "permit", json!({"request": request, "verdict": "yes"}), 400, "invalid"),
        (&phone, asking, "permit", json!({"request": "nope", "verdict": "allow_once"}), 404, "unknown_request"),
        (&phone, idle, "permit", allow.clone(), 404, "unknown_request"),
        (&viewer, asking, "cancel", json!({}), 403, "scope"),
        (&phone, asking, "cancel", json!({"reason": 7}), 400, "invalid"),
        (&viewer, idle, "mode", json!({"mode": "plan"}), 403, "scope"),
        (&phone, idle, "mode", json!({"mode": "fast"}), 400, "invalid"),
        (&viewer, idle, "close", json!({}), 403, "scope"),
        (&phone, nowhere, "close", json!({}), 404, "unknown_session"),
        (&viewer, idle, "message", json!({"text": "x"}), 403, "scope"),
        (&phone, idle, "message", json!({}), 400, "invalid"),
        (&phone, idle, "ack", json!({"cursor": -1}), 400, "invalid"),
        (&phone, idle, "prmpt", json!({}), 400, "invalid"),
    ];
    let snapshot = |session: &str| phone.events(session, None).snapshot["payload"].clone();
    let before = sessions.each_ref().map(|session| snapshot(session));
    let count = rows.len();
    for (client, session, kind, params, status, reason) in rows {
        let already = kinds(&folder);
        let refused = folder.records("channel.refused").len();
        let (got, answer) = client.act(session, kind, params.clone());
        let told = (got, answer["error"]["reason"].as_str().unwrap_or_default());
        assert_eq!(told, (status, reason), "{kind} {params}: {answer}");
        // The refusal is recorded last, after the response.
        folder.wait_for_records("channel.refused", refused + 1);
        let mut now = kinds(&folder);
        if client.secret == viewer.secret && kind == "permit" {
            // The attempt is evidence, beside the refusal.
            assert_eq!(now.pop().as_deref(), Some("channel.permission"));
        }
        assert_eq!(now, already, "{kind} {params}");
        assert_eq!(folder.records("channel.refused").len(), refused + 1, "{kind} {params}");
    }
    assert!(count > 30);
    assert_eq!(sessions.each_ref().map(|session| snapshot(session)), before);
    // The question is still open, and its answer counts.
    assert_eq!(phone.act(asking, "permit", allow).1["result"]["decided"], true);
    phone.events(asking, Some(0)).next_of("turn.completed");
    drop(daemon);
}

#[test]
fn an_action_that_its_session_refuses_has_the_status_of_the_refusal_also_when_it_is_repeated() {
    let folder = DaemonFolder::new("refusals-late").with(&["--max-rate", "10000"]);
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let reminder = json!({"reminder": {"body": "Be brief."}});
    let mut last = (200, Value::Null);
    let mut id = String::new();
    for _ in 0..400 {
        id = fresh_id();
        last = client.act_as(&id, &session, "inject", reminder.clone());
        if last.0 != 200 {
            break;
        }
    }
    let told = |(status, answer): &(u16, Value)| {
        (*status, answer["status"].clone(), answer["error"]["reason"].clone(), answer["result"]["reason"].clone())
    };
    let full = (503, json!("failed"), json!("queue_full"), json!("queue_full"));
    assert_eq!(told(&last), full, "{last:?}");
    let again = action(&id, &session, "inject", reminder);
    let repeated = client.try_act(&again).unwrap();
    assert_eq!((told(&repeated), &repeated.1["repeated"]), (full.clone(), &json!(true)));
    // The next process knows it too.
    daemon.kill();
    let daemon = folder.start();
    assert_eq!(told(&daemon.client(&secret).try_act(&again).unwrap()), full);
}

#[test]
fn a_refused_request_over_acp_changes_nothing() {
    let RefusingDaemon { folder, daemon, viewer, sessions, .. } = refusing("acp");
    let mut client = AcpClient::websocket(&daemon, &viewer.secret);
    let [_, idle] = &sessions;
    let block = |text: Value| json!([{"type": "text", "text": text}]);
    let broken = json!([{"name": "a", "args": 7}]);
    for (method, params, code, field) in [
        ("session/new", json!({"cwd": "/", "mcpServers": []}), -32004, Value::Null),
        ("session/new", json!({"cwd": "here", "mcpServers": []}), -32602, json!("cwd")),
        ("session/new", json!({"cwd": "/", "mcpServers": broken}), -32602, json!("mcpServers[0].command")),
        (
            "session/load",
            json!({"sessionId": idle, "cwd": "/", "mcpServers": broken}),
            -32602,
            json!("mcpServers[0].command"),
        ),
        ("session/load", json!({"sessionId": "sess_0", "cwd": "/"}), -32002, json!("sessionId")),
        ("session/prompt", json!({"sessionId": idle, "prompt": block(json!("x"))}), -32004, Value::Null),
        ("session/prompt", json!({"sessionId": idle, "prompt": block(json!(7))}), -32602, json!("prompt[0].text")),
        ("session/set_mode", json!({"sessionId": idle, "modeId": "plan"}), -32004, Value::Null),
        ("session/close", json!({"sessionId": idle}), -32004, Value::Null),
        ("session/list", json!({"cursor": 7}), -32602, json!("cursor")),
        ("session/list", json!({"cursor": "nope"}), -32602, json!("cursor")),
        ("_channel/resume", json!({"sessionId": idle, "after": -1}), -32602, json!("after")),
        ("_channel/resume", json!({"sessionId": "sess_0", "after": 0}), -32002, json!("sessionId")),
        ("session/inject", json!({"sessionId": idle, "content": "x"}), -32601, Value::Null),
    ] {
        let before = kinds(&folder);
        let id = client.ask(method, params.clone());
        let answer = client.answer(id);
        let told = (answer["error"]["code"].as_i64(), &answer["error"]["data"]["field"]);
        assert_eq!(told, (Some(code), &field), "{method} {params}: {answer}");
        assert_eq!(kinds(&folder), before, "{method} {params}");
    }
}

#[test]
fn a_message_that_is_not_json_is_answered_in_words_and_with_its_id() {
    let folder = DaemonFolder::new("refusals-json");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let mut socket = connect(&daemon.address, &secret);
    for (text, id, code, said) in [
        ("nonsense", Value::Null, -32700, "invalid JSON line: expected"),
        ("", Value::Null, -32700, "invalid JSON line: it is empty"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"a":tru}}"#, json!(5), -32700, "invalid JSON line"),
        (r#"{"jsonrpc":"2.0","id":6,"method":"a","params":{"a":NaN}}"#, json!(6), -32700, "invalid JSON line"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, Value::Null, -32600, "batches are not supported"),
        (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, json!(7), -32600, "`method` of a JSON-RPC message must be a string"),
        (r#"{"jsonrpc":"2.0","id":8,"method":"a","params":7}"#, json!(8), -32600, "must be an object"),
    ] {
        socket.send(text.into()).unwrap();
        let answer = loop {
            match socket.read().unwrap() {
                Message::Text(text) => break serde_json::from_str::<Value>(&text).unwrap(),
                _ => continue,
            }
        };
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&id, Some(code)), "{text}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(said) && !message.contains('{'), "{text}: {message}");
    }
}

#[test]
fn a_connection_is_closed_with_the_code_of_what_is_wrong() {
    let folder = DaemonFolder::new("refusals-closed");
    let secret = folder.channel("phone", ALL, &[]);
    let daemon = folder.start();
    let frame = |code: OpCode, bytes: Vec<u8>| Message::Frame(Frame::message(bytes, code, true));
    let text = |bytes: &[u8]| frame(OpCode::Data(Data::Text), bytes.to_vec());
    for (what, message, code, said) in [
        ("UTF-8", text(b"{\"a\":\"\xff\"}"), CloseCode::Invalid, "a text frame is not UTF-8"),
        (
            "size",
            text(&vec![b'x'; (4 << 20) + 1]),
            CloseCode::Size,
            "a message is larger than the limit of 4194304 bytes",
        ),
        ("opcode", frame(OpCode::Data(Data::Reserved(3)), Vec::new()), CloseCode::Protocol, "invalid frame: "),
    ] {
        let mut socket = connect(&daemon.address, &secret);
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()});
        socket.send(initialize.to_string().into()).unwrap();
        // The server may close before it has read all of a large message.
        let _ = socket.send(message);
        let closed = loop {
            match socket.read() {
                Ok(Message::Close(closed)) => break closed,
                Ok(_) => {}
                Err(error) => panic!("{what}: {error}"),
            }
        };
        let closed = closed.unwrap();
        assert_eq!(closed.code, code, "{what}: {}", closed.reason);
        assert!(closed.reason.starts_with(said) && !closed.reason.contains(['(', '{']), "{what}: {}", closed.reason);
    }
    // A client that closes by itself gets its code back.
    let mut socket = connect(&daemon.address, &secret);
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    folder.wait_for("channel.event", |it| it.payload.at("payload.reason").as_str() == Some("closed"));
}

//! Lines that are not messages: each is answered as JSON-RPC requires, with a code of ours, and the
//! next line is read as usual.

use super::client::Client;
use super::start::AgentCommand;
use serde_json::{Value, json};

/// The answer to a line: none, or an error with an id, a code, a code of ours and a field.
enum LineAnswer {
    Nothing,
    Error { id: Value, rpc: i64, code: &'static str, field: Option<&'static str> },
}

fn error(id: Value, rpc: i64, code: &'static str, field: Option<&'static str>) -> LineAnswer {
    LineAnswer::Error { id, rpc, code, field }
}

fn no_json(id: Value) -> LineAnswer {
    error(id, -32700, "HARN-ACP-001", None)
}

fn envelope(id: Value, field: &'static str) -> LineAnswer {
    error(id, -32600, "HARN-ACP-003", Some(field))
}

/// Sends a line, then a request that is right; what comes before its answer is what the line was answered with.
fn answered(client: &mut Client, line: &[u8], expected: &LineAnswer) {
    let before = client.frames.len();
    client.send_line(line);
    client.ask("session/list", json!({}));
    let came = client.frames[before..client.frames.len() - 1].to_vec();
    let shown = String::from_utf8_lossy(&line[..line.len().min(120)]);
    match expected {
        LineAnswer::Nothing => assert_eq!(came, Vec::<Value>::new(), "{shown}"),
        LineAnswer::Error { id, rpc, code, field } => {
            assert_eq!(came.len(), 1, "{shown}: {came:?}");
            let told = (&came[0]["id"], came[0]["error"]["code"].as_i64(), came[0]["error"]["data"]["code"].as_str());
            assert_eq!(told, (id, Some(*rpc), Some(*code)), "{shown}: {}", came[0]);
            assert_eq!(came[0]["error"]["data"]["field"].as_str(), *field, "{shown}: {}", came[0]);
        }
    }
}

fn request(id: &str, method: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{{}}}}"#).into_bytes()
}

#[test]
fn what_is_no_json_is_told_and_skipped() {
    let mut client = AgentCommand::agent("seams.harn", "no-json").initialized();
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let lines: [&[u8]; 5] = [b"nonsense", b"{", b"}", b"\xff\xfe\xfd", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth"];
    for line in lines {
        answered(&mut client, line, &no_json(Value::Null));
    }
    // The rest of a request is invalid, but its client waits for a response.
    let requests: [&[u8]; 11] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{\"_meta\":{\"a\":\"\xff\"}}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{\"_meta\":{\"a\":\"\xed\xa0\x80\"}}}",
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"_meta":{"a":1e999}}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"_meta":{"a":01}}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"_meta":{"a":NaN}}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list",}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list"}{"jsonrpc":"2.0","id":2,"method":"session/list"}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"session/list"} trailing"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{\"_meta\":{\"a\":\"\x01\"}}}",
        br#"{"jsonrpc":"2.0","method":"session/list","params":{"_meta":{"id":2,"a":NaN}},"id":1}"#,
        deep.as_bytes(),
    ];
    for line in requests {
        answered(&mut client, line, &no_json(json!(1)));
    }
    // Half of a character does not make a request unreadable.
    for half in [r"\ud800", r"\udc00\ud800"] {
        let before = client.frames.len();
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"session/list","params":{{"_meta":{{"a":"{half}"}}}}}}"#);
        client.send_line(line.as_bytes());
        client.ask("session/list", json!({}));
        let came = &client.frames[before];
        assert!(came["id"] == 1 && came["result"].is_object(), "{half}: {came}");
    }
    // An id beside a result is that of a request of the agent, which fails.
    for result in [r#""\ud800""#, "NaN"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{result}}}}}"#);
        answered(&mut client, line.as_bytes(), &LineAnswer::Nothing);
    }
    for brackets in
        ["[".repeat(100_000), "{\"a\":".repeat(100_000), format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))]
    {
        answered(&mut client, brackets.as_bytes(), &no_json(Value::Null));
    }
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn what_is_no_message_is_told_with_its_field() {
    let mut client = AgentCommand::agent("seams.harn", "no-message").initialized();
    let whole = |line: &str| -> Vec<u8> { line.as_bytes().to_vec() };
    let no_field = || error(Value::Null, -32600, "HARN-ACP-003", None);
    let rows: Vec<(Vec<u8>, LineAnswer)> = vec![
        (whole("7"), no_field()),
        (whole("null"), no_field()),
        (whole("true"), no_field()),
        (whole("\"text\""), no_field()),
        (whole("[]"), no_field()),
        (whole(r#"[{"jsonrpc":"2.0","id":1,"method":"session/list"}]"#), no_field()),
        (whole(r#"[{"jsonrpc":"2.0","method":"session/cancel"},7]"#), no_field()),
        (whole("{}"), envelope(Value::Null, "jsonrpc")),
        (whole(r#"{"id":1,"method":"session/list"}"#), envelope(json!(1), "jsonrpc")),
        (whole(r#"{"jsonrpc":2.0,"id":1,"method":"session/list"}"#), envelope(json!(1), "jsonrpc")),
        (whole(r#"{"jsonrpc":"1.0","id":"a","method":"session/list"}"#), envelope(json!("a"), "jsonrpc")),
        (whole(r#"{"jsonrpc":"2.0","id":1}"#), envelope(json!(1), "method")),
        (request("1", "7"), envelope(json!(1), "method")),
        (request("1", "null"), envelope(json!(1), "method")),
        (request("1.5", "\"session/list\""), envelope(Value::Null, "id")),
        (request("1e3", "\"session/list\""), envelope(Value::Null, "id")),
        (request("18446744073709551616", "\"session/list\""), envelope(Value::Null, "id")),
        (request("-9223372036854775809", "\"session/list\""), envelope(Value::Null, "id")),
        (request("true", "\"session/list\""), envelope(Value::Null, "id")),
        (request("[1]", "\"session/list\""), envelope(Value::Null, "id")),
        (request("{}", "\"session/list\""), envelope(Value::Null, "id")),
        (whole(r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":7}"#), envelope(json!(1), "params")),
        (whole(r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":"x"}"#), envelope(json!(1), "params")),
        (whole(r#"{"jsonrpc":"2.0","id":1,"method":"session/list","result":{}}"#), envelope(json!(1), "method")),
        (request("1", "\"session/lost\""), error(json!(1), -32601, "HARN-ACP-004", None)),
        (request("1", "\"\""), error(json!(1), -32601, "HARN-ACP-004", None)),
        (request("null", "\"nothing\""), error(Value::Null, -32601, "HARN-ACP-004", None)),
        // Notifications, answers and blank lines are not answered, whatever is wrong with them.
        (whole(r#"{"jsonrpc":"2.0","method":"no/such","params":{}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","method":"session/cancel"}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","method":"session/inject_reminder","params":{"body":7}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":12345}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","id":99,"result":{},"error":{}}"#), LineAnswer::Nothing),
        (whole(r#"{"jsonrpc":"2.0","id":[],"error":7}"#), LineAnswer::Nothing),
        (whole(""), LineAnswer::Nothing),
        (whole("  \t "), LineAnswer::Nothing),
        (whole("\r"), LineAnswer::Nothing),
    ];
    for (line, expected) in &rows {
        answered(&mut client, line, expected);
    }
    assert_eq!(client.end().code, Some(0));
}

#[test]
fn a_misspelt_method_is_suggested() {
    let mut client = AgentCommand::agent("seams.harn", "suggestion").initialized();
    for (misspelt, meant) in [
        ("session/pormpt", "session/prompt"),
        ("session/inject_remainder", "session/inject_reminder"),
        ("session/revoke_remindr", "session/revoke_reminder"),
        ("session/setmode", "session/set_mode"),
    ] {
        let error = client.refused(misspelt, json!({}));
        assert_eq!(
            (error["code"].as_i64(), error["data"]["suggestion"].as_str()),
            (Some(-32601), Some(meant)),
            "{error}"
        );
    }
    let long = client.refused(&"x".repeat(1_000_000), json!({}));
    assert!(long.to_string().len() < 1000, "a name that long is not said back");
}

#[test]
fn ids_come_back_as_they_were() {
    let mut client = AgentCommand::agent("seams.harn", "ids").initialized();
    let huge = json!("i".repeat(1_000_000));
    for id in
        [json!(0), json!(-1), json!(i64::MAX), json!(i64::MIN), json!(""), json!("0"), json!("a\u{0}\u{1f600}\""), huge]
    {
        client.expects(&id, "session/list");
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "session/list"}));
        let answer = client.answer(&id);
        assert!(answer["result"]["sessions"].is_array(), "{answer}");
    }
    // An id that is used twice is answered twice; the last value of a duplicate key wins.
    client.expects(&json!("twice"), "session/list");
    for _ in 0..2 {
        client.send(&json!({"jsonrpc": "2.0", "id": "twice", "method": "session/list"}));
    }
    client.send_line(br#"{"jsonrpc":"1.0","id":7,"jsonrpc":"2.0","id":"twice","method":"x","method":"session/list"}"#);
    for _ in 0..3 {
        client.answer(&json!("twice"));
    }
}

#[test]
fn lines_may_come_in_pieces_and_several_at_once() {
    let mut client = AgentCommand::agent("seams.harn", "pieces").initialized();
    for id in 100..110 {
        client.expects(&json!(id), "session/list");
    }
    let line = |id: u64| {
        format!(
            "{}\r\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {"_meta": {"ü": "😀"}}})
        )
    };
    for byte in line(100).bytes() {
        client.send_bytes(&[byte]);
    }
    client.answer(&json!(100));
    let several: String = (101..110).map(line).collect();
    client.send_bytes(several.as_bytes());
    for id in 101..110 {
        client.answer(&json!(id));
    }
    // The last line may lack its end.
    client.expects(&json!("last"), "session/list");
    client.send_bytes(br#"{"jsonrpc":"2.0","id":"last","method":"session/list"}"#);
    let ended = client.end();
    assert_eq!(ended.code, Some(0));
    assert!(ended.frames.last().unwrap()["result"]["sessions"].is_array(), "{:?}", ended.frames.last());
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_told() {
    let mut client = AgentCommand::agent("seams.harn", "long-line").with(&["--max-line", "64k"]).initialized();
    let session = client.session();
    let params = |length: usize| json!({"sessionId": session, "body": "b".repeat(length)});
    client.ask("session/inject_reminder", params(60_000));
    let id = client.request("session/inject_reminder", params(70_000));
    let error = client.answer(&json!(id))["error"].clone();
    assert_eq!(
        (error["code"].as_i64(), error["data"]["code"].as_str()),
        (Some(-32600), Some("HARN-ACP-002")),
        "{error}"
    );
    let before = client.memory();
    // 256 MiB without an end, in pieces.
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..256 {
        client.send_bytes(&piece);
    }
    client.send_bytes(b"\n");
    client.answer(&Value::Null);
    assert!(client.memory() < before + (32 << 20), "{} after {before}", client.memory());
    let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
    assert_eq!(pending["pendingCount"], 1);
}

#[test]
fn nothing_is_done_before_initialize() {
    let mut client = AgentCommand::agent("seams.harn", "order").spawn();
    let methods = [
        "authenticate",
        "session/new",
        "session/load",
        "session/resume",
        "session/list",
        "session/close",
        "session/prompt",
        "session/set_mode",
        "session/inject",
        "session/inject_reminder",
        "_session/inject_reminder",
        "session/remind",
        "session/pending_injections",
        "session/revoke_reminder",
        "no/such",
    ];
    for method in methods {
        let error = client.refused(method, json!({"sessionId": "s", "cwd": "/", "mcpServers": [], "body": "b"}));
        assert_eq!(
            (error["code"].as_i64(), error["data"]["code"].as_str()),
            (Some(-32003), Some("HARN-ACP-005")),
            "{method}: {error}"
        );
    }
    client.notify("session/inject_reminder", json!({"body": "too early"}));
    client.notify("session/cancel", json!({"sessionId": "s"}));
    client.initialize(json!({}));
    assert_eq!(client.ask("session/list", json!({}))["sessions"], json!([]));
    // It may be said again.
    client.initialize(json!({"_meta": {"harn": {"reminders": true}}}));
    let session = client.session();
    assert_eq!(client.ask("session/pending_injections", json!({"sessionId": session}))["pendingCount"], 0);
}

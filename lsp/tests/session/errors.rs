//! Mistakes of a client are answered with the errors of the protocol, and the session goes on.

use crate::client::{Client, folder, uri};
use serde_json::{Value, json};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const NOT_INITIALIZED: i64 = -32002;
const CANCELLED: i64 = -32800;
const MODIFIED: i64 = -32801;
const REQUEST_FAILED: i64 = -32803;

fn symbols_of(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

#[test]
fn a_request_before_initialize_and_after_shutdown_is_refused() {
    let mut client = Client::start();
    assert_eq!(client.refused("textDocument/hover", &json!({})).0, NOT_INITIALIZED);
    assert_eq!(client.refused("shutdown", &json!({})).0, NOT_INITIALIZED);
    client.notify("textDocument/didOpen", &json!({}));
    client.initialize(&folder("lsp-phases"), &json!({}));
    assert_eq!(client.refused("initialize", &json!({"capabilities": {}})).0, INVALID_REQUEST);
    assert_eq!(client.ask("shutdown", &Value::Null), Ok(Value::Null));
    assert_eq!(client.refused("textDocument/documentSymbol", &symbols_of("file:///a.harn")).0, INVALID_REQUEST);
    assert_eq!(client.refused("shutdown", &Value::Null).0, INVALID_REQUEST);
    client.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(client.hang_up(), 0);
}

#[test]
fn a_client_that_goes_away_without_shutdown_ends_the_server_with_an_error() {
    assert_eq!(Client::start().hang_up(), 1);
    let mut client = Client::of_folder(&folder("lsp-gone"));
    client.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(client.hang_up(), 1);
    let mut client = Client::of_folder(&folder("lsp-closed"));
    assert_eq!(client.ask("shutdown", &Value::Null), Ok(Value::Null));
    assert_eq!(client.hang_up(), 0, "a client may close its end instead of sending `exit`");
}

#[test]
fn malformed_messages_are_answered_and_the_session_goes_on() {
    let mut client = Client::of_folder(&folder("lsp-malformed"));
    let deep = "[".repeat(100_000);
    for (body, code) in [
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", PARSE_ERROR),
        ("", PARSE_ERROR),
        ("nonsense", PARSE_ERROR),
        (deep.as_str(), PARSE_ERROR),
        ("7", INVALID_REQUEST),
        ("[]", INVALID_REQUEST),
        ("{}", INVALID_REQUEST),
        ("{\"jsonrpc\": \"1.0\", \"id\": 4, \"method\": \"a\"}", INVALID_REQUEST),
        ("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"a\"}", INVALID_REQUEST),
        ("{\"jsonrpc\": \"2.0\", \"id\": 4, \"method\": 5}", INVALID_REQUEST),
        ("{\"jsonrpc\": \"2.0\", \"id\": 4, \"method\": \"a\", \"params\": \"b\"}", INVALID_REQUEST),
    ] {
        client.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = loop {
            let message = client.receive().unwrap();
            if message.get("method").is_none() {
                break message;
            }
        };
        assert_eq!(answer["error"]["code"], code, "{body:.60}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().len() < 200, "{answer}");
    }
    client.write(b"Content-Length: 2\r\n\r\n\xff\xfe");
    assert_eq!(client.receive().unwrap()["error"]["code"], PARSE_ERROR);
    // Answers to requests that the server never sent.
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": null}));
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}));
    assert_eq!(client.refused("no/such", &json!({})), (METHOD_NOT_FOUND, "unknown method `no/such`".to_owned()));
    client.end();
}

#[test]
fn a_header_that_cannot_be_understood_ends_the_session() {
    let mut client = Client::of_folder(&folder("lsp-header"));
    client.write(b"Content-Length: many\r\n\r\n{}");
    assert_eq!(client.hang_up(), 1);
}

#[test]
fn parameters_are_checked() {
    let folder = folder("lsp-params");
    let mut client = Client::of_folder(&folder);
    let open = uri(&folder.join("open.harn"));
    client.open(&open, "let a = 1\n");
    for params in [Value::Null, json!({}), json!([]), json!({"textDocument": 1}), json!({"textDocument": {"uri": 1}})] {
        assert_eq!(client.refused("textDocument/documentSymbol", &params).0, INVALID_PARAMS, "{params}");
    }
    for uri in ["file:///never/opened.harn", "untitled:x", "http://a/b", "file://%", "not a uri", ""] {
        assert_eq!(client.refused("textDocument/documentSymbol", &symbols_of(uri)).0, INVALID_PARAMS, "{uri}");
    }
    // Notifications cannot be answered: nothing happens.
    client.change(&uri(&folder.join("closed.harn")), 2, &json!([{"text": "let b = 2\n"}]));
    client.notify("textDocument/didClose", &symbols_of("file:///never/opened.harn"));
    client.notify("no/such", &json!({}));
    client.notify("$/setTrace", &json!({"value": "off"}));
    client.notify("workspace/didChangeWatchedFiles", &json!({"changes": [{"uri": "file:///gone.harn", "type": 3}]}));
    assert_eq!(client.ask("textDocument/documentSymbol", &symbols_of(&open)).unwrap()[0]["name"], "a");
    client.notify("textDocument/didClose", &symbols_of(&open));
    assert_eq!(client.refused("textDocument/documentSymbol", &symbols_of(&open)).0, INVALID_PARAMS);
    client.end();
}

#[test]
fn an_edit_that_cannot_be_read_stops_answers_until_the_text_is_known_again() {
    let folder = folder("lsp-lost");
    let mut client = Client::of_folder(&folder);
    let (open, other) = (uri(&folder.join("open.harn")), uri(&folder.join("other.harn")));
    client.open(&other, "let c = 1\n");
    let edit = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{open}","version":2}},"contentChanges":[{{"range":{{"start":{{"line":0,"character":0}},"end":{{"line":0,"character":0}}}},"text":{text}}}]}}}}"#
        )
    };
    let broken =
        [edit("NaN").into_bytes(), edit("7").into_bytes(), edit("\"ID\"").replace("ID", "\u{1}").into_bytes(), {
            let mut bytes = edit("\"é\"").into_bytes();
            let at = bytes.iter().position(|byte| *byte == 0xc3).unwrap();
            bytes.remove(at);
            bytes
        }];
    for body in broken {
        client.open(&open, "let a = 1\n");
        client.write(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        client.write(&body);
        let (code, message) = client.refused("textDocument/documentSymbol", &symbols_of(&open));
        assert_eq!(code, REQUEST_FAILED, "{message}");
        assert!(message.contains("Close and open it again"), "{message}");
        let shown = client.others.iter().filter(|message| message["method"] == "window/showMessage").count();
        assert_eq!(shown, 1, "{:?}", client.others);
        client.others.clear();
        // Another document is not concerned, but a rename might edit this one.
        assert_eq!(client.ask("textDocument/documentSymbol", &symbols_of(&other)).unwrap()[0]["name"], "c");
        let rename = json!({"textDocument": {"uri": other}, "position": {"line": 0, "character": 4}, "newName": "d"});
        assert_eq!(client.refused("textDocument/rename", &rename).0, REQUEST_FAILED);
        // A part of an unknown text says nothing, a whole text does.
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
        client.change(&open, 3, &json!([{"range": range, "text": "!"}]));
        assert_eq!(client.refused("textDocument/documentSymbol", &symbols_of(&open)).0, REQUEST_FAILED);
        client.change(&open, 4, &json!([{"text": "let b = 2\n"}]));
        assert_eq!(client.ask("textDocument/documentSymbol", &symbols_of(&open)).unwrap()[0]["name"], "b");
        client.notify("textDocument/didClose", &symbols_of(&open));
    }
    client.end();
}

#[test]
fn halves_of_a_character_in_two_edits_are_one() {
    let folder = folder("lsp-halves");
    let mut client = Client::of_folder(&folder);
    let open = uri(&folder.join("open.harn"));
    client.open(&open, "let a = \"x\"\n");
    let mut version = 1;
    for (from, to, text) in [(10, 10, r"\ud83d"), (11, 11, r"\ude80"), (11, 12, r"\ude81"), (13, 13, "; let b = 2")] {
        version += 1;
        let body = format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{open}","version":{version}}},"contentChanges":[{{"range":{{"start":{{"line":0,"character":{from}}},"end":{{"line":0,"character":{to}}}}},"text":"{text}"}}]}}}}"#
        );
        client.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    let formatting = json!({"textDocument": {"uri": open}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.ask("textDocument/formatting", &formatting).unwrap();
    let symbols = client.ask("textDocument/documentSymbol", &symbols_of(&open)).unwrap();
    assert_eq!(symbols[1]["location"]["range"]["start"]["character"], 19, "{symbols}");
    assert!(!edits.to_string().contains('\u{fffd}'), "{edits}");
    client.end();
}

#[test]
fn positions_outside_of_the_text_are_refused_and_edits_there_are_cut_off() {
    let folder = folder("lsp-outside");
    let mut client = Client::of_folder(&folder);
    let open = uri(&folder.join("open.harn"));
    client.open(&open, "let a = 1\n");
    let selection = |line: u64, character: u64| json!({"textDocument": {"uri": open}, "positions": [{"line": line, "character": character}]});
    let (code, message) = client.refused("textDocument/selectionRange", &selection(2, 0));
    assert_eq!((code, message.as_str()), (INVALID_PARAMS, "position outside of the text: it has no line 2"));
    assert_eq!(client.refused("textDocument/selectionRange", &selection(u64::from(u32::MAX), 0)).0, INVALID_PARAMS);
    assert_eq!(client.refused("textDocument/selectionRange", &selection(u64::MAX, 0)).0, INVALID_PARAMS);
    assert!(client.ask("textDocument/selectionRange", &selection(0, 4_000_000_000)).is_ok(), "the end of the line");
    let range = json!({"start": {"line": 9, "character": 9}, "end": {"line": 0, "character": 9}});
    client.change(&open, 2, &json!([{"range": range, "text": "0"}]));
    assert_eq!(client.ask("textDocument/documentSymbol", &symbols_of(&open)).unwrap().as_array().unwrap().len(), 1);
    assert_eq!(client.diagnostics(&open), Vec::<Value>::new());
    client.end();
}

#[test]
fn cancelled_and_outdated_requests_are_not_answered() {
    let folder = folder("lsp-cancelled");
    let mut client = Client::of_folder(&folder);
    let open = uri(&folder.join("open.harn"));
    // The server is busy with this text while the next messages arrive.
    client.open(&open, &"let a = [1, 2, 3].map({ x -> x + 1 })\n".repeat(2000));
    let busy = client.request("textDocument/diagnostic", &symbols_of(&open));
    let cancelled = client.request("textDocument/documentSymbol", &symbols_of(&open));
    client.notify("$/cancelRequest", &json!({"id": cancelled}));
    client.notify("$/cancelRequest", &json!({"id": "unknown"}));
    let outdated = client.request("textDocument/documentSymbol", &symbols_of(&open));
    client.change(&open, 2, &json!([{"text": "let b = 1\n"}]));
    let current = client.request("textDocument/documentSymbol", &symbols_of(&open));
    // Nothing says how much arrives while the server works, so the first may be answered or refused.
    let mut answers: Vec<Value> =
        (0..4).map(|_| client.receive().unwrap()).filter(|m| m.get("method").is_none()).collect();
    while answers.len() < 4 {
        answers.extend(client.receive().filter(|message| message.get("method").is_none()));
    }
    let answer = |id: i64| answers.iter().find(|message| message["id"] == id).unwrap();
    let is_code = |id: i64, code: i64| answer(id).get("result").is_some() || answer(id)["error"]["code"] == code;
    assert!(is_code(busy, MODIFIED) && is_code(cancelled, CANCELLED) && is_code(outdated, MODIFIED), "{answers:?}");
    assert_eq!(answer(current)["result"][0]["name"], "b");
    client.end();
}

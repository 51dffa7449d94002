//! A line as a message of JSON-RPC, or what is wrong with it. The crate would refuse the same lines with less to read.

use agent_client_protocol::RawJsonRpcMessage;
use serde_json::{Map, Value, json};

use super::lines::Line;
use crate::acp::error::Refusal;

/// What to answer to a line that is no message: the error, and the id where one can be read.
#[derive(Debug)]
pub(crate) struct BadLine {
    id: Value,
    refusal: Refusal,
}

impl BadLine {
    /// The answer as a line.
    pub(crate) fn answer(self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.refusal.into_json()}).to_string()
    }
}

/// Reads a line. Nothing is answered to an answer that is wrong: two sides that do so would go on for ever.
///
/// # Errors
/// What to answer, where the peer waits for an answer.
pub(crate) fn read(line: Line, limit: usize) -> Result<Option<RawJsonRpcMessage>, Box<BadLine>> {
    let bad = |id, refusal| Box::new(BadLine { id, refusal });
    let without_id = |refusal| bad(Value::Null, refusal);
    let text = match line {
        Line::Text(text) => text,
        Line::NoText { byte } => return Err(without_id(Refusal::no_text(byte))),
        Line::TooLong { bytes } => return Err(without_id(Refusal::line_too_long(bytes, limit))),
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| without_id(Refusal::no_json(&error)))?;
    let object = match value {
        Value::Object(object) => object,
        Value::Array(_) => return Err(without_id(Refusal::batch())),
        other => return Err(without_id(Refusal::no_message(kind(&other)))),
    };
    let is_answer = !object.contains_key("method") && (object.contains_key("result") || object.contains_key("error"));
    let fault = fault(&object, is_answer);
    let id = object.get("id").filter(|id| is_id(id)).cloned().unwrap_or(Value::Null);
    if let Some((field, problem)) = fault {
        return if is_answer { Ok(None) } else { Err(bad(id, Refusal::envelope(field, &problem))) };
    }
    match serde_json::from_value(Value::Object(object)) {
        Ok(message) => Ok(Some(message)),
        Err(_) if is_answer => Ok(None),
        Err(error) => Err(bad(id, Refusal::envelope("jsonrpc", &error.to_string()))),
    }
}

/// The field of an envelope that is wrong, and how.
fn fault(object: &Map<String, Value>, is_answer: bool) -> Option<(&'static str, String)> {
    let wrong = |field, wanted: &str, got: Option<&Value>| {
        Some((
            field,
            got.map_or_else(
                || format!("is missing; it must be {wanted}"),
                |got| format!("must be {wanted}, not {}", kind(got)),
            ),
        ))
    };
    match object.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        Some(Value::String(version)) => return Some(("jsonrpc", format!("must be \"2.0\", not {version:?}"))),
        got => return wrong("jsonrpc", "\"2.0\"", got),
    }
    match object.get("id") {
        Some(id) if !is_id(id) => return wrong("id", "a string, an integer or null", Some(id)),
        _ => {}
    }
    if is_answer {
        return None;
    }
    if object.contains_key("result") || object.contains_key("error") {
        return Some(("method", "stands beside `result` or `error`; a message is a request or an answer".to_owned()));
    }
    match object.get("method") {
        Some(Value::String(_)) => {}
        got => return wrong("method", "a string", got),
    }
    match object.get("params") {
        None | Some(Value::Object(_) | Value::Array(_) | Value::Null) => None,
        got => wrong("params", "an object", got),
    }
}

/// Whether a value may name a request: what is told apart again when it is answered.
fn is_id(id: &Value) -> bool {
    id.is_null() || id.is_string() || id.is_i64()
}

/// What a value is, for a person.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<Value> {
        read(Line::Text(line.to_owned()), 100).err().map(|bad| serde_json::from_str(&bad.answer()).unwrap())
    }

    #[test]
    fn each_field_that_is_wrong_is_named_and_the_id_kept_where_it_can_be_read() {
        let cases = [
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\"", -32700, json!(null), "HARN-ACP-001", json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{fffd}", -32700, json!(null), "HARN-ACP-001", json!(null)),
            ("7", -32600, json!(null), "HARN-ACP-003", json!(null)),
            ("[]", -32600, json!(null), "HARN-ACP-003", json!(null)),
            ("{}", -32600, json!(null), "HARN-ACP-003", json!("jsonrpc")),
            (r#"{"id":4,"method":"a"}"#, -32600, json!(4), "HARN-ACP-003", json!("jsonrpc")),
            (r#"{"jsonrpc":"1.0","id":4,"method":"a"}"#, -32600, json!(4), "HARN-ACP-003", json!("jsonrpc")),
            (r#"{"jsonrpc":2.0,"id":"x","method":"a"}"#, -32600, json!("x"), "HARN-ACP-003", json!("jsonrpc")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, -32600, json!(null), "HARN-ACP-003", json!("id")),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, -32600, json!(null), "HARN-ACP-003", json!("id")),
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"a"}"#,
                -32600,
                json!(null),
                "HARN-ACP-003",
                json!("id"),
            ),
            (r#"{"jsonrpc":"2.0","id":5}"#, -32600, json!(5), "HARN-ACP-003", json!("method")),
            (r#"{"jsonrpc":"2.0","id":5,"method":[]}"#, -32600, json!(5), "HARN-ACP-003", json!("method")),
            (r#"{"jsonrpc":"2.0","id":5,"method":"a","result":1}"#, -32600, json!(5), "HARN-ACP-003", json!("method")),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"a","params":"b"}"#,
                -32600,
                json!(5),
                "HARN-ACP-003",
                json!("params"),
            ),
        ];
        for (line, rpc, id, code, field) in cases {
            let answer = refused(line).unwrap_or_else(|| panic!("taken: {line}"));
            let error = &answer["error"];
            let told = (&error["code"], &answer["id"], &error["data"]["code"], &error["data"]["field"]);
            assert_eq!(told, (&json!(rpc), &id, &json!(code), &field), "{line}");
            assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
        }
    }

    #[test]
    fn requests_notifications_and_answers_are_taken() {
        for line in [
            r#"{"jsonrpc":"2.0","id":null,"method":"a","params":null}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"a","params":[1],"more":1}"#,
            r#"{"jsonrpc":"2.0","method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#,
        ] {
            assert!(matches!(read(Line::Text(line.to_owned()), 100), Ok(Some(_))), "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_wrong_is_not_answered() {
        for line in [r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, r#"{"id":1,"result":1}"#, r#"{"error":7}"#] {
            assert!(matches!(read(Line::Text(line.to_owned()), 100), Ok(None)), "{line}");
        }
    }

    #[test]
    fn nesting_without_end_is_refused_and_overflows_nothing() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(refused(&deep).unwrap()["error"]["code"], -32700);
    }
}

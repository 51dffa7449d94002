//! Reads a line as a JSON-RPC message, or returns the error response.

use jsonrpc::{Answer, Id, IdRule, Message, Problem, Rules, ScannedId, code};
use serde_json::{Value, json};

use super::lines::InputLine;
use crate::acp::error::ErrorResponse;

/// Both sides send requests and responses.
pub(super) const RULES: Rules =
    Rules { ids: IdRule::Integers, max_id_len: usize::MAX, positional_params: true, answers: true };

/// The response to an invalid line: the error, and the id if it can be read.
#[derive(Debug)]
pub(crate) struct BadLine {
    id: Id,
    refusal: ErrorResponse,
}

impl BadLine {
    /// Returns the response as a line.
    pub(crate) fn answer(self) -> String {
        jsonrpc::error(&self.id, &self.refusal.into_json())
    }
}

/// Reads a line. An invalid response gets no response, to prevent an endless loop between two sides: the request that it belongs
/// to fails.
///
/// # Errors
/// The response to send, if the peer waits for one.
pub(crate) fn read(line: InputLine, limit: usize) -> Result<Option<Message<Value>>, Box<BadLine>> {
    let bad = |id, refusal| Box::new(BadLine { id, refusal });
    let unread = |ScannedId { id, is_answer }, refusal: ErrorResponse| match is_answer {
        true => Ok(failed(id, refusal.message())),
        false => Err(bad(id, refusal)),
    };
    let text = match line {
        InputLine::Text(text) => text,
        InputLine::NoText { byte, id } => return unread(id, ErrorResponse::no_text(byte)),
        InputLine::TooLong { bytes, id } => return unread(id, ErrorResponse::line_too_long(bytes, limit)),
    };
    read_message(&text, &RULES)
}

/// Reads a text like [`read`], by the rules of a transport.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_message(text: &str, rules: &Rules) -> Result<Option<Message<Value>>, Box<BadLine>> {
    match jsonrpc::read_text::<Value>(text, rules) {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.is_answer => Ok(failed(error.id, &error.problem.to_string())),
        Err(error) => Err(Box::new(BadLine { id: error.id, refusal: refusal(error.problem) })),
    }
}

/// Returns the response that fails the request with an id, `None` if the id is not known.
fn failed(id: Id, reason: &str) -> Option<Message<Value>> {
    tracing::warn!(id = id.as_json(), reason, "invalid response");
    let error = json!({"code": code::INVALID_REQUEST, "message": format!("invalid response: {reason}")});
    let is_known = id != Id::null();
    is_known.then(|| Message::Answer(Answer { id: Some(id), result: None, error: Some(error) }))
}

fn refusal(problem: Problem) -> ErrorResponse {
    match problem {
        Problem::NotUtf8 { byte } => ErrorResponse::no_text(byte),
        Problem::Empty => ErrorResponse::no_json("it is empty"),
        Problem::Syntax { message, line, column } => {
            ErrorResponse::no_json(&format!("{message} at line {line} column {column}"))
        }
        Problem::InvalidId { message } => ErrorResponse::no_json(&format!("invalid string in `id`: {message}")),
        Problem::Batch => ErrorResponse::batch(),
        Problem::NotObject { found } => ErrorResponse::no_message(found),
        Problem::Member { name, problem } => ErrorResponse::envelope(name, &problem),
        Problem::Params { found } => ErrorResponse::envelope("params", &format!("must be an object, not {found}")),
    }
}

/// Returns the kind of a value, for people.
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
    use serde_json::json;

    use super::*;

    fn refused(line: &str) -> Option<Value> {
        read(InputLine::Text(line.to_owned()), 100).err().map(|bad| serde_json::from_str(&bad.answer()).unwrap())
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
            assert!(matches!(read(InputLine::Text(line.to_owned()), 100), Ok(Some(_))), "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_wrong_is_not_answered_and_fails_its_request() {
        let taken =
            |line: &str| read(InputLine::Text(line.to_owned()), 100).unwrap_or_else(|_| panic!("refused: {line}"));
        for line in [r#"{"error":7}"#, r#"{"result":NaN}"#] {
            assert!(taken(line).is_none(), "{line}");
        }
        for line in [
            r#"{"id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"n":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"cut"#,
        ] {
            let Some(Message::Answer(answer)) = taken(line) else { panic!("dropped: {line}") };
            assert_eq!(answer.id.as_ref().map(Id::as_json), Some("1"));
            assert!(answer.error.is_some_and(|error| error["message"].is_string()), "{line}");
        }
        assert!(taken(r#"{"jsonrpc":"2.0","id":1,"result":"\ud83d"}"#).is_some());
    }

    #[test]
    fn half_of_a_character_in_a_prompt_is_taken() {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"text":"cut \ud83d"}}"#;
        let Some(Message::Request(message)) = read(InputLine::Text(line.to_owned()), 100).unwrap() else { panic!() };
        assert_eq!(message.params.unwrap()["text"], "cut \u{fffd}");
    }

    #[test]
    fn nesting_without_end_is_refused_and_overflows_nothing() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(refused(&deep).unwrap()["error"]["code"], -32700);
    }
}

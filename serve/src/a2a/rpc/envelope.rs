//! Reads a body as a JSON-RPC request.

use base::data::Data;
use jsonrpc::{EnvelopeError, Id, IdRule, Message, Problem, Rules};

use crate::a2a::A2aCode;
use crate::a2a::error::{RpcError, code};

/// The maximum length of an id in bytes: each frame of a stream contains it.
const LONGEST_ID: usize = 16 * 1024;

/// The server accepts only requests, with parameters by name.
const RULES: Rules = Rules { ids: IdRule::Numbers, max_id_len: LONGEST_ID, positional_params: false, answers: false };

/// A request.
pub(crate) type RpcRequest = jsonrpc::Request<Data>;

/// The response to a body that is not a request.
#[derive(Debug)]
pub(crate) struct BadRequest {
    pub(crate) id: Id,
    pub(crate) fault: RpcError,
}

/// Reads a body as a request.
///
/// # Errors
/// The response to send.
pub(crate) fn read(body: &[u8]) -> Result<RpcRequest, Box<BadRequest>> {
    match jsonrpc::read(body, &RULES) {
        Ok(Message::Request(request)) => Ok(request),
        // The rules allow no responses.
        Ok(Message::Answer(_)) => Err(Box::new(BadRequest { id: Id::null(), fault: wrong("method", "is missing") })),
        Err(error) => {
            let EnvelopeError { id, problem, .. } = *error;
            Err(Box::new(BadRequest { id, fault: fault(problem) }))
        }
    }
}

fn fault(problem: Problem) -> RpcError {
    let not_json = |message: String| RpcError::new(code::NOT_JSON, A2aCode::NoJson, message);
    let no_request = |message: String| RpcError::new(code::REQUEST, A2aCode::NoRequest, message);
    match problem {
        Problem::NotUtf8 { byte } => not_json(format!("the body is not UTF-8, starting at byte {byte}")),
        Problem::Empty => not_json("the body is empty; send one JSON-RPC request".to_owned()),
        Problem::Syntax { message, line, column } => {
            not_json(format!("invalid JSON body: {message} (line {line}, column {column})"))
        }
        Problem::InvalidId { message } => not_json(format!("invalid JSON body: invalid string in `id`: {message}")),
        Problem::Batch => {
            no_request("batches are not supported; send each request separately".to_owned()).reason("batch")
        }
        Problem::NotObject { found } => no_request(format!("a JSON-RPC request must be an object, not {found}")),
        Problem::Member { name, problem } => wrong(name, &problem),
        Problem::Params { found } => {
            let message = format!("`params` must be an object, not {found}");
            RpcError::new(code::PARAMS, A2aCode::Params, message).field("params")
        }
    }
}

fn wrong(field: &str, problem: &str) -> RpcError {
    RpcError::new(code::REQUEST, A2aCode::NoRequest, format!("`{field}` of a request {problem}")).field(field)
}

#[cfg(test)]
mod tests {
    use a2a::Version;
    use serde_json::{Value, json};

    use super::*;
    use crate::a2a::rpc::refused;

    fn refusal(body: &[u8]) -> Value {
        let bad = read(body).map(|request| request.method).unwrap_err();
        serde_json::from_str(&refused(&bad.id, &bad.fault, Version::V0_3)).unwrap()
    }

    #[test]
    fn each_member_that_is_wrong_is_named_and_the_id_kept_where_it_can_be_read() {
        let cases = [
            ("", -32700, json!(null), json!(null)),
            (" \n", -32700, json!(null), json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\"", -32700, json!(null), json!(null)),
            ("hello", -32700, json!(null), json!(null)),
            ("7", -32600, json!(null), json!(null)),
            ("[]", -32600, json!(null), json!(null)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, -32600, json!(null), json!(null)),
            ("{}", -32600, json!(null), json!("jsonrpc")),
            (r#"{"id":4,"method":"a"}"#, -32600, json!(4), json!("jsonrpc")),
            (r#"{"jsonrpc":"1.0","id":4,"method":"a"}"#, -32600, json!(4), json!("jsonrpc")),
            (r#"{"jsonrpc":2.0,"id":"x","method":"a"}"#, -32600, json!("x"), json!("jsonrpc")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, -32600, json!(null), json!("id")),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, -32600, json!(null), json!("id")),
            (r#"{"jsonrpc":"2.0","id":true,"method":"a"}"#, -32600, json!(null), json!("id")),
            (r#"{"jsonrpc":"2.0","id":"\ud800","method":"a"}"#, -32700, json!(null), json!(null)),
            (r#"{"jsonrpc":"2.0","id":"\udc00\ud800","method":"a","params":{}}"#, -32700, json!(null), json!(null)),
            (r#"{"jsonrpc":"2.0","id":5}"#, -32600, json!(5), json!("method")),
            (r#"{"jsonrpc":"2.0","id":5,"result":1}"#, -32600, json!(5), json!("method")),
            (r#"{"jsonrpc":"2.0","id":5,"method":[]}"#, -32600, json!(5), json!("method")),
            (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":"b"}"#, -32602, json!(5), json!("params")),
            (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":[1]}"#, -32602, json!(5), json!("params")),
            (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":{"b":1},}"#, -32700, json!(5), json!(null)),
        ];
        for (body, rpc, id, field) in cases {
            let answer = refusal(body.as_bytes());
            let error = &answer["error"];
            assert_eq!((&error["code"], &answer["id"], &error["data"]["field"]), (&json!(rpc), &id, &field), "{body}");
            let code = match rpc {
                -32700 => "HARN-A2A-001",
                -32602 => "HARN-A2A-005",
                _ => "HARN-A2A-003",
            };
            assert_eq!(error["data"]["code"], code, "{body}");
        }
        assert_eq!(
            refusal(b"{\"jsonrpc\":\"\xff\"}")["error"]["message"],
            "the body is not UTF-8, starting at byte 12"
        );
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#, "x".repeat(LONGEST_ID));
        assert_eq!(refusal(long.as_bytes())["error"]["data"]["field"], "id");
    }

    #[test]
    fn nesting_without_end_is_refused_and_overflows_nothing() {
        for deep in ["[".repeat(1_000_000), "{\"a\":".repeat(200_000)] {
            let in_params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{deep}"#);
            for body in [&deep, &in_params] {
                let code = refusal(body.as_bytes())["error"]["code"].clone();
                assert!(code == -32700 || code == -32600, "{code}");
            }
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":{}{}}}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        let answer = refusal(deep.as_bytes());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32700)));
    }
}

//! A body as a request of JSON-RPC, or what is wrong with it.

use std::borrow::Cow;

use runtime::data::{Data, DataError};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::a2a::A2aCode;
use crate::a2a::error::{Fault, code};

mod whole;

/// The longest id, in bytes: each frame of a stream carries it.
const LONGEST_ID: usize = 16 * 1024;

/// The id of a request, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::a2a) struct Id(Box<str>);

impl Id {
    /// What is answered where no id could be read.
    pub(in crate::a2a) fn null() -> Id {
        Id("null".into())
    }

    /// An id as it was written.
    #[cfg(test)]
    pub(super) fn written(json: &str) -> Id {
        Id(json.into())
    }

    /// As JSON.
    pub(in crate::a2a) fn as_json(&self) -> &str {
        &self.0
    }
}

/// A request.
#[derive(Debug)]
pub(in crate::a2a) struct Request {
    /// Nothing for a notification, which is not answered.
    pub(super) id: Option<Id>,
    pub(super) method: String,
    pub(super) params: Data,
}

/// What is answered to a body that is no request.
#[derive(Debug)]
pub(in crate::a2a) struct BadRequest {
    pub(in crate::a2a) id: Id,
    pub(in crate::a2a) fault: Fault,
}

/// The members of a request as they are written. Of one that is there twice the last counts, as it does below them.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: bool,
}

/// Reads a body.
///
/// # Errors
/// What is answered to it.
pub(in crate::a2a) fn read(body: &[u8]) -> Result<Request, Box<BadRequest>> {
    // What is whole is read in one go. All else is read again member by member, to say what is wrong with which.
    whole::read(body).map_or_else(|| read_by_members(body), Ok)
}

fn read_by_members(body: &[u8]) -> Result<Request, Box<BadRequest>> {
    let bad = |id: Id, fault| Box::new(BadRequest { id, fault });
    let members = members(body).map_err(|fault| bad(Id::null(), fault))?;
    let id = members.id.map(id_of).transpose().map_err(|fault| bad(Id::null(), fault))?;
    let kept = id.clone().unwrap_or_else(Id::null);
    let request = request(&members, id);
    request.map_err(|fault| bad(kept, fault))
}

fn members(body: &[u8]) -> Result<Members<'_>, Fault> {
    let text = std::str::from_utf8(body)
        .map_err(|error| not_json(format!("the body is no UTF-8 from its byte {} on", error.valid_up_to())))?;
    match text.trim_start().as_bytes().first() {
        None => return Err(not_json("the body is empty; it is one request of JSON-RPC".to_owned())),
        Some(b'[') => {
            let message = "a list of requests is not taken; send each request by itself";
            return Err(Fault::new(code::REQUEST, A2aCode::NoRequest, message).reason("batch"));
        }
        Some(b'{') => {}
        // It may be no JSON at all, and then that is what is said.
        Some(_) => {
            let other = Data::from_json(text).map_err(|error| no_json(&error))?;
            let message = format!("a request of JSON-RPC is an object, not {}", kind(&other));
            return Err(Fault::new(code::REQUEST, A2aCode::NoRequest, message));
        }
    }
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string().split(" at line ").next().unwrap_or_default().to_owned();
        no_json(&DataError { message, line, column })
    })
}

fn id_of(written: &RawValue) -> Result<Id, Fault> {
    let text = written.get();
    if text.len() > LONGEST_ID {
        return Err(wrong("id", &format!("has {} bytes; it may have {LONGEST_ID}", text.len())));
    }
    match text.as_bytes().first() {
        Some(b'{') => Err(wrong("id", "must be a string, a number or null, not an object")),
        Some(b'[') => Err(wrong("id", "must be a string, a number or null, not a list")),
        Some(b't' | b'f') => Err(wrong("id", "must be a string, a number or null, not a boolean")),
        // The parser of raw values lets lone surrogates pass, and an answer that repeats one is invalid JSON.
        Some(b'"') => match serde_json::from_str::<Cow<'_, str>>(text) {
            Ok(_) => Ok(Id(text.into())),
            Err(error) => Err(not_json(format!("invalid JSON body: invalid string in `id`: {error}"))),
        },
        _ => Ok(Id(text.into())),
    }
}

fn request(members: &Members<'_>, id: Option<Id>) -> Result<Request, Fault> {
    match text("jsonrpc", "\"2.0\"", members.jsonrpc)? {
        version if version == "2.0" => {}
        version => return Err(wrong("jsonrpc", &format!("must be \"2.0\", not {version:?}"))),
    }
    if members.result && members.method.is_none() {
        return Err(wrong("method", "is missing: this is an answer, and answers are not taken"));
    }
    let method = text("method", "the name of a method", members.method)?;
    let params = members.params.map_or(Ok(Data::Nil), |params| Data::from_json(params.get()));
    match params.map_err(|error| no_json(&error))? {
        params @ (Data::Nil | Data::Dict(_)) => Ok(Request { id, method, params }),
        other => {
            let message = format!("`params` must be an object, not {}", kind(&other));
            Err(Fault::new(code::PARAMS, A2aCode::Params, message).field("params"))
        }
    }
}

fn text(name: &str, wanted: &str, written: Option<&RawValue>) -> Result<String, Fault> {
    let Some(written) = written else {
        return Err(wrong(name, &format!("is missing; it must be {wanted}")));
    };
    match Data::from_json(written.get()).map_err(|error| no_json(&error))? {
        Data::Str(text) => Ok(text.as_ref().to_owned()),
        other => Err(wrong(name, &format!("must be {wanted}, not {}", kind(&other)))),
    }
}

fn no_json(error: &DataError) -> Fault {
    let DataError { message, line, column } = error;
    not_json(format!("the body is no JSON: {message} (line {line}, column {column})"))
}

fn not_json(message: String) -> Fault {
    Fault::new(code::NOT_JSON, A2aCode::NoJson, message)
}

fn wrong(field: &str, problem: &str) -> Fault {
    Fault::new(code::REQUEST, A2aCode::NoRequest, format!("`{field}` of a request {problem}")).field(field)
}

/// What a value is, for a person.
fn kind(data: &Data) -> &'static str {
    match data {
        Data::Nil => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::Float(_) => "a number",
        Data::Str(_) => "a string",
        Data::List(_) => "a list",
        Data::Dict(_) => "an object",
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        deserializer.deserialize_map(Visitor)
    }
}

struct Visitor;

impl<'de> serde::de::Visitor<'de> for Visitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        // Names with escapes cannot be borrowed.
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let value: &RawValue = map.next_value()?;
            match &*name {
                "jsonrpc" => members.jsonrpc = Some(value),
                "id" => members.id = Some(value),
                "method" => members.method = Some(value),
                "params" => members.params = Some(value),
                "result" | "error" => members.result = true,
                _ => {}
            }
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use stdlib::a2a::Version;

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
            (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":{"b":1},}"#, -32700, json!(null), json!(null)),
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
        assert_eq!(refusal(b"{\"jsonrpc\":\"\xff\"}")["error"]["message"], "the body is no UTF-8 from its byte 12 on");
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#, "x".repeat(LONGEST_ID));
        assert_eq!(refusal(long.as_bytes())["error"]["data"]["field"], "id");
    }

    #[test]
    fn an_id_is_kept_as_it_was_written() {
        for id in ["1", "-7", "0.5", "18446744073709551615", "1e400", "\"\"", r#""a\u00e9\"b""#, "null"] {
            let body = format!(r#"{{"jsonrpc":"2.0","method":"a","id": {id} ,"params":{{}}}}"#);
            let request = read(body.as_bytes()).unwrap();
            assert_eq!(request.id.as_ref().map(Id::as_json), Some(id));
        }
        let notification = read(br#"{"jsonrpc":"2.0","method":"a","params":null,"more":[1]}"#).unwrap();
        assert_eq!((notification.id, notification.params), (None, Data::Nil));
    }

    #[test]
    fn of_a_member_that_is_there_twice_the_last_counts() {
        let body = br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","\u006dethod":"b","params":{"x":1,"x":2}}"#;
        let request = read(body).unwrap();
        assert_eq!((request.id.unwrap().as_json(), &*request.method), ("2", "b"));
        assert_eq!(request.params, Data::dict([("x", Data::from(2_i64))]));
    }

    #[test]
    fn what_is_whole_is_read_in_one_go_as_it_is_by_members() {
        let requests = [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"y":[1,2.5,null,"z"]}}}"#,
            r#" {"method":"a","params":null,"more":{"deep":[{}]},"id":"q","jsonrpc":"2.0"} "#,
            r#"{"jsonrpc":"2.0","method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","\u006dethod":"b","params":{"x":1},"params":{}}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"\u0061","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"a","result":1}"#,
        ];
        for body in requests {
            let (whole, members) = (whole::read(body.as_bytes()).unwrap(), read_by_members(body.as_bytes()).unwrap());
            assert_eq!((whole.id, whole.method, whole.params), (members.id, members.method, members.params), "{body}");
        }
        let others = [
            r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#,
            r#"{"jsonrpc":"2.1","id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"id":1,"method":"a"}"#,
            "[]",
        ];
        for body in others {
            assert!(whole::read(body.as_bytes()).is_none() && read(body.as_bytes()).is_err(), "{body}");
        }
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

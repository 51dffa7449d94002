use serde_json::{Value, json};

use super::*;
use crate::code;

const SERVER: Rules = Rules { ids: IdRule::Numbers, max_id_len: 64, positional_params: false, answers: false };
const PEER: Rules = Rules { ids: IdRule::Integers, max_id_len: 64, positional_params: true, answers: true };

fn problem(text: &str, rules: &Rules) -> EnvelopeError {
    *read_text::<Value>(text, rules).expect_err(text)
}

/// The name of the member that is wrong.
fn member(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::Member { name, .. } => Some(name),
        Problem::Params { .. } => Some("params"),
        _ => None,
    }
}

fn request(text: &str, rules: &Rules) -> Request<Value> {
    match read_text(text, rules).unwrap_or_else(|error| panic!("{text}: {error:?}")) {
        Message::Request(request) => request,
        Message::Answer(answer) => panic!("{answer:?}"),
    }
}

#[test]
fn a_wrong_member_is_named_and_the_id_kept_where_it_can_be_read() {
    let rows = [
        ("{}", "null", Some("jsonrpc")),
        (r#"{"id":4,"method":"a"}"#, "4", Some("jsonrpc")),
        (r#"{"jsonrpc":"1.0","id":4,"method":"a"}"#, "4", Some("jsonrpc")),
        (r#"{"jsonrpc":2.0,"id":"x","method":"a"}"#, "\"x\"", Some("jsonrpc")),
        (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, "null", Some("id")),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"a"}"#, "null", Some("id")),
        (r#"{"jsonrpc":"2.0","id":true,"method":"a"}"#, "null", Some("id")),
        (r#"{"jsonrpc":"2.0","id":5}"#, "5", Some("method")),
        (r#"{"jsonrpc":"2.0","id":5,"method":[]}"#, "5", Some("method")),
        (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":"b"}"#, "5", Some("params")),
        (r#"{"jsonrpc":"2.0","id":5,"method":"a","params":7}"#, "5", Some("params")),
        ("7", "null", None),
        ("[]", "null", None),
    ];
    for (text, id, name) in rows {
        for rules in [SERVER, PEER] {
            let error = problem(text, &rules);
            assert_eq!((error.id.as_json(), member(&error.problem)), (id, name), "{text}");
            assert!(!error.problem.is_syntax() && !error.is_answer, "{text}");
        }
    }
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#, "x".repeat(64));
    assert_eq!(member(&problem(&long, &SERVER).problem), Some("id"));
}

#[test]
fn text_that_is_not_json_is_told_apart_from_json_that_is_no_message() {
    let texts = [
        "",
        " \n",
        "hello",
        "[",
        r#"{"jsonrpc":"2.0","id":1,"method""#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#,
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":"\udc00\ud800","method":"a","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":01}}"#,
    ];
    for text in texts {
        for rules in [SERVER, PEER] {
            let error = problem(text, &rules);
            assert!(error.problem.is_syntax(), "{text}: {error:?}");
        }
    }
    let error = read::<Value>(b"{\"jsonrpc\":\"\xff\"}", &SERVER).unwrap_err();
    assert_eq!(error.problem, Problem::NotUtf8 { byte: 12 });
    let error = problem("{\n  \"id\": 1,\n", &SERVER);
    assert!(matches!(error.problem, Problem::Syntax { line: 3, .. }), "{error:?}");
}

#[test]
fn half_of_a_character_and_a_wide_integer_lose_no_message() {
    let wide = "123456789012345678901234567890";
    let read = request(
        &format!(r#"{{"jsonrpc":"2.0","id":{wide},"method":"\ud800","params":{{"b":"\ud83d","n":{wide}}}}}"#),
        &SERVER,
    );
    assert_eq!((read.id.unwrap().as_json(), &*read.method), (wide, "\u{fffd}"));
    assert_eq!(read.params, Some(json!({"b": "\u{fffd}", "n": wide})));
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"a":"x\udc00"}}"#;
    let Ok(Message::Answer(read)) = read_text::<Value>(answer, &PEER) else { panic!("no answer") };
    assert_eq!(read.result, Some(json!({"a": "x\u{fffd}"})));
}

#[test]
fn the_id_is_found_in_text_that_is_not_json() {
    for (text, id, is_answer) in [
        (&br#"{"jsonrpc":"2.0","id":5,"method":"a","params":{"n":NaN}}"#[..], "5", false),
        (br#"{"jsonrpc":"2.0","id":5,"result":{"n":NaN}}"#, "5", true),
        (b"{\"jsonrpc\":\"2.0\",\"result\":\"\xff\",\"id\":5}", "5", true),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":5}", "5", false),
        (br#"{"jsonrpc":"2.0","id":5"#, "null", false),
    ] {
        let error = *read::<Value>(text, &PEER).unwrap_err();
        assert!(error.problem.is_syntax(), "{error:?}");
        assert_eq!((error.id.as_json(), error.is_answer), (id, is_answer), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn an_id_is_kept_as_it_was_written() {
    for id in ["1", "-7", "0.5", "18446744073709551615", "1e400", "\"\"", r#""a\u00e9\"b""#, "null"] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"a","id": {id} ,"params":{{}}}}"#);
        let read = request(&text, &SERVER).id.unwrap();
        assert_eq!(read.as_json(), id);
        assert_eq!(crate::result(&read, &json!([1])), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[1]}}"#));
        let refused = json!({"code": code::INVALID_PARAMS});
        assert_eq!(
            crate::error(&read, &refused),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602}}}}"#)
        );
        let is_taken = !matches!(id, "0.5" | "18446744073709551615" | "1e400");
        assert_eq!(read_text::<Value>(&text, &PEER).is_ok(), is_taken, "{id}");
    }
    assert_eq!(request(r#"{"jsonrpc":"2.0","method":"a","params":null,"more":[1]}"#, &SERVER).id, None);
}

#[test]
fn the_rules_say_what_a_wire_takes() {
    let positional = r#"{"jsonrpc":"2.0","id":5,"method":"a","params":[1]}"#;
    assert_eq!(problem(positional, &SERVER).problem, Problem::Params { found: "a list" });
    assert_eq!(request(positional, &PEER).params, Some(json!([1])));
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":null}"#;
    assert_eq!(member(&problem(answer, &SERVER).problem), Some("method"));
    let Ok(Message::Answer(read)) = read_text::<Value>(answer, &PEER) else { panic!("no answer") };
    assert_eq!((read.id.unwrap().as_json(), read.result, read.error), ("5", Some(Value::Null), None));
    let both = r#"{"jsonrpc":"2.0","id":5,"method":"a","result":1}"#;
    assert_eq!(member(&problem(both, &PEER).problem), Some("method"));
    assert_eq!(request(both, &SERVER).method, "a");
    for wrong in [r#"{"id":1,"result":1}"#, r#"{"error":7}"#, r#"{"jsonrpc":"2.0","id":[],"result":1}"#] {
        assert!(problem(wrong, &PEER).is_answer, "{wrong}");
    }
}

#[test]
fn the_last_of_two_members_counts() {
    let text = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","\u006dethod":"b","params":{"x":1,"x":2}}"#;
    let read = request(text, &SERVER);
    assert_eq!((read.id.unwrap().as_json(), &*read.method, read.params), ("2", "b", Some(json!({"x": 2}))));
}

#[test]
fn one_pass_reads_the_same_as_member_by_member() {
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"y":[1,2.5,null,"z"]}}}"#,
        r#" {"method":"a","params":null,"more":{"deep":[{}]},"id":"q","jsonrpc":"2.0"} "#,
        r#"{"jsonrpc":"2.0","method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","\u006dethod":"b","params":{"x":1},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"\u0061","params":{}}"#,
    ];
    for text in requests {
        let (one, other) = (single_pass::read::<Value>(text, &SERVER).unwrap(), read_by_members(text, &SERVER));
        assert_eq!(Message::Request(one), other.unwrap(), "{text}");
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
    for text in others {
        let is_read = single_pass::read::<Value>(text, &SERVER).is_some();
        assert!(!is_read && read_text::<Value>(text, &SERVER).is_err(), "{text}");
    }
}

#[test]
fn nesting_without_end_is_refused_and_overflows_nothing() {
    let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
    let deep = [open.clone(), "{\"a\":".repeat(200_000), format!("{open}{close}")];
    for deep in &deep {
        let in_params = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{deep}}}"#);
        for text in [deep, &in_params] {
            for rules in [SERVER, PEER] {
                let problem = problem(text, &rules).problem;
                assert!(problem.is_syntax() || problem == Problem::Params { found: "a list" }, "{problem:?}");
            }
        }
    }
    let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":{open}{close}}}}}"#);
    let error = problem(&inside, &SERVER);
    assert!(error.problem.is_syntax() && error.id.as_json() == "1", "{error:?}");
}

use std::sync::Arc;

use runtime::capabilities::Capabilities;
use runtime::message::{Message, ToolCall};
use runtime::model::ModelErrorKind;

use super::*;
use crate::model::{anthropic, gemini, ollama, openai, responses};

fn data(json: Value) -> Data {
    Data::from(json)
}

fn strict(json: Value) -> bool {
    is_strict(&data(json))
}

#[allow(clippy::needless_pass_by_value)] // reads as the schema does
fn closed(a: Value) -> Value {
    json!({"type": "object", "properties": {"a": a}, "required": ["a"], "additionalProperties": false})
}

#[test]
fn strict_mode_is_promised_where_a_schema_keeps_its_rules() {
    assert!(strict(closed(json!({"type": "string"}))));
    assert!(strict(closed(json!({"anyOf": [{"type": "null"}, closed(json!({"enum": [1, 2]}))]}))));
    assert!(strict(closed(json!({"type": "array", "items": closed(json!({"$ref": "#/$defs/x"}))}))));
    for open in [
        json!({"type": "string"}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"anyOf": [closed(json!({"type": "string"}))]}),
        json!({"type": "object", "properties": {"a": {}}}),
        closed(json!({"oneOf": [{"type": "string"}, {"type": "integer"}]})),
        closed(json!({"allOf": [{"type": "string"}]})),
        closed(json!({"not": {"type": "string"}})),
        closed(json!({"type": ["object", "null"]})),
        closed(json!({"type": "array", "items": {"oneOf": []}})),
        closed(json!({"type": "string", "minLength": 3})),
    ] {
        assert!(!strict(open.clone()), "{open}");
    }
}

#[test]
fn arguments_that_cannot_be_read_say_why() {
    let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
    assert_eq!(unreadable(&deep), "are nested too deeply");
    assert_eq!(unreadable("{oops"), "are not valid JSON");
    assert_eq!(unreadable("{'a': 1}"), "are not valid JSON");
    assert_eq!(arguments(Some(Value::from(deep.clone()))), Data::from(deep));
}

#[test]
fn what_ends_an_answer_is_said_in_each_wires_words_or_refused() {
    let plain = Capabilities::default();
    let base = Request { messages: [Arc::new(Message::user("hi"))].into_iter().collect(), ..Request::default() };
    let said = Request { top_p: Some(0.5), stop: vec!["END".into()], seed: Some(7), ..base.clone() };
    let sent = openai::body(&said, "m", &plain).unwrap();
    assert_eq!((&sent["top_p"], &sent["stop"], &sent["seed"]), (&json!(0.5), &json!(["END"]), &json!(7)));
    let sent = gemini::body(&said, "gemini-2.5-pro").unwrap()["generationConfig"].clone();
    assert_eq!((&sent["topP"], &sent["stopSequences"], &sent["seed"]), (&json!(0.5), &json!(["END"]), &json!(7)));
    let sent = ollama::body(&said, "m", &plain).unwrap()["options"].clone();
    assert_eq!((&sent["top_p"], &sent["stop"], &sent["seed"]), (&json!(0.5), &json!(["END"]), &json!(7)));
    let sent = anthropic::body(&Request { seed: None, ..said.clone() }, "m", &plain).unwrap();
    assert_eq!((&sent["top_p"], &sent["stop_sequences"]), (&json!(0.5), &json!(["END"])));
    let only_p = Request { top_p: Some(0.5), ..base.clone() };
    assert_eq!(responses::body(&only_p, "m", &plain).unwrap()["top_p"], 0.5);
    for refused in [
        anthropic::body(&Request { seed: Some(7), ..base.clone() }, "m", &plain).unwrap_err(),
        responses::body(&Request { seed: Some(7), ..base.clone() }, "m", &plain).unwrap_err(),
        responses::body(&Request { stop: vec!["x".into()], ..base.clone() }, "m", &plain).unwrap_err(),
    ] {
        assert_eq!(refused.kind, ModelErrorKind::BadRequest);
        assert!(refused.message.contains("does not support the option"), "{refused}");
    }
    for nothing in [
        openai::body(&base, "m", &plain).unwrap(),
        anthropic::body(&base, "m", &plain).unwrap(),
        gemini::body(&base, "m").unwrap(),
    ] {
        assert!(!nothing.to_string().to_lowercase().contains("stop"), "{nothing}");
    }
}

#[test]
fn instructions_of_a_developer_go_in_the_role_that_a_server_knows() {
    let mut message = Message::user("mind this");
    message.role = Role::Developer;
    let messages = [message, Message::user("hi")].into_iter().map(Arc::new).collect();
    let request = Request { messages, ..Request::default() };
    let reads = Capabilities { prefers_role_developer: true, ..Capabilities::default() };
    for (capabilities, role) in [(Capabilities::default(), "system"), (reads, "developer")] {
        assert_eq!(openai::body(&request, "m", &capabilities).unwrap()["messages"][0]["role"], role);
        assert_eq!(responses::body(&request, "m", &capabilities).unwrap()["input"][0]["role"], role);
    }
}

#[test]
fn calls_of_others_go_to_gemini_3_with_a_stand_in_for_their_signature() {
    let calls = ["a", "b"].map(|id| ToolCall::new(id, "read", Data::empty_dict())).to_vec();
    let mut messages = vec![Message::user("look"), Message::assistant("", calls.clone())];
    messages.extend(calls.iter().map(|call| Message::tool_result(call, "x", true)));
    let request = Request { messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() };
    let signatures = |model: &str| {
        let sent = gemini::body(&request, model).unwrap();
        sent["contents"][1]["parts"].as_array().unwrap().iter().map(|part| part["thoughtSignature"].clone()).collect()
    };
    let stand_in: Vec<Value> = signatures("gemini-3-pro-preview");
    assert_eq!(stand_in, [json!("skip_thought_signature_validator"), Value::Null]);
    assert_eq!(signatures("gemini-2.5-pro"), [Value::Null, Value::Null]);
}

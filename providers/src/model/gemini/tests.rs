use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::{Block, Message, ToolSpec};
use runtime::model::{Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::model::CapabilityTable;
use crate::testing::remind;

fn route() -> Capabilities {
    CapabilityTable::built_in().unwrap().lookup("gemini", "gemini-2.5-flash")
}

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: &[Value]) -> Request {
    let read = |message: &Value| Arc::new(Message::from_data(&data(message.clone())).unwrap());
    let system = Arc::new(System { appendix: Some("appendix".into()), ..System::primary("primary") });
    Request { system, messages: messages.iter().map(read).collect(), ..Request::default() }
}

fn body(request: &Request) -> Value {
    super::body(request, "gemini-2.5-flash").unwrap()
}

fn tools() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "look"}),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "name": "read", "arguments": {"path": "a"}},
            {"id": "call_2", "name": "now", "arguments": {}},
        ]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "text of a"}),
        json!({"role": "tool", "tool_call_id": "call_2", "content": "no clock", "is_error": true}),
    ]
}

/// Returns the history as the wire has it.
fn contents() -> Vec<Value> {
    vec![
        json!({"role": "user", "parts": [{"text": "look"}]}),
        json!({"role": "model", "parts": [
            {"functionCall": {"id": "call_1", "name": "read", "args": {"path": "a"}}},
            {"functionCall": {"id": "call_2", "name": "now", "args": {}}},
        ]}),
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "call_1", "name": "read", "response": {"output": "text of a"}}},
            {"functionResponse": {"id": "call_2", "name": "now", "response": {"error": "no clock"}}},
        ]}),
    ]
}

fn system(text: &str) -> Value {
    json!({"parts": [{"text": text}]})
}

#[test]
fn results_of_one_answer_stand_in_one_content() {
    let expected = json!({"systemInstruction": system("primary\n\nappendix"), "contents": contents()});
    assert_eq!(body(&request(&tools())), expected);
}

#[test]
fn reminders_are_xml_in_the_system_instruction_or_behind_all_results() {
    let hints = [RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache];
    let plain = Capabilities { prefers_xml_scaffolding: false, ..route() };
    let tag = "<system-reminder>\na &lt; b\n</system-reminder>";
    for (hint, (capabilities, text)) in
        hints.into_iter().flat_map(|hint| [(hint, (route(), tag)), (hint, (plain.clone(), "System reminder:\na < b"))])
    {
        let reminded = |placement| body(&remind(request(&tools()), &capabilities, placement, &[("a < b", hint)]));
        let head = reminded(PlacementPolicy::Head);
        assert_eq!(head["systemInstruction"], system(&format!("primary\n\n{text}\n\nappendix")), "{hint}");
        assert_eq!(head["contents"], Value::from(contents()), "{hint}");
        let tail = reminded(PlacementPolicy::Tail);
        assert_eq!(tail["systemInstruction"], system("primary\n\nappendix"), "{hint}");
        let mut expected = contents();
        expected[2]["parts"].as_array_mut().unwrap().push(json!({"text": text}));
        assert_eq!(tail["contents"], Value::from(expected), "{hint}");
    }
}

#[test]
fn options_are_spelled_as_the_vendor_does() {
    let base = Request {
        tools: Arc::new(vec![ToolSpec::new("read", "Reads.", Data::Nil)]),
        tool_choice: data(json!({"name": "read"})),
        max_tokens: Some(9),
        thinking: "low".into(),
        output_schema: data(json!({"type": "object"})),
        ..request(&tools())
    };
    let sent = body(&base);
    let parameters = json!({"type": "object", "properties": {}});
    assert_eq!(
        sent["tools"],
        json!([{"functionDeclarations": [
            {"name": "read", "description": "Reads.", "parametersJsonSchema": parameters},
        ]}])
    );
    assert_eq!(sent["toolConfig"], json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}}));
    assert_eq!(
        sent["generationConfig"],
        json!({
            "maxOutputTokens": 9, "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
            "thinkingConfig": {"thinkingBudget": 4096, "includeThoughts": true},
        })
    );
    let thinking = |model: &str, thinking: Value| {
        let request = Request { thinking: data(thinking), ..base.clone() };
        super::body(&request, model).unwrap()["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(thinking("gemini-3-pro", json!("low")), json!({"thinkingLevel": "LOW", "includeThoughts": true}));
    assert_eq!(thinking("gemini-3-pro", json!(99)), json!({"thinkingBudget": 99, "includeThoughts": true}));
    assert_eq!(thinking("gemini-2.5-pro", json!(false)), json!({"thinkingBudget": 0}));
    assert_eq!(thinking("gemini-2.5-pro", json!({"thinkingBudget": -1})), json!({"thinkingBudget": -1}));
    // Fields that are passed through unchanged are merged with the existing ones.
    let extra = [("generationConfig".into(), data(json!({"topK": 3})))].into_iter().collect();
    let sent = body(&Request { extra, ..base });
    assert_eq!(
        (&sent["generationConfig"]["topK"], &sent["generationConfig"]["maxOutputTokens"]),
        (&json!(3), &json!(9))
    );
}

#[test]
fn what_the_wire_cannot_say_is_refused() {
    let audio = json!({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]});
    let error = super::body(&request(&[audio]), "gemini-2.5-flash").unwrap_err();
    assert!(error.message.contains("gemini does not support content blocks of type \"input_audio\""), "{error}");
    let error = super::body(&Request::default(), "gemini-2.5-flash").unwrap_err();
    assert!(error.message.contains("no message"), "{error}");
}

/// An answer that thought, spoke and called twice.
fn answer() -> Value {
    json!({
        "responseId": "r1", "modelVersion": "gemini-2.5-flash-001",
        "candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Let me ", "thought": true},
            {"text": "see.", "thought": true},
            {"text": "I "},
            {"text": "look.", "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "now"}},
        ]}}],
        "usageMetadata": {
            "promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3,
        },
    })
}

#[test]
fn signed_parts_go_back_as_they_came_and_thoughts_do_not() {
    let reply = super::reply(answer(), "gemini-2.5-flash").unwrap();
    assert_eq!((reply.text.as_ref(), reply.reasoning.as_deref()), ("I look.", Some("Let me see.")));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cache_read_tokens), (9, 6, 3));
    let ids: Vec<_> = reply.tool_calls.iter().map(|call| call.id.as_ref()).collect();
    assert_eq!(ids, ["call_0", "call_1"]);
    let content: Data = reply.blocks.iter().map(Block::to_data).collect();
    let message = json!({
        "role": "assistant", "content": Value::from(&content),
        "tool_calls": [
            {"id": "call_0", "name": "read", "arguments": {"path": "b"}}, {"id": "call_1", "name": "now", "arguments": {}},
        ],
    });
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "text"});
    let look = json!({"role": "user", "content": "look"});
    let sent = body(&request(&[look, message, result("call_0"), result("call_1")]));
    assert_eq!(
        sent["contents"][1],
        json!({"role": "model", "parts": [
            {"text": "I look.", "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "read", "args": {"path": "b"}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "now", "args": {}}},
        ]})
    );
    // The vendor provided no ids, so it receives none.
    let response = |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "text"}}});
    assert_eq!(sent["contents"][2], json!({"role": "user", "parts": [response("read"), response("now")]}));
}

#[test]
fn an_answer_without_signatures_has_no_blocks() {
    let plain =
        json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b", "thoughtSignature": null}]}}]});
    let reply = super::reply(plain, "m").unwrap();
    assert_eq!((reply.text.as_ref(), reply.blocks.len(), reply.model.as_ref()), ("ab", 0, "m"));
}

#[test]
fn an_answer_in_very_many_parts_is_joined_once() {
    let parts: Vec<Value> = (0..200_000).map(|_| json!({"text": "0123456789"})).collect();
    let reply = super::reply(json!({"candidates": [{"content": {"parts": parts}}]}), "m").unwrap();
    assert_eq!(reply.text.len(), 2_000_000);
}

#[test]
fn a_prompt_that_was_blocked_is_an_empty_answer_that_says_why() {
    let reply = super::reply(json!({"promptFeedback": {"blockReason": "SAFETY"}}), "m").unwrap();
    assert_eq!((reply.text.as_ref(), reply.stop_reason.as_deref()), ("", Some("SAFETY")));
    let empty = json!({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]});
    assert_eq!(super::reply(empty, "m").unwrap().stop_reason.as_deref(), Some("MAX_TOKENS"));
    assert!(super::reply(json!({}), "m").unwrap_err().contains("`candidates` is empty"));
}

use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::{Message, ToolSpec};
use runtime::model::{ModelErrorKind, Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::model::CapabilityTable;
use crate::testing::remind;

fn route(model: &str) -> Capabilities {
    CapabilityTable::built_in().unwrap().lookup("openai", model)
}

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: &[Value]) -> Request {
    let read = |message: &Value| Arc::new(Message::from_data(&data(message.clone())).unwrap());
    let system = Arc::new(System { appendix: Some("appendix".into()), ..System::primary("primary") });
    Request { system, messages: messages.iter().map(read).collect(), ..Request::default() }
}

fn tools() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "look"}),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "name": "read", "arguments": {"path": "a"}},
        ]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "text of a"}),
    ]
}

/// Returns the history as the wire has it.
fn items() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "look"}),
        json!({"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"a\"}"}),
        json!({"type": "function_call_output", "call_id": "call_1", "output": "text of a"}),
    ]
}

fn body(request: &Request, model: &str) -> Value {
    super::body(request, model, &route(model)).unwrap()
}

#[test]
fn nothing_is_stored_and_reasoning_comes_encrypted() {
    assert_eq!(
        body(&request(&tools()), "gpt-5-pro"),
        json!({
            "model": "gpt-5-pro", "instructions": "primary\n\nappendix", "input": items(), "store": false,
            "include": ["reasoning.encrypted_content"],
        })
    );
    assert!(body(&request(&tools()), "gpt-4o").get("include").is_none(), "a model that does not reason refuses it");
}

#[test]
fn reminders_are_developer_messages_or_instructions() {
    let hints = [RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache];
    for hint in hints {
        let reminded = |model: &str, placement| remind(request(&tools()), &route(model), placement, &[("a < b", hint)]);
        let one = json!({"role": "developer", "content": "System reminder:\na < b"});
        let head = body(&reminded("gpt-5-pro", PlacementPolicy::Head), "gpt-5-pro");
        // The appendix comes after the reminders.
        let appendix = json!({"role": "developer", "content": "appendix"});
        assert_eq!(head["instructions"], "primary", "{hint}");
        assert_eq!(head["input"], Value::from([vec![one.clone(), appendix], items()].concat()), "{hint}");
        let tail = body(&reminded("gpt-5-pro", PlacementPolicy::Tail), "gpt-5-pro");
        assert_eq!(tail["input"], Value::from([items(), vec![one]].concat()), "{hint}");

        let plain = body(&reminded("gpt-4o", PlacementPolicy::Head), "gpt-4o");
        assert_eq!(plain["instructions"], "primary\n\nSystem reminder:\na < b\n\nappendix", "{hint}");
        let tail = body(&reminded("gpt-4o", PlacementPolicy::Tail), "gpt-4o");
        let block = json!({"role": "user", "content": [{"type": "input_text", "text": "System reminder:\na < b"}]});
        assert_eq!(tail["input"], Value::from([items(), vec![block]].concat()), "{hint}");
    }
    let xml = Capabilities { prefers_xml_scaffolding: true, ..route("gpt-4o") };
    let request = remind(request(&tools()), &xml, PlacementPolicy::Head, &[("a < b", RoleHint::System)]);
    let text = "primary\n\n<system-reminder>\na &lt; b\n</system-reminder>\n\nappendix";
    assert_eq!(super::body(&request, "gpt-4o", &xml).unwrap()["instructions"], text);
}

#[test]
fn options_are_spelled_as_the_vendor_does() {
    let base = Request {
        tools: Arc::new(vec![ToolSpec::new("read", "Reads.", Data::Nil)]),
        tool_choice: data(json!({"name": "read"})),
        max_tokens: Some(9),
        thinking: "high".into(),
        output_schema: data(json!({"type": "object", "properties": {"a": {}}})),
        ..request(&tools())
    };
    let sent = body(&base, "gpt-5-pro");
    assert_eq!(
        sent["tools"],
        json!([{
            "type": "function", "name": "read", "description": "Reads.", "strict": false,
            "parameters": {"type": "object", "properties": {}},
        }])
    );
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "read"}));
    assert_eq!((&sent["max_output_tokens"], &sent["reasoning"]), (&json!(9), &json!({"effort": "high"})));
    assert_eq!(
        (&sent["text"]["format"]["type"], &sent["text"]["format"]["strict"]),
        (&"json_schema".into(), &json!(false))
    );
    let summary = Request { thinking: data(json!({"effort": "low", "summary": "auto"})), ..base };
    assert_eq!(body(&summary, "gpt-5-pro")["reasoning"], json!({"effort": "low", "summary": "auto"}));
}

/// An answer that thought, spoke and called.
fn answer() -> Value {
    json!({
        "id": "resp_1", "model": "gpt-5-pro-2025", "status": "completed", "error": null, "incomplete_details": null,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln", "status": null},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"a\"}"},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 2}},
    })
}

#[test]
fn all_items_go_back_in_their_order_with_the_arguments_that_were_used() {
    let reply = super::reply(answer(), "gpt-5-pro").unwrap();
    assert_eq!((reply.text.as_ref(), reply.stop_reason.as_deref()), ("I look.", Some("completed")));
    assert_eq!((reply.usage.input_tokens, reply.usage.cache_read_tokens), (9, 2));
    let message = json!({
        "role": "assistant",
        "content": Value::from(&reply.blocks.iter().map(runtime::message::Block::to_data).collect::<Data>()),
        "tool_calls": [{"id": "call_1", "name": "read", "arguments": {"path": "b"}}],
    });
    let result = json!({"role": "tool", "tool_call_id": "call_1", "content": "text"});
    let sent = body(&request(&[json!({"role": "user", "content": "look"}), message.clone(), result]), "gpt-5-pro");
    let mut expected = answer()["output"].as_array().unwrap().clone();
    expected[0].as_object_mut().unwrap().remove("status");
    expected[2]["arguments"] = "{\"path\":\"b\"}".into();
    assert_eq!(sent["input"].as_array().unwrap()[1..4], expected);
    assert_eq!(
        Message::from_data(&data(message)).unwrap().text().as_ref(),
        "I look.",
        "scripts and other wires read it"
    );
}

#[test]
fn an_answer_that_only_speaks_and_calls_has_no_blocks() {
    let mut answer = answer();
    answer["output"].as_array_mut().unwrap().remove(0);
    answer["output"][0].as_object_mut().unwrap().remove("phase");
    let reply = super::reply(answer.clone(), "gpt-5-pro").unwrap();
    assert!(reply.blocks.is_empty() && reply.tool_calls.len() == 1);
    answer["output"][0]["content"] = json!([{"type": "refusal", "refusal": "I will not."}]);
    let reply = super::reply(answer, "gpt-5-pro").unwrap();
    assert_eq!(reply.text.as_ref(), "I will not.");
}

#[test]
fn an_answer_that_ends_early_or_fails_says_why() {
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
    assert_eq!(super::reply(cut, "m").unwrap().stop_reason.as_deref(), Some("max_output_tokens"));
    for (code, kind) in [
        ("server_error", ModelErrorKind::Server),
        ("rate_limit_exceeded", ModelErrorKind::RateLimit),
        ("invalid_image", ModelErrorKind::BadRequest),
    ] {
        let failed = json!({"status": "failed", "error": {"code": code, "message": "No."}, "output": []});
        let failure = super::failure(&failed).unwrap();
        assert_eq!((failure.kind, failure.message.as_str()), (kind, "the model's response failed: No"));
    }
    assert_eq!(super::failure(&answer()), None);
    assert!(super::reply(json!({"status": "completed"}), "m").unwrap_err().contains("output"));
}

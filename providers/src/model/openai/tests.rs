use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::{Block, Content, Message, Role, ToolCall, ToolSpec};
use runtime::model::{ModelReply, Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::model::CapabilityTable;
use crate::testing::remind;

fn route(model: &str) -> Capabilities {
    CapabilityTable::built_in().unwrap().lookup("openai", model)
}

fn body(request: &Request, model: &str) -> Value {
    super::body(request, model, &route(model)).unwrap()
}

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: Vec<Message>) -> Request {
    let system = Arc::new(System { appendix: Some("appendix".into()), ..System::primary("primary") });
    Request { system, messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
}

fn tool_history() -> Request {
    let call = ToolCall::new("call_1", "read", data(json!({"path": "a"})));
    request(vec![
        Message::user("look"),
        Message::assistant("", vec![call.clone()]),
        Message::tool_result(&call, "text of a", true),
    ])
}

/// The three messages of [`tool_history`] as the wire has them.
fn history() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "look"}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
        ]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "text of a"}),
    ]
}

fn with(before: Vec<Value>, after: Vec<Value>) -> Value {
    before.into_iter().chain(history()).chain(after).collect()
}

const EVERY_HINT: [RoleHint; 4] =
    [RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache];

#[test]
fn without_reminders_the_body_is_the_plain_one() {
    assert_eq!(
        body(&tool_history(), "gpt-4o"),
        json!({
            "model": "gpt-4o",
            "messages": with(vec![json!({"role": "system", "content": "primary\n\nappendix"})], vec![]),
        })
    );
}

#[test]
fn developer_messages_win_for_all_hints() {
    let system = json!({"role": "developer", "content": "primary\n\nappendix"});
    let one = json!({"role": "developer", "content": "System reminder:\na < b"});
    let two = json!({"role": "developer", "content": "System reminder:\ntwo"});
    for hint in EVERY_HINT {
        let reminders = [("a < b", hint), ("two", RoleHint::System)];
        let head = remind(tool_history(), &route("gpt-5"), PlacementPolicy::Head, &reminders);
        // The appendix comes after the reminders.
        let [primary, appendix] = ["primary", "appendix"].map(|text| json!({"role": "developer", "content": text}));
        let expected = with(vec![primary, one.clone(), two.clone(), appendix], vec![]);
        assert_eq!(body(&head, "gpt-5")["messages"], expected, "{hint}");
        let tail = remind(tool_history(), &route("gpt-5"), PlacementPolicy::Tail, &reminders);
        let expected = with(vec![system.clone()], vec![one.clone(), two.clone()]);
        assert_eq!(body(&tail, "gpt-5")["messages"], expected, "{hint}");
    }
}

#[test]
fn plain_system_text_for_all_hints_elsewhere() {
    for hint in EVERY_HINT {
        let head = remind(tool_history(), &route("gpt-4o"), PlacementPolicy::Head, &[("one", hint), ("two", hint)]);
        let text = "primary\n\nSystem reminder:\none\n\nSystem reminder:\ntwo\n\nappendix";
        let expected = with(vec![json!({"role": "system", "content": text})], vec![]);
        assert_eq!(body(&head, "gpt-4o")["messages"], expected, "{hint}");

        let tail = remind(tool_history(), &route("gpt-4o"), PlacementPolicy::Tail, &[("one", hint)]);
        let expected = with(
            vec![json!({"role": "system", "content": "primary\n\nappendix"})],
            vec![json!({"role": "user", "content": [{"type": "text", "text": "System reminder:\none"}]})],
        );
        assert_eq!(body(&tail, "gpt-4o")["messages"], expected, "{hint}");
    }
}

#[test]
fn a_tail_block_joins_the_users_last_message() {
    let asked = request(vec![Message::user("look")]);
    let sent = body(&remind(asked, &route("gpt-4o"), PlacementPolicy::Tail, &[("one", RoleHint::System)]), "gpt-4o");
    assert_eq!(
        sent["messages"][1],
        json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "text", "text": "System reminder:\none"},
        ]})
    );
}

#[test]
fn xml_system_text_where_a_project_says_so() {
    let capabilities = Capabilities { prefers_xml_scaffolding: true, ..route("gpt-4o") };
    let head = remind(tool_history(), &capabilities, PlacementPolicy::Head, &[("a & b", RoleHint::System)]);
    let sent = super::body(&head, "gpt-4o", &capabilities).unwrap();
    let text = "primary\n\n<system-reminder>\na &amp; b\n</system-reminder>\n\nappendix";
    assert_eq!(sent["messages"][0], json!({"role": "system", "content": text}));
}

#[test]
fn messages_of_every_kind() {
    let raw = ToolCall::new("c2", "read", Data::str("{oops"));
    let mut named = Message::user("hi");
    named.name = Some("ann".into());
    let mut thought = Message::new(
        Role::Assistant,
        Content::Blocks(Arc::new(vec![
            Block::Other(data(json!({"type": "thinking", "thinking": "hm", "signature": "x"}))),
            Block::text("I look."),
            Block::Other(data(json!({"type": "tool_use", "id": "c2", "name": "read", "input": {}}))),
        ])),
    );
    thought.tool_calls = vec![raw.clone()];
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let shown = Message::new(Role::User, Content::Blocks(Arc::new(vec![Block::Other(data(image.clone()))])));
    let sent = body(
        &request(vec![
            named,
            thought,
            Message::tool_result(&raw, "bad arguments", false),
            Message::assistant("", vec![]),
            Message::new(Role::System, "mind this"),
            shown,
        ]),
        "gpt-5",
    );
    assert_eq!(
        sent["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "user", "content": "hi", "name": "ann"}),
            json!({"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{oops"}},
            ]}),
            json!({"role": "tool", "tool_call_id": "c2", "content": "bad arguments"}),
            json!({"role": "developer", "content": "mind this"}),
            json!({"role": "user", "content": [image]}),
        ]
    );
    let error = super::body(&Request::default(), "gpt-5", &route("gpt-5")).unwrap_err();
    assert!(error.message.contains("no message"), "{error}");
}

#[test]
fn what_a_server_adds_to_a_message_with_calls_goes_back_to_the_same_model() {
    let call = json!({
        "id": "c1", "function": {"name": "read", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    });
    let answer = |calls: Value| {
        let message = json!({"content": "I look.", "reasoning_content": "Hm.", "tool_calls": calls});
        super::reply(json!({"choices": [{"message": message}]}), "m").unwrap()
    };
    assert!(answer(json!([])).blocks.is_empty(), "of a turn without calls nobody wants it");
    let reply = answer(json!([call, {"id": "c2", "function": {"name": "read"}}]));
    assert_eq!((reply.text.as_ref(), reply.reasoning.as_deref()), ("I look.", Some("Hm.")));
    let mut said = Message::new(Role::Assistant, Content::Blocks(Arc::new(reply.blocks)));
    said.tool_calls = reply.tool_calls;
    let request = request(vec![Message::user("look"), said]);
    let sent = |model: &str| super::body(&request, model, &Capabilities::default()).unwrap()["messages"][2].clone();
    let own = sent("m");
    assert_eq!((&own["content"], &own["reasoning_content"]), (&json!("I look."), &json!("Hm.")));
    assert_eq!(own["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "c2ln");
    assert!(own["tool_calls"][1].get("extra_content").is_none());
    let other = sent("another").to_string();
    assert!(!other.contains("reasoning_content") && !other.contains("extra_content"), "{other}");
}

#[test]
fn options_are_spelled_as_the_vendor_does() {
    let tool = ToolSpec::new("read", "Reads a file.", Data::Nil);
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    });
    let base = Request {
        tools: Arc::new(vec![tool]),
        max_tokens: Some(9),
        output_schema: data(schema.clone()),
        thinking: "high".into(),
        ..request(vec![Message::user("hi")])
    };
    let sent = body(&base, "o3");
    assert_eq!(
        sent["tools"],
        json!([{"type": "function", "function": {
            "name": "read", "description": "Reads a file.", "parameters": {"type": "object", "properties": {}},
        }}])
    );
    assert_eq!((&sent["max_completion_tokens"], sent.get("max_tokens")), (&json!(9), None));
    assert_eq!(sent["reasoning_effort"], "high");
    assert_eq!(
        sent["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "output", "strict": true, "schema": schema}})
    );
    let open = Request { output_schema: data(json!({"type": "object", "properties": {"a": {}}})), ..base.clone() };
    assert_eq!(body(&open, "gpt-4o")["response_format"]["json_schema"]["strict"], false);
    assert_eq!(body(&base, "gpt-4o")["max_tokens"], 9);
    let choice =
        |choice: Value| body(&Request { tool_choice: data(choice), ..base.clone() }, "o3")["tool_choice"].clone();
    assert_eq!(choice(json!("required")), "required");
    assert_eq!(choice(json!({"name": "read"})), json!({"type": "function", "function": {"name": "read"}}));
    assert_eq!(choice(json!(null)), Value::Null);
    let effort = |thinking: Value| {
        body(&Request { thinking: data(thinking), ..base.clone() }, "o3").get("reasoning_effort").cloned()
    };
    assert_eq!(effort(json!(true)), Some("medium".into()));
    assert_eq!(effort(json!(20_000)), Some("high".into()));
    assert_eq!(effort(json!(false)), None);
}

fn reply(json: Value) -> Result<ModelReply, String> {
    super::reply(json, "gpt-4o")
}

#[test]
fn a_reply_is_read() {
    let reply = reply(json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "refusal": null,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"id": "call_2", "type": "function", "function": {"name": "read", "arguments": "{\"path\":"}},
                {"id": "call_3", "type": "function", "function": {"name": "now", "arguments": ""}},
            ],
        }}],
        "usage": {
            "prompt_tokens": 120, "completion_tokens": 8, "total_tokens": 128,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        },
    }))
    .unwrap();
    assert_eq!(
        reply.tool_calls,
        [
            ToolCall::new("call_1", "read", data(json!({"path": "a"}))),
            ToolCall::new("call_2", "read", Data::str("{\"path\":")),
            ToolCall::new("call_3", "now", Data::empty_dict()),
        ]
    );
    assert_eq!((reply.text.as_ref(), reply.model.as_ref()), ("", "gpt-4o-2024-08-06"));
    assert_eq!(reply.stop_reason.as_deref(), Some("tool_calls"));
    let usage = reply.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (120, 8, 64));
}

#[test]
fn servers_that_imitate_the_api_are_read_too() {
    let reply = reply(json!({"choices": [{"message": {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "reasoning_content": "hm", "reasoning": "hm",
        "tool_calls": [{"function": {"name": "read", "arguments": {"path": "a"}}}],
    }}]}))
    .unwrap();
    assert_eq!((reply.text.as_ref(), reply.reasoning.as_deref()), ("ab", Some("hm")));
    assert_eq!(reply.tool_calls, [ToolCall::new("call_0", "read", data(json!({"path": "a"})))]);
    assert_eq!(reply.model.as_ref(), "gpt-4o");
}

#[test]
fn a_refusal_is_text() {
    let reply = reply(json!({"choices": [{"message": {"content": null, "refusal": "I will not."}}]})).unwrap();
    assert_eq!(reply.text.as_ref(), "I will not.");
    assert_eq!(reply.extra.get("refusal").and_then(Data::as_str), Some("I will not."));
}

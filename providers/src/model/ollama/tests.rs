use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::message::{Block, Message, ToolCall, ToolSpec};
use runtime::model::{Request, System};
use runtime::reminder::RoleHint;
use serde_json::{Value, json};

use crate::testing::remind;

fn data(json: Value) -> Data {
    Data::from(json)
}

fn request(messages: &[Value]) -> Request {
    let read = |message: &Value| Arc::new(Message::from_data(&data(message.clone())).unwrap());
    let system = Arc::new(System { appendix: Some("appendix".into()), ..System::primary("primary") });
    Request { system, messages: messages.iter().map(read).collect(), ..Request::default() }
}

fn body(request: &Request) -> Value {
    super::body(request, "llama3.2", &Capabilities::default()).unwrap()
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

/// Returns the history as the wire has it, after a system text.
fn messages(system: &str) -> Vec<Value> {
    vec![
        json!({"role": "system", "content": system}),
        json!({"role": "user", "content": "look"}),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "read", "arguments": {"path": "a"}}},
        ]}),
        json!({"role": "tool", "content": "text of a", "tool_name": "read"}),
    ]
}

#[test]
fn the_server_is_told_not_to_stream_and_results_name_their_tool() {
    let expected = json!({"model": "llama3.2", "messages": messages("primary\n\nappendix"), "stream": false});
    assert_eq!(body(&request(&tools())), expected);
}

#[test]
fn reminders_are_system_text_or_a_last_user_message() {
    let hints = [RoleHint::System, RoleHint::Developer, RoleHint::UserBlock, RoleHint::EphemeralCache];
    let xml = Capabilities { prefers_xml_scaffolding: true, ..Capabilities::default() };
    for hint in hints {
        for (capabilities, text) in [
            (Capabilities::default(), "System reminder:\na < b"),
            (xml.clone(), "<system-reminder>\na &lt; b\n</system-reminder>"),
        ] {
            let reminded = |placement| body(&remind(request(&tools()), &capabilities, placement, &[("a < b", hint)]));
            let expected = messages(&format!("primary\n\n{text}\n\nappendix"));
            assert_eq!(reminded(PlacementPolicy::Head)["messages"], Value::from(expected), "{hint}");
            let mut expected = messages("primary\n\nappendix");
            expected.push(json!({"role": "user", "content": text}));
            assert_eq!(reminded(PlacementPolicy::Tail)["messages"], Value::from(expected), "{hint}");
        }
    }
}

#[test]
fn options_are_spelled_as_the_vendor_does() {
    let base = Request {
        tools: Arc::new(vec![ToolSpec::new("read", "Reads.", Data::Nil)]),
        max_tokens: Some(9),
        temperature: Some(0.5),
        output_schema: data(json!({"type": "object"})),
        ..request(&tools())
    };
    let known = Capabilities { context_window: Some(8192), ..Capabilities::default() };
    let sent = super::body(&base, "llama3.2", &known).unwrap();
    assert_eq!(sent["options"], json!({"num_predict": 9, "temperature": 0.5, "num_ctx": 8192}));
    assert_eq!((&sent["format"], &sent["tools"][0]["function"]["name"]), (&json!({"type": "object"}), &json!("read")));
    for (thinking, think) in [
        (json!(true), json!(true)),
        (json!(false), json!(false)),
        (json!("minimal"), json!("low")),
        (json!("high"), json!("high")),
        (json!(500), json!(true)),
    ] {
        assert_eq!(body(&Request { thinking: data(thinking.clone()), ..base.clone() })["think"], think, "{thinking}");
    }
    let with_choice = |choice: Value| {
        let request = Request { tool_choice: data(choice), ..base.clone() };
        super::body(&request, "llama3.2", &Capabilities::default())
    };
    assert!(with_choice(json!("none")).unwrap().get("tools").is_none(), "it cannot call what it does not know");
    for choice in [json!("required"), json!({"name": "read"})] {
        let error = with_choice(choice).unwrap_err();
        assert!(error.message.contains("ollama cannot force a tool call"), "{error}");
    }
}

#[test]
fn images_stand_beside_the_text_and_must_be_here() {
    let inline = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}});
    let shown = json!({"role": "user", "content": [{"type": "text", "text": "what?"}, inline]});
    let sent = body(&request(&[shown]));
    assert_eq!(sent["messages"][1], json!({"role": "user", "content": "what?", "images": ["iVBO"]}));
    for (block, part) in [
        (json!({"type": "image_url", "image_url": {"url": "https://x/a.png"}}), "does not fetch images"),
        (json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBE"}}), "not documents"),
        (json!({"type": "input_audio"}), "does not support content blocks of type \"input_audio\""),
    ] {
        let message = json!({"role": "user", "content": [block]});
        let error = super::body(&request(&[message]), "llama3.2", &Capabilities::default()).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn a_reply_is_read_and_its_thinking_goes_back() {
    let reply = super::reply(
        json!({
            "model": "qwen3", "created_at": "x", "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4,
            "message": {"role": "assistant", "content": "I look.", "thinking": "Hm.", "tool_calls": [
                {"function": {"name": "read", "arguments": {"path": "a"}}},
            ]},
        }),
        "m",
    )
    .unwrap();
    assert_eq!(
        (reply.text.as_ref(), reply.reasoning.as_deref(), reply.model.as_ref()),
        ("I look.", Some("Hm."), "qwen3")
    );
    assert_eq!(reply.tool_calls, [ToolCall::new("call_0", "read", data(json!({"path": "a"})))]);
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (9, 4));
    assert_eq!(reply.stop_reason.as_deref(), Some("stop"));
    let content: Data = reply.blocks.iter().map(Block::to_data).collect();
    let said = json!({"role": "assistant", "content": Value::from(&content)});
    let sent = body(&request(&[json!({"role": "user", "content": "look"}), said]));
    assert_eq!(sent["messages"][2], json!({"role": "assistant", "content": "I look.", "thinking": "Hm."}));
}

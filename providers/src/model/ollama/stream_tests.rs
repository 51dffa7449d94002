//! Tests that a streamed answer equals the complete one.

#![allow(clippy::needless_pass_by_value, reason = "documents are written where they are passed")]

use serde_json::{Value, json};

use super::{OllamaAssembly, reply};
use crate::testing::assemble;

fn chunk(message: Value) -> Value {
    json!({"model": "llama-x", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
}

fn last(message: Value) -> Value {
    json!({"model": "llama-x", "created_at": "2026-01-01T00:00:01Z", "message": message, "done": true, "done_reason": "stop",
           "prompt_eval_count": 11, "eval_count": 3})
}

fn same(events: &[Value], message: Value) -> Vec<String> {
    let (assembled, told) = assemble(Box::<OllamaAssembly>::default(), events);
    assert_eq!(assembled, last(message.clone()));
    let (one, other) = (reply(assembled, "m").unwrap(), reply(last(message), "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    told
}

#[test]
fn text_thinking_and_usage() {
    let events = [
        chunk(json!({"role": "assistant", "content": "", "thinking": "Let me "})),
        chunk(json!({"role": "assistant", "content": "", "thinking": "see."})),
        chunk(json!({"role": "assistant", "content": "Hel"})),
        chunk(json!({"role": "assistant", "content": "lo"})),
        last(json!({"role": "assistant", "content": ""})),
        chunk(json!({"role": "assistant", "content": "behind the end"})),
    ];
    let told = same(&events, json!({"role": "assistant", "content": "Hello", "thinking": "Let me see."}));
    assert_eq!(told, ["reasoning: Let me see.", "text: Hello"]);
}

#[test]
fn calls_come_whole() {
    let call = |path: &str| json!({"function": {"name": "read", "arguments": {"path": path}}});
    let events = [
        chunk(json!({"role": "assistant", "content": "", "tool_calls": [call("ä")]})),
        chunk(
            json!({"role": "assistant", "content": "", "tool_calls": [call("b"), {"id": "c", "function": {"name": "stop"}}]}),
        ),
        last(json!({"role": "assistant", "content": ""})),
    ];
    let calls = json!([call("ä"), call("b"), {"id": "c", "function": {"name": "stop"}}]);
    let told = same(&events, json!({"role": "assistant", "content": "", "tool_calls": calls}));
    assert_eq!(
        told,
        [
            "call 0: call_0 read",
            "arguments 0: {\"path\":\"ä\"}",
            "call 1: call_1 read",
            "arguments 1: {\"path\":\"b\"}",
            "call 2: c stop",
            "arguments 2: {}",
        ]
    );
}

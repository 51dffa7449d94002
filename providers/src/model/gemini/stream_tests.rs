//! Tests that a streamed answer equals the complete one.

#![allow(clippy::needless_pass_by_value, reason = "documents are written where they are passed")]

use serde_json::{Value, json};

use super::{GeminiAssembly, reply};
use crate::model::http::{Assembly, Progress};
use crate::testing::assemble;

fn chunk(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "gemini-x", "responseId": "r1",
           "usageMetadata": {"promptTokenCount": 9}})
}

fn last(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}], "usageMetadata": usage(),
           "modelVersion": "gemini-x", "responseId": "r1"})
}

fn usage() -> Value {
    json!({"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 2, "cachedContentTokenCount": 5})
}

fn same(events: &[Value], parts: Value) -> Vec<String> {
    let (assembled, told) = assemble(Box::<GeminiAssembly>::default(), events);
    let (one, other) = (reply(assembled, "m").unwrap(), reply(last(parts), "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    told
}

#[test]
fn text_thoughts_and_usage() {
    let events = [
        chunk(json!([{"text": "Let me ", "thought": true}])),
        chunk(json!([{"text": "see.", "thought": true}])),
        chunk(json!([{"text": "Hel"}])),
        chunk(json!([{"text": "lo"}])),
        last(json!([{"text": ""}])),
    ];
    let told = same(&events, json!([{"text": "Let me see.", "thought": true}, {"text": "Hello"}]));
    assert_eq!(told, ["reasoning: Let me see.", "text: Hello"]);
}

#[test]
fn calls_come_whole_and_their_signatures_go_back() {
    let events = [
        chunk(json!([{"text": "Two."}])),
        chunk(json!([{"functionCall": {"name": "read", "args": {"path": "ä"}}, "thoughtSignature": "c2ln"}])),
        last(json!([{"functionCall": {"id": "b", "name": "read"}}])),
    ];
    let parts = json!([
        {"text": "Two."},
        {"functionCall": {"name": "read", "args": {"path": "ä"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "b", "name": "read"}},
    ]);
    assert_eq!(
        same(&events, parts),
        ["text: Two.", "call 0: call_0 read", "arguments 0: {\"path\":\"ä\"}", "call 1: b read", "arguments 1: {}"]
    );
}

#[test]
fn a_prompt_that_is_blocked_is_an_answer() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    let mut assembly = GeminiAssembly::default();
    assert_eq!(assembly.add(blocked.clone(), &|_| {}).unwrap(), Progress::Whole);
    let (one, other) = (reply(Box::new(assembly).document(), "m").unwrap(), reply(blocked, "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    assert_eq!(one.stop_reason.as_deref(), Some("SAFETY"));
}

#[test]
fn tokens_may_follow_the_last_word() {
    let mut assembly = Box::<GeminiAssembly>::default();
    assert_eq!(assembly.add(chunk(json!([{"text": "x"}])), &|_| {}).unwrap(), Progress::More);
    assert_eq!(
        assembly.add(json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}), &|_| {}).unwrap(),
        Progress::Whole
    );
    assert_eq!(assembly.add(json!({"usageMetadata": usage()}), &|_| {}).unwrap(), Progress::Whole);
    let reply = reply(assembly.document(), "m").unwrap();
    assert_eq!((reply.text.as_ref(), reply.stop_reason.as_deref()), ("x", Some("MAX_TOKENS")));
    assert_eq!((reply.usage.output_tokens, reply.usage.cache_read_tokens), (6, 5));
}

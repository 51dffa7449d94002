//! Tests that a streamed answer equals the complete one.

#![allow(clippy::needless_pass_by_value, reason = "documents are written where they are passed")]

use serde_json::{Value, json};

use super::{ChatAssembly, reply};
use crate::testing::assemble;

fn chunk(delta: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "model": "gpt-x", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> [Value; 2] {
    [
        json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": null}),
        json!({"id": "c1", "choices": [], "usage": usage()}),
    ]
}

fn usage() -> Value {
    json!({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}})
}

fn whole(message: Value, reason: &str) -> Value {
    json!({"id": "c1", "model": "gpt-x", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage()})
}

fn same(events: &[Value], reason: &str, message: Value) -> Vec<String> {
    let (assembled, told) = assemble(Box::<ChatAssembly>::default(), &[events, &finish(reason)].concat());
    let (one, other) = (reply(assembled, "m").unwrap(), reply(whole(message, reason), "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    told
}

#[test]
fn text_and_usage() {
    let events = [
        json!({"id": "c1", "model": "gpt-x", "choices": [], "prompt_filter_results": []}),
        chunk(json!({"role": "assistant", "content": "", "refusal": null})),
        chunk(json!({"content": "Hel"})),
        json!({"id": "c1", "choices": [{"index": 1, "delta": {"content": "another choice"}}]}),
        chunk(json!({"content": "lo", "from_the_future": 1})),
    ];
    let told = same(&events, "stop", json!({"role": "assistant", "content": "Hello", "refusal": null}));
    assert_eq!(told, ["text: Hello"]);
}

#[test]
fn a_refusal_is_text() {
    let events = [chunk(json!({"role": "assistant", "refusal": "I can"})), chunk(json!({"refusal": "not."}))];
    let told = same(&events, "stop", json!({"role": "assistant", "content": null, "refusal": "I cannot."}));
    assert_eq!(told, ["text: I cannot."]);
}

#[test]
fn reasoning_by_either_name_is_told_once() {
    let events = [
        chunk(json!({"reasoning_content": "Let me ", "reasoning": "Let me "})),
        chunk(json!({"reasoning_content": "see.", "reasoning": "see."})),
        chunk(json!({"content": "Yes."})),
    ];
    let message = json!({"content": "Yes.", "reasoning_content": "Let me see.", "reasoning": "Let me see."});
    assert_eq!(same(&events, "stop", message), ["reasoning: Let me see.", "text: Yes."]);
    let events = [chunk(json!({"reasoning": "Hm."})), chunk(json!({"content": [{"type": "text", "text": "Yes."}]}))];
    assert_eq!(same(&events, "stop", json!({"content": "Yes.", "reasoning": "Hm."})), ["reasoning: Hm.", "text: Yes."]);
}

#[test]
fn calls_that_come_interleaved() {
    let call = |index: u32, id: &str, arguments: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
    let more = |index: u32, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let events = [
        chunk(json!({"role": "assistant", "content": null, "tool_calls": [call(0, "a", "")]})),
        chunk(json!({"tool_calls": [call(1, "b", "{\"path\""), more(0, "{\"path\": \"\\u00")]})),
        chunk(json!({"tool_calls": [more(0, "e4\"}")]})),
        chunk(json!({"tool_calls": [more(1, ": 2}")]})),
        chunk(json!({"tool_calls": [call(7, "c", "")]})),
    ];
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"\\u00e4\"}"}},
        {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{\"path\": 2}"}},
        {"id": "c", "type": "function", "function": {"name": "read", "arguments": ""}},
    ]});
    assert_eq!(
        same(&events, "tool_calls", message),
        [
            "call 0: a read",
            "call 1: b read",
            "arguments 1: {\"path\"",
            "arguments 0: {\"path\": \"\\u00e4\"}",
            "arguments 1: : 2}",
            "call 2: c read",
        ]
    );
}

#[test]
fn servers_that_imitate_the_api_are_understood() {
    let function = |arguments: Value| json!({"name": "read", "arguments": arguments});
    let message = json!({"content": null, "tool_calls": [
        {"id": "a", "function": function(json!("{\"n\":1}"))},
        {"id": "b", "function": function(json!("{\"n\":2}"))},
    ]});
    // Whole calls, all of them with the same index; or without any; or in one chunk.
    for index in [json!({"index": 0}), json!({})] {
        let call = |id: &str, arguments: &str| {
            let mut call = json!({"id": id, "function": function(json!(arguments))});
            call.as_object_mut().unwrap().extend(index.as_object().unwrap().clone());
            call
        };
        let events = [
            chunk(json!({"tool_calls": [call("a", "{\"n\":1}")]})),
            chunk(json!({"tool_calls": [call("b", "{\"n\":2}")]})),
        ];
        same(&events, "tool_calls", message.clone());
        let at_once = [chunk(json!({"tool_calls": [call("a", "{\"n\":1}"), call("b", "{\"n\":2}")]}))];
        same(&at_once, "tool_calls", message.clone());
    }
    // Arguments as a value, no id, and each piece with all fields.
    let events = [chunk(json!({"tool_calls": [{"index": 0, "function": function(json!({"n": 1}))}]}))];
    let told =
        same(&events, "tool_calls", json!({"content": null, "tool_calls": [{"function": function(json!({"n": 1}))}]}));
    assert_eq!(told, ["call 0: call_0 read", "arguments 0: {\"n\":1}"]);
    let piece = |arguments: &str| {
        chunk(json!({"tool_calls": [{"index": 0, "id": "a", "function": function(json!(arguments))}]}))
    };
    let told = same(
        &[piece("{\"n\""), piece(":1}")],
        "tool_calls",
        json!({"content": null, "tool_calls": [{"id": "a", "function": function(json!("{\"n\":1}"))}]}),
    );
    assert_eq!(told, ["call 0: a read", "arguments 0: {\"n\":1}"]);
}

#[test]
fn usage_may_come_with_the_last_word_or_never() {
    let last = json!({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 4}});
    let (document, _) = assemble(Box::<ChatAssembly>::default(), &[last]);
    assert_eq!(reply(document, "m").unwrap().usage.input_tokens, 4);
    let (document, _) = assemble(Box::<ChatAssembly>::default(), &[chunk(json!({"content": "x"}))]);
    let reply = reply(document, "m").unwrap();
    assert_eq!((reply.usage.input_tokens, reply.model.as_ref()), (0, "gpt-x"));
}

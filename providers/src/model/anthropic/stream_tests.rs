//! Tests that a streamed answer equals the complete one.

#![allow(clippy::needless_pass_by_value, reason = "documents are written where they are passed")]

use serde_json::{Value, json};

use super::{AnthropicAssembly, reply};
use crate::model::http::{Assembly, Problem};
use crate::testing::assemble;

fn start() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [], "stop_reason": null,
        "stop_sequence": null,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2, "output_tokens": 1},
    }})
}

fn begin(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn end(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn finish(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

fn whole(content: Value, reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2, "output_tokens": 9},
    })
}

fn same(events: &[Value], document: Value) -> Vec<String> {
    let (assembled, told) = assemble(Box::<AnthropicAssembly>::default(), events);
    assert_eq!(assembled, document);
    let (one, other) = (reply(assembled, "m").unwrap(), reply(document, "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    told
}

#[test]
fn text_and_usage() {
    let events = [
        start(),
        json!({"type": "ping"}),
        begin(0, json!({"type": "text", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "Hel"})),
        json!({"type": "from_the_future", "index": 0}),
        delta(0, json!({"type": "text_delta", "text": "lo"})),
        delta(0, json!({"type": "delta_from_the_future", "text": "x"})),
        end(0),
    ];
    let told = same(
        &[&events[..], &finish("end_turn")].concat(),
        whole(json!([{"type": "text", "text": "Hello"}]), "end_turn"),
    );
    assert_eq!(told, ["text: Hello"]);
}

#[test]
fn signed_thinking_goes_back_as_it_came() {
    let events = [
        start(),
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "see."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        end(0),
        begin(1, json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        end(1),
        begin(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Yes."})),
        delta(2, json!({"type": "citations_delta", "citation": {"type": "page_location", "cited_text": "y"}})),
        end(2),
    ];
    let content = json!([
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "Yes.", "citations": [{"type": "page_location", "cited_text": "y"}]},
    ]);
    let told = same(&[&events[..], &finish("end_turn")].concat(), whole(content, "end_turn"));
    assert_eq!(told, ["reasoning: Let me see.", "text: Yes."]);
}

#[test]
fn calls_that_come_interleaved() {
    let tool = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let events = [
        start(),
        begin(0, json!({"type": "text", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "Two."})),
        end(0),
        begin(1, tool("a")),
        begin(2, tool("b")),
        delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"path\": \"\\u00"})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"path\""})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "e4\", \"n\": 1.50}"})),
        end(1),
        delta(2, json!({"type": "input_json_delta", "partial_json": ": 2}"})),
        end(2),
        begin(3, tool("c")),
        end(3),
    ];
    let content = json!([
        {"type": "text", "text": "Two."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "ä", "n": 1.5}},
        {"type": "tool_use", "id": "b", "name": "read", "input": {"path": 2}},
        {"type": "tool_use", "id": "c", "name": "read", "input": {}},
    ]);
    let told = same(&[&events[..], &finish("tool_use")].concat(), whole(content, "tool_use"));
    assert_eq!(
        told,
        [
            "text: Two.",
            "call 0: a read",
            "call 1: b read",
            "arguments 0: {\"path\": \"\\u00",
            "arguments 1: {\"path\"",
            "arguments 0: e4\", \"n\": 1.50}",
            "arguments 1: : 2}",
            "call 2: c read",
            "arguments 2: {}",
        ]
    );
}

#[test]
fn arguments_that_were_cut_short_stay_text() {
    let events = [
        start(),
        begin(0, json!({"type": "tool_use", "id": "a", "name": "read", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"path\": \"a"})),
    ];
    let (document, _) = assemble(Box::<AnthropicAssembly>::default(), &[&events[..], &finish("max_tokens")].concat());
    let reply = reply(document, "m").unwrap();
    assert_eq!(reply.tool_calls[0].arguments.as_str(), Some("{\"path\": \"a"));
    assert_eq!(reply.stop_reason.as_deref(), Some("max_tokens"));
}

#[test]
fn events_out_of_order_are_no_answer() {
    for (events, part) in [
        (vec![json!({"type": "message_stop"})], "`message_stop` before `message_start`"),
        (vec![start(), start()], "a second `message_start`"),
        (
            vec![
                start(),
                begin(0, json!({"type": "text", "text": ""})),
                delta(0, json!({"type": "text_delta", "text": "a"})),
                json!({"type": "message_stop"}),
            ],
            "`message_stop` in the middle of a block",
        ),
        (
            vec![start(), delta(3, json!({"type": "text_delta", "text": "x"}))],
            "a delta of block 3, which was not started",
        ),
        (vec![start(), json!({"type": "content_block_start", "content_block": {}})], "without `index`"),
        (vec![json!({"type": "message_start"})], "`message_start` without `message`"),
    ] {
        let mut assembly = AnthropicAssembly::default();
        let outcome = events.into_iter().map(|event| assembly.add(event, &|_| {})).find_map(Result::err);
        let Some(Problem::Shape(problem)) = outcome else { panic!("{part}: no error") };
        assert!(problem.contains(part), "{problem}");
    }
}

//! Tests that a streamed answer equals the complete one.

#![allow(clippy::needless_pass_by_value, reason = "documents are written where they are passed")]

use serde_json::{Value, json};

use super::{ResponsesAssembly, reply};
use crate::model::http::{Assembly, Problem};
use crate::testing::assemble;

fn event(kind: &str, fields: Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}")});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn response(status: &str, output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "model": "gpt-x", "status": status, "output": output, "error": null,
           "incomplete_details": null,
           "usage": {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 5}}})
}

fn created() -> Value {
    event("created", json!({"response": {"id": "resp_1", "status": "in_progress", "output": [], "usage": null}}))
}

fn same(events: &[Value], output: Value) -> Vec<String> {
    let completed = event("completed", json!({"response": response("completed", output.clone())}));
    let (assembled, told) = assemble(Box::<ResponsesAssembly>::default(), &[events, &[completed]].concat());
    assert_eq!(assembled, response("completed", output));
    // Servers that leave the output out of the last event.
    let completed = event("completed", json!({"response": response("completed", json!([]))}));
    let (other, _) = assemble(Box::<ResponsesAssembly>::default(), &[events, &[completed]].concat());
    let (one, other) = (reply(assembled, "m").unwrap(), reply(other, "m").unwrap());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    told
}

#[test]
fn text_reasoning_and_calls() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "b3BhcXVl", "summary": [
        {"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Second."},
    ]});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                         "content": [{"type": "output_text", "text": "Hello", "annotations": []}]});
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "read", "arguments": arguments, "status": "completed"});
    let piece = |kind: &str, index: u32, delta: &str| event(kind, json!({"output_index": index, "delta": delta}));
    let think = |part: u32, delta: &str| {
        event("reasoning_summary_text.delta", json!({"output_index": 0, "summary_index": part, "delta": delta}))
    };
    let begin = |index: u32, item: &Value| event("output_item.added", json!({"output_index": index, "item": item}));
    let end = |index: u32, item: &Value| event("output_item.done", json!({"output_index": index, "item": item}));
    let events = [
        created(),
        begin(0, &json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        think(0, "Fir"),
        think(0, "st."),
        think(1, "Second."),
        end(0, &reasoning),
        begin(1, &json!({"type": "message", "id": "msg_1", "content": []})),
        piece("output_text.delta", 1, "Hel"),
        piece("from_the_future", 1, "x"),
        piece("output_text.delta", 1, "lo"),
        end(1, &message),
        begin(2, &call("a", "")),
        begin(3, &call("b", "")),
        piece("function_call_arguments.delta", 3, "{\"path\""),
        piece("function_call_arguments.delta", 2, "{\"path\":\"\\u00"),
        piece("function_call_arguments.delta", 2, "e4\"}"),
        piece("function_call_arguments.delta", 3, ":2}"),
        end(2, &call("a", "{\"path\":\"\\u00e4\"}")),
        end(3, &call("b", "{\"path\":2}")),
        // One that never said it began, and has no arguments.
        end(4, &call("c", "")),
    ];
    let output =
        json!([reasoning, message, call("a", "{\"path\":\"\\u00e4\"}"), call("b", "{\"path\":2}"), call("c", "")]);
    assert_eq!(
        same(&events, output),
        [
            "reasoning: First.\n\nSecond.",
            "text: Hello",
            "call 0: a read",
            "call 1: b read",
            "arguments 1: {\"path\"",
            "arguments 0: {\"path\":\"\\u00e4\"}",
            "arguments 1: :2}",
            "call 2: c read",
            "arguments 2: {}",
        ]
    );
}

#[test]
fn a_refusal_is_text_and_an_incomplete_answer_is_one() {
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]});
    let events = [
        created(),
        event("refusal.delta", json!({"output_index": 0, "delta": "No."})),
        event("output_item.done", json!({"output_index": 0, "item": item})),
    ];
    assert_eq!(same(&events, json!([item])), ["text: No."]);
    let mut cut = response("incomplete", json!([]));
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let (document, _) = assemble(Box::<ResponsesAssembly>::default(), &[event("incomplete", json!({"response": cut}))]);
    assert_eq!(reply(document, "m").unwrap().stop_reason.as_deref(), Some("max_output_tokens"));
}

#[test]
fn a_response_that_failed_is_none() {
    let failed = json!({"response": {"status": "failed", "error": {"code": "server_error", "message": "It broke."}}});
    let outcome = ResponsesAssembly::default().add(event("failed", failed), &|_| {});
    assert!(matches!(outcome, Err(Problem::Failed(_))));
    let outcome = ResponsesAssembly::default().add(event("completed", json!({})), &|_| {});
    assert!(matches!(outcome, Err(Problem::Shape(_))));
    assert!(ResponsesAssembly::default().add(json!([1]), &|_| {}).is_ok());
}

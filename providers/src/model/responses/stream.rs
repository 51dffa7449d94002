//! A streamed answer. The last event has the whole response; the others are only reported live.

use std::collections::BTreeMap;

use runtime::model::Delta;
use serde_json::Value;

use crate::model::http::{Assembly, Problem, Progress};

/// The state of the stream, and at last the response.
#[derive(Default)]
pub(in crate::model) struct ResponsesAssembly {
    response: Value,
    /// Items that are done, by their place: some servers leave them out of the response at the end.
    items: BTreeMap<u64, Value>,
    /// Calls by the place of their items.
    calls: BTreeMap<u64, ResponsesCall>,
    said_text: bool,
    /// The part of the reasoning that was reported last.
    thought: Option<(u64, u64)>,
}

struct ResponsesCall {
    /// Its place among the calls.
    index: usize,
    /// Whether any of its arguments were reported.
    has_arguments: bool,
}

impl Assembly for ResponsesAssembly {
    fn add(&mut self, mut event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem> {
        if !event.is_object() {
            return Ok(Progress::More);
        }
        let place = event["output_index"].as_u64().unwrap_or(0);
        let piece = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.added" => self.begin(place, &event["item"], live),
            "response.output_text.delta" if !piece.is_empty() => {
                self.said_text = true;
                live(Delta::Text(piece));
            }
            // A refusal is the text of an answer that has no other.
            "response.refusal.delta" if !self.said_text && !piece.is_empty() => live(Delta::Text(piece)),
            "response.reasoning_summary_text.delta" => {
                self.think(place, event["summary_index"].as_u64().unwrap_or(0), piece, live);
            }
            "response.reasoning_text.delta" => {
                self.think(place, event["content_index"].as_u64().unwrap_or(0), piece, live);
            }
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.calls.get_mut(&place).filter(|_| !piece.is_empty()) {
                    call.has_arguments = true;
                    live(Delta::ToolCallArguments { index: call.index, json: piece });
                }
            }
            "response.output_item.done" => {
                let item = event["item"].take();
                self.end(place, &item, live);
                self.items.insert(place, item);
            }
            "response.completed" | "response.incomplete" => {
                let response = event["response"].take();
                if !response.is_object() {
                    return Err(Problem::Shape("a last event without `response`".to_owned()));
                }
                self.response = response;
                return Ok(Progress::Over);
            }
            "response.failed" | "response.cancelled" => return Err(Problem::Failed(event)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn document(self: Box<Self>) -> Value {
        let mut response = self.response;
        if response["output"].as_array().is_none_or(Vec::is_empty) && !self.items.is_empty() {
            response["output"] = self.items.into_values().collect();
        }
        response
    }
}

impl ResponsesAssembly {
    fn begin(&mut self, place: u64, item: &Value, live: &dyn Fn(Delta<'_>)) {
        if item["type"] != "function_call" || self.calls.contains_key(&place) {
            return;
        }
        let index = self.calls.len();
        let text = |key: &str| item[key].as_str().unwrap_or_default();
        live(Delta::ToolCallStart { index, id: text("call_id"), name: text("name") });
        self.calls.insert(place, ResponsesCall { index, has_arguments: false });
    }

    /// Ends a call; reports its arguments if they came in one piece, or are empty.
    fn end(&mut self, place: u64, item: &Value, live: &dyn Fn(Delta<'_>)) {
        self.begin(place, item, live);
        if let Some(call) = self.calls.get_mut(&place).filter(|call| !call.has_arguments) {
            call.has_arguments = true;
            let json = item["arguments"].as_str().filter(|json| !json.trim().is_empty()).unwrap_or("{}");
            live(Delta::ToolCallArguments { index: call.index, json });
        }
    }

    /// Reports a piece of reasoning; its parts are separated as in the reply.
    fn think(&mut self, place: u64, part: u64, piece: &str, live: &dyn Fn(Delta<'_>)) {
        if piece.is_empty() {
            return;
        }
        if self.thought.is_some_and(|last| last != (place, part)) {
            live(Delta::Reasoning("\n\n"));
        }
        self.thought = Some((place, part));
        live(Delta::Reasoning(piece));
    }
}

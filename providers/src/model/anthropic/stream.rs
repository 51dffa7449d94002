//! An answer in pieces: the message as it was at its start, and each event's addition to it.

use std::collections::BTreeMap;

use runtime::model::Delta;
use serde_json::{Map, Value};

use crate::model::http::{Assembly, Problem, Progress, tell};

/// The message so far.
#[derive(Default)]
pub(in crate::model) struct AnthropicAssembly {
    message: Option<Map<String, Value>>,
    blocks: BTreeMap<u64, Block>,
    calls: usize,
}

struct Block {
    json: Map<String, Value>,
    /// The input of a tool so far, as JSON text.
    input: String,
    /// Its place among the calls, where it is one.
    call: Option<usize>,
    /// Its end has not come.
    is_open: bool,
}

impl Assembly for AnthropicAssembly {
    fn add(&mut self, event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem> {
        let Value::Object(mut event) = event else { return Ok(Progress::More) };
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match (kind.as_str(), &mut self.message) {
            // A stream must not contain two answers.
            ("message_start", Some(_)) => return Err(shape("a second `message_start`")),
            ("message_start", None) => match event.remove("message") {
                Some(Value::Object(message)) => self.message = Some(message),
                _ => return Err(shape("`message_start` without `message`")),
            },
            ("content_block_start", Some(_)) => self.start(event, live)?,
            ("content_block_delta", Some(_)) => self.extend(&mut event, live)?,
            ("content_block_stop", Some(_)) => self.stop(&event, live)?,
            ("message_delta", Some(message)) => {
                merge(message, event.remove("delta"));
                let usage = message.entry("usage").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(usage) = usage {
                    merge(usage, event.remove("usage"));
                }
                // Some servers send no `message_stop`.
                if message.get("stop_reason").is_some_and(|reason| !reason.is_null()) {
                    return Ok(Progress::Whole);
                }
            }
            ("message_stop", Some(message)) => {
                let is_told = message.get("stop_reason").is_some_and(|reason| !reason.is_null());
                if !is_told && self.blocks.values().any(|block| block.is_open) {
                    return Err(shape("`message_stop` in the middle of a block"));
                }
                return Ok(Progress::Over);
            }
            (
                "content_block_start" | "content_block_delta" | "content_block_stop" | "message_delta" | "message_stop",
                None,
            ) => {
                return Err(shape(&format!("`{kind}` before `message_start`")));
            }
            // Pings, and what is newer than this.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn document(self: Box<Self>) -> Value {
        let mut message = self.message.unwrap_or_default();
        let blocks = self.blocks.into_values().map(Block::into_json).collect();
        message.insert("content".to_owned(), Value::Array(blocks));
        Value::Object(message)
    }
}

impl AnthropicAssembly {
    fn start(&mut self, mut event: Map<String, Value>, live: &dyn Fn(Delta<'_>)) -> Result<(), Problem> {
        let index = index(&event)?;
        let Some(Value::Object(json)) = event.remove("content_block") else {
            return Err(shape("`content_block_start` without `content_block`"));
        };
        let mut call = None;
        match text(&json, "type") {
            "tool_use" => {
                call = Some(self.calls);
                live(Delta::ToolCallStart { index: self.calls, id: text(&json, "id"), name: text(&json, "name") });
                self.calls += 1;
            }
            // Usually empty here.
            "text" => tell(text(&json, "text"), |piece| live(Delta::Text(piece))),
            "thinking" => tell(text(&json, "thinking"), |piece| live(Delta::Reasoning(piece))),
            _ => {}
        }
        self.blocks.insert(index, Block { json, input: String::new(), call, is_open: true });
        Ok(())
    }

    fn extend(&mut self, event: &mut Map<String, Value>, live: &dyn Fn(Delta<'_>)) -> Result<(), Problem> {
        let index = index(event)?;
        let block = self.blocks.get_mut(&index);
        let block = block.ok_or_else(|| shape(&format!("a delta of block {index}, which was not started")))?;
        let Some(Value::Object(mut delta)) = event.remove("delta") else {
            return Err(shape("`content_block_delta` without `delta`"));
        };
        match text(&delta, "type") {
            "text_delta" => {
                tell(text(&delta, "text"), |piece| live(Delta::Text(piece)));
                append(&mut block.json, "text", text(&delta, "text"));
            }
            "thinking_delta" => {
                tell(text(&delta, "thinking"), |piece| live(Delta::Reasoning(piece)));
                append(&mut block.json, "thinking", text(&delta, "thinking"));
            }
            "signature_delta" => append(&mut block.json, "signature", text(&delta, "signature")),
            "input_json_delta" => {
                let piece = text(&delta, "partial_json");
                if let Some(index) = block.call {
                    tell(piece, |json| live(Delta::ToolCallArguments { index, json }));
                }
                block.input.push_str(piece);
            }
            "citations_delta" => {
                let citations = block.json.entry("citations").or_insert(Value::Null);
                if !citations.is_array() {
                    *citations = Value::Array(Vec::new());
                }
                if let (Value::Array(list), Some(citation)) = (citations, delta.remove("citation")) {
                    list.push(citation);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends a call; reports its input if that came with its start, or is empty.
    fn stop(&mut self, event: &Map<String, Value>, live: &dyn Fn(Delta<'_>)) -> Result<(), Problem> {
        let Some(block) = self.blocks.get_mut(&index(event)?) else { return Ok(()) };
        block.is_open = false;
        if let Some(index) = block.call
            && block.input.is_empty()
        {
            let json =
                block.json.get("input").filter(|input| !input.is_null()).map_or("{}".to_owned(), Value::to_string);
            live(Delta::ToolCallArguments { index, json: &json });
        }
        Ok(())
    }
}

impl Block {
    fn into_json(mut self) -> Value {
        if !self.input.trim().is_empty() {
            // What cannot be read stays as it is, so that the loop can tell the model.
            let input = json::from_str(&self.input).unwrap_or(Value::String(self.input));
            self.json.insert("input".to_owned(), input);
        }
        Value::Object(self.json)
    }
}

fn shape(problem: &str) -> Problem {
    Problem::Shape(problem.to_owned())
}

fn index(event: &Map<String, Value>) -> Result<u64, Problem> {
    event.get("index").and_then(Value::as_u64).ok_or_else(|| shape("an event of a block without `index`"))
}

fn text<'a>(json: &'a Map<String, Value>, key: &str) -> &'a str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn append(json: &mut Map<String, Value>, key: &str, piece: &str) {
    match json.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => drop(json.insert(key.to_owned(), piece.into())),
    }
}

/// Later fields replace earlier ones, unless they say nothing.
fn merge(into: &mut Map<String, Value>, from: Option<Value>) {
    if let Some(Value::Object(from)) = from {
        into.extend(from.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

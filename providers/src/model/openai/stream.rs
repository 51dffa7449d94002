//! An answer in pieces: chunks, each with a delta of the message.

use std::collections::HashMap;

use runtime::model::Delta;
use serde_json::{Map, Value, json};

use super::decode::text;
use crate::model::choice::call_id;
use crate::model::http::{Assembly, Problem, Progress, tell};

/// The completion so far.
#[derive(Default)]
pub(in crate::model) struct ChatAssembly {
    /// Fields of the first chunk: `id`, `model` …
    head: Map<String, Value>,
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    calls: Vec<StreamedChatCall>,
    /// The position of the call for a chunk's index.
    places: HashMap<u64, usize>,
    finish_reason: Value,
    usage: Value,
    /// A chunk had something to say, so there is an answer that the mark may end.
    has_begun: bool,
}

#[derive(Default)]
struct StreamedChatCall {
    id: String,
    name: String,
    /// JSON text.
    arguments: String,
    /// In the shape of some servers that imitate the API: a value instead of its text.
    value: Option<Value>,
    extra_content: Option<Value>,
    was_told: bool,
}

impl Assembly for ChatAssembly {
    fn add(&mut self, event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem> {
        let Value::Object(mut chunk) = event else { return Ok(Progress::More) };
        if let Some(usage) = chunk.remove("usage").filter(|usage| !usage.is_null()) {
            self.usage = usage;
        }
        if let Some(Value::Array(choices)) = chunk.remove("choices") {
            let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
            for choice in choices.iter().filter(first) {
                self.has_begun = true;
                self.choice(choice, live);
            }
        }
        for (key, value) in chunk {
            if !value.is_null() {
                self.head.entry(key).or_insert(value);
            }
        }
        // The tokens come in a chunk of their own, or never.
        Ok(if self.finish_reason.is_null() { Progress::More } else { Progress::Whole })
    }

    fn ends_with_mark(&self) -> bool {
        self.has_begun
    }

    fn document(self: Box<Self>) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        let texts = [
            ("content", self.content),
            ("refusal", self.refusal),
            ("reasoning_content", self.reasoning_content),
            ("reasoning", self.reasoning),
        ];
        message.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into()))));
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.into_iter().map(StreamedChatCall::into_json).collect());
        }
        let mut document = self.head;
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason});
        document.insert("choices".to_owned(), Value::Array(vec![choice]));
        document.insert("usage".to_owned(), self.usage);
        Value::Object(document)
    }
}

impl ChatAssembly {
    fn choice(&mut self, choice: &Value, live: &dyn Fn(Delta<'_>)) {
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, live);
        }
        if let Some(reason) =
            choice.get("finish_reason").filter(|reason| reason.as_str().is_some_and(|r| !r.is_empty()))
        {
            self.finish_reason = reason.clone();
        }
    }

    fn delta(&mut self, delta: &Value, live: &dyn Fn(Delta<'_>)) {
        let piece = |key: &str| delta.get(key).filter(|value| !value.is_null()).map(text);
        if let Some(piece) = piece("reasoning_content") {
            tell(&piece, |piece| live(Delta::Reasoning(piece)));
            self.reasoning_content.get_or_insert_default().push_str(&piece);
        }
        if let Some(piece) = piece("reasoning") {
            // Servers that send both mean the same by both.
            if self.reasoning_content.is_none() {
                tell(&piece, |piece| live(Delta::Reasoning(piece)));
            }
            self.reasoning.get_or_insert_default().push_str(&piece);
        }
        for (key, into) in [("content", &mut self.content), ("refusal", &mut self.refusal)] {
            if let Some(piece) = piece(key) {
                tell(&piece, |piece| live(Delta::Text(piece)));
                into.get_or_insert_default().push_str(&piece);
            }
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let place = self.place(piece);
            if let Some(call) = self.calls.get_mut(place) {
                call.add(piece, place, live);
            }
        }
    }

    /// Returns the call that a piece belongs to: the one with its index; without an index the last
    /// one, unless the piece begins a new one.
    fn place(&mut self, piece: &Value) -> usize {
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let index = piece.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(index) => self.places.get(&index).copied(),
            None if piece
                .pointer("/function/name")
                .is_some_and(|name| name.as_str().is_some_and(|n| !n.is_empty())) =>
            {
                None
            }
            None => self.calls.len().checked_sub(1),
        };
        // Some servers use the same index for all their calls.
        let is_other = |place: &usize| {
            self.calls.get(*place).is_some_and(|call| !id.is_empty() && !call.id.is_empty() && call.id != id)
        };
        if let Some(place) = known.filter(|place| !is_other(place)) {
            return place;
        }
        let place = self.calls.len();
        self.calls.push(StreamedChatCall::default());
        if let Some(index) = index {
            self.places.insert(index, place);
        }
        place
    }
}

impl StreamedChatCall {
    fn add(&mut self, piece: &Value, index: usize, live: &dyn Fn(Delta<'_>)) {
        let field = |path: &str| piece.pointer(path).and_then(Value::as_str).unwrap_or_default();
        for (into, said) in [(&mut self.id, field("/id")), (&mut self.name, field("/function/name"))] {
            if into.is_empty() {
                into.push_str(said);
            }
        }
        if !self.was_told && !self.name.is_empty() {
            self.was_told = true;
            if self.id.is_empty() {
                self.id = call_id(index);
            }
            live(Delta::ToolCallStart { index, id: &self.id, name: &self.name });
        }
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            self.extra_content = Some(extra.clone());
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(json)) => {
                tell(json, |json| live(Delta::ToolCallArguments { index, json }));
                self.arguments.push_str(json);
            }
            None | Some(Value::Null) => {}
            Some(value) => {
                live(Delta::ToolCallArguments { index, json: &value.to_string() });
                self.value = Some(value.clone());
            }
        }
    }

    fn into_json(self) -> Value {
        let arguments = self.value.unwrap_or(Value::String(self.arguments));
        let mut json =
            json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}});
        if let Some(extra) = self.extra_content {
            json["extra_content"] = extra;
        }
        json
    }
}

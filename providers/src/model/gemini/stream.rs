//! An answer in pieces: a row of bodies, each with more parts. Their parts in one list, and the last values of all other
//! fields, are the body that comes in one piece.

use runtime::model::Delta;
use serde_json::{Map, Value};

use crate::model::choice::call_id;
use crate::model::http::{Assembly, Problem, Progress};

/// The body so far.
#[derive(Default)]
pub(in crate::model) struct GeminiAssembly {
    body: Map<String, Value>,
    candidate: Option<Map<String, Value>>,
    parts: Vec<Value>,
    calls: usize,
}

impl Assembly for GeminiAssembly {
    fn add(&mut self, event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem> {
        let Value::Object(mut event) = event else { return Ok(Progress::More) };
        if let Some(Value::Array(candidates)) = event.remove("candidates")
            && let Some(Value::Object(candidate)) = candidates.into_iter().next()
        {
            self.candidate(candidate, live);
        }
        self.body.extend(event);
        let finished = self
            .candidate
            .as_ref()
            .is_some_and(|candidate| candidate.get("finishReason").is_some_and(Value::is_string));
        let blocked = self.body.get("promptFeedback").is_some_and(|feedback| feedback["blockReason"].is_string());
        // The tokens may come behind the last word.
        Ok(if finished || blocked { Progress::Whole } else { Progress::More })
    }

    fn document(self: Box<Self>) -> Value {
        let mut body = self.body;
        if let Some(mut candidate) = self.candidate {
            let content = candidate.entry("content").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(content) = content {
                content.insert("parts".to_owned(), Value::Array(self.parts));
            }
            body.insert("candidates".to_owned(), Value::Array(vec![Value::Object(candidate)]));
        }
        Value::Object(body)
    }
}

impl GeminiAssembly {
    fn candidate(&mut self, mut candidate: Map<String, Value>, live: &dyn Fn(Delta<'_>)) {
        if let Some(Value::Object(content)) = candidate.get_mut("content")
            && let Some(Value::Array(parts)) = content.remove("parts")
        {
            for part in parts {
                self.tell(&part, live);
                self.parts.push(part);
            }
        }
        // What says nothing takes nothing back.
        let fields = candidate.into_iter().filter(|(_, value)| !value.is_null());
        self.candidate.get_or_insert_default().extend(fields);
    }

    fn tell(&mut self, part: &Value, live: &dyn Fn(Delta<'_>)) {
        if let Some(call) = part.get("functionCall") {
            let index = self.calls;
            self.calls += 1;
            let id = call["id"].as_str().filter(|id| !id.is_empty()).map_or_else(|| call_id(index), str::to_owned);
            live(Delta::ToolCallStart { index, id: &id, name: call["name"].as_str().unwrap_or_default() });
            let json = call.get("args").filter(|args| !args.is_null()).map_or("{}".to_owned(), Value::to_string);
            live(Delta::ToolCallArguments { index, json: &json });
        } else if let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) {
            live(if part["thought"] == true { Delta::Reasoning(text) } else { Delta::Text(text) });
        }
    }
}

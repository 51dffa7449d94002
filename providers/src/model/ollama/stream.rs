//! An answer in pieces: a row of bodies, each with more text or calls. Their messages joined, and the fields of the last, are
//! the body that comes in one piece.

use runtime::model::Delta;
use serde_json::{Map, Value};

use crate::model::choice::call_id;
use crate::model::http::{Assembly, Problem, Progress};

/// The body so far.
#[derive(Default)]
pub(in crate::model) struct OllamaAssembly {
    body: Map<String, Value>,
    content: String,
    thinking: String,
    calls: Vec<Value>,
}

impl Assembly for OllamaAssembly {
    fn add(&mut self, event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem> {
        let Value::Object(mut event) = event else { return Ok(Progress::More) };
        let is_last = event.get("done") == Some(&Value::Bool(true));
        if let Some(Value::Object(message)) = event.remove("message") {
            self.message(message, live);
        }
        self.body.extend(event);
        Ok(if is_last { Progress::Over } else { Progress::More })
    }

    fn document(self: Box<Self>) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), self.content.into());
        if !self.thinking.is_empty() {
            message.insert("thinking".to_owned(), self.thinking.into());
        }
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(self.calls));
        }
        let mut body = self.body;
        body.insert("message".to_owned(), Value::Object(message));
        Value::Object(body)
    }
}

impl OllamaAssembly {
    fn message(&mut self, mut message: Map<String, Value>, live: &dyn Fn(Delta<'_>)) {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        let (thinking, content) = (text("thinking"), text("content"));
        if !thinking.is_empty() {
            live(Delta::Reasoning(thinking));
            self.thinking.push_str(thinking);
        }
        if !content.is_empty() {
            live(Delta::Text(content));
            self.content.push_str(content);
        }
        if let Some(Value::Array(calls)) = message.remove("tool_calls") {
            for call in calls {
                tell(self.calls.len(), &call, live);
                self.calls.push(call);
            }
        }
    }
}

/// Calls come whole.
fn tell(index: usize, call: &Value, live: &dyn Fn(Delta<'_>)) {
    let id = call["id"].as_str().filter(|id| !id.is_empty()).map_or_else(|| call_id(index), str::to_owned);
    let function = &call["function"];
    live(Delta::ToolCallStart { index, id: &id, name: function["name"].as_str().unwrap_or_default() });
    let json = match &function["arguments"] {
        Value::Null => "{}".to_owned(),
        Value::String(json) => json.clone(),
        value => value.to_string(),
    };
    live(Delta::ToolCallArguments { index, json: &json });
}

//! Reading a reply.

use base::data::Data;
use runtime::message::{Block, ToolCall};
use runtime::model::ModelReply;
use runtime::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::model::choice::{arguments, call_id};
use crate::model::count::Count;

#[derive(Deserialize)]
struct OllamaBody {
    message: OllamaMessage,
    model: Option<String>,
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Count,
    #[serde(default)]
    eval_count: Count,
}

#[derive(Deserialize)]
struct OllamaMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<OllamaCall>>,
}

#[derive(Deserialize)]
struct OllamaCall {
    /// The id, which newer servers send.
    id: Option<String>,
    function: OllamaFunction,
}

#[derive(Deserialize)]
struct OllamaFunction {
    name: String,
    arguments: Option<Value>,
}

/// The reply that a body holds; otherwise what it lacks.
///
/// A stream is a row of such bodies: their texts and calls joined, and the fields of the last, are one.
pub(in crate::model) fn reply(body: Value, model: &str) -> Result<ModelReply, String> {
    let body: OllamaBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let said = body.message;
    let text = said.content.unwrap_or_default();
    let thinking = said.thinking.filter(|thinking| !thinking.is_empty());
    let calls = said.tool_calls.unwrap_or_default();
    let mut blocks = Vec::new();
    if let Some(thinking) = &thinking {
        let block = [("type", Data::from("thinking")), ("thinking", thinking.as_str().into())];
        blocks.push(Block::Other(Data::dict(block)));
        blocks.extend((!text.is_empty()).then(|| Block::text(text.as_str())));
    }
    Ok(ModelReply {
        text: text.into(),
        tool_calls: calls.into_iter().enumerate().map(|(index, call)| tool_call(index, call)).collect(),
        blocks,
        reasoning: thinking.map(Into::into),
        usage: Usage { input_tokens: body.prompt_eval_count.0, output_tokens: body.eval_count.0, ..Usage::default() },
        stop_reason: body.done_reason.map(Into::into),
        model: body.model.map_or_else(|| model.into(), Into::into),
        provider: "ollama".into(),
        ..ModelReply::default()
    })
}

fn tool_call(index: usize, call: OllamaCall) -> ToolCall {
    let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| call_id(index));
    ToolCall::new(id, call.function.name, arguments(call.function.arguments))
}

//! Reading a reply.

use std::sync::Arc;

use base::data::Data;
use runtime::message::{Block, ToolCall};
use runtime::model::ModelReply;
use runtime::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::model::choice::{arguments, call_id, said_besides};
use crate::model::content::CHAT_MESSAGE;
use crate::model::count::Count;

#[derive(Deserialize)]
struct ChatBody {
    choices: Vec<ChatChoice>,
    model: Option<String>,
    id: Option<String>,
    usage: Option<ChatUsage>,
}

#[derive(Deserialize)]
struct ChatChoice {
    message: ChatMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatMessage {
    content: Option<Value>,
    refusal: Option<String>,
    /// Not in the vendor's API, but in that of many servers that imitate it.
    reasoning_content: Option<Value>,
    /// An alias of the same field; some servers send both.
    reasoning: Option<Value>,
    tool_calls: Option<Vec<ChatCall>>,
}

#[derive(Deserialize)]
struct ChatCall {
    id: Option<String>,
    function: ChatFunction,
    /// Not in the vendor's API: Gemini's compatible server puts signatures of thoughts here.
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct ChatFunction {
    name: String,
    arguments: Option<Value>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct ChatUsage {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Option<ChatUsageDetails>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct ChatUsageDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

/// The reply that a body holds; otherwise what it lacks.
pub(in crate::model) fn reply(body: Value, model: &str) -> Result<ModelReply, String> {
    let body: ChatBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let choice = body.choices.into_iter().next().ok_or("`choices` is empty")?;
    let said = choice.message;
    let mut tool_calls = said.tool_calls.unwrap_or_default();
    let extra_content: Data =
        tool_calls.iter_mut().map(|call| Data::from(call.extra_content.take().unwrap_or_default())).collect();
    let tool_calls: Vec<ToolCall> =
        tool_calls.into_iter().enumerate().map(|(index, call)| tool_call(index, call)).collect();
    let text = said.content.as_ref().map(text).filter(|text| !text.is_empty());
    let text = text.or_else(|| said.refusal.as_deref().map(Arc::from)).unwrap_or_default();
    let reasoning_content = said.reasoning_content.as_ref().map(self::text).filter(|text| !text.is_empty());
    Ok(ModelReply {
        blocks: blocks(&text, &tool_calls, reasoning_content.clone(), &extra_content, model),
        text,
        tool_calls,
        reasoning: reasoning_content
            .or_else(|| said.reasoning.as_ref().map(self::text))
            .filter(|text| !text.is_empty()),
        usage: usage(&body.usage.unwrap_or_default()),
        stop_reason: choice.finish_reason.map(Into::into),
        model: body.model.map_or_else(|| model.into(), Into::into),
        provider: "openai".into(),
        extra: said_besides([("id", body.id), ("refusal", said.refusal)]),
    })
}

/// Returns the blocks that servers imitating the API require back with the results of calls. The
/// vendor's own API has none.
fn blocks(
    text: &Arc<str>,
    calls: &[ToolCall],
    reasoning_content: Option<Arc<str>>,
    extra_content: &Data,
    model: &str,
) -> Vec<Block> {
    let extra_content =
        extra_content.as_list().filter(|list| list.iter().any(|extra| !extra.is_nil())).map(|_| extra_content.clone());
    if calls.is_empty() || (reasoning_content.is_none() && extra_content.is_none()) {
        return Vec::new();
    }
    let own = Data::dict_of_present([
        ("type", Data::from(CHAT_MESSAGE)),
        ("model", model.into()),
        ("reasoning_content", reasoning_content.into()),
        ("extra_content", extra_content.into()),
    ]);
    let text = (!text.is_empty()).then(|| Block::text(text.clone()));
    [Block::Other(own)].into_iter().chain(text).collect()
}

/// Text as the wire writes it: a string, or a list of parts.
pub(super) fn text(json: &Value) -> Arc<str> {
    match json {
        Value::String(text) => text.as_str().into(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<String>().into()
        }
        _ => "".into(),
    }
}

fn tool_call(index: usize, call: ChatCall) -> ToolCall {
    let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| call_id(index));
    ToolCall::new(id, call.function.name, arguments(call.function.arguments))
}

fn usage(tokens: &ChatUsage) -> Usage {
    let details = tokens.prompt_tokens_details.unwrap_or_default();
    Usage {
        input_tokens: tokens.prompt_tokens.0,
        output_tokens: tokens.completion_tokens.0,
        cache_read_tokens: details.cached_tokens.0,
        cache_write_tokens: details.cache_write_tokens.0,
        cost_nano_usd: None,
    }
}

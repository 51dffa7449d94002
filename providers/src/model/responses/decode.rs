//! Reading a reply.

use base::data::Data;
use runtime::message::{Block, ToolCall};
use runtime::model::{ModelError, ModelErrorKind, ModelReply};
use runtime::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::model::choice::{arguments, said_besides, without_nulls};
use crate::model::content::OPENAI_ITEM;
use crate::model::count::Count;

#[derive(Deserialize)]
struct ResponsesBody {
    output: Vec<Value>,
    model: Option<String>,
    id: Option<String>,
    status: Option<String>,
    incomplete_details: Option<Incomplete>,
    usage: Option<ResponsesUsage>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct ResponsesUsage {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Option<ResponsesUsageDetails>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct ResponsesUsageDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

/// Returns the failure that a body reports despite status 200.
pub(in crate::model) fn failure(body: &Value) -> Option<ModelError> {
    let error = body.get("error").filter(|error| error.is_object());
    if error.is_none() && body["status"] != "failed" {
        return None;
    }
    let said = |key: &str| error.and_then(|error| error.get(key)).and_then(Value::as_str);
    let kind = match said("code") {
        Some("rate_limit_exceeded") => ModelErrorKind::RateLimit,
        Some("context_length_exceeded") => ModelErrorKind::ContextWindow,
        Some("server_error" | "vector_store_timeout") | None => ModelErrorKind::Server,
        Some(_) => ModelErrorKind::BadRequest,
    };
    let message = said("message").unwrap_or("no reason was given");
    Some(ModelError::new(kind, format!("the model's response failed: {}", message.trim_end_matches('.'))))
}

/// The reply that a body holds; otherwise what it lacks. The last event of a stream holds the same.
pub(in crate::model) fn reply(body: Value, model: &str) -> Result<ModelReply, String> {
    let body: ResponsesBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let mut said = ResponsesItems::default();
    for item in body.output {
        // What says nothing is refused where it goes back.
        said.item(without_nulls(item))?;
    }
    let stop_reason = body.incomplete_details.and_then(|details| details.reason).or(body.status);
    let text = if said.text.is_empty() { said.refusal.clone().unwrap_or_default() } else { said.text };
    Ok(ModelReply {
        text: text.into(),
        tool_calls: said.tool_calls,
        // Text and calls say it all, unless there is something that must go back as it came.
        blocks: if said.plain { Vec::new() } else { said.blocks },
        reasoning: (!said.reasoning.is_empty()).then(|| said.reasoning.join("\n\n").into()),
        usage: usage(&body.usage.unwrap_or_default()),
        stop_reason: stop_reason.map(Into::into),
        model: body.model.map_or_else(|| model.into(), Into::into),
        provider: "openai".into(),
        extra: said_besides([("id", body.id), ("refusal", said.refusal)]),
    })
}

/// The items read so far.
struct ResponsesItems {
    text: String,
    refusal: Option<String>,
    reasoning: Vec<String>,
    tool_calls: Vec<ToolCall>,
    blocks: Vec<Block>,
    plain: bool,
}

impl Default for ResponsesItems {
    fn default() -> ResponsesItems {
        let (text, blocks) = (String::new(), Vec::new());
        ResponsesItems { text, refusal: None, reasoning: Vec::new(), tool_calls: Vec::new(), blocks, plain: true }
    }
}

impl ResponsesItems {
    fn item(&mut self, item: Value) -> Result<(), String> {
        let field = |name: &str| item.get(name).and_then(Value::as_str);
        match field("type") {
            Some("message") => return self.message(item),
            Some("function_call") => {
                let (id, name) = field("call_id").zip(field("name")).ok_or("a function_call without its names")?;
                let arguments = arguments(item.get("arguments").cloned());
                self.tool_calls.push(ToolCall::new(id, name, arguments));
            }
            Some("reasoning") => {
                let (summary, content) = (texts(item.get("summary")), texts(item.get("content")));
                self.reasoning.extend(if summary.is_empty() { content } else { summary });
                self.plain = false;
            }
            _ => self.plain = false,
        }
        let block = [("type", OPENAI_ITEM.into()), ("item", Data::from(item))];
        self.blocks.push(Block::Other(Data::dict(block)));
        Ok(())
    }

    fn message(&mut self, mut item: Value) -> Result<(), String> {
        let content = item.get("content").and_then(Value::as_array).ok_or("a message without `content`")?;
        let mut text = String::new();
        for part in content {
            match part.get("type").and_then(Value::as_str) {
                Some("output_text") => {
                    text.push_str(part.get("text").and_then(Value::as_str).ok_or("an output_text without `text`")?);
                }
                Some("refusal") => {
                    self.refusal = part.get("refusal").and_then(Value::as_str).map(str::to_owned);
                }
                _ => self.plain = false,
            }
        }
        let annotated = |part: &Value| part["annotations"].as_array().is_some_and(|all| !all.is_empty());
        let only_text = content.len() == 1 && content.iter().all(|part| part["type"] == "output_text");
        self.plain &= item.get("phase").is_none();
        if only_text
            && !content.iter().any(annotated)
            && let Some(item) = item.as_object_mut()
        {
            // It can be made again out of the text.
            item.remove("content");
        }
        let block = [("type", "text".into()), ("text", text.as_str().into()), (OPENAI_ITEM, Data::from(item))];
        self.blocks.push(Block::Other(Data::dict(block)));
        self.text.push_str(&text);
        Ok(())
    }
}

/// The texts of a list of parts.
fn texts(parts: Option<&Value>) -> Vec<String> {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text").and_then(Value::as_str));
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn usage(tokens: &ResponsesUsage) -> Usage {
    let details = tokens.input_tokens_details.unwrap_or_default();
    Usage {
        input_tokens: tokens.input_tokens.0,
        output_tokens: tokens.output_tokens.0,
        cache_read_tokens: details.cached_tokens.0,
        cache_write_tokens: details.cache_write_tokens.0,
        cost_nano_usd: None,
    }
}

//! Reading a reply.

use base::data::Data;
use runtime::message::{Block, ToolCall};
use runtime::model::{ModelReply, THOUGHTS_LEFT_OUT};
use runtime::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::model::choice::said_besides;
use crate::model::count::Count;

#[derive(Deserialize)]
struct AnthropicBody {
    content: Vec<Value>,
    model: Option<String>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    id: Option<String>,
    /// Changes that the vendor made in the request: thoughts that it dropped.
    input_transformations: Option<Vec<Value>>,
    #[serde(default)]
    usage: AnthropicUsage,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct AnthropicUsage {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
}

/// The reply that a body holds; otherwise what it lacks.
pub(in crate::model) fn reply(body: Value, model: &str) -> Result<ModelReply, String> {
    let body: AnthropicBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut tool_calls = Vec::new();
    let mut plain = true;
    for block in &body.content {
        let field = |name: &str| block.get(name).and_then(Value::as_str);
        match field("type") {
            Some("text") => {
                text.push_str(field("text").ok_or("a text block without `text`")?);
                plain &= block.get("citations").is_none_or(Value::is_null);
            }
            Some("tool_use") => {
                let (id, name) = field("id").zip(field("name")).ok_or("a tool_use block without `id` or `name`")?;
                let input = block.get("input").cloned().unwrap_or_default();
                let arguments = if input.is_null() { Data::empty_dict() } else { Data::from(input) };
                tool_calls.push(ToolCall::new(id, name, arguments));
            }
            Some("thinking") => {
                reasoning.push_str(field("thinking").unwrap_or_default());
                plain = false;
            }
            _ => plain = false,
        }
    }
    let mut extra = said_besides([("id", body.id), ("stop_sequence", body.stop_sequence)]);
    let dropped = body.input_transformations.iter().flatten().filter(|it| it["type"] == "thinking_dropped").count();
    if dropped > 0 {
        extra.insert(THOUGHTS_LEFT_OUT.into(), Data::from(dropped));
    }
    Ok(ModelReply {
        text: text.into(),
        tool_calls,
        // Text and calls say it all, unless there is something that must go back as it came.
        blocks: if plain { Vec::new() } else { body.content.into_iter().map(block).collect() },
        reasoning: (!reasoning.is_empty()).then(|| reasoning.into()),
        usage: usage(&body.usage),
        stop_reason: body.stop_reason.map(Into::into),
        model: body.model.map_or_else(|| model.into(), Into::into),
        provider: "anthropic".into(),
        extra,
    })
}

fn block(json: Value) -> Block {
    Block::from_data(&Data::from(json))
}

/// The vendor counts cached tokens apart.
fn usage(tokens: &AnthropicUsage) -> Usage {
    let (read, written) = (tokens.cache_read_input_tokens.0, tokens.cache_creation_input_tokens.0);
    Usage {
        input_tokens: tokens.input_tokens.0.saturating_add(read).saturating_add(written),
        output_tokens: tokens.output_tokens.0,
        cache_read_tokens: read,
        cache_write_tokens: written,
        cost_nano_usd: None,
    }
}

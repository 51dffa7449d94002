//! The body of a request.

use base::data::Data;
use runtime::capabilities::Capabilities;
use runtime::message::{Block, Content, Message, Role, ToolCall};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use crate::model::choice::{
    Thinking, ToolChoice, arguments_json, bad, function_tool, is_strict, lay_over, no_messages, stop,
};
use crate::model::content::{BlockContent, CHAT_MESSAGE, Media, MediaSource, not_shown};

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let thinking = Thinking::read(&request.thinking)?;
    let messages = messages(request, model, capabilities)?;
    if messages.is_empty() {
        return Err(no_messages());
    }
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            body.insert(key.to_owned(), value);
        }
    };
    put("model", model.into());
    put("messages", messages.into());
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(function_tool).collect());
        put("tool_choice", tool_choice(&choice));
    }
    put("temperature", json!(request.temperature));
    put("top_p", json!(request.top_p));
    put("stop", stop(request));
    put("seed", json!(request.seed));
    // The models that read developer messages are those that refuse `max_tokens`; servers that imitate the API know only it.
    let limit = if capabilities.prefers_role_developer { "max_completion_tokens" } else { "max_tokens" };
    put(limit, json!(request.max_tokens));
    put("reasoning_effort", json!(thinking.effort().as_deref()));
    if !request.output_schema.is_nil() {
        put("response_format", response_format(&request.output_schema));
    }
    lay_over(&mut body, &request.extra);
    Ok(Value::Object(body))
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Unsaid => Value::Null,
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name.as_ref()}}),
        ToolChoice::AsGiven(given) => given.into(),
    }
}

fn response_format(schema: &Data) -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {"name": "output", "strict": is_strict(schema), "schema": Value::from(schema)},
    })
}

/// The system text and the conversation.
fn messages(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Vec<Value>, ModelError> {
    let instructing = if capabilities.prefers_role_developer { "developer" } else { "system" };
    let mut out = Vec::new();
    out.extend(request.system_text().map(|text| json!({"role": instructing, "content": text})));
    for entry in &request.conversation() {
        out.extend(message(entry, model, instructing)?);
    }
    Ok(out)
}

fn message(message: &Message, model: &str, instructing: &str) -> Result<Option<Value>, ModelError> {
    let role = match message.role {
        // Servers that imitate the API refuse the newer of the two words, or drop what it says.
        Role::System | Role::Developer => instructing,
        Role::User => "user",
        Role::Assistant => return Ok(assistant(message, model)),
        Role::Tool => return Ok(Some(tool_result(message))),
    };
    let Some(content) = content(&message.content)? else { return Ok(None) };
    let mut json = json!({"role": role, "content": content});
    if let Some(name) = &message.name {
        json["name"] = name.as_ref().into();
    }
    Ok(Some(json))
}

/// The wire takes only text here.
fn tool_result(message: &Message) -> Value {
    let blocks = message.content.to_blocks();
    let texts = blocks.iter().filter_map(|block| match BlockContent::of(block) {
        BlockContent::Text(text, _) => Some(text.to_owned()),
        BlockContent::Media(media) => Some(not_shown(&media)),
        BlockContent::Other(..) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    json!({"role": "tool", "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(), "content": text})
}

/// Returns the model's message. Of its blocks it has the text, and the additions of this model's
/// server: all others belong to other vendors.
fn assistant(message: &Message, model: &str) -> Option<Value> {
    let text = message.text();
    if text.is_empty() && message.tool_calls.is_empty() {
        return None;
    }
    let mut json =
        json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { text.as_ref().into() }});
    if !message.tool_calls.is_empty() {
        json["tool_calls"] = message.tool_calls.iter().map(tool_call).collect();
        give_back(&mut json, message, model);
    }
    Some(json)
}

/// Returns a server's additions to a message with calls: by their documents some servers reject the
/// results of calls without them.
fn give_back(json: &mut Value, message: &Message, model: &str) {
    let blocks = message.content.to_blocks();
    let own = blocks.iter().find_map(|block| match BlockContent::of(block) {
        BlockContent::Other(CHAT_MESSAGE, data) if data.get("model").as_str() == Some(model) => Some(data),
        _ => None,
    });
    let Some(own) = own else { return };
    if let Some(reasoning) = own.get("reasoning_content").as_str() {
        json["reasoning_content"] = reasoning.into();
    }
    let extra = own.get("extra_content").as_list().unwrap_or_default();
    for (call, extra) in json["tool_calls"].as_array_mut().into_iter().flatten().zip(extra) {
        if !extra.is_nil() {
            call["extra_content"] = extra.into();
        }
    }
}

fn tool_call(call: &ToolCall) -> Value {
    json!({
        "id": call.id.as_ref(),
        "type": "function",
        "function": {"name": call.name.as_ref(), "arguments": arguments_json(&call.arguments)},
    })
}

fn content(content: &Content) -> Result<Option<Value>, ModelError> {
    let blocks = match content {
        Content::Text(text) => return Ok(Some(text.as_ref().into())),
        Content::Blocks(blocks) => blocks,
    };
    let parts = blocks.iter().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok((!parts.is_empty()).then_some(Value::Array(parts)))
}

fn part(block: &Block) -> Result<Value, ModelError> {
    Ok(match BlockContent::of(block) {
        // The wire has no cache marks.
        BlockContent::Text(text, _) => json!({"type": "text", "text": text}),
        BlockContent::Media(media) => match block {
            // In the wire's own spelling there may be more in it.
            Block::Other(data) if matches!(data.get("type").as_str(), Some("image_url" | "file")) => data.into(),
            _ => media_part(&media)?,
        },
        BlockContent::Other(_, data) => data.into(),
    })
}

fn media_part(media: &Media<'_>) -> Result<Value, ModelError> {
    if media.is_image {
        return Ok(json!({"type": "image_url", "image_url": {"url": media.url()}}));
    }
    match media.source {
        MediaSource::Base64 { .. } => {
            let name = media.name.unwrap_or("document");
            Ok(json!({"type": "file", "file": {"filename": name, "file_data": media.url()}}))
        }
        MediaSource::Url { .. } => Err(bad(
            "Chat Completions does not fetch documents; pass the document as base64 instead of its URL".to_owned(),
        )),
    }
}

//! The body of a request.

use std::collections::{HashMap, HashSet};

use base::data::Data;
use runtime::capabilities::Capabilities;
use runtime::message::{Block, Content, Message, Role, ToolCall, ToolSpec};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use crate::model::choice::{Thinking, ToolChoice, arguments_json, is_strict, lay_over, no_messages, no_word};
use crate::model::content::{BlockContent, Media, MediaSource, OPENAI_ITEM};
use crate::model::tool_schema::object_schema;

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let thinking = Thinking::read(&request.thinking)?;
    let unsaid = [("stop", !request.stop.is_empty()), ("seed", request.seed.is_some())];
    if let Some((option, _)) = unsaid.into_iter().find(|(_, is_said)| *is_said) {
        return Err(no_word("the Responses API", option));
    }
    let input = input(request, capabilities);
    if input.is_empty() {
        return Err(no_messages());
    }
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            body.insert(key.to_owned(), value);
        }
    };
    put("model", model.into());
    put("instructions", json!(request.system_text()));
    put("input", input.into());
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", tool_choice(&choice));
    }
    put("temperature", json!(request.temperature));
    put("top_p", json!(request.top_p));
    put("max_output_tokens", json!(request.max_tokens));
    put("reasoning", reasoning(&thinking));
    if !request.output_schema.is_nil() {
        let schema = &request.output_schema;
        put(
            "text",
            json!({"format": {
                "type": "json_schema", "name": "output", "strict": is_strict(schema), "schema": Value::from(schema),
            }}),
        );
    }
    // Sessions live here. What the vendor does not keep, the reasoning too, must come back with each request.
    put("store", false.into());
    if capabilities.prefers_role_developer {
        // The models that read developer messages are those that reason; others refuse to be asked for it.
        put("include", json!(["reasoning.encrypted_content"]));
    }
    lay_over(&mut body, &request.extra);
    Ok(Value::Object(body))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name.as_ref(),
        "description": spec.description.as_ref(),
        "parameters": object_schema(&spec.parameters),
        // Where nothing is said the vendor means true, and refuses most schemas.
        "strict": false,
    })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Unsaid => Value::Null,
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name.as_ref()}),
        ToolChoice::AsGiven(given) => given.into(),
    }
}

fn reasoning(thinking: &Thinking) -> Value {
    match thinking {
        Thinking::AsGiven(given) => given.into(),
        other => other.effort().map_or(Value::Null, |effort| json!({"effort": effort.as_ref()})),
    }
}

/// The conversation as items.
fn input(request: &Request, capabilities: &Capabilities) -> Vec<Value> {
    let instructing = if capabilities.prefers_role_developer { "developer" } else { "system" };
    let mut items = Vec::new();
    for message in &request.conversation() {
        match message.role {
            Role::System | Role::Developer => items.extend(said(instructing, &message.content)),
            Role::User => items.extend(said("user", &message.content)),
            Role::Assistant => assistant(message, &mut items),
            Role::Tool => items.push(json!({
                "type": "function_call_output",
                "call_id": message.tool_call_id.as_deref().unwrap_or_default(),
                "output": content(&message.content).unwrap_or_else(|| "".into()),
            })),
        }
    }
    items
}

fn said(role: &str, what: &Content) -> Option<Value> {
    content(what).map(|content| json!({"role": role, "content": content}))
}

/// Text, or a list of parts; nothing where there is none.
fn content(content: &Content) -> Option<Value> {
    let blocks = match content {
        Content::Text(text) => return Some(text.as_ref().into()),
        Content::Blocks(blocks) => blocks,
    };
    let parts: Vec<Value> = blocks.iter().map(part).collect();
    (!parts.is_empty()).then_some(Value::Array(parts))
}

fn part(block: &Block) -> Value {
    match BlockContent::of(block) {
        BlockContent::Text(text, _) => json!({"type": "input_text", "text": text}),
        BlockContent::Media(media) => match block {
            // In the wire's own spelling there may be more in it.
            Block::Other(data) if data.get("type").as_str().is_some_and(|kind| kind.starts_with("input_")) => {
                own_media(data)
            }
            _ => media_part(&media),
        },
        BlockContent::Other(_, data) => data.into(),
    }
}

fn own_media(data: &Data) -> Value {
    let mut json = Value::from(data);
    if json["type"] == "input_image" && json.get("detail").is_none() {
        json["detail"] = "auto".into();
    }
    json
}

fn media_part(media: &Media<'_>) -> Value {
    if media.is_image {
        return json!({"type": "input_image", "detail": "auto", "image_url": media.url()});
    }
    match media.source {
        MediaSource::Url { url, .. } => json!({"type": "input_file", "file_url": url}),
        MediaSource::Base64 { .. } => {
            json!({"type": "input_file", "filename": media.name.unwrap_or("document"), "file_data": media.url()})
        }
    }
}

/// Returns the items of the model's message, in their order. Calls in its items keep their
/// position, with the arguments of `tool_calls` (a hook may have changed them); the other calls
/// follow.
fn assistant(message: &Message, items: &mut Vec<Value>) {
    let calls: HashMap<&str, &ToolCall> =
        message.tool_calls.iter().rev().map(|call| (call.id.as_ref(), call)).collect();
    let mut told = HashSet::new();
    for block in &message.content.to_blocks() {
        match BlockContent::of(block) {
            BlockContent::Text(text, more) => match more.map(|data| data.get(OPENAI_ITEM)) {
                Some(item) if item.as_dict().is_some() => items.push(message_item(text, item)),
                _ if text.is_empty() => {}
                _ => items.push(json!({"role": "assistant", "content": text})),
            },
            BlockContent::Other(OPENAI_ITEM, data) => {
                let mut item = Value::from(data.get("item"));
                if item["type"] == "function_call" {
                    let id = item["call_id"].as_str().unwrap_or_default();
                    let Some(call) = calls.get(id) else { continue };
                    told.insert(call.id.clone());
                    item["arguments"] = arguments_json(&call.arguments).into();
                }
                items.push(item);
            }
            // Another vendor's.
            BlockContent::Media(_) | BlockContent::Other(..) => {}
        }
    }
    items.extend(message.tool_calls.iter().filter(|call| !told.contains(&call.id)).map(function_call));
}

/// An item of text as it came; the text itself was taken out where it said all.
fn message_item(text: &str, item: &Data) -> Value {
    let mut item = Value::from(item);
    if item.get("content").is_none() {
        item["content"] = json!([{"type": "output_text", "text": text, "annotations": []}]);
    }
    item
}

fn function_call(call: &ToolCall) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id.as_ref(),
        "name": call.name.as_ref(),
        "arguments": arguments_json(&call.arguments),
    })
}

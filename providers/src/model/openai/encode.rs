//! The body of a request.

use runtime::capabilities::Capabilities;
use runtime::data::Data;
use runtime::message::{Block, Content, Message, Role, ToolCall, ToolSpec};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use crate::model::choice::{Thinking, ToolChoice, no_messages, object_schema};

/// Block types of another vendor's replies that a session may carry along and that mean nothing here.
const FOREIGN: &[&str] = &["thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_result"];

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let thinking = Thinking::read(&request.thinking)?;
    let messages = messages(request, capabilities);
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
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", tool_choice(&choice));
    }
    put("temperature", json!(request.temperature));
    // The models that read developer messages are those that refuse `max_tokens`; servers that imitate the API know only it.
    let limit = if capabilities.prefers_role_developer { "max_completion_tokens" } else { "max_tokens" };
    put(limit, json!(request.max_tokens));
    put("reasoning_effort", json!(thinking.effort().as_deref()));
    if !request.output_schema.is_nil() {
        put("response_format", response_format(&request.output_schema));
    }
    for (key, value) in &request.extra {
        put(key, value.into());
    }
    Ok(Value::Object(body))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name.as_ref(),
            "description": spec.description.as_ref(),
            "parameters": object_schema(&spec.parameters),
        },
    })
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

/// Whether a schema keeps the rules of strict mode: every object closed, and all of its properties required. Others are
/// refused there, so they are sent without the promise.
fn is_strict(schema: &Data) -> bool {
    let closed = match schema.get("properties").as_dict() {
        None => schema.get("type").as_str() != Some("object"),
        Some(properties) => {
            let required = schema.get("required").as_list().unwrap_or_default();
            schema.get("additionalProperties").as_bool() == Some(false)
                && properties.keys().all(|key| required.iter().any(|name| name.as_str() == Some(key)))
        }
    };
    let below = |key: &str| schema.get(key).as_dict().into_iter().flat_map(|entries| entries.values());
    let listed = |key: &str| schema.get(key).as_list().unwrap_or_default().iter();
    closed
        && below("properties").chain(below("$defs")).chain(listed("anyOf")).all(is_strict)
        && (schema.get("items").is_nil() || is_strict(schema.get("items")))
}

/// The system text and the conversation.
///
/// A later cut can keep each message's JSON beside it, for a message never changes: [`message`] is the only place that makes
/// any.
fn messages(request: &Request, capabilities: &Capabilities) -> Vec<Value> {
    let instructing = if capabilities.prefers_role_developer { "developer" } else { "system" };
    let system = request.system_text().map(|text| json!({"role": instructing, "content": text}));
    let conversation = request.conversation();
    system.into_iter().chain(conversation.iter().filter_map(|entry| message(entry, instructing))).collect()
}

fn message(message: &Message, instructing: &str) -> Option<Value> {
    let role = match message.role {
        Role::System => instructing,
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => return assistant(message),
        Role::Tool => {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            return Some(json!({"role": "tool", "tool_call_id": id, "content": message.text().as_ref()}));
        }
    };
    let content = content(&message.content)?;
    let mut json = json!({"role": role, "content": content});
    if let Some(name) = &message.name {
        json["name"] = name.as_ref().into();
    }
    Some(json)
}

fn assistant(message: &Message) -> Option<Value> {
    let text = message.text();
    if text.is_empty() && message.tool_calls.is_empty() {
        return None;
    }
    let mut json =
        json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { text.as_ref().into() }});
    if !message.tool_calls.is_empty() {
        json["tool_calls"] = message.tool_calls.iter().map(tool_call).collect();
    }
    Some(json)
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        // What could not be read goes back as it came.
        Data::Str(raw) => raw.to_string(),
        Data::Nil => "{}".to_owned(),
        other => other.to_json(),
    };
    json!({
        "id": call.id.as_ref(),
        "type": "function",
        "function": {"name": call.name.as_ref(), "arguments": arguments},
    })
}

fn content(content: &Content) -> Option<Value> {
    let blocks = match content {
        Content::Text(text) => return Some(text.as_ref().into()),
        Content::Blocks(blocks) => blocks,
    };
    let is_foreign = |data: &Data| data.get("type").as_str().is_some_and(|kind| FOREIGN.contains(&kind));
    let parts: Vec<Value> = blocks
        .iter()
        .filter_map(|block| match block {
            // The wire has no cache marks.
            Block::Text { text, .. } => Some(json!({"type": "text", "text": text.as_ref()})),
            Block::Other(data) => (!is_foreign(data)).then(|| data.into()),
        })
        .collect();
    (!parts.is_empty()).then_some(Value::Array(parts))
}

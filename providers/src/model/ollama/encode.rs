//! The body of a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::Capabilities;
use runtime::message::{Content, Message, Role, ToolCall};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use crate::model::choice::{
    Effort, Thinking, ToolChoice, arguments_object, bad, function_tool, lay_over, no_messages, stop,
};
use crate::model::content::{BlockContent, MediaSource, not_shown};

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let think = think(&request.thinking)?;
    let messages = messages(request)?;
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
    if offers_tools(&choice, request)? {
        put("tools", request.tools.iter().map(function_tool).collect());
    }
    put("think", think);
    put("format", (&request.output_schema).into());
    let options = options(request, capabilities);
    if !options.is_empty() {
        put("options", Value::Object(options));
    }
    // Without a word the server streams.
    put("stream", false.into());
    lay_over(&mut body, &request.extra);
    Ok(Value::Object(body))
}

/// Whether the tools are sent. The API cannot say that one must be called; that none may is said by sending none.
fn offers_tools(choice: &ToolChoice, request: &Request) -> Result<bool, ModelError> {
    match choice {
        ToolChoice::Unsaid | ToolChoice::Auto => Ok(!request.tools.is_empty()),
        ToolChoice::None => Ok(false),
        ToolChoice::Required | ToolChoice::Tool(_) | ToolChoice::AsGiven(_) => {
            Err(bad("ollama cannot force a tool call; omit `tool_choice`, or use \"auto\" or \"none\"".to_owned()))
        }
    }
}

/// Yes, no, or a word for the models that know degrees. A number of tokens says no more than yes.
fn think(thinking: &Data) -> Result<Value, ModelError> {
    if let Data::Bool(think) = thinking {
        return Ok((*think).into());
    }
    Ok(match Thinking::read(thinking)? {
        Thinking::Unsaid => Value::Null,
        Thinking::Off => false.into(),
        Thinking::Budget(_) => true.into(),
        Thinking::Effort(Effort::Minimal) => "low".into(),
        Thinking::Effort(effort) => effort.as_str().into(),
        Thinking::AsGiven(_) => {
            return Err(bad("for ollama, `thinking` must be a bool or an effort word, not a dict".to_owned()));
        }
    })
}

fn options(request: &Request, capabilities: &Capabilities) -> Map<String, Value> {
    let known = [
        ("temperature", json!(request.temperature)),
        ("top_p", json!(request.top_p)),
        ("stop", stop(request)),
        ("seed", json!(request.seed)),
        ("num_predict", json!(request.max_tokens)),
        // The server silently cuts a longer prompt, and its default is short. The machine's
        // capacity is not known here: a row of the project states it.
        ("num_ctx", json!(capabilities.context_window)),
    ];
    known.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn messages(request: &Request) -> Result<Vec<Value>, ModelError> {
    let mut out: Vec<Value> = Vec::new();
    out.extend(request.system_text().map(|text| json!({"role": "system", "content": text})));
    // The tool of each call; results name it.
    let mut tools: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for message in &request.conversation() {
        match message.role {
            Role::System | Role::Developer => out.extend(said("system", &message.content)?),
            Role::User => out.extend(said("user", &message.content)?),
            Role::Assistant => {
                tools.extend(message.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone())));
                out.extend(assistant(message));
            }
            Role::Tool => {
                let id = message.tool_call_id.clone().unwrap_or_default();
                let name = tools.get(&id).or(message.name.as_ref());
                let mut json =
                    said("tool", &message.content)?.unwrap_or_else(|| json!({"role": "tool", "content": ""}));
                json["tool_name"] = json!(name.map_or("", AsRef::as_ref));
                out.push(json);
            }
        }
    }
    Ok(out)
}

/// Text, and images beside it; nothing where there is neither.
fn said(role: &str, content: &Content) -> Result<Option<Value>, ModelError> {
    let (mut texts, mut images): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    for block in &content.to_blocks() {
        match BlockContent::of(block) {
            BlockContent::Text(text, _) => texts.push(text.to_owned()),
            BlockContent::Media(media) => match media.source {
                MediaSource::Base64 { data, .. } if media.is_image => images.push(data.into()),
                _ if role == "tool" => texts.push(not_shown(&media)),
                MediaSource::Url { .. } if media.is_image => {
                    return Err(bad(
                        "ollama does not fetch images; pass the image as base64 instead of its URL".to_owned()
                    ));
                }
                _ => return Err(bad("ollama supports text and images, but not documents".to_owned())),
            },
            BlockContent::Other(kind, _) => {
                return Err(bad(format!(
                    "ollama does not support content blocks of type {kind:?}; use text and images (base64)"
                )));
            }
        }
    }
    if texts.is_empty() && images.is_empty() {
        return Ok(None);
    }
    let mut json = json!({"role": role, "content": texts.join("\n")});
    if !images.is_empty() {
        json["images"] = images.into();
    }
    Ok(Some(json))
}

fn assistant(message: &Message) -> Option<Value> {
    let text = message.text();
    // Signed thinking is another vendor's.
    let own = |data: &Data| data.get("type").as_str() == Some("thinking") && data.get("signature").is_nil();
    let thinking: Vec<Arc<str>> = message
        .content
        .to_blocks()
        .iter()
        .filter_map(|block| match block {
            runtime::message::Block::Other(data) if own(data) => data.get("thinking").as_shared_str(),
            _ => None,
        })
        .collect();
    if text.is_empty() && message.tool_calls.is_empty() && thinking.is_empty() {
        return None;
    }
    let mut json = json!({"role": "assistant", "content": text.as_ref()});
    if !thinking.is_empty() {
        json["thinking"] = thinking.join("\n").into();
    }
    if !message.tool_calls.is_empty() {
        json["tool_calls"] = message.tool_calls.iter().map(tool_call).collect();
    }
    Some(json)
}

fn tool_call(call: &ToolCall) -> Value {
    json!({"function": {"name": call.name.as_ref(), "arguments": arguments_object(&call.arguments)}})
}

//! The body of a request.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::data::Data;
use runtime::capabilities::Capabilities;
use runtime::message::{Block, Content, Message, Role, ToolCall};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use super::cache;
use super::thinking::{check_choice, room};
use crate::model::choice::{
    CUT_OFF, Thinking, ToolChoice, arguments_object, lay_over, leading_instructions, no_word, stop, system_message,
};
use crate::model::content::{BlockContent, CHAT_MESSAGE, GEMINI_PART, Media, MediaSource, OPENAI_ITEM};
use crate::model::tool_schema::{object_schema, with_wire_keys};

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str, capabilities: &Capabilities) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let room = room(&Thinking::read(&request.thinking)?, request.max_tokens, model, capabilities)?;
    check_choice(&choice, &room, model, capabilities)?;
    if request.seed.is_some() {
        return Err(no_word("anthropic", "seed"));
    }
    let (leading, turns) = turns(request);
    if turns.is_empty() {
        return Err(crate::model::choice::no_messages());
    }
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            body.insert(key.to_owned(), value);
        }
    };
    put("model", model.into());
    put("max_tokens", room.max_tokens.into());
    put("system", system(request, &leading));
    put("messages", turns.into_iter().map(AnthropicTurn::into_json).collect());
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", tool_choice(&choice));
    }
    put("temperature", json!(request.temperature));
    put("top_p", json!(request.top_p));
    put("stop_sequences", stop(request));
    put("thinking", room.thinking);
    put("output_config", output_config(request, room.effort));
    if request.prompt_cache && capabilities.prompt_caching {
        cache::mark(&mut body, request);
    }
    lay_over(&mut body, &request.extra);
    Ok(Value::Object(body))
}

fn tool(spec: &runtime::message::ToolSpec) -> Value {
    json!({
        "name": spec.name.as_ref(),
        "description": spec.description.as_ref(),
        "input_schema": with_wire_keys(object_schema(&spec.parameters)),
    })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Unsaid => Value::Null,
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name.as_ref()}),
        ToolChoice::AsGiven(given) => given.into(),
    }
}

fn output_config(request: &Request, effort: Option<&str>) -> Value {
    let mut config = Map::new();
    if let Some(effort) = effort {
        config.insert("effort".to_owned(), effort.into());
    }
    if !request.output_schema.is_nil() {
        let schema = Value::from(&request.output_schema);
        config.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema}));
    }
    if config.is_empty() { Value::Null } else { Value::Object(config) }
}

/// The system text, and behind it the system messages that the history begins with.
fn system(request: &Request, leading: &[Arc<str>]) -> Value {
    let parts: Vec<Arc<str>> =
        request.system_text().map(Arc::from).into_iter().chain(leading.iter().cloned()).collect();
    if parts.is_empty() { Value::Null } else { parts.join("\n\n").into() }
}

/// One entry of `messages`.
struct AnthropicTurn {
    role: &'static str,
    blocks: Vec<Value>,
}

impl AnthropicTurn {
    fn into_json(self) -> Value {
        // A lone piece of text is written as such: the two mean the same, and this one can be read.
        let content = match self.blocks.as_slice() {
            [Value::Object(only)] if only.len() == 2 && only.get("type").is_some_and(|kind| kind == "text") => {
                only.get("text").cloned().unwrap_or_default()
            }
            _ => Value::Array(self.blocks),
        };
        json!({"role": self.role, "content": content})
    }
}

/// The conversation as turns of alternating roles that begin with the user's, and the system messages at its head.
fn turns(request: &Request) -> (Vec<Arc<str>>, Vec<AnthropicTurn>) {
    let (conversation, native) = request.conversation_with_native();
    let conversation: Vec<Arc<Message>> = conversation.iter().cloned().collect();
    let (leading, rest) = leading_instructions(&conversation);
    let begin = conversation.len() - rest.len();
    let mut turns: Vec<AnthropicTurn> = Vec::new();
    for (index, message) in rest.iter().enumerate() {
        if native.binary_search(&(index + begin)).is_ok() {
            turns.push(AnthropicTurn { role: NATIVE, blocks: content(&message.content) });
        } else {
            push(&mut turns, message);
        }
    }
    if !native.is_empty() {
        turns = with_valid_native(turns);
    }
    if turns.first().is_some_and(|turn| turn.role == "assistant") {
        turns.insert(0, AnthropicTurn { role: "user", blocks: vec![text_block(CUT_OFF)] });
    }
    if let Some(last) = turns.last_mut().filter(|turn| turn.role == "assistant") {
        trim_end(last);
    }
    for turn in turns.iter_mut().filter(|turn| turn.role == "user") {
        // Results must come before everything else of their turn.
        turn.blocks.sort_by_key(|block| block.get("type").is_none_or(|kind| kind != "tool_result"));
    }
    (leading, turns)
}

/// The role of the vendor's own slot for instructions within a conversation.
const NATIVE: &str = "system";

/// Returns the turns with each message of the vendor's own slot at a place that the API accepts: after a turn of the
/// user, and at the end or before an answer. Another one becomes a part of the user's turn, since a request that is
/// rejected shows nothing.
fn with_valid_native(turns: Vec<AnthropicTurn>) -> Vec<AnthropicTurn> {
    let mut valid: Vec<AnthropicTurn> = Vec::with_capacity(turns.len());
    let mut rest = turns.into_iter().peekable();
    while let Some(turn) = rest.next() {
        let follows_user = valid.last().is_some_and(|last| last.role == "user");
        let role = match turn.role {
            NATIVE if follows_user && rest.peek().is_none_or(|next| next.role == "assistant") => NATIVE,
            NATIVE => "user",
            other => other,
        };
        match valid.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(turn.blocks),
            _ => valid.push(AnthropicTurn { role, blocks: turn.blocks }),
        }
    }
    valid
}

/// Adds a message; neighbours of one role become one turn.
fn push(turns: &mut Vec<AnthropicTurn>, message: &Message) {
    let (role, blocks) = match message.role {
        Role::Assistant => ("assistant", assistant(message)),
        Role::Tool => ("user", vec![tool_result(message)]),
        Role::User => ("user", content(&message.content)),
        // The API has no such role among the messages, and moving the text to the top would tell it out of order.
        Role::System | Role::Developer => ("user", vec![text_block(&system_message(&message.text()))]),
    };
    match turns.last_mut() {
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ if blocks.is_empty() => {}
        _ => turns.push(AnthropicTurn { role, blocks }),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The blocks of a content. The API refuses text blocks that say nothing.
fn content(content: &Content) -> Vec<Value> {
    let blocks = content.to_blocks();
    blocks
        .iter()
        .filter(|block| !matches!(BlockContent::of(block), BlockContent::Text(text, _) if text.trim().is_empty()))
        .map(block)
        .collect()
}

fn block(block: &Block) -> Value {
    let data = match block {
        Block::Text { text, cache_control } => {
            let mut json = text_block(text);
            if !cache_control.is_nil() {
                json["cache_control"] = cache_control.into();
            }
            return json;
        }
        Block::Other(data) => data,
    };
    match BlockContent::of(block) {
        BlockContent::Text(text, _) if is_foreign(data) => text_block(text),
        BlockContent::Media(media) if data.get("source").is_nil() => media_block(&media),
        // In the wire's own spelling there may be more in it.
        _ => data.into(),
    }
}

fn media_block(media: &Media<'_>) -> Value {
    let kind = if media.is_image { "image" } else { "document" };
    let source = match media.source {
        MediaSource::Base64 { media_type, data } => json!({"type": "base64", "media_type": media_type, "data": data}),
        MediaSource::Url { url, .. } => json!({"type": "url", "url": url}),
    };
    let mut json = json!({"type": kind, "source": source});
    if let (false, Some(name)) = (media.is_image, media.name) {
        json["title"] = name.into();
    }
    json
}

/// Whether an answer of another vendor left this block behind. Unsigned thinking is never this vendor's.
fn is_foreign(data: &Data) -> bool {
    match data.get("type").as_str() {
        Some("text") => !(data.get(OPENAI_ITEM).is_nil() && data.get(GEMINI_PART).is_nil()),
        Some("thinking") => data.get("signature").is_nil(),
        Some(kind) => [OPENAI_ITEM, GEMINI_PART, CHAT_MESSAGE].contains(&kind),
        None => false,
    }
}

/// Returns the blocks of the model's message, in their order. Calls in its blocks keep their
/// position, with the arguments of `tool_calls` (a hook may have changed them); the other calls
/// follow.
fn assistant(message: &Message) -> Vec<Value> {
    let blocks = message.content.to_blocks().into_iter();
    let own = |block: &Block| match block {
        Block::Text { .. } => true,
        Block::Other(data) => data.get("type").as_str() == Some("text") || !is_foreign(data),
    };
    let mut blocks = content(&Content::Blocks(Arc::new(blocks.filter(own).collect())));
    let calls: HashMap<&str, &ToolCall> =
        message.tool_calls.iter().rev().map(|call| (call.id.as_ref(), call)).collect();
    let mut told = HashSet::new();
    for block in &mut blocks {
        if block.get("type").is_some_and(|kind| kind == "tool_use")
            && let Some(id) = block.get("id").and_then(Value::as_str)
            && let Some(call) = calls.get(id)
        {
            told.insert(call.id.clone());
            *block = tool_use(call);
        }
    }
    blocks.extend(message.tool_calls.iter().filter(|call| !told.contains(&call.id)).map(tool_use));
    blocks
}

fn tool_use(call: &ToolCall) -> Value {
    let input = arguments_object(&call.arguments);
    json!({"type": "tool_use", "id": wire_id(&call.id), "name": call.name.as_ref(), "input": input})
}

fn tool_result(message: &Message) -> Value {
    let id = wire_id(message.tool_call_id.as_deref().unwrap_or_default());
    let content = match &message.content {
        Content::Text(text) => text.as_ref().into(),
        Content::Blocks(_) => Value::Array(content(&message.content)),
    };
    let mut json = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    if message.is_error {
        json["is_error"] = true.into();
    }
    json
}

/// Returns an id for the API, which accepts letters, digits, `_` and `-`; other vendors and scripts
/// may have used more. A digest keeps different ids distinct, since duplicates in a conversation
/// are rejected.
fn wire_id(id: &str) -> String {
    if id.is_empty() {
        return "_".to_owned();
    }
    if fits_as_id(id) {
        return id.to_owned();
    }
    let legible: String = id.chars().map(|c| if fits_in_id(c) { c } else { '_' }).collect();
    format!("{legible}_{}", &crate::recording::digest_of(id.as_bytes())[..8])
}

/// Returns whether the API accepts an id of a call.
pub(in crate::model) fn fits_as_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(fits_in_id)
}

fn fits_in_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// The API refuses a last turn of the model that ends in blanks.
fn trim_end(turn: &mut AnthropicTurn) {
    if let Some(last) = turn.blocks.last_mut()
        && last.get("type").is_some_and(|kind| kind == "text")
        && let Some(text) = last.get("text").and_then(Value::as_str)
    {
        last["text"] = text.trim_end().into();
    }
}

//! The body of a request. The model's name is part of the URL.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use runtime::message::{Block, Content, Message, Role, ToolSpec};
use runtime::model::{ModelError, Request};
use serde_json::{Map, Value, json};

use crate::model::choice::{
    CUT_OFF, Effort, Thinking, ToolChoice, arguments_object, bad, lay_over, leading_instructions, no_messages, stop,
    system_message,
};
use crate::model::content::{BlockContent, GEMINI_PART, Media, MediaSource};
use crate::model::tool_schema::object_schema;

/// The body that asks `model`.
pub(in crate::model) fn body(request: &Request, model: &str) -> Result<Value, ModelError> {
    let choice = ToolChoice::read(&request.tool_choice)?;
    let thinking = Thinking::read(&request.thinking)?;
    let conversation: Vec<Arc<Message>> = request.conversation().iter().cloned().collect();
    let (leading, rest) = leading_instructions(&conversation);
    let contents = GeminiContents::of(rest, !counts_tokens(model))?;
    if contents.turns.is_empty() {
        return Err(no_messages());
    }
    let mut body = Map::new();
    let system: Vec<Arc<str>> = request.system_text().map(Arc::from).into_iter().chain(leading).collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": system.join("\n\n")}]}));
    }
    body.insert("contents".to_owned(), contents.turns.into_iter().map(GeminiTurn::into_json).collect());
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.insert("tools".to_owned(), json!([{"functionDeclarations": declarations}]));
        if let Some(config) = function_calling(&choice) {
            body.insert("toolConfig".to_owned(), config);
        }
    }
    let config = generation_config(request, &thinking, model);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    lay_over(&mut body, &request.extra);
    Ok(Value::Object(body))
}

fn declaration(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name.as_ref(),
        "description": spec.description.as_ref(),
        "parametersJsonSchema": object_schema(&spec.parameters),
    })
}

fn function_calling(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Unsaid => return None,
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name.as_ref()]}),
        ToolChoice::AsGiven(given) => given.into(),
    };
    Some(json!({"functionCallingConfig": config}))
}

fn generation_config(request: &Request, thinking: &Thinking, model: &str) -> Map<String, Value> {
    let mut config = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            config.insert(key.to_owned(), value);
        }
    };
    put("temperature", json!(request.temperature));
    put("topP", json!(request.top_p));
    put("stopSequences", stop(request));
    put("seed", json!(request.seed));
    put("maxOutputTokens", json!(request.max_tokens));
    if !request.output_schema.is_nil() {
        put("responseMimeType", "application/json".into());
        put("responseJsonSchema", (&request.output_schema).into());
    }
    put("thinkingConfig", thinking_config(thinking, model));
    config
}

/// Models up to 2.5 take a number of tokens for their thinking, and want no signatures of thoughts back.
fn counts_tokens(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.starts_with("gemini-1") || name.starts_with("gemini-2")
}

/// Models up to 2.5 take a number of tokens, later ones a word.
fn thinking_config(thinking: &Thinking, model: &str) -> Value {
    let counts_tokens = counts_tokens(model);
    match thinking {
        Thinking::Unsaid => Value::Null,
        Thinking::Off => json!({"thinkingBudget": 0}),
        Thinking::AsGiven(given) => given.into(),
        Thinking::Effort(effort) if !counts_tokens => {
            let level = match effort {
                Effort::Minimal => "MINIMAL",
                Effort::Low => "LOW",
                Effort::Medium => "MEDIUM",
                Effort::High => "HIGH",
            };
            json!({"thinkingLevel": level, "includeThoughts": true})
        }
        Thinking::Effort(_) | Thinking::Budget(_) => {
            json!({"thinkingBudget": thinking.budget_tokens(), "includeThoughts": true})
        }
    }
}

/// One entry of `contents`.
struct GeminiTurn {
    role: &'static str,
    parts: Vec<Value>,
}

impl GeminiTurn {
    fn into_json(self) -> Value {
        json!({"role": self.role, "parts": self.parts})
    }
}

/// The conversation as turns of alternating roles that begin with the user's.
#[derive(Default)]
struct GeminiContents {
    turns: Vec<GeminiTurn>,
    /// The tool of each call, and whether the vendor provided its id; results name both.
    calls: BTreeMap<Arc<str>, (Arc<str>, bool)>,
    /// The first call of a turn must be signed.
    wants_signatures: bool,
}

/// The placeholder for the signature of a call that another model or a script made; by the vendor's
/// documents, models that require one (3 and later) accept it.
const FOREIGN: &str = "skip_thought_signature_validator";

impl GeminiContents {
    fn of(messages: &[Arc<Message>], wants_signatures: bool) -> Result<GeminiContents, ModelError> {
        let mut contents = GeminiContents { wants_signatures, ..GeminiContents::default() };
        for message in messages {
            contents.push(message)?;
        }
        if contents.turns.first().is_some_and(|turn| turn.role == "model") {
            let parts = vec![json!({"text": CUT_OFF})];
            contents.turns.insert(0, GeminiTurn { role: "user", parts });
        }
        for turn in contents.turns.iter_mut().filter(|turn| turn.role == "user") {
            // Results must come before everything else of their turn.
            turn.parts.sort_by_key(|part| part.get("functionResponse").is_none());
        }
        Ok(contents)
    }

    /// Adds a message; neighbours of one role become one turn.
    fn push(&mut self, message: &Message) -> Result<(), ModelError> {
        let (role, parts) = match message.role {
            Role::Assistant => ("model", self.model(message)),
            Role::Tool => ("user", vec![self.function_response(message)]),
            Role::User => ("user", content(&message.content)?),
            // The API has no such role among the contents, and moving the text to the top would tell it out of order.
            Role::System | Role::Developer => ("user", vec![json!({"text": system_message(&message.text())})]),
        };
        match self.turns.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ if parts.is_empty() => {}
            _ => self.turns.push(GeminiTurn { role, parts }),
        }
        Ok(())
    }

    /// Returns the parts of the model's message, in their order. Calls in its parts keep their
    /// position, with the arguments of `tool_calls` (a hook may have changed them); the other calls
    /// follow.
    fn model(&mut self, message: &Message) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut told = HashSet::new();
        for block in &message.content.to_blocks() {
            match BlockContent::of(block) {
                BlockContent::Text(text, more) => match more.map(|data| data.get(GEMINI_PART)) {
                    Some(part) if part.as_dict().is_some() => {
                        let mut part = Value::from(part);
                        part["text"] = text.into();
                        parts.push(part);
                    }
                    _ if text.is_empty() => {}
                    _ => parts.push(json!({"text": text})),
                },
                BlockContent::Other(GEMINI_PART, data) => {
                    let mut part = Value::from(data.get("part"));
                    if let Some(index) = data.get("call").as_int() {
                        let Some(call) = usize::try_from(index).ok().and_then(|index| message.tool_calls.get(index))
                        else {
                            continue;
                        };
                        if part["functionCall"]["name"] != call.name.as_ref() {
                            continue;
                        }
                        told.insert(call.id.clone());
                        let has_id = part["functionCall"].get("id").is_some_and(|id| !id.is_null());
                        self.calls.insert(call.id.clone(), (call.name.clone(), has_id));
                        if has_id {
                            part["functionCall"]["id"] = call.id.as_ref().into();
                        }
                        part["functionCall"]["args"] = arguments_object(&call.arguments);
                    }
                    parts.push(part);
                }
                // Another vendor's.
                BlockContent::Media(_) | BlockContent::Other(..) => {}
            }
        }
        for call in message.tool_calls.iter().filter(|call| !told.contains(&call.id)) {
            self.calls.insert(call.id.clone(), (call.name.clone(), true));
            parts.push(json!({
                "functionCall": {"id": call.id.as_ref(), "name": call.name.as_ref(), "args": arguments_object(&call.arguments)},
            }));
        }
        if self.wants_signatures
            && let Some(first) = parts.iter_mut().find(|part| part.get("functionCall").is_some())
            && first.get("thoughtSignature").is_none()
        {
            first["thoughtSignature"] = FOREIGN.into();
        }
        parts
    }

    fn function_response(&self, message: &Message) -> Value {
        let id = message.tool_call_id.clone().unwrap_or_default();
        let known = self.calls.get(&id);
        let name = known.map(|(name, _)| name.clone()).or_else(|| message.name.clone()).unwrap_or_default();
        let key = if message.is_error { "error" } else { "output" };
        let mut response = json!({"name": name.as_ref(), "response": {key: message.text().as_ref()}});
        if known.is_none_or(|(_, has_id)| *has_id) {
            response["id"] = id.as_ref().into();
        }
        let media: Vec<Value> = match &message.content {
            Content::Text(_) => Vec::new(),
            Content::Blocks(blocks) => blocks
                .iter()
                .filter_map(|block| match BlockContent::of(block) {
                    BlockContent::Media(media) => Some(media_part(&media)),
                    _ => None,
                })
                .collect(),
        };
        if !media.is_empty() {
            response["parts"] = media.into();
        }
        json!({"functionResponse": response})
    }
}

fn content(content: &Content) -> Result<Vec<Value>, ModelError> {
    let blocks = content.to_blocks();
    // The API refuses parts that say nothing.
    let says = |block: &&Block| !matches!(block, Block::Text { text, .. } if text.is_empty());
    blocks.iter().filter(says).map(part).collect()
}

/// Parts of the vendor's that a script may write.
const OWN_PARTS: &[&str] =
    &["text", "inlineData", "fileData", "videoMetadata", "executableCode", "codeExecutionResult"];

fn part(block: &Block) -> Result<Value, ModelError> {
    match BlockContent::of(block) {
        BlockContent::Text(text, _) => Ok(json!({"text": text})),
        BlockContent::Media(media) => Ok(match block {
            // In the wire's own spelling there may be more in it.
            Block::Other(data) if data.get("type").is_nil() => data.into(),
            _ => media_part(&media),
        }),
        BlockContent::Other("", data) if OWN_PARTS.iter().any(|key| !data.get(key).is_nil()) => Ok(data.into()),
        BlockContent::Other(kind, _) => Err(bad(format!(
            "gemini does not support content blocks of type {kind:?}; use text, images, documents, or its own \
            parts such as {{inlineData}}"
        ))),
    }
}

fn media_part(media: &Media<'_>) -> Value {
    match media.source {
        MediaSource::Base64 { media_type, data } => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        MediaSource::Url { url, media_type: None } => json!({"fileData": {"fileUri": url}}),
        MediaSource::Url { url, media_type: Some(kind) } => json!({"fileData": {"fileUri": url, "mimeType": kind}}),
    }
}

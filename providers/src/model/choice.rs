//! Options of a request that every wire spells differently, read once.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::nearest;
use runtime::message::{Message, Role, ToolSpec};
use runtime::model::{ModelError, ModelErrorKind, Request};
use serde_json::{Map, Value, json};

use super::tool_schema::object_schema;

/// The request cannot be put into the wire's terms.
pub(super) fn bad(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, message)
}

/// There is nothing to say to the model.
pub(super) fn no_messages() -> ModelError {
    bad("the request has no message; add a prompt".to_owned())
}

/// The tool that must or may be called.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolChoice {
    Unsaid,
    Auto,
    None,
    Required,
    Tool(Arc<str>),
    /// The choice in a vendor's own shape.
    AsGiven(Data),
}

impl ToolChoice {
    const WORDS: &'static [&'static str] = &["auto", "none", "required"];

    pub(super) fn read(data: &Data) -> Result<ToolChoice, ModelError> {
        match data {
            Data::Nil => Ok(ToolChoice::Unsaid),
            Data::Str(word) => match word.as_ref() {
                "auto" => Ok(ToolChoice::Auto),
                "none" => Ok(ToolChoice::None),
                "required" | "any" => Ok(ToolChoice::Required),
                other => Err(bad(match nearest(other, ToolChoice::WORDS.iter().copied()) {
                    Some(near) => format!("unknown `tool_choice` {other:?}; did you mean {near:?}?"),
                    None => {
                        format!("unknown `tool_choice` {other:?}; use \"auto\", \"none\", \"required\" or {{name}}")
                    }
                })),
            },
            Data::Dict(_) if !data.get("type").is_nil() => Ok(ToolChoice::AsGiven(data.clone())),
            Data::Dict(_) if data.get("name").as_str().is_some() => {
                Ok(ToolChoice::Tool(data.get("name").as_shared_str().unwrap_or_default()))
            }
            other => Err(bad(format!(
                "`tool_choice` must be \"auto\", \"none\", \"required\" or {{name}}, got {} {other}",
                other.type_name()
            ))),
        }
    }
}

/// The amount of thinking before an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thinking {
    Unsaid,
    Off,
    Effort(Effort),
    Budget(u64),
    /// The setting in a vendor's own shape.
    AsGiven(Data),
}

/// A measure of thinking that all vendors have in some form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    Minimal,
    Low,
    Medium,
    High,
}

impl Effort {
    const ALL: [Effort; 4] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }

    /// Returns the budget in tokens. The smallest is Anthropic's minimum.
    fn budget(self) -> u64 {
        match self {
            Effort::Minimal => 1024,
            Effort::Low => 4096,
            Effort::Medium => 10_000,
            Effort::High => 24_000,
        }
    }
}

impl Thinking {
    pub(super) fn read(data: &Data) -> Result<Thinking, ModelError> {
        match data {
            Data::Nil => Ok(Thinking::Unsaid),
            Data::Bool(false) => Ok(Thinking::Off),
            Data::Bool(true) => Ok(Thinking::Effort(Effort::Medium)),
            Data::Dict(_) => Ok(Thinking::AsGiven(data.clone())),
            Data::Int(tokens) => match u64::try_from(*tokens) {
                Ok(0) => Ok(Thinking::Off),
                Ok(tokens) => Ok(Thinking::Budget(tokens)),
                Err(_) => Err(bad(format!("`thinking` must not be below 0, got {tokens}"))),
            },
            Data::Str(word) => match Effort::ALL.into_iter().find(|effort| effort.as_str() == word.as_ref()) {
                Some(effort) => Ok(Thinking::Effort(effort)),
                None => {
                    let words = Effort::ALL.map(Effort::as_str);
                    Err(bad(match nearest(word, words) {
                        Some(near) => format!("unknown `thinking` {word:?}; did you mean {near:?}?"),
                        None => format!("unknown `thinking` {word:?}; use one of {}", words.join(", ")),
                    }))
                }
            },
            other => Err(bad(format!(
                "`thinking` must be a bool, a number of tokens, an effort word or a dict, got {}",
                other.type_name()
            ))),
        }
    }

    /// Returns the budget in tokens; `None` if it is off, not set, or in a vendor's shape without
    /// one.
    pub(super) fn budget_tokens(&self) -> Option<u64> {
        match self {
            Thinking::Unsaid | Thinking::Off => None,
            Thinking::Effort(effort) => Some(effort.budget()),
            Thinking::Budget(tokens) => Some(*tokens),
            Thinking::AsGiven(data) => data.get("budget_tokens").as_int().and_then(|tokens| u64::try_from(tokens).ok()),
        }
    }

    /// Returns the effort as a word; `None` if it is off, not set, or in a shape without a name.
    pub(super) fn effort(&self) -> Option<Arc<str>> {
        match self {
            Thinking::Unsaid | Thinking::Off => None,
            Thinking::Effort(effort) => Some(effort.as_str().into()),
            Thinking::AsGiven(data) => data.get("effort").as_shared_str(),
            Thinking::Budget(tokens) => {
                let fits = |effort: &Effort| *tokens <= effort.budget();
                Some(Effort::ALL.into_iter().find(fits).unwrap_or(Effort::High).as_str().into())
            }
        }
    }
}

/// A tool as Chat Completions and Ollama write it.
pub(super) fn function_tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name.as_ref(),
            "description": spec.description.as_ref(),
            "parameters": object_schema(&spec.parameters),
        },
    })
}

/// The keywords of JSON Schema that strict mode supports, by the vendor's documents. Other keywords
/// would be rejected there.
const STRICT: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// Whether a schema keeps the rules of strict mode: an object at the top, every object closed, all of its properties
/// required, and no word that the mode does not know. Others are refused there, so they are sent without the promise.
pub(super) fn is_strict(schema: &Data) -> bool {
    schema.get("type").as_str() == Some("object") && schema.get("anyOf").is_nil() && is_strict_part(schema)
}

fn is_strict_part(schema: &Data) -> bool {
    let Some(entries) = schema.as_dict() else { return false };
    let is_object = match schema.get("type") {
        Data::List(types) => types.iter().any(|kind| kind.as_str() == Some("object")),
        kind => kind.as_str() == Some("object"),
    };
    let closed = match schema.get("properties").as_dict() {
        None => !is_object,
        Some(properties) => {
            let required = schema.get("required").as_list().unwrap_or_default();
            schema.get("additionalProperties").as_bool() == Some(false)
                && properties.keys().all(|key| required.iter().any(|name| name.as_str() == Some(key)))
        }
    };
    let below = |key: &str| schema.get(key).as_dict().into_iter().flat_map(Entries::values);
    let listed = |key: &str| schema.get(key).as_list().unwrap_or_default().iter();
    let named = below("properties").chain(below("$defs")).chain(below("definitions"));
    closed
        && entries.keys().all(|key| STRICT.contains(&key.as_ref()))
        && named.chain(listed("anyOf")).all(is_strict_part)
        && (schema.get("items").is_nil() || is_strict_part(schema.get("items")))
}

/// Arguments of a call that come as JSON text or as an object. What cannot be read stays as it is, so the loop can tell the
/// model.
pub(super) fn arguments(json: Option<Value>) -> Data {
    match json {
        None | Some(Value::Null) => Data::empty_dict(),
        Some(Value::String(json)) if json.trim().is_empty() => Data::empty_dict(),
        Some(Value::String(json)) => Data::from_json(&json).unwrap_or(Data::Str(json.into())),
        Some(other) => Data::from(other),
    }
}

/// Arguments where the wire demands an object; what is none goes below a key, and the model sees what it wrote.
pub(super) fn arguments_object(arguments: &Data) -> Value {
    match arguments {
        Data::Dict(_) => Value::from(arguments),
        Data::Nil => json!({}),
        other => json!({"arguments": Value::from(other)}),
    }
}

/// Returns why arguments cannot be read as JSON: a phrase for people and models.
pub(super) fn unreadable(json: &str) -> &'static str {
    match Data::from_nested_json(json, Data::MAX_DEPTH) {
        Ok(_) => "are nested too deeply",
        Err(error) if error.message.contains("nested too deep") => "are nested too deeply",
        Err(_) => "are not valid JSON",
    }
}

/// The text that replaces the cut-off beginning of a conversation, for wires whose first turn must
/// be the user's.
pub(super) const CUT_OFF: &str = "(Earlier messages are not shown.)";

/// An option that a wire has no word for.
pub(super) fn no_word(who: &str, option: &str) -> ModelError {
    bad(format!("{who} does not support the option `{option}`; remove it, or use another route"))
}

/// An object without the fields that say nothing.
pub(super) fn without_nulls(mut json: Value) -> Value {
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    json
}

/// The id of a call that came without one.
pub(super) fn call_id(index: usize) -> String {
    format!("call_{index}")
}

/// Arguments of a call as JSON text. What could not be read goes back as it came.
pub(super) fn arguments_json(arguments: &Data) -> String {
    match arguments {
        Data::Str(raw) => raw.to_string(),
        Data::Nil => "{}".to_owned(),
        other => other.to_json(),
    }
}

/// Returns the additional entries of an answer that are present.
pub(super) fn said_besides<const N: usize>(fields: [(&str, Option<String>); N]) -> Entries {
    fields.into_iter().filter_map(|(key, value)| Some((key.into(), Data::from(value?)))).collect()
}

/// Texts that end an answer, as a list; nothing where there are none.
pub(super) fn stop(request: &Request) -> Value {
    if request.stop.is_empty() {
        Value::Null
    } else {
        request.stop.iter().map(|text| Value::from(text.as_ref())).collect()
    }
}

/// Merges fields of the request into the body unchanged. A dict that the body already has is merged
/// key by key.
pub(super) fn lay_over(body: &mut Map<String, Value>, extra: &Entries) {
    for (key, value) in extra {
        match (body.get_mut(key.as_ref()), Value::from(value)) {
            (Some(Value::Object(below)), Value::Object(above)) => below.extend(above),
            (_, value) => {
                body.insert(key.to_string(), value);
            }
        }
    }
}

/// The instructions that a history begins with, as texts that say something, and the messages behind them.
pub(super) fn leading_instructions(messages: &[Arc<Message>]) -> (Vec<Arc<str>>, &[Arc<Message>]) {
    let instructs = |message: &&Arc<Message>| matches!(message.role, Role::System | Role::Developer);
    let (leading, rest) = messages.split_at(messages.iter().take_while(instructs).count());
    let texts = leading.iter().map(|message| message.text()).filter(|text| !text.trim().is_empty());
    (texts.collect(), rest)
}

/// Returns an instruction among the messages of a wire that has no role for it.
pub(super) fn system_message(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<system-message>\n{text}\n</system-message>")
}

#[cfg(test)]
mod tests;

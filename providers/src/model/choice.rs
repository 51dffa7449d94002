//! Options of a request that every wire spells differently, read once.

use std::sync::Arc;

use runtime::data::Data;
use runtime::model::{ModelError, ModelErrorKind};
use runtime::words::nearest;
use serde_json::{Value, json};

fn bad(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, message)
}

/// There is nothing to say to the model.
pub(super) fn no_messages() -> ModelError {
    bad("the request has no message; give a prompt".to_owned())
}

/// Which tool must or may be called.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolChoice {
    Unsaid,
    Auto,
    None,
    Required,
    Tool(Arc<str>),
    /// In a vendor's own shape.
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

/// How much a model should think before it answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thinking {
    Unsaid,
    Off,
    Effort(Effort),
    Budget(u64),
    /// In a vendor's own shape.
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

    /// In tokens. The smallest is the least that Anthropic takes.
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

    /// In tokens; nothing where it is off, unsaid, or in a shape of the vendor's that names none.
    pub(super) fn budget_tokens(&self) -> Option<u64> {
        match self {
            Thinking::Unsaid | Thinking::Off => None,
            Thinking::Effort(effort) => Some(effort.budget()),
            Thinking::Budget(tokens) => Some(*tokens),
            Thinking::AsGiven(data) => data.get("budget_tokens").as_int().and_then(|tokens| u64::try_from(tokens).ok()),
        }
    }

    /// As a word; nothing where it is off, unsaid, or in a shape that names none.
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

/// A tool's parameters as the object schema that every vendor demands.
pub(super) fn object_schema(parameters: &Data) -> Value {
    match Value::from(parameters) {
        Value::Object(mut schema) => {
            schema.entry("type").or_insert_with(|| "object".into());
            schema.entry("properties").or_insert_with(|| json!({}));
            Value::Object(schema)
        }
        _ => json!({"type": "object", "properties": {}}),
    }
}

//! Model servers that refuse what the vendors refuse, written from the vendors' documents and error messages.
//!
//! - [`rules`]: what each API refuses, as a table: rule, source, the words of the 400, a body that breaks it.
//! - [`memory`]: what depends on earlier answers: signatures of thoughts, items of reasoning, paused answers.
//! - [`answers`]: answers of each API, with every reason for an end.
//! - [`server`]: all of them on one port; a conversation is a part of the path.

pub mod answers;
pub mod memory;
pub mod rules;
pub mod server;

use serde_json::Value;

/// The form of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

/// An API with a model, as it is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Api {
    pub name: &'static str,
    /// The provider and the model of a request to it.
    pub provider: &'static str,
    pub model: &'static str,
    pub wire: Wire,
}

const fn api(name: &'static str, provider: &'static str, model: &'static str, wire: Wire) -> Api {
    Api { name, provider, model, wire }
}

pub const CLAUDE: Api = api("Anthropic", "anthropic", "claude-sonnet-4-5", Wire::Anthropic);
pub const CLAUDE_BOUND: Api = api("Anthropic with bound thoughts", "anthropic", "claude-fable-5-1", Wire::Anthropic);
pub const GPT: Api = api("Chat Completions", "openai", "gpt-4o", Wire::Chat);
pub const GPT_REASONING: Api = api("Responses", "openai", "gpt-5-codex", Wire::Responses);
pub const GEMINI: Api = api("Gemini", "gemini", "gemini-3-pro-preview", Wire::Gemini);
/// Without signatures of calls; not among [`APIS`].
pub const GEMINI_2: Api = api("Gemini 2", "gemini", "gemini-2.5-flash", Wire::Gemini);
pub const OLLAMA: Api = api("Ollama", "ollama", "qwen3", Wire::Ollama);
pub const MISTRAL: Api = api("Mistral", "openai_compatible", "mistral-large", Wire::Chat);
pub const TEMPLATE: Api = api("vLLM with a strict template", "openai_compatible", "gemma-3", Wire::Chat);

pub const APIS: [Api; 8] = [CLAUDE, CLAUDE_BOUND, GPT, GPT_REASONING, GEMINI, OLLAMA, MISTRAL, TEMPLATE];

/// The content of a message of Anthropic as blocks.
pub fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// The items of a list below a key.
pub fn list<'a>(body: &'a Value, key: &str) -> &'a [Value] {
    body[key].as_array().map_or(&[], Vec::as_slice)
}

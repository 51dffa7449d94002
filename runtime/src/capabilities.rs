//! [`Capabilities`]: what a route (a provider and a model) can take. The table of known routes is data of the crate
//! `providers`; here is only its shape.

use crate::words::words;

words! {
    /// The vendor's wire format.
    pub enum Wire {
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// OpenAI's Chat Completions, and the many that speak it.
        OpenaiChat = "openai_chat",
        /// OpenAI's Responses API.
        OpenaiResponses = "openai_responses",
        /// Google's generateContent.
        Gemini = "gemini",
        /// Ollama's chat API.
        Ollama = "ollama",
    }
}

words! {
    /// Where developer messages and user blocks of reminders stand.
    pub enum Placement {
        /// Before the conversation.
        Head = "head",
        /// Behind it, so that the prompt's prefix stays the same from turn to turn and prompt caches keep hitting.
        Tail = "tail",
    }
}

/// What a route can take.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // a row of yes-or-no facts, read from a table
pub struct Capabilities {
    /// The wire format.
    pub wire: Wire,
    /// The model reads `role: "developer"` messages, and better so than system text.
    pub prefers_role_developer: bool,
    /// The model reads XML-like tags well.
    pub prefers_xml_scaffolding: bool,
    /// Content blocks may carry `cache_control`.
    pub prompt_caching: bool,
    /// Tokens that fit into a request and its answer; nothing where unknown.
    pub context_window: Option<u64>,
    /// Tools are part of the wire format; otherwise they are described in text.
    pub native_tools: bool,
    /// There is a slot for system text at all.
    pub system_text: bool,
    /// Where reminders go, unless options say otherwise.
    pub placement: Placement,
}

impl Default for Capabilities {
    /// A route that nothing special is known of: plain system text, native tools.
    fn default() -> Capabilities {
        Capabilities {
            wire: Wire::OpenaiChat,
            prefers_role_developer: false,
            prefers_xml_scaffolding: false,
            prompt_caching: false,
            context_window: None,
            native_tools: true,
            system_text: true,
            placement: Placement::Head,
        }
    }
}

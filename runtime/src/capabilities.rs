//! [`Capabilities`]: the capabilities of a route (a provider and a model). The table of known routes is data of the
//! crate `providers`; this module only defines its shape.

use crate::model::Usage;
use crate::words::words;

words! {
    /// The vendor's wire format.
    pub enum WireFormat {
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// OpenAI's Chat Completions, and the many compatible services.
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
    /// The requested position of reminders.
    pub enum PlacementPolicy {
        /// The slots of the guide's table, before the conversation.
        Head = "head",
        /// After the conversation.
        Tail = "tail",
        /// The position at which reminders cost least: after the conversation if the route caches prompts, otherwise
        /// the slots of the guide's table.
        Auto = "auto",
    }
}

words! {
    /// Position of developer messages and user blocks of reminders.
    pub enum Placement {
        /// Before the conversation.
        Head = "head",
        /// After the history, so that the prompt's prefix stays the same from turn to turn and prompt caches keep
        /// hitting.
        Tail = "tail",
    }
}

/// The price of tokens, in nano-dollars (10⁻⁹ US dollars) per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens of the request without cache reads and writes.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens that a cache served.
    pub cache_read: u64,
    /// Tokens that were written to a cache.
    pub cache_write: u64,
}

impl Price {
    /// Returns the price of a call, in nano-dollars.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> u64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let parts = [
            (usage.input_tokens.saturating_sub(cached), self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ];
        let sum: u128 = parts.into_iter().map(|(tokens, price)| u128::from(tokens) * u128::from(price)).sum();
        u64::try_from(sum / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// The capabilities of a route.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // a row of yes-or-no facts, read from a table
pub struct Capabilities {
    /// The wire format.
    pub wire: WireFormat,
    /// The model reads `role: "developer"` messages, and prefers them to system text.
    pub prefers_role_developer: bool,
    /// The model reads XML-like tags well.
    pub prefers_xml_scaffolding: bool,
    /// Content blocks may carry `cache_control`.
    pub prompt_caching: bool,
    /// The beginning that a request shares with an earlier one is cached without a mark.
    pub automatic_caching: bool,
    /// The wire format `anthropic` accepts messages of role `system` after the first one.
    pub mid_conversation_system: bool,
    /// The model decides by itself how much it thinks, and accepts a word for the effort but no number of tokens.
    pub adaptive_thinking: bool,
    /// The model always thinks: its thinking cannot be switched off, and it cannot be forced to call a tool.
    pub always_thinking: bool,
    /// The model accepts a signed thought only behind the prefix that it was signed with.
    pub bound_thinking: bool,
    /// The roles of messages must alternate: the user's and the model's in turns.
    pub alternating_roles: bool,
    /// The number of letters and digits that the id of a call must have; `None` if any id will do.
    pub call_id_length: Option<u64>,
    /// Maximum number of tokens of a request and its answer; `None` if unknown.
    pub context_window: Option<u64>,
    /// Tools are part of the wire format; otherwise they are described in text.
    pub native_tools: bool,
    /// Whether there is a slot for system text at all.
    pub system_text: bool,
    /// Position of reminders, used if options name none.
    pub placement: Option<PlacementPolicy>,
    /// Price of tokens; `None` if unknown.
    pub price: Option<Price>,
}

impl Default for Capabilities {
    /// Returns the capabilities of an unknown route: plain system text, native tools.
    fn default() -> Capabilities {
        Capabilities {
            wire: WireFormat::OpenaiChat,
            prefers_role_developer: false,
            prefers_xml_scaffolding: false,
            prompt_caching: false,
            automatic_caching: false,
            mid_conversation_system: false,
            adaptive_thinking: false,
            always_thinking: false,
            bound_thinking: false,
            alternating_roles: false,
            call_id_length: None,
            context_window: None,
            native_tools: true,
            system_text: true,
            placement: None,
            price: None,
        }
    }
}

impl Capabilities {
    /// Returns whether a prompt cache can serve the beginning of a request.
    #[must_use]
    pub fn caches_prompts(&self) -> bool {
        self.prompt_caching || self.automatic_caching
    }

    /// Returns whether the vendor has a slot of its own for instructions in the middle of a conversation.
    #[must_use]
    pub fn has_native_slot(&self) -> bool {
        self.mid_conversation_system && self.wire == WireFormat::Anthropic
    }
}

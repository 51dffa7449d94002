//! [`Capabilities`]: the capabilities of a route (a provider and a model). The table of known routes is data of the
//! crate `providers`; this module only defines its shape.

use base::words::words;

mod price;

pub use price::{InvalidPriceDate, LongPrice, Price, PriceDate};

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
    /// Maximum number of tokens of an answer, thinking included; `None` if unknown.
    pub output_limit: Option<u64>,
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
            output_limit: None,
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

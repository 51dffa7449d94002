//! [`Message`]: one durable, vendor-neutral entry of a conversation. Vendor-specific fields are kept in `extra` and in
//! [`Block::Other`], so that nothing is lost when they are sent back.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::words;

mod list;
pub mod quote;
mod read;
#[cfg(test)]
mod tests;

pub use list::Messages;
pub use read::MessageError;

words! {
    /// The speaker of a message.
    pub enum Role {
        /// Standing instructions.
        System = "system",
        /// The application's instructions, on routes that support the role.
        Developer = "developer",
        /// The person, or a program in their place.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
    }
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: Arc<str>,
        /// A vendor's cache mark (`{"type": "ephemeral"}`), else nil.
        cache_control: Data,
    },
    /// Any other block, unchanged: images, documents, signed thinking.
    Other(Data),
}

impl Block {
    /// Creates a plain text block.
    pub fn text(text: impl Into<Arc<str>>) -> Block {
        Block::Text { text: text.into(), cache_control: Data::Nil }
    }

    /// Returns the text of a text block, whatever a vendor has added to it (citations, a signature).
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Block::Text { text, .. } => Some(text),
            Block::Other(data) if data.get("type").as_str() == Some("text") => data.get("text").as_str(),
            Block::Other(_) => None,
        }
    }

    /// Converts the block to the dict that scripts see: `{type, text, cache_control?}`, or the original value.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match self {
            Block::Text { text, cache_control } => Data::dict_of_present([
                ("type", Data::from("text")),
                ("text", text.into()),
                ("cache_control", cache_control.clone()),
            ]),
            Block::Other(data) => data.clone(),
        }
    }
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(Arc<str>),
    /// A list of blocks.
    Blocks(Arc<Vec<Block>>),
}

impl Content {
    /// Returns whether the content is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Content::Text(text) => text.is_empty(),
            Content::Blocks(blocks) => blocks.is_empty(),
        }
    }

    /// Returns the text; for blocks, that of the non-empty text blocks, joined by line breaks.
    #[must_use]
    pub fn to_text(&self) -> Arc<str> {
        match self {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(Block::as_text).filter(|text| !text.is_empty());
                texts.collect::<Vec<_>>().join("\n").into()
            }
        }
    }

    /// Returns the blocks; text becomes one block, empty text none.
    #[must_use]
    pub fn to_blocks(&self) -> Vec<Block> {
        match self {
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => vec![Block::text(text.clone())],
            Content::Blocks(blocks) => blocks.as_ref().clone(),
        }
    }

    /// Converts the content to the value that scripts see: a string or a list of blocks.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match self {
            Content::Text(text) => text.into(),
            Content::Blocks(blocks) => blocks.iter().map(Block::to_data).collect(),
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for Content {
    fn from(text: T) -> Content {
        Content::Text(text.into())
    }
}

/// A tool call that the model requests.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The vendor's id of the call; results name it.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// The arguments: a dict, or the raw text if the model wrote invalid JSON.
    pub arguments: Data,
}

impl ToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<Arc<str>>, name: impl Into<Arc<str>>, arguments: Data) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments }
    }

    /// Converts the call to the dict that scripts see: `{id, name, arguments}`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict([
            ("id", Data::from(&self.id)),
            ("name", Data::from(&self.name)),
            ("arguments", self.arguments.clone()),
        ])
    }
}

/// The description of a tool for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name.
    pub name: Arc<str>,
    /// Purpose of the tool and when to use it.
    pub description: Arc<str>,
    /// JSON Schema of the arguments (an object schema).
    pub parameters: Data,
    /// JSON Schema of the result, else nil. Not sent to models.
    pub returns: Data,
    /// Free hints of the author (`{read_only: true}`), else nil. Not sent to models.
    pub annotations: Data,
}

impl ToolSpec {
    /// Creates a tool description; `parameters` is a JSON Schema.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>, parameters: Data) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters,
            returns: Data::Nil,
            annotations: Data::Nil,
        }
    }

    /// Converts the description to the dict that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("name", Data::from(&self.name)),
            ("description", Data::from(&self.description)),
            ("parameters", self.parameters.clone()),
            ("returns", self.returns.clone()),
            ("annotations", self.annotations.clone()),
        ])
    }
}

/// One durable entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Speaker of the message.
    pub role: Role,
    /// Content of the message.
    pub content: Content,
    /// The calls that an assistant message requests.
    pub tool_calls: Vec<ToolCall>,
    /// In a tool message: the call it answers.
    pub tool_call_id: Option<Arc<str>>,
    /// The speaker's or the tool's name, if given.
    pub name: Option<Arc<str>>,
    /// In a tool message: whether the call failed.
    pub is_error: bool,
    /// The reasoning text that some routes return and expect back.
    pub reasoning: Option<Arc<str>>,
    /// Vendor-specific fields, unchanged.
    pub extra: Entries,
}

impl Message {
    /// Creates a message with only content.
    pub fn new(role: Role, content: impl Into<Content>) -> Message {
        Message {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            is_error: false,
            reasoning: None,
            extra: Entries::new(),
        }
    }

    /// Creates a user message.
    pub fn user(text: impl Into<Arc<str>>) -> Message {
        Message::new(Role::User, Content::Text(text.into()))
    }

    /// Creates an assistant message.
    pub fn assistant(text: impl Into<Arc<str>>, tool_calls: Vec<ToolCall>) -> Message {
        Message { tool_calls, ..Message::new(Role::Assistant, Content::Text(text.into())) }
    }

    /// Creates the answer to a tool call.
    pub fn tool_result(call: &ToolCall, text: impl Into<Arc<str>>, ok: bool) -> Message {
        Message {
            tool_call_id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            is_error: !ok,
            ..Message::new(Role::Tool, Content::Text(text.into()))
        }
    }

    /// Returns the text of the content.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        self.content.to_text()
    }

    /// Returns a rough count of tokens: one for every four bytes, and a few for the frame.
    #[must_use]
    pub fn estimated_tokens(&self) -> usize {
        let calls: usize = self.tool_calls.iter().map(|call| call.name.len() + call.arguments.json_len()).sum();
        let said = match &self.content {
            Content::Text(text) => text.len(),
            Content::Blocks(blocks) => blocks
                .iter()
                .map(|block| match block {
                    Block::Text { text, .. } => text.len(),
                    Block::Other(data) => data.json_len(),
                })
                .sum(),
        };
        (said + calls).div_ceil(4) + 4
    }

    /// Converts the message to the dict that scripts see. Fields without a value are left out.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let mut entries = self.extra.clone();
        let mut put = |key: &str, value: Data| {
            if !value.is_nil() {
                entries.insert(key.into(), value);
            }
        };
        put("role", self.role.as_str().into());
        put("content", self.content.to_data());
        if !self.tool_calls.is_empty() {
            put("tool_calls", self.tool_calls.iter().map(ToolCall::to_data).collect());
        }
        put("tool_call_id", self.tool_call_id.clone().into());
        put("name", self.name.clone().into());
        put("reasoning", self.reasoning.clone().into());
        if self.is_error {
            put("is_error", true.into());
        }
        Data::from(entries)
    }
}

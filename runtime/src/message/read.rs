//! Reading a message from the dict that a script or a host passes.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::UnknownWord;

use super::{Block, Content, Message, Role, ToolCall};

/// The reason a value is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The value is not a dict.
    #[error("a message must be a dict with `role` and `content`, got {0}")]
    NotADict(&'static str),
    /// A field has the wrong type: the field, the expected and the found type.
    #[error("`{field}` of a message must be {expected}, got {got}")]
    Type {
        /// The field.
        field: &'static str,
        /// Description of the expected value.
        expected: &'static str,
        /// The type that was found.
        got: &'static str,
    },
    /// The role is unknown.
    #[error("`role` of a message: {0}")]
    Role(UnknownWord),
    /// The value is a reminder event, which never becomes a message.
    #[error("a message whose kind is `system_reminder` is a reminder event, not a message")]
    Reminder,
}

impl Content {
    /// Reads a string or a list of blocks; nil is empty content.
    pub(crate) fn from_data(data: &Data) -> Result<Content, MessageError> {
        match data {
            Data::Nil => Ok(Content::Text("".into())),
            Data::Str(text) => Ok(Content::Text(text.clone())),
            Data::List(items) => Ok(Content::Blocks(Arc::new(items.iter().map(Block::from_data).collect()))),
            other => Err(MessageError::Type {
                field: "content",
                expected: "a string or a list of blocks",
                got: other.type_name(),
            }),
        }
    }
}

impl Message {
    /// Returns whether this dict is a reminder event instead of a message.
    #[must_use]
    pub fn is_reminder_event(data: &Data) -> bool {
        data.get("kind").as_str() == Some("system_reminder")
    }

    /// Reads a message: `{role, content, tool_calls?, tool_call_id?, name?, …}`; other fields are kept.
    pub fn from_data(data: &Data) -> Result<Message, MessageError> {
        let Some(entries) = data.as_dict() else { return Err(MessageError::NotADict(data.type_name())) };
        if Message::is_reminder_event(data) {
            return Err(MessageError::Reminder);
        }
        let role = match text(entries, "role")? {
            None => return Err(MessageError::Type { field: "role", expected: "a string", got: "nil" }),
            Some(role) => read_role(&role)?,
        };
        let mut extra = entries.clone();
        for known in ["role", "content", "tool_calls", "tool_call_id", "name", "reasoning", "is_error"] {
            extra.remove(known);
        }
        Ok(Message {
            role,
            content: Content::from_data(data.get("content"))?,
            tool_calls: read_calls(data.get("tool_calls"))?,
            tool_call_id: text(entries, "tool_call_id")?,
            name: text(entries, "name")?,
            is_error: data.get("is_error").truthy(),
            reasoning: text(entries, "reasoning")?,
            extra,
        })
    }
}

impl Block {
    /// Reads a block: text blocks by their shape, all others unchanged.
    #[must_use]
    pub fn from_data(data: &Data) -> Block {
        match data {
            Data::Str(text) => Block::text(text.clone()),
            other => match (other.get("type").as_str(), other.get("text").as_shared_str(), other.as_dict()) {
                (Some("text"), Some(text), Some(entries))
                    if entries.keys().all(|key| matches!(key.as_ref(), "type" | "text" | "cache_control")) =>
                {
                    Block::Text { text, cache_control: other.get("cache_control").clone() }
                }
                _ => Block::Other(other.clone()),
            },
        }
    }
}

impl ToolCall {
    /// Reads a call: `{id, name, arguments}`; OpenAI's `{id, function: {name, arguments: "json"}}` too.
    #[must_use]
    pub fn from_data(data: &Data) -> Option<ToolCall> {
        let inner = if data.get("function").as_dict().is_some() { data.get("function") } else { data };
        let name = inner.get("name").as_shared_str()?;
        let arguments = ["arguments", "args", "input"].iter().map(|key| inner.get(key)).find(|value| !value.is_nil());
        let arguments = match arguments {
            None => Data::empty_dict(),
            Some(Data::Str(json)) => Data::from_json(json).unwrap_or_else(|_| Data::Str(json.clone())),
            Some(other) => other.clone(),
        };
        Some(ToolCall { id: data.get("id").as_shared_str().unwrap_or_else(|| "".into()), name, arguments })
    }
}

fn read_role(word: &str) -> Result<Role, MessageError> {
    match word {
        "tool_result" | "function" => Ok(Role::Tool),
        other => other.parse().map_err(MessageError::Role),
    }
}

fn read_calls(data: &Data) -> Result<Vec<ToolCall>, MessageError> {
    let wrong = |got| MessageError::Type { field: "tool_calls", expected: "a list of {id, name, arguments}", got };
    match data {
        Data::Nil => Ok(Vec::new()),
        Data::List(items) => {
            items.iter().map(|item| ToolCall::from_data(item).ok_or_else(|| wrong(item.type_name()))).collect()
        }
        other => Err(wrong(other.type_name())),
    }
}

fn text(entries: &Entries, field: &'static str) -> Result<Option<Arc<str>>, MessageError> {
    match entries.get(field) {
        None | Some(Data::Nil) => Ok(None),
        Some(Data::Str(text)) => Ok(Some(text.clone())),
        Some(other) => Err(MessageError::Type { field, expected: "a string", got: other.type_name() }),
    }
}

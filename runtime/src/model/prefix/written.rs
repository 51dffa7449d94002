//! A message in the form of the measured document: its content is always written as blocks, so that a reminder after it
//! changes nothing, and without marks for caches, which are not cached themselves. It is written without an intermediate dict, because a loop measures each of its messages.

use std::sync::Arc;

use base::data::text_json_len;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::message::{Block, Content, Message, ToolCall};

/// Returns the message as JSON, its keys in bytewise order.
pub(super) fn json(message: &Message) -> String {
    // A vendor's extra fields may appear anywhere among the keys.
    if !message.extra.is_empty() {
        return by_dict(message);
    }
    serde_json::to_string(&EncodedMessage(message)).unwrap_or_else(|_| by_dict(message))
}

/// Returns the length of the message as JSON, in bytes, without writing it.
pub(super) fn length(message: &Message) -> u64 {
    if !message.extra.is_empty() {
        return by_dict(message).len() as u64;
    }
    let field = |name: &str, value: usize| name.len() + r#""":,"#.len() + value;
    let text = |name: &str, value: &Option<Arc<str>>| value.as_ref().map_or(0, |text| field(name, text_json_len(text)));
    let mut fields = field("content", blocks_length(&message.content));
    if message.is_error {
        fields += field("is_error", "true".len());
    }
    fields += text("name", &message.name) + text("reasoning", &message.reasoning);
    fields += field("role", message.role.as_str().len() + 2) + text("tool_call_id", &message.tool_call_id);
    if !message.tool_calls.is_empty() {
        fields += field("tool_calls", list_length(message.tool_calls.iter().map(call_length)));
    }
    // The last one has no comma after it.
    (r"{}".len() + fields - 1) as u64
}

fn list_length(items: impl ExactSizeIterator<Item = usize>) -> usize {
    r"[]".len() + items.len().saturating_sub(1) + items.sum::<usize>()
}

fn blocks_length(content: &Content) -> usize {
    let text = |text: &str| r#"{"text":,"type":"text"}"#.len() + text_json_len(text);
    match content {
        Content::Text(said) if said.is_empty() => r"[]".len(),
        Content::Text(said) => r"[]".len() + text(said),
        Content::Blocks(blocks) => list_length(blocks.iter().map(|block| match block {
            Block::Text { text: said, .. } => text(said),
            Block::Other(data) => data.json_len(),
        })),
    }
}

fn call_length(call: &ToolCall) -> usize {
    let texts = text_json_len(&call.id) + text_json_len(&call.name);
    r#"{"arguments":,"id":,"name":}"#.len() + call.arguments.json_len() + texts
}

fn by_dict(message: &Message) -> String {
    let unmarked = |block: &Block| match block {
        Block::Text { text, .. } => Block::text(text.clone()).to_data(),
        Block::Other(data) => data.clone(),
    };
    let content = message.content.to_blocks().iter().map(unmarked).collect();
    message.to_data().with("content", content).to_json()
}

struct EncodedMessage<'a>(&'a Message);

impl Serialize for EncodedMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &EncodedBlocks(&message.content))?;
        if message.is_error {
            map.serialize_entry("is_error", &true)?;
        }
        if let Some(name) = &message.name {
            map.serialize_entry("name", name.as_ref())?;
        }
        if let Some(reasoning) = &message.reasoning {
            map.serialize_entry("reasoning", reasoning.as_ref())?;
        }
        map.serialize_entry("role", message.role.as_str())?;
        if let Some(id) = &message.tool_call_id {
            map.serialize_entry("tool_call_id", id.as_ref())?;
        }
        if !message.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &EncodedCalls(&message.tool_calls))?;
        }
        map.end()
    }
}

struct EncodedBlocks<'a>(&'a Content);

impl Serialize for EncodedBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        match self.0 {
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => list.serialize_element(&EncodedText(text))?,
            Content::Blocks(blocks) => {
                for block in blocks.iter() {
                    match block {
                        Block::Text { text, .. } => list.serialize_element(&EncodedText(text))?,
                        Block::Other(data) => list.serialize_element(data)?,
                    }
                }
            }
        }
        list.end()
    }
}

struct EncodedText<'a>(&'a str);

impl Serialize for EncodedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("text", self.0)?;
        map.serialize_entry("type", "text")?;
        map.end()
    }
}

struct EncodedCalls<'a>(&'a [ToolCall]);

impl Serialize for EncodedCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for call in self.0 {
            list.serialize_element(&EncodedCall(call))?;
        }
        list.end()
    }
}

struct EncodedCall<'a>(&'a ToolCall);

impl Serialize for EncodedCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("arguments", &self.0.arguments)?;
        map.serialize_entry("id", self.0.id.as_ref())?;
        map.serialize_entry("name", self.0.name.as_ref())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;
    use base::data::Data;

    #[test]
    fn what_is_written_is_what_the_dict_would_give() {
        let data = |json: &str| Data::from_json(json).unwrap();
        let call = ToolCall::new("c\"1", "näme", data(r#"{"b":[1,2.5,null],"a":{"x":"\n"}}"#));
        let blocks = vec![
            Block::text("one"),
            Block::Text { text: "two".into(), cache_control: data(r#"{"type":"ephemeral"}"#) },
            Block::Other(data(r#"{"type":"thinking","signature":"s"}"#)),
        ];
        let failed = Message::tool_result(&call, "no", false);
        for message in [
            Message::user("plain \"text\" \u{1}"),
            Message::user(""),
            Message::new(Role::System, "s"),
            Message::new(Role::User, Content::Blocks(Arc::new(blocks))),
            Message { reasoning: Some("why".into()), ..Message::assistant("", vec![call.clone(), call.clone()]) },
            Message { extra: [("aaa".into(), Data::from(1_i64))].into_iter().collect(), ..failed.clone() },
            failed,
        ] {
            assert_eq!(json(&message), by_dict(&message));
            assert_eq!(length(&message), by_dict(&message).len() as u64);
        }
    }
}

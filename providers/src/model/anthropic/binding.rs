//! Thoughts that are bound to what came before them: newer models accept a signed thought only behind the system text, the
//! tools and the messages that it was signed with, and only without a gap among the thoughts of its answer.
//!
//! A thought is kept with the digest of that prefix. Where the prefix has changed (a reminder came or went, the history was
//! compacted, a tool was added), the vendor drops the thought if the request asks for it; other servers get it left out.

use runtime::message::Block;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// The key of a block with the digest of the prefix that its thought was signed with. It is never sent.
const PREFIX_DIGEST: &str = "prefix_digest";

/// The kinds of blocks that are bound.
const THOUGHTS: [&str; 2] = ["thinking", "redacted_thinking"];

/// The value of the `anthropic-beta` header for [`ask_to_drop`].
pub(in crate::model) const BETA: &str = "thinking-binding-controls-2026-08-01";

/// The behaviour of a server on a thought behind another prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum PrefixCheck {
    /// It does not look.
    None,
    /// It drops the thought, if the request asks for it.
    Dropping,
    /// It may refuse the request.
    Refusing,
}

/// The thoughts of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::model) struct BoundThoughts {
    /// The digest of the prefix that the answer's thoughts are bound to; `None` where none is checked.
    pub(in crate::model) prefix: Option<String>,
    /// The number of thoughts that were left out.
    pub(in crate::model) left_out: usize,
}

/// Brings the thoughts of a body into the form that its server takes.
pub(in crate::model) fn bind(body: &mut Value, check: PrefixCheck) -> BoundThoughts {
    let Some(fields) = body.as_object_mut() else { return BoundThoughts::default() };
    let drops = check == PrefixCheck::Dropping && ask_to_drop(fields);
    let mut prefix = (check != PrefixCheck::None).then(|| Prefix::of(fields));
    let Some(Value::Array(messages)) = fields.get_mut("messages") else { return BoundThoughts::default() };
    let mut left_out = 0;
    let mut kept: Vec<Value> = Vec::with_capacity(messages.len());
    for mut message in std::mem::take(messages) {
        if message["role"] == "assistant" {
            left_out += fit_answer(&mut message, prefix.as_mut(), !drops);
            if message["content"].as_array().is_some_and(Vec::is_empty) {
                // An instruction must not stand before a message of the user.
                if let Some(mut instruction) = kept.pop_if(|last| last["role"] == "system") {
                    instruction["role"] = "user".into();
                    push(&mut kept, instruction);
                }
                continue;
            }
        } else if let Some(prefix) = &mut prefix {
            prefix.add_message(&message, kept.last().is_none_or(|last| last["role"] != message["role"]));
        }
        push(&mut kept, message);
    }
    *messages = kept;
    BoundThoughts { prefix: prefix.map(|prefix| prefix.digest()), left_out }
}

/// Gives each thought of an answer the digest of its prefix.
pub(in crate::model) fn stamp(blocks: &mut [Block], prefix: &str) {
    for block in blocks {
        if is_thought(block)
            && let Block::Other(data) = block
        {
            *block = Block::Other(data.clone().with(PREFIX_DIGEST, prefix.into()));
        }
    }
}

/// Returns the number of thoughts in a body.
pub(in crate::model) fn thoughts(body: &Value) -> usize {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.filter_map(|message| message["content"].as_array()).flatten().filter(|block| is_bound(block)).count()
}

/// Returns whether a block of a conversation is a thought of this vendor.
pub(in crate::model) fn is_thought(block: &Block) -> bool {
    matches!(block, Block::Other(data) if data.get("type").as_str().is_some_and(|kind| THOUGHTS.contains(&kind)))
}

/// Asks the vendor to drop thoughts behind another prefix. Returns whether it will: the setting is a part of `thinking`, and
/// a script may have set another behaviour.
fn ask_to_drop(body: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(thinking)) = body.get_mut("thinking") else { return false };
    if thinking.get("type").is_none_or(|kind| kind == "disabled") {
        return false;
    }
    let binding = thinking.entry("block_binding").or_insert_with(|| json!({}));
    let Some(binding) = binding.as_object_mut() else { return false };
    binding.entry("prefix_mismatch_behavior").or_insert("drop_block".into()) == "drop_block"
}

/// Takes the digests off an answer, and adds it to the prefix. Returns how many of its thoughts are behind another prefix
/// than theirs; they are left out if `leaves_out`.
fn fit_answer(message: &mut Value, prefix: Option<&mut Prefix>, leaves_out: bool) -> usize {
    let Some(blocks) = message["content"].as_array_mut() else {
        if let Some(prefix) = prefix {
            prefix.add_message(message, true);
        }
        return 0;
    };
    let Some(prefix) = prefix else {
        blocks.iter_mut().filter_map(Value::as_object_mut).for_each(|block| drop(block.remove(PREFIX_DIGEST)));
        return 0;
    };
    let mut left_out = 0;
    // An answer that was continued holds thoughts with several prefixes: those before each of its parts.
    let mut possible = vec![prefix.digest()];
    let mut has_begun = false;
    blocks.retain_mut(|block| {
        if is_bound(block) {
            let stamp = block.as_object_mut().and_then(|block| block.remove(PREFIX_DIGEST));
            let is_intact =
                stamp.as_ref().and_then(Value::as_str).is_some_and(|stamp| possible.iter().any(|it| it == stamp));
            if !is_intact && leaves_out {
                left_out += 1;
                return false;
            }
        }
        if !has_begun {
            has_begun = true;
            prefix.begin("assistant");
        }
        prefix.add_block(block);
        possible.push(prefix.digest());
        true
    });
    left_out
}

fn is_bound(block: &Value) -> bool {
    block["type"].as_str().is_some_and(|kind| THOUGHTS.contains(&kind))
}

/// Adds a message; neighbours of one role become one.
fn push(messages: &mut Vec<Value>, message: Value) {
    match messages.last_mut() {
        Some(last) if last["role"] == message["role"] => merge(last, message),
        _ => messages.push(message),
    }
}

/// Adds the content of a message to one of the same role.
fn merge(into: &mut Value, from: Value) {
    let blocks = |content: Value| match content {
        Value::Array(blocks) => blocks,
        text => vec![json!({"type": "text", "text": text})],
    };
    let mut all = blocks(into["content"].take());
    if let Value::Object(mut from) = from {
        all.extend(blocks(from.remove("content").unwrap_or_default()));
    }
    into["content"] = Value::Array(all);
}

/// A running digest of what a request says, without cache marks.
struct Prefix(Sha256);

impl Prefix {
    /// The part before the messages.
    fn of(body: &Map<String, Value>) -> Prefix {
        let mut prefix = Prefix(Sha256::new());
        for key in ["model", "system", "tools"] {
            prefix.add(body.get(key).unwrap_or(&Value::Null));
        }
        prefix
    }

    fn begin(&mut self, role: &str) {
        self.tagged(b'r', role.as_bytes());
    }

    fn add_message(&mut self, message: &Value, begins: bool) {
        if begins {
            self.begin(message["role"].as_str().unwrap_or_default());
        }
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| self.add_block(block)),
            // The short way to write one block of text.
            text => self.add_block(&json!({"type": "text", "text": text})),
        }
    }

    fn add_block(&mut self, block: &Value) {
        self.add(block);
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                self.tagged(b'a', &items.len().to_le_bytes());
                items.iter().for_each(|item| self.add(item));
            }
            Value::Object(fields) => {
                let said = || fields.iter().filter(|(key, _)| *key != "cache_control");
                self.tagged(b'o', &said().count().to_le_bytes());
                for (key, value) in said() {
                    self.tagged(b'k', key.as_bytes());
                    self.add(value);
                }
            }
            Value::String(text) => self.tagged(b's', text.as_bytes()),
            other => self.tagged(b'v', other.to_string().as_bytes()),
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.0.update([tag]);
        self.0.update(bytes.len().to_le_bytes());
        self.0.update(bytes);
    }

    /// The digest so far, in hexadecimal digits.
    fn digest(&self) -> String {
        let hash: [u8; 32] = self.0.clone().finalize().into();
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

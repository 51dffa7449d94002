//! Refusals because of earlier answers, and of what no request may do whatever the API says.

use super::{Api, CLAUDE_BOUND, Wire, blocks, list};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The memory of the vendors of one conversation.
#[derive(Default)]
pub struct Memory {
    /// Each signature of Anthropic with the prefix that it was made behind; `None` for models that bind nothing.
    signed: HashMap<String, Option<String>>,
    /// The item of reasoning that led to each item of the Responses API.
    reasoned: HashMap<String, String>,
    /// The last answer was paused, so the next request may end with it.
    is_paused: bool,
}

impl Memory {
    /// Returns the words of a refusal.
    pub fn refuses(&mut self, api: &Api, body: &Value) -> Option<String> {
        let was_paused = std::mem::take(&mut self.is_paused);
        if ends_with_the_model(api, body) && !was_paused {
            return Some(
                "This model does not support assistant message prefill. The conversation must end with a user message."
                    .to_owned(),
            );
        }
        match api.wire {
            Wire::Anthropic => self.refuses_a_thought(api, body),
            Wire::Responses => self.misses_reasoning(body),
            _ => None,
        }
    }

    /// Notes that the next request may end with this answer.
    pub fn pauses(&mut self) {
        self.is_paused = true;
    }

    /// Returns a new signature for an answer to a body.
    pub fn sign(&mut self, api: &Api, body: &Value) -> String {
        let signature = format!("sig{}", self.signed.len());
        let prefix = (*api == CLAUDE_BOUND).then(|| prefix(body, list(body, "messages").len(), 0));
        self.signed.insert(signature.clone(), prefix);
        signature
    }

    /// Notes which reasoning led to an item.
    pub fn reasons(&mut self, reasoning: &str, item: &str) {
        self.reasoned.insert(item.to_owned(), reasoning.to_owned());
    }

    fn refuses_a_thought(&self, api: &Api, body: &Value) -> Option<String> {
        for (index, message) in list(body, "messages").iter().enumerate() {
            for (place, block) in blocks(message).iter().enumerate().filter(|(_, block)| block["type"] == "thinking") {
                let path = format!("messages.{index}.content.{place}");
                let Some(made) = self.signed.get(block["signature"].as_str().unwrap_or_default()) else {
                    return Some(format!("{path}: Invalid `signature` in `thinking` block"));
                };
                // A thought of another model is dropped without a word.
                // One of a continued answer was signed behind a part of its own message.
                let is_intact = |made: &String| (0..=place).any(|part| *made == prefix(body, index, part));
                if *api == CLAUDE_BOUND && made.as_ref().is_some_and(|made| !is_intact(made)) {
                    return Some(format!(
                        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. \
                         Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
                    ));
                }
            }
        }
        None
    }

    fn misses_reasoning(&self, body: &Value) -> Option<String> {
        let items = list(body, "input");
        items.iter().find_map(|item| {
            let needed = self.reasoned.get(item["id"].as_str()?)?;
            let has = items.iter().any(|other| other["id"] == needed.as_str());
            (!has)
                .then(|| format!("Item {} was provided without its required 'reasoning' item: '{needed}'", item["id"]))
        })
    }
}

fn ends_with_the_model(api: &Api, body: &Value) -> bool {
    match api.wire {
        Wire::Gemini => list(body, "contents").last().is_some_and(|last| last["role"] == "model"),
        Wire::Responses => list(body, "input").last().is_some_and(|last| {
            last["role"] == "assistant" || last["type"] == "function_call" || last["type"] == "reasoning"
        }),
        _ => list(body, "messages").last().is_some_and(|last| last["role"] == "assistant"),
    }
}

/// All that comes before a message, and the first blocks of that message, without marks of the cache.
fn prefix(body: &Value, until: usize, part: usize) -> String {
    fn plain(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let kept = fields.iter().filter(|(key, _)| *key != "cache_control");
                kept.map(|(key, value)| (key.clone(), plain(value))).collect::<serde_json::Map<_, _>>().into()
            }
            Value::Array(items) => items.iter().map(plain).collect(),
            other => other.clone(),
        }
    }
    let system = blocks(&json!({"content": body["system"]}));
    let system: String = system.iter().filter_map(|block| block["text"].as_str()).collect();
    let all = list(body, "messages");
    let told = |message: &Value, blocks: Vec<Value>| json!([message["role"], plain(&blocks.into())]);
    let mut messages: Vec<Value> = all[..until].iter().map(|message| told(message, blocks(message))).collect();
    if part > 0 {
        messages.push(told(&all[until], blocks(&all[until])[..part].to_vec()));
    }
    json!([system, plain(&body["tools"]), messages]).to_string()
}

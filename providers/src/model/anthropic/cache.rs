//! Marks where the vendor shall keep what it has read: behind the tools, the part of the system text that stays, and the
//! history. The next request begins with the same and is charged a tenth for it.

use runtime::capabilities::Placement;
use runtime::model::Request;
use serde_json::{Map, Value, json};

/// Marks that a request may have; one with more is refused.
const MOST: usize = 4;

/// Blocks that can carry a mark.
const MARKABLE: [&str; 5] = ["text", "image", "document", "tool_use", "tool_result"];

/// Sets marks, as many as are left beside those that the script and the reminders have set.
pub(super) fn mark(body: &mut Map<String, Value>, request: &Request) {
    let mut left = MOST.saturating_sub(count(body));
    // In the order of what they are worth.
    for set in [mark_history, mark_last_request, mark_system, mark_tools] {
        if left > 0 && set(body, request) {
            left -= 1;
        }
    }
}

fn count(body: &Map<String, Value>) -> usize {
    let blocks = |list: &Value| {
        list.as_array().into_iter().flatten().filter(|block| block.get("cache_control").is_some()).count()
    };
    let of_messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let of_messages: usize = of_messages.filter_map(|message| message.get("content")).map(blocks).sum();
    of_messages + body.get("tools").map_or(0, blocks)
}

/// Marks the last block of the history. Reminders at the tail come after it, and differ in the next
/// request.
fn mark_history(body: &mut Map<String, Value>, request: &Request) -> bool {
    let mut passing = passing(request);
    let Some(Value::Array(messages)) = body.get_mut("messages") else { return false };
    // Messages of the vendor's own slot take no mark.
    let marked = messages.iter_mut().rev().filter(|message| message["role"] != "system");
    for content in marked.filter_map(|message| message.get_mut("content")) {
        let Some(blocks) = as_blocks(content) else { return false };
        if let Some(last) = blocks.len().checked_sub(passing + 1) {
            return blocks.get_mut(last).is_some_and(mark_block);
        }
        passing -= blocks.len();
    }
    false
}

/// The number of blocks before a mark in which the vendor searches its cache.
const LOOKS_BACK: usize = 20;

/// The last block of the request before, where the turn since then has added more blocks than the vendor looks back.
fn mark_last_request(body: &mut Map<String, Value>, request: &Request) -> bool {
    let Some(Value::Array(messages)) = body.get_mut("messages") else { return false };
    let Some(answer) = messages.iter().rposition(|message| message["role"] == "assistant") else { return false };
    let blocks = |message: &Value| message["content"].as_array().map_or(1, Vec::len);
    let added: usize = messages.iter().skip(answer).map(blocks).sum();
    if added.saturating_sub(passing(request)) <= LOOKS_BACK || answer == 0 {
        return false;
    }
    let Some(asked) = messages[..answer].iter().rposition(|message| message["role"] == "user") else { return false };
    let Some(content) = messages[asked].get_mut("content") else { return false };
    as_blocks(content).and_then(|blocks| blocks.last_mut()).is_some_and(mark_block)
}

/// The blocks of a content; a text becomes one.
fn as_blocks(content: &mut Value) -> Option<&mut Vec<Value>> {
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": std::mem::take(text)}]);
    }
    content.as_array_mut()
}

/// Blocks of reminders behind the history, which are others in the next request.
fn passing(request: &Request) -> usize {
    let reminders = &request.reminders;
    match reminders.placement {
        Placement::Tail => reminders.user_blocks.len() + reminders.developer_messages.len(),
        Placement::Head => 0,
    }
}

/// The system text up to its reminders.
fn mark_system(body: &mut Map<String, Value>, request: &Request) -> bool {
    let Some(Value::String(text)) = body.get("system") else { return false };
    let steady = if request.reminders.system_sections.is_empty() {
        text.len()
    } else {
        match request.system.steady_text() {
            Some(steady) if text.starts_with(&steady) => steady.len(),
            _ => return false,
        }
    };
    let (steady, passing) = text.split_at(steady);
    let mut blocks = vec![json!({"type": "text", "text": steady})];
    let marked = mark_block(&mut blocks[0]);
    if !passing.is_empty() {
        blocks.push(json!({"type": "text", "text": passing}));
    }
    body.insert("system".to_owned(), blocks.into());
    marked
}

fn mark_tools(body: &mut Map<String, Value>, _: &Request) -> bool {
    let last = body.get_mut("tools").and_then(Value::as_array_mut).and_then(|tools| tools.last_mut());
    last.is_some_and(set_mark)
}

fn mark_block(block: &mut Value) -> bool {
    let is_markable = block.get("type").and_then(Value::as_str).is_some_and(|kind| MARKABLE.contains(&kind));
    is_markable && set_mark(block)
}

/// One that is there stays.
fn set_mark(json: &mut Value) -> bool {
    if json.get("cache_control").is_some() {
        return false;
    }
    json["cache_control"] = json!({"type": "ephemeral"});
    true
}

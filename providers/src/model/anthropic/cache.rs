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
    for set in [mark_history, mark_system, mark_tools] {
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

/// The last block of the history. Reminders at the tail stand behind it, and are others in the next request.
fn mark_history(body: &mut Map<String, Value>, request: &Request) -> bool {
    let reminders = &request.reminders;
    let mut passing = match reminders.placement {
        Placement::Tail => reminders.user_blocks.len() + reminders.developer_messages.len(),
        Placement::Head => 0,
    };
    let Some(Value::Array(messages)) = body.get_mut("messages") else { return false };
    for content in messages.iter_mut().rev().filter_map(|message| message.get_mut("content")) {
        if let Value::String(text) = content {
            *content = json!([{"type": "text", "text": std::mem::take(text)}]);
        }
        let Value::Array(blocks) = content else { return false };
        if let Some(last) = blocks.len().checked_sub(passing + 1) {
            return blocks.get_mut(last).is_some_and(mark_block);
        }
        passing -= blocks.len();
    }
    false
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

//! Calls of tools that had no answer when the process ended.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use runtime::data::Data;
use runtime::message::{Message, Role, ToolCall};

use crate::host::Event;

/// What the model and the client are told of a call that nobody answered.
pub(super) const NOT_RUN: &str =
    "not run: the process ended before this call was answered; the tool may have completed a part of its work";

/// Answers for the calls of the last reply that have none, so that every wire takes the conversation. What the client was shown
/// of the end of a call is its answer.
pub(super) fn answers(messages: &[Arc<Message>], shown: &[Event]) -> Vec<Arc<Message>> {
    let mut answered: HashSet<&str> = HashSet::new();
    let mut calls: &[ToolCall] = &[];
    for message in messages.iter().rev() {
        if message.role != Role::Tool {
            calls = &message.tool_calls;
            break;
        }
        answered.extend(message.tool_call_id.as_deref());
    }
    let open = calls.iter().filter(|call| !answered.contains(call.id.as_ref()));
    let answer = |call: &ToolCall| match end_of(call, shown) {
        Some((text, ok)) => Message::tool_result(call, text, ok),
        None => Message::tool_result(call, NOT_RUN, false),
    };
    open.map(|call| Arc::new(answer(call))).collect()
}

/// The end of a call that was shown behind its beginning: ids may come again.
fn end_of(call: &ToolCall, shown: &[Event]) -> Option<(Arc<str>, bool)> {
    for event in shown.iter().rev() {
        match event {
            Event::ToolEnded { id, text, ok, .. } if *id == call.id => return Some((text.clone(), *ok)),
            Event::ToolCall { call: begun, .. } if begun.id == call.id => return None,
            _ => {}
        }
    }
    None
}

/// The ends of the calls that were shown and have none.
pub(super) fn ends(shown: &[Event]) -> Vec<Event> {
    let mut open: HashMap<&Arc<str>, usize> = HashMap::new();
    for (place, event) in shown.iter().enumerate() {
        match event {
            Event::ToolCall { call, .. } => {
                open.insert(&call.id, place);
            }
            Event::ToolEnded { id, .. } => {
                open.remove(id);
            }
            _ => {}
        }
    }
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_by_key(|(_, place)| *place);
    let end = |(id, _): (&Arc<str>, usize)| Event::ToolEnded {
        id: id.clone(),
        text: NOT_RUN.into(),
        value: Data::from(NOT_RUN),
        ok: false,
    };
    open.into_iter().map(end).collect()
}

//! Tool calls that had no result when the process ended.

use std::collections::HashMap;
use std::sync::Arc;

use base::data::Data;
use runtime::message::{Message, ToolCall};
use runtime::session::{NOT_RUN, close_open_calls};

use crate::host::SessionEvent;

/// Returns results for the calls that have none. If the client was shown the end of a call, that is its result.
pub(super) fn answers(messages: &[Arc<Message>], shown: &[SessionEvent]) -> Vec<Arc<Message>> {
    close_open_calls(messages, |call| end_of(call, shown))
}

/// Returns the end of a call that was shown after its beginning: ids may be reused.
fn end_of(call: &ToolCall, shown: &[SessionEvent]) -> Option<(Arc<str>, bool)> {
    for event in shown.iter().rev() {
        match event {
            SessionEvent::ToolEnded { id, text, ok, .. } if *id == call.id => return Some((text.clone(), *ok)),
            SessionEvent::ToolCall { call: begun, .. } if begun.id == call.id => return None,
            _ => {}
        }
    }
    None
}

/// Returns ends for the calls that were shown without one.
pub(super) fn ends(shown: &[SessionEvent]) -> Vec<SessionEvent> {
    let mut open: HashMap<&Arc<str>, usize> = HashMap::new();
    for (place, event) in shown.iter().enumerate() {
        match event {
            SessionEvent::ToolCall { call, .. } => {
                open.insert(&call.id, place);
            }
            SessionEvent::ToolEnded { id, .. } => {
                open.remove(id);
            }
            _ => {}
        }
    }
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_by_key(|(_, place)| *place);
    let end = |(id, _): (&Arc<str>, usize)| SessionEvent::ToolEnded {
        id: id.clone(),
        text: NOT_RUN.into(),
        value: Data::from(NOT_RUN),
        ok: false,
    };
    open.into_iter().map(end).collect()
}

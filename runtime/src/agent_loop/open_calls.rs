//! Calls without an answer. [`OpenCalls`] answers them when a loop is dropped while its tools run; [`close_open_calls`] answers
//! them in a copy of the conversation that is sent meanwhile.

use std::collections::HashSet;
use std::sync::Arc;

use crate::message::{Message, Messages, Role, ToolCall};
use crate::session::Session;

use super::tools::not_run;

/// Guard held while a loop runs. No call is open when the loop ends; if the loop is dropped earlier, the guard leaves a
/// conversation that every wire format accepts.
pub(super) struct OpenCalls<'a>(pub(super) &'a Session);

impl Drop for OpenCalls<'_> {
    fn drop(&mut self) {
        for call in self.0.with(|state| unanswered(state.transcript.messages())) {
            let text = not_run("the loop was cancelled; the tool may have completed a part of its work").text;
            let answer = Arc::new(Message::tool_result(&call, text, false));
            self.0.with(|state| state.transcript.push_message(answer));
        }
    }
}

/// Appends an answer for each call that is still running, so that the conversation can be sent as it is.
pub fn close_open_calls(messages: &mut Messages) {
    for call in unanswered(messages) {
        messages.push_back(Arc::new(Message::tool_result(&call, "[still running: no result yet]", true)));
    }
}

/// Returns the calls of the last answer without a result.
fn unanswered(messages: &Messages) -> Vec<ToolCall> {
    let mut answered: HashSet<&str> = HashSet::new();
    for message in messages.iter().rev() {
        if message.role != Role::Tool {
            let open = message.tool_calls.iter().filter(|call| !answered.contains(call.id.as_ref()));
            return open.cloned().collect();
        }
        answered.extend(message.tool_call_id.as_deref());
    }
    Vec::new()
}

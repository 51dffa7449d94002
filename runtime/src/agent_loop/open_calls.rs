//! [`OpenCalls`]: no call of a tool is left without an answer, even where a loop is dropped while its tools run.

use std::collections::HashSet;
use std::sync::Arc;

use crate::message::{Message, Role, ToolCall};
use crate::session::Session;
use crate::transcript::Transcript;

use super::tools::not_run;

/// Held while a loop runs. At its end nothing is open; whoever drops the loop before leaves a conversation that every wire
/// takes.
pub(super) struct OpenCalls<'a>(pub(super) &'a Session);

impl Drop for OpenCalls<'_> {
    fn drop(&mut self) {
        for call in self.0.with(|state| unanswered(&state.transcript)) {
            let text = not_run("the loop was given up; it is not known how far the tool had come").text;
            let answer = Arc::new(Message::tool_result(&call, text, false));
            self.0.with(|state| state.transcript.push_message(answer));
        }
    }
}

/// The calls of the last answer that nothing stands for behind it.
fn unanswered(transcript: &Transcript) -> Vec<ToolCall> {
    let mut answered: HashSet<&str> = HashSet::new();
    for message in transcript.messages().iter().rev() {
        if message.role != Role::Tool {
            let open = message.tool_calls.iter().filter(|call| !answered.contains(call.id.as_ref()));
            return open.cloned().collect();
        }
        answered.extend(message.tool_call_id.as_deref());
    }
    Vec::new()
}

//! Running the batch of tools that an answer asks for.

use std::sync::Arc;

use crate::data::Data;
use crate::event_log::Ticket;
use crate::hooks::event::ToolResult;
use crate::message::{Message, ToolCall};
use crate::model::Reply;
use crate::reminder::bridge::Seam;
use crate::seam::Outcome;

use super::{LoopState, Run};

impl Run<'_> {
    /// Runs the batch. A batch that is interrupted leaves no call without an answer, so every wire format stays valid. Gives
    /// the results as the handlers of `post_turn` see them.
    pub(super) async fn dispatch(&self, state: &mut LoopState, reply: &Reply) -> Outcome<Data> {
        state.tools.calls += u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        let interrupted = self.pass(Seam::PreToolDispatch, state).await? > 0;
        // What the tools do must not be lost while what led to it is.
        self.scope.log.durable(Ticket::ALL).await?;
        let mut rows = Vec::with_capacity(reply.tool_calls.len());
        for call in &reply.tool_calls {
            let result = if interrupted {
                state.tools.rejected += 1;
                not_run("interrupted by a message of the host; read it and decide anew")
            } else if let Err(stopped) = self.scope.check() {
                state.tools.rejected += 1;
                not_run(&stopped.to_string())
            } else {
                self.call_tool(state, call).await?
            };
            self.answer(call, &result);
            rows.push(row(call, &result));
        }
        Ok(Data::from(rows))
    }

    fn answer(&self, call: &ToolCall, result: &ToolResult) {
        let message = Arc::new(Message::tool_result(call, result.text.clone(), result.ok));
        self.session.with(|s| s.transcript.push_message(message));
    }
}

/// The answer to a call that was not run.
pub(super) fn not_run(why: &str) -> ToolResult {
    ToolResult { text: format!("not run: {why}").into(), truncated: false, ok: false, value: Data::Nil }
}

fn row(call: &ToolCall, result: &ToolResult) -> Data {
    result.to_data().with("name", (&call.name).into()).with("tool_call_id", (&call.id).into())
}

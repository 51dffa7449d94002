//! Running the batch of tools that an answer asks for.

use std::sync::Arc;

use crate::data::Data;
use crate::hooks::event::ToolResult;
use crate::message::{Message, ToolCall};
use crate::model::Reply;
use crate::receipt::{CallStatus, ToolCallReceipt};
use crate::reminder::bridge::Seam;
use crate::seam::{Outcome, Scope};

use super::{LoopState, Run};

impl Run<'_> {
    /// Runs the batch. One that is interrupted, or that breaks off because something fails that ends the loop, leaves no call
    /// without an answer, so every wire format stays valid. Gives the results as the handlers of `post_turn` see them.
    pub(super) async fn dispatch(&self, state: &mut LoopState, reply: &Reply) -> Outcome<Data> {
        state.tools.calls += u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        let (interrupted, mut broken) = match self.pass(Seam::PreToolDispatch, state).await {
            Ok(delivered) => (delivered > 0, None),
            Err(fault) => (false, Some(fault)),
        };
        let mut rows = Vec::with_capacity(reply.tool_calls.len());
        for call in &reply.tool_calls {
            let scope = self.scope.for_call(call.id.clone());
            let (started_at_ms, rejected_before) = (scope.clock.now_ms(), state.tools.rejected);
            let refused = if let Some(fault) = &broken {
                Some(not_run(&fault.to_string()))
            } else if interrupted {
                Some(not_run("interrupted by a message of the host; read it and decide anew"))
            } else {
                self.scope.check().err().map(|stopped| not_run(&stopped.to_string()))
            };
            state.tools.rejected += u32::from(refused.is_some());
            let result = match refused {
                Some(result) => result,
                None => self.call_tool(&scope, state, call).await.unwrap_or_else(|fault| {
                    let result = failed(&format!("stopped: {fault}"));
                    broken = Some(fault);
                    result
                }),
            };
            let is_rejected = state.tools.rejected > rejected_before;
            self.file_receipt(&scope, state, call, &result, is_rejected, started_at_ms);
            self.answer(call, &result);
            rows.push(row(call, &result));
        }
        match broken {
            Some(fault) => Err(fault),
            None => Ok(Data::from(rows)),
        }
    }

    /// Files a receipt where somebody wants one.
    fn file_receipt(
        &self,
        scope: &Scope,
        state: &LoopState,
        call: &ToolCall,
        result: &ToolResult,
        is_rejected: bool,
        started_at_ms: u64,
    ) {
        let Some(audit) = &scope.audit else { return };
        audit.file(&ToolCallReceipt {
            session_id: self.session.id().clone(),
            agent_id: scope.agent_id.clone().unwrap_or_else(|| self.session.id().clone()),
            call: call.clone(),
            turn: self.turn().number,
            iteration: state.iteration,
            status: match (is_rejected, result.ok) {
                (true, _) => CallStatus::Rejected,
                (false, true) => CallStatus::Ok,
                (false, false) => CallStatus::Error,
            },
            reason: (!result.ok).then(|| result.text.clone()),
            truncated: result.truncated,
            started_at_ms,
            duration_ms: scope.clock.now_ms().saturating_sub(started_at_ms),
            reminders: scope.reports.as_ref().map(|reports| reports.borrow().clone()).unwrap_or_default(),
        });
    }

    fn answer(&self, call: &ToolCall, result: &ToolResult) {
        let message = Arc::new(Message::tool_result(call, result.text.clone(), result.ok));
        self.session.with(|s| s.transcript.push_message(message));
    }
}

/// The answer to a call that was not run.
pub(super) fn not_run(why: &str) -> ToolResult {
    failed(&format!("not run: {why}"))
}

fn failed(text: &str) -> ToolResult {
    ToolResult { text: text.into(), truncated: false, ok: false, value: Data::Nil }
}

fn row(call: &ToolCall, result: &ToolResult) -> Data {
    result.to_data().with("name", (&call.name).into()).with("tool_call_id", (&call.id).into())
}

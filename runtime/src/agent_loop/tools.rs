//! Answering the batch of calls that a reply requests, sequentially or in parallel.
//!
//! In parallel, everything before a call (handlers, the script's permission ruling) and everything after it keeps the
//! order of the calls, and so do the answers in the transcript; only the tools themselves and the questions to the
//! approver overlap. A call whose annotations say `sequential: true` waits for all calls before it, and all calls after
//! it wait for it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use base::call::{CallError, LocalFuture, Outcome};
use base::data::Data;

use crate::cancel::Cancel;
use crate::hooks::event::{ToolResult, ToolResults, ToolRow};
use crate::message::{Message, Role, ToolCall};
use crate::model::ModelReply;
use crate::receipt::{CallStatus, ToolCallReceipt};
use crate::reminder::bridge::Seam;
use crate::scope::Scope;
use crate::seam::{Output, Turn};

use super::observe::LoopEvent;
use super::permission::INTERRUPTED;
use super::tool_call::ReadyCall;
use super::{LoopState, RunningLoop, ToolNames};

/// Maximum number of tools that run at the same time.
const MOST_AT_ONCE: usize = 16;
/// Maximum number of calls of one answer that are run; the others are answered without running.
const MOST_CALLS: usize = 128;

/// The reason that the last call of an answer is not run: what came of its arguments may look complete.
const CUT_OFF: &str = "the answer reached its output limit inside this call, so its arguments may be incomplete; make the \
                       call again, with less in it";

/// The state of a batch while it is answered.
struct ToolBatch {
    interrupted: bool,
    broken: Option<Rc<dyn CallError>>,
    /// Index of the call in which a limit has cut the answer off.
    cut_off: Option<usize>,
    rows: Vec<ToolRow>,
}

/// A call that is being answered.
struct OpenCall<'a> {
    call: &'a ToolCall,
    scope: Rc<Scope>,
    started_at_ms: u64,
    progress: CallProgress<'a>,
}

enum CallProgress<'a> {
    /// It is answered without running.
    Refused {
        result: ToolResult,
        at_ms: u64,
    },
    Running(LocalFuture<'a, CallProgress<'a>>),
    Ran(FinishedCall),
}

/// A call that has run.
struct FinishedCall {
    ready: ReadyCall,
    output: Outcome<Output>,
    ended_at_ms: u64,
}

impl RunningLoop<'_> {
    /// Runs the batch. Leaves no call without an answer even if the batch is interrupted, or aborted by a failure that
    /// ends the loop, so every wire format stays valid. Returns the results for the handlers of `post_turn`.
    pub(super) async fn dispatch(&self, state: &mut LoopState, reply: &ModelReply) -> Outcome<ToolResults> {
        let calls = &reply.tool_calls;
        self.withdrawn.set(false);
        for call in calls {
            ToolNames::push(&mut state.tools.calls, call.name.clone());
        }
        let (interrupted, broken) = match self.pass(Seam::PreToolDispatch, state).await {
            Ok(delivered) => (delivered > 0, None),
            Err(fault) => (false, Some(fault)),
        };
        let cut_off = reply.end().is_cut_off().then(|| calls.len().saturating_sub(1));
        let mut batch = ToolBatch { interrupted, broken, cut_off, rows: Vec::with_capacity(calls.len()) };
        if calls.len() > 1 && self.options.parallel_tool_calls {
            // Boxed: most answers request one call, and loops nest.
            Box::pin(self.side_by_side(state, calls, &mut batch)).await;
        } else {
            for call in calls {
                self.alone(state, call, &mut batch).await;
            }
        }
        self.put_results_first();
        state.repeats.truncate(batch.rows.len());
        match batch.broken {
            Some(fault) => Err(fault),
            None => Ok(batch.rows.into()),
        }
    }

    /// Moves what came between the calls and their results, such as a host's message, behind the results: no vendor takes
    /// anything in between.
    fn put_results_first(&self) {
        self.session.with(|s| {
            let messages = s.transcript.messages();
            let behind = |message: &&Arc<Message>| message.role == Role::Tool || message.tool_calls.is_empty();
            let count = messages.iter().rev().take_while(behind).count();
            let (before, after) = (messages.take(messages.len() - count), messages.iter().rev().take(count));
            let mut after: Vec<Arc<Message>> = after.cloned().collect();
            after.reverse();
            if after.is_sorted_by_key(|message| message.role != Role::Tool) {
                return;
            }
            after.sort_by_key(|message| message.role != Role::Tool);
            let mut ordered = before;
            after.into_iter().for_each(|message| ordered.append(message));
            s.transcript.set_messages(ordered);
        });
    }

    /// Answers one call while no other runs.
    async fn alone(&self, state: &mut LoopState, call: &ToolCall, batch: &mut ToolBatch) {
        let scope = self.scope.for_call(call.id.clone());
        let started_at_ms = scope.clock.now_ms();
        let (result, is_rejected) = match self.refusal(batch) {
            Some(refused) => (refused, true),
            None => self.answered(&scope, state, call).await.unwrap_or_else(|fault| {
                let result = failed(&format!("stopped: {fault}"));
                batch.broken = Some(fault);
                (result, false)
            }),
        };
        let took_ms = scope.clock.now_ms().saturating_sub(started_at_ms);
        self.record(state, call, &scope, result, is_rejected, (started_at_ms, took_ms), batch);
    }

    /// Returns the result of a call and whether it was rejected.
    async fn answered(&self, scope: &Scope, state: &LoopState, call: &ToolCall) -> Outcome<(ToolResult, bool)> {
        let ready = match self.prepare(scope, state, call).await? {
            Ok(ready) => ready,
            Err(refused) => return Ok((refused, true)),
        };
        if let Some(refused) = self.permitted(scope, &ready).await? {
            return Ok((refused, true));
        }
        let output = self.run(scope, state.iteration, &ready).await?;
        Ok((self.conclude(scope, state, &ready, output).await?, false))
    }

    /// Answers the calls with the tools running in parallel.
    async fn side_by_side(&self, state: &mut LoopState, calls: &[ToolCall], batch: &mut ToolBatch) {
        // Cancelled when the batch is aborted, to stop the running calls.
        let cancel = self.scope.cancel.child();
        let mut open: VecDeque<OpenCall<'_>> = VecDeque::new();
        for call in calls {
            let sequential = self.offer().tools.is_sequential(&call.name);
            if sequential {
                self.close(state, &mut open, batch, &cancel, 0).await;
            }
            poll_fn(|cx| if poll_all(&mut open, cx) < MOST_AT_ONCE { Poll::Ready(()) } else { Poll::Pending }).await;
            let begun = self.begin(state, call, &mut open, batch, &cancel).await;
            open.push_back(begun);
            // A tool that does not wait has completed now.
            poll_fn(|cx| Poll::Ready(poll_all(&mut open, cx))).await;
            while sequential && !open.is_empty() || open.front().is_some_and(OpenCall::is_settled) {
                self.close_first(state, &mut open, batch, &cancel).await;
            }
        }
        self.close(state, &mut open, batch, &cancel, 0).await;
    }

    /// Runs everything before a call; running calls continue meanwhile.
    async fn begin<'a>(
        &'a self,
        state: &LoopState,
        call: &'a ToolCall,
        open: &mut VecDeque<OpenCall<'a>>,
        batch: &mut ToolBatch,
        cancel: &Cancel,
    ) -> OpenCall<'a> {
        let scope = Rc::new(Scope { cancel: cancel.child(), ..self.scope.for_call(call.id.clone()) });
        let started_at_ms = scope.clock.now_ms();
        let refused = |result| CallProgress::Refused { result, at_ms: scope.clock.now_ms() };
        let progress = match self.refusal_of(batch, batch.rows.len() + open.len()) {
            Some(result) => refused(result),
            None => match beside(open, self.prepare(&scope, state, call)).await {
                Ok(Ok(ready)) => {
                    let (scope, iteration, batch) = (scope.clone(), state.iteration, cancel.clone());
                    CallProgress::Running(Box::pin(async move {
                        let output = match self.permitted(&scope, &ready).await {
                            Ok(None) => self.run(&scope, iteration, &ready).await,
                            Ok(Some(result)) => return CallProgress::Refused { result, at_ms: scope.clock.now_ms() },
                            Err(fault) => Err(fault),
                        };
                        // A tool that cancels its own scope stops the loop.
                        if let Some(reason) = scope.cancel.reason().filter(|_| !batch.is_cancelled()) {
                            self.scope.cancel.cancel(reason);
                        }
                        CallProgress::Ran(FinishedCall { ready, output, ended_at_ms: scope.clock.now_ms() })
                    }))
                }
                Ok(Err(result)) => refused(result),
                Err(fault) => {
                    let result = failed(&format!("stopped: {fault}"));
                    break_off(batch, fault, cancel);
                    refused(result)
                }
            },
        };
        OpenCall { call, scope, started_at_ms, progress }
    }

    /// Closes calls in order until at most the given number is left.
    async fn close(
        &self,
        state: &mut LoopState,
        open: &mut VecDeque<OpenCall<'_>>,
        batch: &mut ToolBatch,
        cancel: &Cancel,
        left: usize,
    ) {
        while open.len() > left {
            self.close_first(state, open, batch, cancel).await;
        }
    }

    /// Waits for the first open call and appends its answer to the transcript. The others continue meanwhile.
    async fn close_first(
        &self,
        state: &mut LoopState,
        open: &mut VecDeque<OpenCall<'_>>,
        batch: &mut ToolBatch,
        cancel: &Cancel,
    ) {
        poll_fn(|cx| {
            poll_all(open, cx);
            if open.front().is_none_or(OpenCall::is_settled) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let Some(OpenCall { call, scope, started_at_ms, progress }) = open.pop_front() else { return };
        let (result, is_rejected, ended_at_ms) = match progress {
            CallProgress::Refused { result, at_ms } => (result, true, at_ms),
            // Excluded by `is_settled`.
            CallProgress::Running(_) => return,
            CallProgress::Ran(ran) => {
                let ended_at_ms = ran.ended_at_ms;
                let result = match (ran.output, &batch.broken) {
                    (Ok(output), Some(_)) => self.cut(&ran.ready, output),
                    (Ok(output), None) => {
                        let concluded = beside(open, self.conclude(&scope, state, &ran.ready, output)).await;
                        concluded.unwrap_or_else(|fault| {
                            let result = failed(&format!("stopped: {fault}"));
                            break_off(batch, fault, cancel);
                            result
                        })
                    }
                    (Err(fault), _) => {
                        let result = failed(&format!("stopped: {fault}"));
                        break_off(batch, fault, cancel);
                        result
                    }
                };
                (result, false, ended_at_ms)
            }
        };
        let took_ms = ended_at_ms.saturating_sub(started_at_ms);
        self.record(state, call, &scope, result, is_rejected, (started_at_ms, took_ms), batch);
    }

    /// Returns the reason the next call is not run.
    fn refusal(&self, batch: &ToolBatch) -> Option<ToolResult> {
        self.refusal_of(batch, batch.rows.len())
    }

    fn refusal_of(&self, batch: &ToolBatch, index: usize) -> Option<ToolResult> {
        if let Some(fault) = &batch.broken {
            return Some(not_run(&fault.to_string()));
        }
        if batch.interrupted || self.withdrawn.get() {
            return Some(not_run(INTERRUPTED));
        }
        if batch.cut_off == Some(index) {
            return Some(not_run(CUT_OFF));
        }
        if index >= MOST_CALLS {
            return Some(not_run(&format!(
                "one answer can contain at most {MOST_CALLS} tool calls; make this call \
                again"
            )));
        }
        self.scope.check().err().map(|stopped| not_run(&stopped.to_string()))
    }

    /// Appends an answer to the transcript, and counts it.
    #[allow(clippy::too_many_arguments)] // each of them is another thing about the call
    fn record(
        &self,
        state: &mut LoopState,
        call: &ToolCall,
        scope: &Scope,
        result: ToolResult,
        is_rejected: bool,
        (started_at_ms, took_ms): (u64, u64),
        batch: &mut ToolBatch,
    ) {
        match (is_rejected, result.ok) {
            (true, _) => ToolNames::push(&mut state.tools.rejected, call.name.clone()),
            (false, true) => ToolNames::push(&mut state.tools.successful, call.name.clone()),
            (false, false) => {}
        }
        let result = state.repeats.noticed(batch.rows.len(), call, result, is_rejected);
        self.file_receipt(scope, state, call, &result, is_rejected, started_at_ms, took_ms);
        self.answer(call, &result);
        if let Some(activity) = &scope.activity {
            activity.tool_ended(Turn { scope, ..self.turn() }, call, &result);
        }
        self.let_see(state.iteration, LoopEvent::ToolAnswered { call, result: &result });
        batch.rows.push(ToolRow::new(call, result));
    }

    /// Files a receipt if receipts are collected.
    #[allow(clippy::too_many_arguments)] // each of them is a field of the receipt
    fn file_receipt(
        &self,
        scope: &Scope,
        state: &LoopState,
        call: &ToolCall,
        result: &ToolResult,
        is_rejected: bool,
        started_at_ms: u64,
        duration_ms: u64,
    ) {
        let Some(receipts) = &scope.receipts else { return };
        receipts.log.file(&ToolCallReceipt {
            session_id: self.session.id().clone(),
            agent_id: scope.caller.agent_id.clone().unwrap_or_else(|| self.session.id().clone()),
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
            duration_ms,
            reminders: receipts.of_call.as_ref().map(|reports| reports.borrow().clone()).unwrap_or_default(),
        });
    }

    fn answer(&self, call: &ToolCall, result: &ToolResult) {
        let message = Arc::new(Message::tool_result(call, result.text.clone(), result.ok));
        self.session.with(|s| s.transcript.push_message(message));
    }
}

impl OpenCall<'_> {
    fn is_settled(&self) -> bool {
        !matches!(self.progress, CallProgress::Running(_))
    }
}

/// Aborts the batch and cancels the running calls.
fn break_off(batch: &mut ToolBatch, fault: Rc<dyn CallError>, cancel: &Cancel) {
    cancel.cancel(fault.to_string());
    batch.broken.get_or_insert(fault);
}

/// Polls all running calls and returns the number still running.
fn poll_all(open: &mut VecDeque<OpenCall<'_>>, cx: &mut Context<'_>) -> usize {
    let mut running = 0;
    for one in open {
        if let CallProgress::Running(future) = &mut one.progress {
            match future.as_mut().poll(cx) {
                Poll::Ready(over) => one.progress = over,
                Poll::Pending => running += 1,
            }
        }
    }
    running
}

/// Waits for `work` while the open calls continue.
async fn beside<T>(open: &mut VecDeque<OpenCall<'_>>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        poll_all(open, cx);
        work.as_mut().poll(cx)
    })
    .await
}

/// Returns the answer to a call that was not run.
pub(super) fn not_run(why: &str) -> ToolResult {
    failed(&format!("not run: {why}"))
}

fn failed(text: &str) -> ToolResult {
    ToolResult { text: text.into(), truncated: false, ok: false, value: Data::Nil }
}

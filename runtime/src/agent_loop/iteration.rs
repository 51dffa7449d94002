//! One iteration of the loop.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind, Outcome};
use base::data::Data;

use crate::budget::BudgetError;
use crate::hooks::event::ToolResults;
use crate::hooks::{HookEvent, PostTurn, TurnAction};
use crate::lifecycle::post_turn;
use crate::listeners::fire::ask;
use crate::loop_status::{LoopStatus, StopReason};
use crate::message::Message;
use crate::model::{AnswerEnd, ModelError, ModelErrorKind, ModelReply};
use crate::reminder::bridge::Seam;

use super::early_end::wrong_answer;
use super::persist::Checkpoint;
use super::{LoopEnd, LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Runs one iteration. Returns how the loop ended, if it did.
    pub(super) async fn iteration(&self, state: &mut LoopState) -> Outcome<Option<LoopEnd>> {
        if let Err(stopped) = self.scope.check() {
            return Ok(Some(Self::ended_by(&stopped)));
        }
        if let Some(closed) = self.closed() {
            return Ok(Some(closed));
        }
        if self.parking.requested().is_some() {
            return Ok(Some(LoopEnd::new(LoopStatus::Suspended, StopReason::Suspended)));
        }
        if let Some(ended) = self.out_of_budget(state) {
            return Ok(Some(ended));
        }
        self.refresh_tools().await?;
        self.keep_spending(state);
        self.persist(state, Checkpoint::Working).await?;
        state.iteration += 1;
        self.session.with(|s| s.turns += 1);
        self.compact_if_due(state).await?;
        self.pass(Seam::IterationStart, state).await?;
        let request = self.prompt_step(state).await?;
        let expecting = self.expecting(&request);
        let mut answered = self.model_step(state, &request).await?;
        if let Err(thrown) = &answered
            && self.recovers_from_overflow(state, thrown).await?
        {
            let smaller = self.prompt_step(state).await?;
            answered = self.model_step(state, &smaller).await?;
        }
        let reply = match answered {
            Ok(reply) => reply,
            Err(thrown) => {
                let ended = self.model_failed(thrown).await?;
                self.pass(Seam::IterationEnd, state).await?;
                return Ok(Some(ended));
            }
        };
        self.count_usage(state, &reply).await?;
        let results = self.tools_step(state, &reply).await?;
        self.pass(Seam::PostToolDispatch, state).await?;
        if !expecting.is_empty() {
            Box::pin(self.judge_turn(state, &expecting, &reply, &results)).await?;
        }
        let ended = self.end_of_turn(state, &reply, &results).await?;
        self.pass(Seam::IterationEnd, state).await?;
        match self.closed().or(ended).filter(|ended| !self.is_prolonged(state, ended)) {
            // Boxed, so that loops that do not idle reserve no room for it.
            Some(ended) if self.sleeps_after(&ended) => Box::pin(self.idle(state, ended)).await,
            ended => Ok(ended),
        }
    }

    /// Returns the outcome if a handler, a tool or a host has closed the session: no subscriber is left for further
    /// events.
    fn closed(&self) -> Option<LoopEnd> {
        self.session.is_closed().then(|| LoopEnd::new(LoopStatus::Cancelled, StopReason::SessionClosed))
    }

    /// Notifies subscribers of the turn, charges the reminders, and decides whether this was the last.
    async fn end_of_turn(
        &self,
        state: &mut LoopState,
        reply: &ModelReply,
        results: &ToolResults,
    ) -> Outcome<Option<LoopEnd>> {
        let (iteration, text) = (state.iteration, &reply.text);
        let has_tool_calls = !reply.tool_calls.is_empty();
        self.evaluate(&HookEvent::PostAgentTurn { iteration, has_tool_calls, tool_results: results, text }).await?;
        let event = HookEvent::PostTurn { iteration, has_tool_calls, tool_results: results, text };
        self.emit(&event).await?;
        let wish = match &self.parts.post_turn {
            Some(hook) => ask::<PostTurn>(hook.as_ref(), self.turn(), &event, self.strict()).await?,
            None => TurnAction::GoOn,
        };
        self.session.apply(&self.scope, |t, _| post_turn(t), |passed| std::mem::take(&mut passed.records));
        if let Err(stopped) = self.scope.check() {
            return Ok(Some(Self::ended_by(&stopped)));
        }
        if wish == TurnAction::End {
            return Ok(Some(LoopEnd::new(LoopStatus::Done, StopReason::PostTurnCallback)));
        }
        Ok(self.is_done(state, reply))
    }

    fn is_done(&self, state: &mut LoopState, reply: &ModelReply) -> Option<LoopEnd> {
        if !reply.tool_calls.is_empty() {
            state.nudges = 0;
            let most = self.options.limits.max_repeats;
            let stuck = most > 0 && state.repeats.in_a_row() >= most;
            return stuck.then(|| LoopEnd::new(LoopStatus::Stuck, StopReason::RepeatedToolCalls));
        }
        let sentinel = &self.options.sentinel.word;
        let end = reply.end();
        if let Some(ended) = withheld(reply, end) {
            return Some(ended);
        }
        if reply.text.trim().is_empty() {
            let nudge = match end {
                AnswerEnd::MaxTokens | AnswerEnd::ContextWindow => {
                    "Your answer reached its length limit before it had any text. Answer briefly, or call a tool."
                }
                AnswerEnd::MalformedCall => "Your tool call could not be read. Make it again, or answer with text.",
                _ => "Your answer was empty. Call a tool, or answer with text.",
            };
            let ended = self.nudge(state, nudge.to_owned(), StopReason::EmptyReply);
            return ended.map(|ended| cut_off(end).unwrap_or(ended));
        }
        if let Some(ended) = cut_off(end) {
            return Some(ended);
        }
        if self.options.sentinel.is_required && !reply.text.contains(sentinel.as_ref()) {
            let nudge = format!("Continue with the task. Reply with {sentinel} once it is complete.");
            return self.nudge(state, nudge, StopReason::MaxNudges);
        }
        if let Err(why) = self.structured(&reply.text.replace(sentinel.as_ref(), "")) {
            let ended = self.nudge(state, crate::schema::correction(&why), StopReason::OutputSchema);
            return ended.map(|ended| LoopEnd { error: wrong_answer(&why, &reply.text), ..ended });
        }
        let stop_reason =
            if self.options.sentinel.is_required { StopReason::DoneSentinel } else { StopReason::Completed };
        Some(LoopEnd::new(LoopStatus::Done, stop_reason))
    }

    /// Compacts the transcript after the vendor has said that the request does not fit the context window. Returns
    /// whether a smaller one can be sent.
    pub(super) async fn recovers_from_overflow(
        &self,
        state: &mut LoopState,
        thrown: &Rc<dyn CallError>,
    ) -> Outcome<bool> {
        let error = thrown.as_any().downcast_ref::<ModelError>();
        let is_overflow = error.is_some_and(|error| error.kind == ModelErrorKind::ContextWindow);
        match &self.options.compaction {
            Some(auto) if is_overflow && !state.compaction_failed => self.compact(state, auto).await,
            _ => Ok(false),
        }
    }

    /// Asks the model to go on, unless it was asked too often without having called a tool.
    fn nudge(&self, state: &mut LoopState, nudge: String, stop_reason: StopReason) -> Option<LoopEnd> {
        if state.nudges >= self.options.limits.max_nudges {
            return Some(LoopEnd::new(LoopStatus::Stuck, stop_reason));
        }
        state.nudges += 1;
        self.session.with(|s| s.transcript.push_message(Arc::new(Message::user(nudge))));
        None
    }

    /// Returns the answer in the shape of `output_schema`; nil without a schema.
    pub(super) fn structured(&self, text: &str) -> Result<Data, String> {
        let schema = &self.options.model.request.output_schema;
        if schema.is_nil() { Ok(Data::Nil) } else { crate::schema::read_answer(text, schema) }
    }

    /// Returns whether the loop goes on for an injected item that no prompt has carried yet, if an iteration is left.
    fn is_prolonged(&self, state: &LoopState, ended: &LoopEnd) -> bool {
        let may = matches!(ended.status, LoopStatus::Done | LoopStatus::Stuck);
        may && state.unseen > 0 && self.out_of_budget(state).is_none()
    }

    pub(super) fn out_of_budget(&self, state: &LoopState) -> Option<LoopEnd> {
        if state.iteration.saturating_add(state.naps) >= self.options.limits.max_iterations {
            return Some(LoopEnd::new(LoopStatus::BudgetExhausted, StopReason::MaxIterations));
        }
        let used = state.usage.input_tokens + state.usage.output_tokens;
        let over = self.options.limits.token_budget.is_some_and(|budget| used >= budget);
        if over {
            return Some(LoopEnd::new(LoopStatus::BudgetExhausted, StopReason::TokenBudget));
        }
        self.over_budget()
    }

    async fn model_failed(&self, thrown: Rc<dyn CallError>) -> Outcome<LoopEnd> {
        if matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline) {
            return Ok(Self::ended_by(thrown.as_ref()));
        }
        if let Some(error) = thrown.as_any().downcast_ref::<BudgetError>() {
            return Ok(Self::ended_by_budget(error));
        }
        let error = Self::describe_fault(thrown.as_ref());
        self.emit(&HookEvent::SessionError { error: &error }).await?;
        let (status, stop_reason) = match thrown.kind() {
            CallErrorKind::Model => (LoopStatus::ProviderError, StopReason::ProviderError),
            _ => (LoopStatus::Error, StopReason::Error),
        };
        Ok(LoopEnd { error, ..LoopEnd::new(status, stop_reason) })
    }

    pub(super) fn ended_by(stopped: &dyn CallError) -> LoopEnd {
        let stop_reason =
            if stopped.kind() == CallErrorKind::Deadline { StopReason::Deadline } else { StopReason::Cancelled };
        LoopEnd { error: Self::describe_fault(stopped), ..LoopEnd::new(LoopStatus::Cancelled, stop_reason) }
    }
}

/// Returns how a loop ends whose model, or its vendor, refused to answer. Asking again with the same history is of no use.
fn withheld(reply: &ModelReply, end: AnswerEnd) -> Option<LoopEnd> {
    let stop_reason = match end {
        AnswerEnd::Refusal => StopReason::Refusal,
        AnswerEnd::ContentFilter => StopReason::ContentFilter,
        _ => return None,
    };
    let word = reply.stop_reason.as_deref().unwrap_or_default();
    let words = reply.refusal().unwrap_or(&reply.text).trim();
    let who = if end == AnswerEnd::Refusal {
        "the model refused to answer"
    } else {
        "a filter of the vendor withheld the answer"
    };
    let message = match words {
        "" => format!("{who} ({word})"),
        words => format!("{who} ({word}): {words}"),
    };
    let error = Data::dict([("category", Data::from(LoopStatus::Refused.as_str())), ("message", message.into())]);
    Some(LoopEnd { error, ..LoopEnd::new(LoopStatus::Refused, stop_reason) })
}

/// Returns how a loop ends whose last answer is incomplete.
fn cut_off(end: AnswerEnd) -> Option<LoopEnd> {
    let stop_reason = match end {
        AnswerEnd::MaxTokens => StopReason::MaxTokens,
        AnswerEnd::ContextWindow => StopReason::ContextWindow,
        AnswerEnd::Pause => StopReason::Paused,
        _ => return None,
    };
    Some(LoopEnd::new(LoopStatus::CutOff, stop_reason))
}

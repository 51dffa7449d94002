//! Building the prompt and calling the model.

use std::collections::HashSet;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind, Outcome, call_error};
use base::codes::CodeRef;
use base::data::Data;

use crate::budget::Purpose;
use crate::capabilities::Placement;
use crate::hooks::HookEvent;
use crate::lifecycle::{ConditionVerdict, SelectInput, SelectedReminder, before_prompt, check_slots, void};
use crate::message::{Message, Role};
use crate::model::{Delta, ModelError, ModelReply, Request, failure_kind};
use crate::model_step::ModelStep;
use crate::reminder::slots::{AnchoredReminder, Rendered, RenderedRole};
use crate::reminder::{Reminder, policy};
use crate::reminder_providers::ReminderBudget;
use crate::render::{RenderOptions, bars_native, demotion, render_pending};
use crate::stop::until_stopped;
use crate::transcript::Transcript;
use crate::usage::Usage;

use super::deltas::Deltas;
use super::observe::LoopEvent;
use super::sentinel::SentinelFilter;
use super::{LoopState, RunningLoop, sentinel};

/// Returns the end of the message that holds an interrupted answer.
#[must_use]
pub fn interruption_mark(why: &str) -> String {
    format!("\n\n[interrupted: {why}]")
}

/// The user's message of a request that would end with the model's own, if no reminder and no message of a host follows it.
const GO_ON: &str = "Go on.";

impl RunningLoop<'_> {
    /// Builds the request from the current transcript. The history is shared, not copied.
    ///
    /// # Errors
    /// Fails if the route cannot show a reminder that the policy forces.
    pub(super) fn build_prompt(
        &self,
        state: &mut LoopState,
        verdicts: &[(Arc<str>, ConditionVerdict)],
    ) -> Outcome<Request> {
        self.force_reminders();
        self.session.apply(&self.scope, |t, _| before_prompt(t), std::mem::take);
        let selected = self.select(verdicts);
        let (rendered, demoted, messages) = self.session.with(|s| {
            let rendered = self.render(&s.transcript, selected.as_deref());
            let demoted = rendered
                .first_demoted()
                .and_then(|(id, is_dropped)| Some((s.transcript.find(id)?.reminder.clone(), is_dropped)));
            (rendered, demoted, s.transcript.messages().clone())
        });
        if !rendered.dropped.is_empty() {
            let route = self.parts.model.destination(&self.options.model.request);
            self.session.with(|s| check_slots(&s.transcript, &rendered, &route)).map_err(call_error)?;
        }
        if let Some((demoted, is_dropped)) = demoted.filter(|_| !state.demotion_noted) {
            state.demotion_noted = true;
            let request = &self.options.model.request;
            self.note(demotion(&demoted, is_dropped, request.model.as_deref().or(request.provider.as_deref())));
        }
        Ok(Request {
            messages,
            reminders: Arc::new(rendered),
            tools: self.offer().specs.clone(),
            stream: self
                .options
                .model
                .stream
                .unwrap_or_else(|| self.options.model.request.stream || self.tells_deltas()),
            ..self.options.model.request.clone()
        })
    }

    /// Sorts the reminders of the prompt into the slots of the route.
    fn render(&self, transcript: &Transcript, selected: Option<&[SelectedReminder]>) -> Rendered {
        let capabilities = &self.options.model.capabilities;
        let reminders = &self.options.reminders;
        // A request that ends with the model's own message would have it continued.
        let follows_answer = transcript.messages().last().is_some_and(|message| message.role == Role::Assistant);
        let options = RenderOptions {
            placement: reminders.placement,
            native: reminders.native,
            is_native_barred: bars_native(transcript.messages()),
        };
        // A budget may delay a reminder, which then has no place in the requests before.
        let keeps_places = reminders.budget == ReminderBudget::default();
        let rendered = render_pending(transcript, selected, keeps_places, capabilities, options);
        let mut rendered =
            self.parts.slots.limited(rendered, || self.parts.model.destination(&self.options.model.request));
        let is_tail = rendered.placement == Placement::Tail;
        if follows_answer && (!is_tail || rendered.user_blocks.is_empty()) {
            let (id, after) = (Arc::default(), transcript.messages().len());
            rendered.anchored.push(AnchoredReminder { id, after, slot: RenderedRole::UserBlock, text: GO_ON.into() });
        }
        rendered
    }

    /// Returns the request with its reminders in other slots, if the route has rejected the ones it used.
    pub(super) fn in_other_slots(&self, request: &Request, thrown: &dyn CallError) -> Option<Request> {
        self.parts.slots.after_failure(self.turn(), self.parts.model.as_ref(), request, thrown)
    }

    /// Adds the reminders that the policy forces and that are not pending, whatever removed them.
    fn force_reminders(&self) {
        let Some(policy) = policy::current().filter(|policy| !policy.force.is_empty()) else { return };
        for spec in &policy.force {
            let key = spec.dedupe_key.as_deref().unwrap_or_default();
            let is_pending = |reminder: &Reminder| reminder.is_of_spec(spec) && policy::is_forced(reminder);
            let pending = self.session.with(|s| {
                let mut slots = s.transcript.slots_of_key(key).into_iter();
                slots.any(|slot| s.transcript.pending_at(slot).is_some_and(|pending| is_pending(&pending.reminder)))
            });
            if !pending {
                self.session.force_reminder(&self.scope, spec.clone());
            }
        }
    }

    /// Selects the reminders of the prompt; `None` if it shows all of them with their bodies.
    fn select(&self, verdicts: &[(Arc<str>, ConditionVerdict)]) -> Option<Vec<SelectedReminder>> {
        let model = &self.options.model;
        let window = model.context_window.or(model.capabilities.context_window);
        let budget = self.options.reminders.budget.tokens(window);
        let input = SelectInput { budget, model: model.request.model.as_deref(), verdicts };
        self.session.select_reminders(&self.scope, &input)
    }

    /// Sends the request and appends the answer to the transcript.
    pub(super) async fn ask_model(&self, state: &mut LoopState, request: &Request) -> Outcome<ModelReply> {
        self.scope.check().map_err(call_error)?;
        // A request that cannot be sent shows no reminder.
        let step = ModelStep::begin(&self.scope, self.parts.model.as_ref(), request, Purpose::Answer)?;
        // Every reminder that the queue delivered is in this prompt.
        state.unseen = 0;
        let costs = self.session.sent(&self.scope, request, true, self.parts.model.destination(request));
        let iteration = state.iteration;
        let turn = step.send(self.turn(), request);
        self.let_see(iteration, LoopEvent::Asked);
        let deltas = Deltas::new(self.tells_deltas(), request.stream);
        let held = SentinelFilter::new(&self.options.sentinel.word);
        let see = |text: &str| self.let_see(iteration, LoopEvent::Piece(Delta::Text(text)));
        let show = |delta: Delta<'_>| {
            deltas.take_in(delta);
            match delta {
                Delta::Text(text) => return held.take_in(text, see),
                Delta::Restart { .. } => held.restart(),
                _ => held.break_off(see),
            }
            self.let_see(iteration, LoopEvent::Piece(delta));
        };
        let call = self.parts.model.call(turn, request, &show);
        let grace_ms = self.parts.model.grace_ms();
        let answered = if deltas.told() {
            self.let_come(iteration, &deltas, call).await
        } else {
            until_stopped(&self.scope, grace_ms, call.get()).await.map_err(call_error).and_then(|outcome| outcome)
        };
        held.break_off(see);
        step.settle(&answered);
        let reply = match answered {
            Ok(reply) => self.with_call_ids(reply),
            Err(thrown) => {
                let error_kind = failure_kind(thrown.as_ref());
                tracing::warn!(error = error_kind, "model call failed");
                step.end(turn, Err(error_kind));
                self.let_see(iteration, LoopEvent::Unanswered { error_kind });
                if matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline)
                    && let Some(text) = deltas.text()
                {
                    let why = if thrown.kind() == CallErrorKind::Deadline { "deadline" } else { "cancelled" };
                    self.keep_interrupted(state, text.into(), why);
                }
                // No model saw this prompt, so it charges nothing.
                self.session.apply(&self.scope, |t, _| void(t), std::mem::take);
                return Err(thrown);
            }
        };
        let Usage { input_tokens, output_tokens, .. } = reply.usage;
        tracing::debug!(input_tokens, output_tokens, tool_calls = reply.tool_calls.len(), "model answered");
        state.reminder_costs.add(&costs);
        self.session.answered(&self.scope, &reply);
        self.session.with(|s| s.transcript.push_message(Arc::new(reply.to_message())));
        state.text = reply.text.clone();
        state.answer_end = Some(reply.end());
        let context_window = self.options.model.capabilities.context_window;
        let text = sentinel::without(&self.options.sentinel.word, &reply.text);
        step.end(turn, Ok(&reply));
        self.let_see(iteration, LoopEvent::Answered { reply: &reply, text: &text, context_window });
        let offer = self.offer();
        for call in &reply.tool_calls {
            self.let_see(iteration, LoopEvent::ToolWanted { call, annotations: offer.tools.annotations(&call.name) });
        }
        Ok(reply)
    }

    /// Keeps the text received so far: the user has read it, so the next prompt must contain it.
    fn keep_interrupted(&self, state: &mut LoopState, text: Arc<str>, why: &str) {
        let said = sentinel::without(&self.options.sentinel.word, &text);
        state.text = text;
        if !said.trim().is_empty() {
            let mark = interruption_mark(why);
            let message = Message::assistant(format!("{said}{mark}"), Vec::new());
            self.session.with(|s| s.transcript.push_message(Arc::new(message)));
            self.let_see(state.iteration, LoopEvent::Interrupted { mark: &mark });
        }
    }

    /// Ensures that every call has a unique id, since results refer to it. Generates ids that a caller-supplied reply
    /// left out or used twice.
    fn with_call_ids(&self, mut reply: ModelReply) -> ModelReply {
        /// Number of calls up to which each is compared with every other.
        const FEW: usize = 8;
        let calls = &mut reply.tool_calls;
        let are_many = calls.len() > FEW;
        let mut known = HashSet::with_capacity(if are_many { calls.len() } else { 0 });
        for place in 0..calls.len() {
            let (before, rest) = calls.split_at_mut(place);
            let id = &mut rest[0].id;
            let is_known = if are_many { known.contains(id) } else { before.iter().any(|other| other.id == *id) };
            if is_known || id.trim().is_empty() {
                *id = self.session.ids().next_text(self.scope.clock.now_ms());
            }
            if are_many {
                known.insert(id.clone());
            }
        }
        reply
    }

    /// Counts the tokens and notifies budget handlers.
    pub(super) async fn count_usage(&self, state: &mut LoopState, reply: &ModelReply) -> Outcome<()> {
        state.usage.add(reply.usage);
        state.context_tokens = reply.usage.input_tokens + reply.usage.output_tokens;
        let task = state.task.clone();
        self.emit(&HookEvent::OnBudgetThreshold {
            persona: &self.options.persona,
            iteration: state.iteration,
            tokens_used: state.context_tokens,
            context_window: self.options.model.context_window.or(self.options.model.capabilities.context_window),
            task: &task,
        })
        .await?;
        Ok(())
    }

    /// Describes a model failure for the result.
    pub(super) fn describe_fault(thrown: &dyn CallError) -> Data {
        if let Some(error) = thrown.as_any().downcast_ref::<ModelError>() {
            return error.to_data();
        }
        Data::dict_of_present([
            ("category", Data::from(thrown.kind().as_str())),
            ("message", thrown.to_string().into()),
            ("code", thrown.code().map(CodeRef::as_str).into()),
        ])
    }
}

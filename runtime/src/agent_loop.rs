//! The agent loop: asks the model, runs the tools it requests and repeats until it is done. Each step is a function
//! named after what it does. Each seam between steps delivers the items that hosts have put into the session's queue.
//!
//! ```text
//! user_prompt_submit → session_start →
//!   [pre_compact → post_compact] → iteration_start → prompt → model → usage → [tools: pre_tool_dispatch → each call] → post_tool_dispatch
//!     → post_agent_turn → post_turn → reminders' post-turn pass → iteration_end → … again
//! → loop_exit → session_end
//! ```
//! A daemon that has nothing more to do passes `daemon_idle_pre → session_idle → [consolidates] → (sleeps) →
//! [file_edited] → daemon_idle_post` before it goes on.
//!
//! The steps are `prompt`, `model` and `tools`; `pre_step` and `post_step` are emitted around each of them.
//!
//! All state that must survive a suspension lives in [`LoopState`], which is plain data. A future is dropped on
//! suspension, and a session's borrow is never held across a step.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::call::{CallError, CallErrorKind, Outcome, call_error};
use base::data::Data;
use open_calls::OpenCalls;
use subscriptions::ProviderSubscriptions;
use tool_source::ToolOffer;
use tracing::Instrument as _;

use crate::conditions::Conditions;
use crate::hooks::{Hook, HookEvent, Hooks};
use crate::listeners::Listeners;
use crate::loop_status::{LoopStatus, StopReason};
use crate::note::Note;
use crate::reminder_providers::{ReminderFiles, ReminderProvider, ReminderProviders, scope_part};
use crate::render::fallback::SlotFallbacks;
use crate::scope::{Caller, Receipts, Scope};
use crate::seam::{Model, Tool, Turn};
use crate::session::Session;

mod budget;
mod compact;
mod conditions;
mod daemon;
mod deltas;
mod early_end;
mod expectations;
mod finish;
mod iteration;
mod observe;
mod open_calls;
mod options;
mod park;
mod permission;
mod persist;
mod prompt;
mod repeats;
mod result;
mod seams;
mod sentinel;
pub mod snapshot;
mod start;
mod state;
mod steps;
mod subscriptions;
mod tool_call;
mod tool_source;
mod toolbox;
mod tools;
mod validate;

#[cfg(test)]
mod tests;

pub(crate) use early_end::error_of;

pub use daemon::{DaemonState, WakeCause};
pub use observe::{LoopEvent, LoopObservation};
pub use open_calls::close_open_calls;
pub use options::{Continuity, DaemonOptions, LoopLimits, LoopOptions, ModelOptions, SentinelOptions};
pub use park::{ParkRequest, Parking};
pub use persist::{LoopStorage, ResumedLoop};
pub use prompt::interruption_mark;
pub use result::{LoopResult, ToolMode, ToolNames};
pub use state::LoopState;
pub use tool_source::{LoadedTools, SourcedTools, ToolSource};

/// The behaviour that a loop calls: model, tools, hooks, providers.
#[derive(Clone)]
pub struct LoopParts {
    /// The model.
    pub model: Rc<dyn Model>,
    /// The tools on offer. The later of two with the same name wins.
    pub tools: Vec<Rc<dyn Tool>>,
    /// The source of tools that can change while the loop runs.
    pub source: Option<SourcedTools>,
    /// The handlers.
    pub hooks: Rc<Hooks>,
    /// The reminder providers.
    pub providers: Rc<ReminderProviders>,
    /// The conditions of reminders.
    pub conditions: Rc<dyn Conditions>,
    /// The models that judge whether reminders were followed, for reminders that name a route. With `None` the loop's
    /// model.
    pub judge: Option<Rc<dyn Model>>,
    /// The reminder files.
    pub files: Option<Rc<dyn ReminderFiles>>,
    /// The routes that have rejected a slot of reminders.
    pub slots: Rc<SlotFallbacks>,
    /// Hook called after each turn, after all handlers. A block from it ends the loop.
    pub post_turn: Option<Rc<dyn Hook>>,
    /// Callback that receives each event, including the pieces of an answer, as it happens.
    pub live: Rc<dyn Fn(LoopObservation<'_>)>,
}

/// Loops nest deeper than allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "agent loops nested more than {} levels deep; a hook or tool probably starts the loop that calls it",
    Scope::MAX_DEPTH
)]
pub struct NestingTooDeep;

impl CallError for NestingTooDeep {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Limit
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Runs a loop in a session. Fails only if the loop must not start at all (unknown providers, nesting, another loop at
/// work there), if `strict` reminders require it, or if the event log cannot be written; all other outcomes are a
/// status of the result, and the transcript is kept.
pub async fn agent_loop(
    session: &Rc<Session>,
    scope: &Scope,
    parts: &LoopParts,
    options: LoopOptions,
) -> Outcome<LoopResult> {
    if scope.caller.depth >= Scope::MAX_DEPTH {
        return Err(call_error(NestingTooDeep));
    }
    let providers = options.reminders.select(&parts.providers).map_err(call_error)?;
    let _occupied = session.occupy().map_err(call_error)?;
    let _open_calls = OpenCalls(session);
    let own_deadline = options.limits.deadline_ms.map(|ms| scope.clock.now_ms().saturating_add(ms));
    let cancel = scope.cancel.child();
    // Closing the session stops what runs in it.
    session.with(|state| state.at_work = Some(cancel.clone()));
    let scope = Scope {
        cancel,
        // The earlier of two deadlines applies.
        deadline_ms: [own_deadline, scope.deadline_ms].into_iter().flatten().min(),
        caller: Caller {
            depth: scope.caller.depth + 1,
            persona: Some(options.persona.clone()),
            ..scope.caller.clone()
        },
        options: options.written.clone(),
        // Receipts of a loop inside a tool belong to that loop's own calls.
        receipts: scope.receipts.as_ref().map(|receipts| Receipts { log: receipts.log.clone(), of_call: None }),
        hook_timeout_ms: options.limits.hook_timeout_ms.unwrap_or(scope.hook_timeout_ms),
        activity: match (&scope.activity, session.with(|state| state.cause)) {
            (Some(activity), Some(cause)) => Some(activity.join(&cause)),
            _ => scope.enter(),
        },
        of_loop: scope_part(parts.files.clone()),
        budget: budget::budget_of(options.limits.budget, scope.budget.as_ref(), options.continuity.from.as_deref()),
        ..scope.clone()
    };
    let first_note = scope.notes.mark();
    let parking = options.continuity.parking.clone().unwrap_or_default();
    let offer = RefCell::new(Rc::new(ToolOffer::new(
        &parts.tools,
        Some(&parking).filter(|_| options.continuity.can_suspend()),
    )));
    let revision = Cell::new(parts.source.as_ref().and_then(|sourced| sourced.loaded));
    let (left, now_ms) = (options.continuity.from.clone(), scope.clock.now_ms());
    let watchers = ProviderSubscriptions::new(&providers);
    let run = RunningLoop {
        session,
        scope,
        parts,
        options,
        providers,
        watchers,
        offer,
        revision,
        tool_use: RefCell::default(),
        parking,
        withdrawn: Cell::new(false),
    };
    let mut state = left.map_or_else(|| LoopState::new(run.options.task.clone(), now_ms), |left| *left);
    if let Some(activity) = &run.scope.activity {
        activity.loop_began(run.turn());
    }
    run.let_see(state.iteration, LoopEvent::Began);
    // The steps are boxed, so that a loop that waits costs its caller little.
    let span = tracing::info_span!("session", session_id = %session.id(), depth = run.scope.caller.depth);
    let ended = match Box::pin(run.steps(&mut state)).instrument(span.clone()).await {
        // An operation that was awaited when the loop was stopped has stopped with it; the end is reported all the
        // same.
        Err(thrown)
            if run.scope.check().is_err()
                && matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline) =>
        {
            RunningLoop::ended_by(thrown.as_ref())
        }
        ended => ended?,
    };
    let ended = match ended.status {
        LoopStatus::Cancelled if session.is_closed() => LoopEnd { stop_reason: StopReason::SessionClosed, ..ended },
        _ => ended,
    };
    Box::pin(run.finish(state, ended, first_note)).instrument(span).await
}

/// A running loop: the data that does not change from step to step.
struct RunningLoop<'a> {
    session: &'a Rc<Session>,
    scope: Scope,
    parts: &'a LoopParts,
    options: LoopOptions,
    providers: Vec<Rc<dyn ReminderProvider>>,
    watchers: ProviderSubscriptions,
    /// The tools of this turn.
    offer: RefCell<Rc<ToolOffer>>,
    /// The revision of the tools of a source; `None` before they are loaded.
    revision: Cell<Option<u64>>,
    /// The use of the source, while the loop runs.
    tool_use: RefCell<Option<Box<dyn Any>>>,
    parking: Rc<Parking>,
    /// Whether a question of the current batch was withdrawn because a bridge injection interrupts it.
    withdrawn: Cell<bool>,
}

/// The outcome of a loop.
#[derive(Debug, Clone)]
struct LoopEnd {
    status: LoopStatus,
    stop_reason: StopReason,
    error: Data,
}

impl LoopEnd {
    fn new(status: LoopStatus, stop_reason: StopReason) -> LoopEnd {
        LoopEnd { status, stop_reason, error: Data::Nil }
    }
}

impl RunningLoop<'_> {
    fn turn(&self) -> Turn<'_> {
        Turn { session: self.session, number: self.session.with(|state| state.turns), scope: &self.scope }
    }

    /// Runs the loop from the first step to the last iteration.
    async fn steps(&self, state: &mut LoopState) -> Outcome<LoopEnd> {
        Box::pin(self.begin_to_watch()).await;
        self.refresh_files().await?;
        self.remark_on_resumption();
        // A resumed loop has begun already.
        let begun = match &self.options.continuity.from {
            Some(_) => Box::pin(self.go_on(state)).await?,
            None => self.start(state).await?,
        };
        if let Some(ended) = begun {
            return Ok(ended);
        }
        loop {
            self.scope.driver.before_iteration().get().await?;
            let span = tracing::info_span!("turn", turn = self.turn().number + 1);
            if let Some(ended) = self.iteration(state).instrument(span).await? {
                return Ok(ended);
            }
        }
    }

    /// Notifies handlers, then providers. Most events of a loop have no subscriber.
    async fn emit(&self, event: &HookEvent<'_>) -> Outcome<()> {
        let kind = event.kind();
        let is_for_files = self.parts.files.as_ref().is_some_and(|files| files.subscribes_to().contains(kind));
        if !self.parts.hooks.hears(kind) && self.watchers.of(kind).is_empty() && !is_for_files {
            return Ok(());
        }
        self.listening_to(event).emit(self.turn(), event).get().await
    }

    /// Notifies like [`Self::emit`], but inside a tool call, whose scope names the call.
    async fn emit_in(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).emit(turn, event).get().await
    }

    /// Notifies only providers.
    async fn evaluate(&self, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).evaluate(self.turn(), event).get().await
    }

    async fn evaluate_in(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).evaluate(turn, event).get().await
    }

    /// Returns the possible subscribers of an event.
    fn listening_to(&self, event: &HookEvent<'_>) -> Listeners<'_> {
        Listeners { providers: self.watchers.of(event.kind()), ..self.listeners() }
    }

    fn listeners(&self) -> Listeners<'_> {
        Listeners {
            hooks: &self.parts.hooks,
            providers: &self.providers,
            files: self.parts.files.as_deref(),
            config: &self.options.reminders.config,
            strict: self.strict(),
        }
    }

    /// Brings the reminder files up to date. Most loops have none.
    async fn refresh_files(&self) -> Outcome<()> {
        match &self.parts.files {
            Some(files) => files.refresh(self.turn(), self.strict()).get().await,
            None => Ok(()),
        }
    }

    fn strict(&self) -> bool {
        self.options.reminders.strict
    }

    fn note(&self, note: Note) {
        self.scope.note(note);
    }
}

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

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use open_calls::OpenCalls;
use park::AwaitResumption;
use toolbox::Toolbox;
use tracing::Instrument as _;
use watchers::Watchers;

use crate::data::Data;
use crate::hooks::{Hook, HookEvent, Hooks, Listeners};
use crate::message::ToolSpec;
use crate::note::Note;
use crate::reminder::providers::{ReminderProvider, ReminderProviders};
use crate::seam::{Caller, Fault, Model, Outcome, Receipts, Scope, Sort, Tool, Turn, fault};
use crate::session::Session;

mod compact;
mod daemon;
mod deltas;
mod finish;
mod iteration;
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
mod start;
mod state;
mod steps;
mod stop;
mod tool_call;
mod toolbox;
mod tools;
mod validate;
mod watch;
mod watchers;

#[cfg(test)]
mod tests;

pub use daemon::{DaemonState, WakeCause};
pub use open_calls::close_open_calls;
pub use options::{Continuity, DaemonOptions, LoopLimits, LoopOptions, ModelOptions, Sentinel};
pub use park::{ParkRequest, Parking};
pub use persist::{Persist, Resumed};
pub use prompt::interruption_mark;
pub use result::{LoopResult, LoopStatus, StopReason, ToolMode, ToolNames};
pub use state::LoopState;
pub use stop::{GRACE_MS, stopped, until_stopped};
pub use watch::{Seen, Sight};

/// Everything with behaviour that a loop calls.
#[derive(Clone)]
pub struct Parts {
    /// The model.
    pub model: Rc<dyn Model>,
    /// The tools on offer. Of two with one name the later counts.
    pub tools: Vec<Rc<dyn Tool>>,
    /// The handlers.
    pub hooks: Rc<Hooks>,
    /// The reminder providers.
    pub providers: Rc<ReminderProviders>,
    /// Hook called after each turn, after all handlers. A block from it ends the loop.
    pub post_turn: Option<Rc<dyn Hook>>,
    /// Shown what happens, each piece of an answer included, as it comes.
    pub live: Rc<dyn Fn(Sight<'_>)>,
}

/// Loops nest deeper than allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "agent loops nested more than {} levels deep; a hook or tool probably starts the loop that calls it",
    Scope::MAX_DEPTH
)]
pub struct TooDeep;

impl Fault for TooDeep {
    fn sort(&self) -> Sort {
        Sort::Limit
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Runs a loop in a session. It fails only where it must not start at all (unknown providers, nesting, another loop at work there), where `strict`
/// reminders say so, and where the event log cannot be written; everything else is a status of the result, and the transcript is kept.
pub async fn agent_loop(
    session: &Rc<Session>,
    scope: &Scope,
    parts: &Parts,
    options: LoopOptions,
) -> Outcome<LoopResult> {
    if scope.caller.depth >= Scope::MAX_DEPTH {
        return Err(fault(TooDeep));
    }
    let providers = options.reminders.select(&parts.providers).map_err(fault)?;
    let _occupied = session.occupy().map_err(fault)?;
    let _open_calls = OpenCalls(session);
    let own_deadline = options.limits.deadline_ms.map(|ms| scope.clock.now_ms().saturating_add(ms));
    let cancel = scope.cancel.child();
    // Closing the session stops what runs in it.
    session.with(|state| state.at_work = Some(cancel.clone()));
    let scope = Scope {
        cancel,
        // The nearer of two deadlines counts.
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
        ..scope.clone()
    };
    let first_note = scope.notes.mark();
    let parking = options.continuity.parking.clone().unwrap_or_default();
    let tools = Toolbox::new(AwaitResumption::beside(&parts.tools, &parking));
    let specs = Arc::new(tools.specs());
    let (left, now_ms) = (options.continuity.from.clone(), scope.clock.now_ms());
    let watchers = Watchers::new(&providers);
    let run =
        Run { session, scope, parts, options, providers, watchers, tools, specs, parking, withdrawn: Cell::new(false) };
    let mut state = left.map_or_else(|| LoopState::new(run.options.task.clone(), now_ms), |left| *left);
    run.let_see(state.iteration, Seen::Began);
    // The steps are boxed, so that a loop that waits costs its caller little.
    let span = tracing::info_span!("session", session_id = %session.id(), depth = run.scope.caller.depth);
    let ended = match Box::pin(run.steps(&mut state)).instrument(span.clone()).await {
        // An operation that was awaited when the loop was stopped has stopped with it; the end is reported all the
        // same.
        Err(thrown) if run.scope.check().is_err() && matches!(thrown.sort(), Sort::Cancelled | Sort::Deadline) => {
            Run::ended_by(thrown.as_ref())
        }
        ended => ended?,
    };
    let ended = match ended.status {
        LoopStatus::Cancelled if session.is_closed() => Ended { stop_reason: StopReason::SessionClosed, ..ended },
        _ => ended,
    };
    Box::pin(run.finish(state, ended, first_note)).instrument(span).await
}

/// A loop at work: what does not change from step to step.
struct Run<'a> {
    session: &'a Rc<Session>,
    scope: Scope,
    parts: &'a Parts,
    options: LoopOptions,
    providers: Vec<Rc<dyn ReminderProvider>>,
    watchers: Watchers,
    tools: Toolbox,
    specs: Arc<Vec<ToolSpec>>,
    parking: Rc<Parking>,
    /// Whether a question of the batch at hand was taken back, because a message of the host interrupts it.
    withdrawn: Cell<bool>,
}

/// The outcome of a loop.
#[derive(Debug, Clone)]
struct Ended {
    status: LoopStatus,
    stop_reason: StopReason,
    error: Data,
}

impl Ended {
    fn new(status: LoopStatus, stop_reason: StopReason) -> Ended {
        Ended { status, stop_reason, error: Data::Nil }
    }
}

impl Run<'_> {
    fn turn(&self) -> Turn<'_> {
        Turn { session: self.session, number: self.session.with(|state| state.turns), scope: &self.scope }
    }

    /// From the first step to the last iteration.
    async fn steps(&self, state: &mut LoopState) -> Outcome<Ended> {
        Box::pin(self.begin_to_watch()).await;
        self.remark_on_resumption();
        // One that goes on has begun already.
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
        if !self.parts.hooks.hears(kind) && self.watchers.of(kind).is_empty() {
            return Ok(());
        }
        self.listening_to(event).emit(self.turn(), event).get().await
    }

    /// Notifies like [`Self::emit`], but inside a tool call, whose scope names the call.
    async fn emit_in(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).emit(turn, event).get().await
    }

    /// Tells providers only.
    async fn evaluate(&self, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).evaluate(self.turn(), event).get().await
    }

    async fn evaluate_in(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<()> {
        self.listening_to(event).evaluate(turn, event).get().await
    }

    /// Everybody who may want to see this event.
    fn listening_to(&self, event: &HookEvent<'_>) -> Listeners<'_> {
        Listeners { providers: self.watchers.of(event.kind()), ..self.listeners() }
    }

    fn listeners(&self) -> Listeners<'_> {
        Listeners {
            hooks: &self.parts.hooks,
            providers: &self.providers,
            config: &self.options.reminders.config,
            strict: self.strict(),
        }
    }

    fn strict(&self) -> bool {
        self.options.reminders.strict
    }

    fn note(&self, note: Note) {
        self.scope.note(note);
    }
}

//! The seams between the core and everything that has behaviour: how an answer is returned ([`Answer`]), how a failure
//! is passed on ([`Fault`]), the context of a call ([`Turn`], [`Scope`]), and the traits that the loop calls ([`Tool`],
//! [`Model`], [`Compactor`], [`Permissions`], [`Approver`]; hooks and reminder providers have their traits next to
//! their registries).
//!
//! Data is `Send`, behaviour is not: these traits live behind `Rc` on the worker that owns the session. No borrow of a
//! session is alive while one of them runs, so any of them may call back into the same session.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::clock::Clock;
use crate::codes::CodeRef;
use crate::data::Data;
use crate::event_log::EventLog;
use crate::hooks::EventKind;
use crate::message::{Message, ToolCall, ToolSpec};
use crate::model::{Delta, Reply, Request};
use crate::note::{Note, Notes};
use crate::patience::TookTooLong;
use crate::receipt::{AuditLog, ReminderReport, Reports};
use crate::reminder::Reminder;
use crate::reminder::lifecycle::Admitted;
use crate::session::Session;
use crate::words::words;

mod blocking;
mod permission;

pub use blocking::{BlockingPool, run_blocking};
pub use permission::{Approver, Demand, Permissions, Permit, Ruling};

/// A future that stays on its thread.
pub type Local<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// An answer that is usually there already; only one that waits is boxed.
pub enum Answer<'a, T> {
    /// The callee did not wait.
    Now(T),
    /// The callee waits for something.
    Later(Local<'a, T>),
}

impl<'a, T> Answer<'a, T> {
    /// The answer, waiting for it where that is needed.
    pub async fn get(self) -> T {
        match self {
            Answer::Now(value) => value,
            Answer::Later(future) => future.await,
        }
    }

    /// The answer of a callee that does not wait.
    #[cfg(test)]
    pub(crate) fn now(self) -> T {
        match self {
            Answer::Now(value) => value,
            Answer::Later(_) => panic!("the callee waits"),
        }
    }

    /// An answer that waits.
    pub fn later(future: impl Future<Output = T> + 'a) -> Answer<'a, T> {
        Answer::Later(Box::pin(future))
    }
}

words! {
    /// The kind of a [`Fault`], by which the loop decides how to go on.
    pub enum Sort {
        /// A script threw.
        Script = "script",
        /// The work was cancelled.
        Cancelled = "cancelled",
        /// A deadline passed.
        Deadline = "deadline",
        /// A model route failed.
        Model = "model",
        /// A limit was reached (memory, depth, queue).
        Limit = "limit",
        /// Input that breaks a rule of the core; it has a code.
        Invalid = "invalid",
        /// Reading or writing failed (event log, files).
        Io = "io",
    }
}

/// A failure of a script, a route or a provider. Opaque here; `stdlib` recovers its value and stack by
/// [`Fault::as_any`].
pub trait Fault: fmt::Debug + fmt::Display {
    /// The kind of failure.
    fn sort(&self) -> Sort;
    /// The concrete failure.
    fn as_any(&self) -> &dyn Any;
    /// The diagnostic code, where the failure has one.
    fn code(&self) -> Option<CodeRef> {
        None
    }
}

/// A result that fails with whatever the callee threw.
pub type Outcome<T> = Result<T, Rc<dyn Fault>>;

/// Makes an outcome's failure of a concrete one.
pub fn fault<F: Fault + 'static>(failure: F) -> Rc<dyn Fault> {
    Rc::new(failure)
}

/// The two failures that the core raises by itself whatever it was doing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The work was cancelled, for the given reason.
    #[error("cancelled: {0}")]
    Cancelled(Arc<str>),
    /// The deadline passed.
    #[error("the deadline passed")]
    Deadline,
}

impl Fault for Stopped {
    fn sort(&self) -> Sort {
        match self {
            Stopped::Cancelled(_) => Sort::Cancelled,
            Stopped::Deadline => Sort::Deadline,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The position of a line of work within a run. Names are the same in every run of a script, whatever the timing.
pub trait Path {
    /// The name: letters, digits, dots and tildes.
    fn name(&self) -> Rc<str>;
    /// Returns the path of the next child started here; `kind` consists of letters.
    fn child(&self, kind: &'static str) -> Rc<dyn Path>;
    /// The concrete path.
    fn as_any(&self) -> &dyn Any;
}

/// The path used if lines of work are not distinguished.
struct OnlyLine;

impl Path for OnlyLine {
    fn name(&self) -> Rc<str> {
        "main".into()
    }

    fn child(&self, _kind: &'static str) -> Rc<dyn Path> {
        Rc::new(OnlyLine)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The driver of a run's work. A loop whose model, tools and handlers all answer at once would never yield its thread.
pub trait Driver {
    /// Called before each iteration of a loop: fails where a limit of the run is reached, and waits where others must have their turn.
    fn before_iteration(&self) -> Answer<'static, Outcome<()>>;
}

/// A driver without limits, for work that has its thread to itself.
struct FreeRun;

impl Driver for FreeRun {
    fn before_iteration(&self) -> Answer<'static, Outcome<()>> {
        Answer::Now(Ok(()))
    }
}

/// The context of a call: the session, its turn, and the scope.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// The session.
    pub session: &'a Rc<Session>,
    /// The turn, from 1 over the whole life of the session; 0 before the first.
    pub number: u32,
    /// Scope of the call.
    pub scope: &'a Scope,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turn({}, {})", self.session.id(), self.number)
    }
}

/// The environment of a call: cancellation, time, log.
#[derive(Clone)]
pub struct Scope {
    /// Stops the work when thrown.
    pub cancel: Cancel,
    /// When the work must be done, on [`Scope::clock`]; nothing means never.
    pub deadline_ms: Option<u64>,
    /// Source of time.
    pub clock: Rc<dyn Clock>,
    /// Log for events.
    pub log: Rc<dyn EventLog>,
    /// Driver of the work.
    pub driver: Rc<dyn Driver>,
    /// The seed of the run, for waits that must differ between runs and not between a run and its replay.
    pub seed: u64,
    /// Origin of the call.
    pub caller: Caller,
    /// The options of the loop at hand as they were written, for handlers that want to see them; else nil.
    pub options: Data,
    /// The script that the mock model answers from here; `None` if none was set.
    pub script: Option<u64>,
    /// Collector of tool call receipts, if any are wanted.
    pub receipts: Option<Receipts>,
    /// Time limit of one handler or provider, in milliseconds.
    pub hook_timeout_ms: u64,
    /// Collector of diagnostics that must not end the work. The driver shows them; the loop's result lists them.
    pub notes: Rc<Notes>,
}

/// The origin of a call among the lines of work, loops, agents and tool calls of a run.
#[derive(Clone)]
pub struct Caller {
    /// The line of work; the same in every run of a script.
    pub path: Rc<dyn Path>,
    /// The current tool call.
    pub task_id: Option<Arc<str>>,
    /// The current agent: the session's id, unless a worker or persona has a name of its own.
    pub agent_id: Option<Arc<str>>,
    /// The persona of the current loop.
    pub persona: Option<Arc<str>>,
    /// Whether a worker or a sub-agent calls, which front ends show as a call of a tool.
    pub is_worker: bool,
    /// The number of loops around this call. Nesting grows the native stack, so it is limited.
    pub depth: u32,
}

impl Default for Caller {
    fn default() -> Caller {
        let path = Rc::new(OnlyLine);
        Caller { path, task_id: None, agent_id: None, persona: None, is_worker: false, depth: 0 }
    }
}

/// A collector of tool call receipts.
#[derive(Debug, Clone)]
pub struct Receipts {
    /// The receipts of calls that are over.
    pub log: Rc<AuditLog>,
    /// The reminders made around the current call, if one is under way.
    pub of_call: Option<Reports>,
}

impl Scope {
    /// Maximum nesting depth of loops (a hook that runs a loop whose tool runs a loop …).
    pub const MAX_DEPTH: u32 = 32;
    /// Default time limit of one handler or provider, in milliseconds.
    pub const HOOK_TIMEOUT_MS: u64 = 30_000;

    /// A scope that nothing cancels and that has no deadline.
    #[must_use]
    pub fn new(clock: Rc<dyn Clock>, log: Rc<dyn EventLog>) -> Scope {
        Scope {
            cancel: Cancel::new(),
            deadline_ms: None,
            clock,
            log,
            driver: Rc::new(FreeRun),
            seed: 0,
            caller: Caller::default(),
            options: Data::Nil,
            script: None,
            receipts: None,
            hook_timeout_ms: Self::HOOK_TIMEOUT_MS,
            notes: Rc::default(),
        }
    }

    /// Returns the scope for the duration of one tool call.
    #[must_use]
    pub fn for_call(&self, tool_call_id: Arc<str>) -> Scope {
        let mut scope = self.clone();
        scope.caller = Caller { task_id: Some(tool_call_id), path: self.caller.path.child("tool"), ..scope.caller };
        if let Some(receipts) = &mut scope.receipts {
            receipts.of_call = Some(Reports::default());
        }
        scope
    }

    /// Notes a reminder that a handler or a provider made around the tool call at hand.
    pub fn report(&self, hook_event: EventKind, admitted: &Admitted) {
        if let Some(reports) = self.receipts.as_ref().and_then(|receipts| receipts.of_call.as_ref()) {
            let (reminder, deduped_count) = (admitted.reminder.clone(), admitted.replaced.len());
            reports.borrow_mut().push(ReminderReport { hook_event, reminder, deduped_count });
        }
    }

    /// Writes a diagnostic that must not end the work.
    pub fn note(&self, note: Note) {
        self.notes.push(note);
    }

    /// Fails once the work was cancelled or its deadline has passed.
    pub fn check(&self) -> Result<(), Stopped> {
        if let Some(reason) = self.cancel.reason() {
            return Err(Stopped::Cancelled(reason));
        }
        match self.deadline_ms {
            Some(at) if self.clock.now_ms() >= at => Err(Stopped::Deadline),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("task_id", &self.caller.task_id)
            .field("depth", &self.caller.depth)
            .finish_non_exhaustive()
    }
}

/// The output of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Text that the model sees.
    pub text: Arc<str>,
    /// The value that the tool returned, for hooks and results.
    pub value: Data,
    /// Whether the tool did what was asked.
    pub ok: bool,
    /// Whether the tool itself cut its output short.
    pub truncated: bool,
}

impl Output {
    /// Creates a successful output: text unchanged, anything else as JSON.
    #[must_use]
    pub fn of(value: Data) -> Output {
        Output { text: value.to_text(), value, ok: true, truncated: false }
    }

    /// Creates a failed output with an error message for the model.
    pub fn error(message: impl Into<Arc<str>>) -> Output {
        let text = message.into();
        Output { value: Data::Str(text.clone()), text, ok: false, truncated: false }
    }
}

/// The content that a call is about to replace, as it was when its permission was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The text that is there now; `None` if there is none.
    pub old_text: Option<Arc<str>>,
}

/// Something the model can call.
pub trait Tool {
    /// Returns the tool's description for the model.
    fn spec(&self) -> &ToolSpec;
    /// Reads what the call is about to replace, before its permission is asked for. With an error, the call is refused
    /// with that reason and no question is asked.
    fn preview(&self, _call: &ToolCall) -> Result<Option<Preview>, String> {
        Ok(None)
    }
    /// Runs a call that was allowed for what [`Tool::preview`] returned; fails if that has changed since.
    fn call_previewed<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        _preview: &'a Preview,
    ) -> Answer<'a, Outcome<Output>> {
        self.call(turn, call)
    }
    /// Runs it. A fault becomes an error result for the model, unless it is a cancellation or a deadline.
    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>>;
}

/// The destination of a request, as far as it is known before the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Destination {
    /// The provider.
    pub provider: Option<Arc<str>>,
    /// The model.
    pub model: Option<Arc<str>>,
}

/// A model: a route, the mock, or a script's own caller. Retries are its own business.
pub trait Model {
    /// Fails where the request could not even be sent (no such route, no key). Asked before reminders count as fired.
    fn ready(&self, _request: &Request) -> Outcome<()> {
        Ok(())
    }

    /// Returns the destination of a request, for the log.
    fn destination(&self, request: &Request) -> Destination {
        Destination { provider: request.provider.clone(), model: request.model.clone() }
    }

    /// Returns the time that an abandoned call has to clean up, in milliseconds; calls that only wait for a server are
    /// dropped.
    fn grace_ms(&self) -> u64 {
        0
    }

    /// Asks once. Pieces of the answer may be shown to `live` as they come.
    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<Reply>>;
}

/// The result of a compactor.
#[derive(Debug, Clone)]
pub enum Summary {
    /// One summary message takes their place.
    Text(Arc<str>),
    /// These messages take their place.
    Messages(Vec<Arc<Message>>),
}

/// Shortens a transcript.
pub trait Compactor {
    /// Returns the diagnostic for a compactor that took longer than `ms` milliseconds, a handler's limit.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }
    /// Gets the messages to be archived and the reminders that survived TTL and dedupe.
    fn compact<'a>(
        &'a self,
        turn: Turn<'a>,
        messages: &'a [Arc<Message>],
        pending: &'a [Arc<Reminder>],
    ) -> Answer<'a, Outcome<Summary>>;
}

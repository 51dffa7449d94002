//! [`Scope`]: the environment of a call: how it is stopped, its time, its log, its place in the run.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallError, CallErrorKind, Outcome};
use base::clock::Clock;
use base::data::Data;
use eventlog::EventLog;

use crate::budget::{Budget, Charge};
use crate::cancel::Cancel;
use crate::events::EventKind;
use crate::lifecycle::Admission;
use crate::note::{Note, Notes};
use crate::receipt::{AuditLog, ReminderReport, Reports};
use crate::reminder::ReminderSpec;
use crate::reminder::overrides::SpecOverrides;
use crate::spans::Activity;

/// The two failures that the core raises by itself at any point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The work was cancelled, for the given reason.
    #[error("cancelled: {0}")]
    Cancelled(Arc<str>),
    /// The deadline passed.
    #[error("the deadline passed")]
    Deadline,
}

impl CallError for Stopped {
    fn kind(&self) -> CallErrorKind {
        match self {
            Stopped::Cancelled(_) => CallErrorKind::Cancelled,
            Stopped::Deadline => CallErrorKind::Deadline,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The position of a line of work within a run. Names are the same in every run of a script, whatever the timing.
pub trait WorkPath {
    /// Returns the name: letters, digits, dots and tildes.
    fn name(&self) -> Rc<str>;
    /// Returns the path of the next child started here; `kind` consists of letters.
    fn child(&self, kind: &'static str) -> Rc<dyn WorkPath>;
    /// Returns the concrete path.
    fn as_any(&self) -> &dyn Any;
}

/// The path used if lines of work are not distinguished.
struct SinglePath;

impl WorkPath for SinglePath {
    fn name(&self) -> Rc<str> {
        "main".into()
    }

    fn child(&self, _kind: &'static str) -> Rc<dyn WorkPath> {
        Rc::new(SinglePath)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The driver of a run's work. A loop whose model, tools and handlers all answer at once would never yield its thread.
pub trait Driver {
    /// Called before each iteration of a loop: fails if a limit of the run is reached, and waits if others must have
    /// their turn.
    fn before_iteration(&self) -> Answer<'static, Outcome<()>>;
}

/// A driver without limits, for work that has its thread to itself.
struct UnlimitedDriver;

impl Driver for UnlimitedDriver {
    fn before_iteration(&self) -> Answer<'static, Outcome<()>> {
        Answer::Now(Ok(()))
    }
}

/// The environment of a call: cancellation, time, log.
#[derive(Clone)]
pub struct Scope {
    /// Stops the work when cancelled.
    pub cancel: Cancel,
    /// Deadline on [`Scope::clock`], in milliseconds; `None` means no deadline.
    pub deadline_ms: Option<u64>,
    /// Source of time.
    pub clock: Rc<dyn Clock>,
    /// Log for events.
    pub log: Rc<dyn EventLog>,
    /// Driver of the work.
    pub driver: Rc<dyn Driver>,
    /// Seed of the run, for delays that must differ between runs but not between a run and its replay.
    pub seed: u64,
    /// Origin of the call.
    pub caller: Caller,
    /// Options of the current loop as written, for handlers that read them; else nil.
    pub options: Data,
    /// The script that the mock model answers from here; `None` if none was set.
    pub script: Option<u64>,
    /// Parts of the current loop for the calls inside of it. Stages after this one know their type: see
    /// [`crate::reminder_providers::files_of`].
    pub of_loop: Option<Rc<dyn Any>>,
    /// Fields of reminders that the run replaces, if it is a variant.
    pub overrides: Option<Rc<SpecOverrides>>,
    /// Collector of tool call receipts, if any are wanted.
    pub receipts: Option<Receipts>,
    /// Time limit of one handler or provider, in milliseconds.
    pub hook_timeout_ms: u64,
    /// Writer of the activity of the span that the call belongs to, if activity is recorded.
    pub activity: Option<Activity>,
    /// The budget that requests count in, if there is one.
    pub budget: Option<Rc<Budget>>,
    /// The request that is on its way, if it counts in a budget.
    pub charge: Option<Rc<Charge>>,
    /// Collector of diagnostics that must not end the work. The driver shows them; the loop's result lists them.
    pub notes: Rc<Notes>,
}

/// The origin of a call among the lines of work, loops, agents and tool calls of a run.
#[derive(Clone)]
pub struct Caller {
    /// The line of work; the same in every run of a script.
    pub path: Rc<dyn WorkPath>,
    /// The current tool call.
    pub task_id: Option<Arc<str>>,
    /// The current agent: the session's id, unless a worker or persona has a name of its own.
    pub agent_id: Option<Arc<str>>,
    /// The persona of the current loop.
    pub persona: Option<Arc<str>>,
    /// Whether the caller is a worker or a sub-agent, which front ends show as a tool call.
    pub is_worker: bool,
    /// The number of loops around this call. Nesting grows the native stack, so it is limited.
    pub depth: u32,
}

impl Default for Caller {
    fn default() -> Caller {
        let path = Rc::new(SinglePath);
        Caller { path, task_id: None, agent_id: None, persona: None, is_worker: false, depth: 0 }
    }
}

/// A collector of tool call receipts.
#[derive(Debug, Clone)]
pub struct Receipts {
    /// Receipts of completed calls.
    pub log: Rc<AuditLog>,
    /// Reminders produced around the current call, if there is one.
    pub of_call: Option<Reports>,
}

impl Scope {
    /// Maximum nesting depth of loops (a hook that runs a loop whose tool runs a loop …).
    pub const MAX_DEPTH: u32 = 32;
    /// Default time limit of one handler or provider, in milliseconds.
    pub const HOOK_TIMEOUT_MS: u64 = 30_000;

    /// Creates a scope without cancellation and deadline.
    #[must_use]
    pub fn new(clock: Rc<dyn Clock>, log: Rc<dyn EventLog>) -> Scope {
        Scope {
            cancel: Cancel::new(),
            deadline_ms: None,
            clock,
            log,
            driver: Rc::new(UnlimitedDriver),
            seed: 0,
            caller: Caller::default(),
            options: Data::Nil,
            script: None,
            of_loop: None,
            overrides: None,
            receipts: None,
            hook_timeout_ms: Self::HOOK_TIMEOUT_MS,
            activity: None,
            budget: None,
            charge: None,
            notes: Rc::default(),
        }
    }

    /// Returns the scope for the duration of one tool call.
    #[must_use]
    pub fn for_call(&self, tool_call_id: Arc<str>) -> Scope {
        let mut scope = Scope { activity: self.enter(), ..self.clone() };
        scope.caller = Caller { task_id: Some(tool_call_id), path: self.caller.path.child("tool"), ..scope.caller };
        if let Some(receipts) = &mut scope.receipts {
            receipts.of_call = Some(Reports::default());
        }
        scope
    }

    /// Returns the activity of a new span within that of the scope, if activity is recorded.
    #[must_use]
    pub fn enter(&self) -> Option<Activity> {
        self.activity.as_ref().map(Activity::enter)
    }

    /// Records a reminder that a handler or a provider produced around the current tool call.
    pub fn report(&self, hook_event: EventKind, admitted: &Admission) {
        if let Some(reports) = self.receipts.as_ref().and_then(|receipts| receipts.of_call.as_ref()) {
            let (reminder, deduped_count) = (admitted.reminder.clone(), admitted.replaced.len());
            reports.borrow_mut().push(ReminderReport { hook_event, reminder, deduped_count });
        }
    }

    /// Returns a spec as the run has it: with the fields that a variant replaces.
    #[must_use]
    pub fn overridden(&self, spec: ReminderSpec, producer: Option<&Arc<str>>) -> ReminderSpec {
        match &self.overrides {
            Some(overrides) => overrides.apply(spec, producer),
            None => spec,
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

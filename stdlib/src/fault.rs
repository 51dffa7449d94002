//! Raises of the language and faults of the core, into one another.

use crate::codes::AgentCode;

use crate::a2a::client::PeerError;
use crate::catalogue::{from_core, to_core};
use crate::convert::to_value;
use base::call::{CallError, CallErrorKind};
use base::codes::{CodeRef as CoreCode, Severity};
use eventlog::LogError;
use lang::diagnostic::Diagnostic;
use lang::diagnostic::code::CodeRef;
use lang::value::Value;
use lang::vm::{Raise, RunCode, Why};
use runtime::agent_loop::snapshot::SnapshotError;
use runtime::budget::BudgetError;
use runtime::lifecycle::ForcedUnshown;
use runtime::model::ModelError;
use runtime::note::Note;
use runtime::reminder::ReminderError;
use runtime::reminder::policy::PolicyRefusal;
use runtime::session::SessionError;
use runtime::workers::WorkerError;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// A raise of a script on its way through the core.
pub(crate) struct Thrown {
    raise: RefCell<Option<Box<Raise>>>,
    text: String,
    code: CodeRef,
    why: Why,
}

impl Thrown {
    /// Wraps a raise as a fault of the core.
    pub(crate) fn fault(raise: Box<Raise>) -> Rc<dyn CallError> {
        let text = match raise.why {
            Why::Thrown => lang::value::brief(&message_of(&raise.value)),
            _ => raise.message.clone(),
        };
        Rc::new(Self { text, code: raise.code, why: raise.why, raise: RefCell::new(Some(raise)) })
    }
}

/// A thrown error's message, or the thrown value itself.
fn message_of(value: &Value) -> Value {
    value.as_dict().and_then(|d| d.get_str("message")).unwrap_or(value).clone()
}

impl fmt::Debug for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thrown({})", self.text)
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl CallError for Thrown {
    fn kind(&self) -> CallErrorKind {
        match self.why {
            // `exit` inside a hook or tool ends the loop as a cancellation does.
            Why::Cancelled | Why::Abandoned | Why::Exit(_) => CallErrorKind::Cancelled,
            Why::Deadline(_) => CallErrorKind::Deadline,
            Why::Exhausted => CallErrorKind::Limit,
            Why::Thrown | Why::Error => CallErrorKind::Script,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CoreCode> {
        Some(to_core(self.code))
    }
}

/// A fault as a raise: the script's own comes back as it was.
pub(crate) fn to_raise(fault: &Rc<dyn CallError>) -> Box<Raise> {
    if let Some(thrown) = fault.as_any().downcast_ref::<Thrown>() {
        if let Some(raise) = thrown.raise.borrow_mut().take() {
            return raise;
        }
        return Raise::error(thrown.code, thrown.text.clone());
    }
    if let Some(error) = fault.as_any().downcast_ref::<ReminderError>() {
        return of_reminder(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<ModelError>() {
        return of_model(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<BudgetError>() {
        return of_budget(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<LogError>() {
        return of_log(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<SessionError>() {
        return of_session(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<SnapshotError>() {
        return of_snapshot(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<WorkerError>() {
        return of_worker(error);
    }
    if let Some(unshown) = fault.as_any().downcast_ref::<ForcedUnshown>() {
        return Raise::error(RunCode::Denied, unshown.to_string())
            .help("use a model with a system prompt, or correct its row of `[[capabilities]]` in harn.toml");
    }
    match fault.kind() {
        CallErrorKind::Cancelled => Raise::cancelled(fault.to_string()),
        _ => Raise::error(fault.code().map_or(RunCode::Outside.code(), from_core), fault.to_string()),
    }
}

/// An error of asking another agent.
pub(crate) fn of_peer(error: &PeerError) -> Box<Raise> {
    let mut raise = Raise::error(error.kind.code(), error.message.clone()).field("category", error.kind.as_str());
    for (name, value) in &error.facts {
        raise = raise.field(name, to_value(value));
    }
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

/// Returns the error of a request that a budget does not cover.
pub(crate) fn of_budget(error: &BudgetError) -> Box<Raise> {
    const FIELDS: [&str; 5] = ["category", "unit", "limit", "spent", "spent_on"];
    let data = error.to_data();
    let raise = Raise::error(from_core(error.budget_code()), error.to_string()).help(error.help());
    FIELDS
        .into_iter()
        .filter(|field| !data.get(field).is_nil())
        .fold(raise, |raise, field| raise.field(field, to_value(data.get(field))))
}

/// Returns the error of a reminder that the policy refuses.
pub(crate) fn of_policy(refusal: &PolicyRefusal) -> Box<Raise> {
    Raise::error(RunCode::Denied, format!("the reminder was {refusal}"))
        .help("change the reminder, or `[reminders.policy]` in harn.toml; the file of `HARN_POLICY` takes precedence")
}

/// A reminder's error, with the field it is about.
pub(crate) fn of_reminder(error: &ReminderError) -> Box<Raise> {
    let mut raise = Raise::error(from_core(error.code), error.message.clone()).field("field", error.field.as_str());
    if let Some(suggestion) = &error.suggestion {
        raise = raise.field("suggestion", suggestion.as_str());
    }
    if !error.field.is_empty() {
        raise = raise.labelled(format!("invalid `{}`", error.field));
    }
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

fn of_model(error: &ModelError) -> Box<Raise> {
    let mut raise = Raise::error(AgentCode::Model, error.to_string());
    raise = raise.field("category", error.kind.as_str());
    if let Some(status) = error.status {
        raise = raise.field("status", i64::from(status));
    }
    if let Some(ms) = error.retry_after_ms {
        raise = raise.field("retry_after_ms", i64::try_from(ms).unwrap_or(i64::MAX));
    }
    raise = raise.field("retryable", error.retryable);
    for (key, name) in [("provider", &error.provider), ("model", &error.model)] {
        if let Some(name) = name {
            raise = raise.field(key, name.as_ref());
        }
    }
    raise
}

/// An error of the event log; one who was too slow learns where to go on.
fn of_log(error: &LogError) -> Box<Raise> {
    let raise = Raise::error(from_core(error.code()), error.to_string()).help(error.help());
    match error {
        LogError::Lagged { lost, resume_from } => {
            let int = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            raise.field("lost", int(*lost)).field("resume_from", int(*resume_from))
        }
        _ => raise,
    }
}

/// An error of sessions.
pub(crate) fn of_session(error: &SessionError) -> Box<Raise> {
    match error {
        SessionError::Busy(_) => Raise::error(AgentCode::SessionBusy, error.to_string())
            .help("wait until that loop has ended, or omit `session_id` to use a new session"),
        SessionError::Reminder(error) => of_reminder(error),
        SessionError::Policy(refusal) => of_policy(refusal),
        _ => Raise::error(AgentCode::Session, error.to_string()),
    }
}

/// An error of snapshots of workers.
pub(crate) fn of_snapshot(error: &SnapshotError) -> Box<Raise> {
    let raise = Raise::error(AgentCode::Snapshot, error.to_string());
    match error {
        SnapshotError::Missing(_) => raise.help("the path is the `snapshot_path` of the suspended worker's handle"),
        SnapshotError::Claimed(path) => raise.help(format!(
            "a snapshot can be resumed only once; if the process that resumed it was killed, rename \
            `{path}.resumed` to `{path}`"
        )),
        SnapshotError::Newer(_) => raise.help("resume it with the version that wrote it, or with a later one"),
        SnapshotError::Unfit(_) => raise.help(
            "pass what a file cannot contain: `resume_agent(path, input, true, {tools: …, llm_caller: \
                …})`",
        ),
        SnapshotError::Held(_) => {
            raise.help("only one loop at a time can use a file; stop the other loop, or use another file")
        }
        SnapshotError::Broken(_) | SnapshotError::Io { .. } => raise,
    }
}

/// An error of workers.
pub(crate) fn of_worker(error: &WorkerError) -> Box<Raise> {
    match error {
        WorkerError::Unknown(_) => {
            Raise::error(AgentCode::Worker, error.to_string()).help("`list_agents()` lists the workers")
        }
        WorkerError::Itself(_) => Raise::error(AgentCode::WorkerState, error.to_string())
            .help("only the code that started a worker can wait for it, not the worker's own hooks and tools"),
        WorkerError::State { .. } | WorkerError::OwnParent(_) | WorkerError::Busy(_) => {
            Raise::error(AgentCode::WorkerState, error.to_string())
        }
    }
}

/// Returns the diagnostic of a note. A raise has a place; a note alone does not.
pub(crate) fn as_diagnostic(note: &Note) -> Diagnostic {
    let severity = match note.severity {
        Severity::Error => lang::diagnostic::Severity::Error,
        Severity::Warning => lang::diagnostic::Severity::Warning,
        Severity::Info => lang::diagnostic::Severity::Info,
    };
    let mut d = match &note.fault {
        Some(fault) => to_raise(fault).to_diagnostic(),
        None => Diagnostic::new(note.code.map_or(AgentCode::Note.code(), from_core), note.message.clone()),
    };
    d.severity = severity;
    if let Some(about) = &note.about {
        // An uncaught error of a handler does not end the run.
        d = match d.message.strip_prefix("uncaught error: ") {
            Some(said) => {
                d.message = format!("`{about}` failed: {said}");
                d.note("the run continues without it")
            }
            None => d.note(format!("reported for `{about}`")),
        };
    }
    d
}

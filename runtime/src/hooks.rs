//! Hooks: handlers that are told what a loop does and may answer. [`event`] names the moments and their payloads,
//! [`verdict`] how a handler's answer is read, [`ActionableEvent`] what it may have done at which event, [`registry`] who is
//! registered, [`mod@fire`] how they are told.

use std::any::Any;
use std::rc::Rc;

use crate::patience::TookTooLong;
use crate::reminder::ReminderError;
use crate::seam::{Answer, Fault, Outcome, Sort, Turn, fault};

mod action;
pub mod event;
pub mod fire;
mod listeners;
pub mod registry;
pub mod verdict;

pub use action::{
    ActionableEvent, CompactionAction, HookAction, PostToolUse, PostTurn, PreCompact, PreToolUse, PromptAction, Reply,
    ToolCallAction, ToolResultAction, TurnAction, UserPromptSubmit,
};
pub use event::{EventKind, EventSet, HookEvent, PermissionAnswer, Step};
pub use listeners::Listeners;
pub use registry::{Hooks, Pattern, PatternError, PersonaHook, SessionHook, ToolHook};
pub use verdict::Verdict;

/// A handler. It may call back into the session: no borrow of it is alive meanwhile.
pub trait Hook {
    /// Told of an event, it answers what is to be done.
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>>;

    /// What is reported of a reminder that it returned and that cannot be added. Who knows where the handler was written
    /// says so here.
    fn malformed(&self, error: &ReminderError) -> Rc<dyn Fault> {
        fault(error.clone())
    }

    /// What is reported of an answer that cannot be used.
    fn unusable(&self, why: &str) -> Rc<dyn Fault> {
        fault(Unusable(why.to_owned()))
    }

    /// What is reported where it took longer than so many milliseconds.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }

    /// Who it is, for diagnostics and for the `producer` of its reminders.
    fn name(&self) -> &str {
        "hook"
    }
}

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

impl Fault for Unusable {
    fn sort(&self) -> Sort {
        Sort::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Hooks: handlers that are notified of what a loop does and may answer. [`event`] defines the events and their
//! payloads, [`verdict`] reads a handler's answer, [`ActionableEvent`] defines which answers each event accepts,
//! [`registry`] holds the registered handlers, and [`mod@fire`] calls them.

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
    /// Handles an event and returns the verdict.
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>>;

    /// Returns the diagnostic for a returned reminder that cannot be added. Implementations that know the handler's
    /// source location add it here.
    fn malformed(&self, error: &ReminderError) -> Rc<dyn Fault> {
        fault(error.clone())
    }

    /// Returns the diagnostic for an answer that cannot be used.
    fn unusable(&self, why: &str) -> Rc<dyn Fault> {
        fault(Unusable(why.to_owned()))
    }

    /// Returns the diagnostic for a handler that took longer than `ms` milliseconds.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }

    /// Returns its name, for diagnostics and for the `producer` of its reminders.
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

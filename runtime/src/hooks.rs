//! Hooks: handlers that are notified of what a loop does and may answer. [`event`] defines the events and their
//! payloads, [`verdict`] reads a handler's answer, [`ActionableEvent`] defines which answers each event accepts,
//! and [`registry`] holds the registered handlers.

use std::any::Any;
use std::rc::Rc;

use base::call::{Answer, CallError, CallErrorKind, Outcome, call_error};

use crate::reminder::ReminderError;
use crate::seam::Turn;
use crate::timeout::TimedOut;

mod action;
pub mod event;
pub mod registry;
pub mod verdict;

pub(crate) use action::new_prompt;
pub use action::{
    ActionableEvent, CompactionAction, HookAction, HookReply, PostToolUse, PostTurn, PreCompact, PreToolUse,
    PromptAction, ToolCallAction, ToolResultAction, TurnAction, UserPromptSubmit,
};
pub use event::{HookEvent, PermissionAnswer};
pub use registry::{Hooks, Pattern, PatternError, PersonaHook, SessionHook, ToolHook};
pub use verdict::Verdict;

/// A handler. It may call back into the session, because no borrow of the session is alive meanwhile.
pub trait Hook {
    /// Handles an event and returns the verdict.
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>>;

    /// Returns the diagnostic for a returned reminder that cannot be added. Implementations that know the handler's
    /// source location add it here.
    fn malformed(&self, error: &ReminderError) -> Rc<dyn CallError> {
        call_error(error.clone())
    }

    /// Returns the diagnostic for an answer that cannot be used.
    fn unusable(&self, why: &str) -> Rc<dyn CallError> {
        call_error(InvalidReply(why.to_owned()))
    }

    /// Returns the diagnostic for a handler that took longer than `ms` milliseconds.
    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        call_error(TimedOut { ms })
    }

    /// Returns its name, for diagnostics and for the `producer` of its reminders.
    fn name(&self) -> &str {
        "hook"
    }
}

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidReply(pub String);

impl CallError for InvalidReply {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

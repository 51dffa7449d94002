//! Permissions: deciding whether a tool may run. A script's [`Permissions`] come first; calls they leave open are
//! submitted to the [`Approver`], if one is attached to the run.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::message::{ToolCall, ToolSpec};
use crate::patience::TookTooLong;

use super::{Answer, Fault, Outcome, Preview, Turn, fault};

/// A policy that decides before a tool runs.
pub trait Permissions: fmt::Debug {
    /// Why a call needs a permission; nothing where it needs none.
    fn wanted(&self, call: &ToolCall) -> Option<Arc<str>>;
    /// Returns the diagnostic for a policy that took longer than `ms` milliseconds, a handler's limit.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }
    /// Decides, or leaves it open; a fault counts as a refusal.
    fn ask<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall, reason: &'a Arc<str>) -> Answer<'a, Outcome<Ruling>>;
}

/// The approver of a run, such as a person at an editor. Asked about calls that the script leaves undecided.
pub trait Approver: fmt::Debug {
    /// Returns the handling of a call before the script is asked.
    fn demand(&self, tool: &ToolSpec, call: &ToolCall) -> Demand;
    /// Asks, and shows what the call is about to replace. This may take hours; the future is dropped where the loop is cancelled or its deadline passes.
    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        tool: &'a ToolSpec,
        call: &'a ToolCall,
        preview: Option<&'a Preview>,
        reason: &'a Arc<str>,
    ) -> Answer<'a, Permit>;
}

/// The handling that an approver demands for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// It may run, unless the script says otherwise.
    Nothing,
    /// To be asked, unless the script decides; why.
    Asked(Arc<str>),
    /// It must not run, whatever the script says; why.
    Refused(Arc<str>),
}

/// A script's ruling on a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The final answer.
    Final(Permit),
    /// Undecided, with the reason: the approver is asked, and without an approver the answer is no.
    Open(Option<Arc<str>>),
}

/// The outcome of a requested permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    /// Whether the call may run.
    pub allow: bool,
    /// Why, for the model and for handlers.
    pub reason: Option<Arc<str>>,
}

impl Permit {
    /// The call may run.
    #[must_use]
    pub fn allow() -> Permit {
        Permit { allow: true, reason: None }
    }

    /// The call must not run.
    pub fn deny(reason: impl Into<Arc<str>>) -> Permit {
        Permit { allow: false, reason: Some(reason.into()) }
    }
}

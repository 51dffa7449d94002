//! Permissions: deciding whether a tool may run. A script's [`Permissions`] come first; calls they leave open are
//! submitted to the [`Approver`], if one is attached to the run.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::message::{ToolCall, ToolSpec};
use crate::timeout::TimedOut;

use base::call::{Answer, CallError, Outcome, call_error};

use super::{Preview, Turn};

/// A policy that decides before a tool runs.
pub trait Permissions: fmt::Debug {
    /// Returns the reason a call needs a permission; `None` if it needs none.
    fn wanted(&self, call: &ToolCall) -> Option<Arc<str>>;
    /// Returns the diagnostic for a policy that took longer than `ms` milliseconds, a handler's limit.
    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        call_error(TimedOut { ms })
    }
    /// Decides, or leaves it open; a fault counts as a refusal.
    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        reason: &'a Arc<str>,
    ) -> Answer<'a, Outcome<PermissionRuling>>;
}

/// The approver of a run, such as a person at an editor. Asked about calls that the script leaves undecided.
pub trait Approver: fmt::Debug {
    /// Returns the handling of a call before the script is asked.
    fn demand(&self, tool: &ToolSpec, call: &ToolCall) -> ApprovalDemand;
    /// Asks the approver and shows the content that the call is about to replace. This may take hours; the future is
    /// dropped if the loop is cancelled or its deadline passes.
    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        tool: &'a ToolSpec,
        call: &'a ToolCall,
        preview: Option<&'a Preview>,
        reason: &'a Arc<str>,
    ) -> Answer<'a, PermissionOutcome>;
}

/// The handling that an approver demands for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDemand {
    /// It may run, unless the script refuses it.
    Nothing,
    /// The approver must be asked for this reason, unless the script decides.
    Asked(Arc<str>),
    /// It must not run, whatever the script decides, for this reason.
    Refused(Arc<str>),
}

/// A script's ruling on a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionRuling {
    /// The final answer.
    Final(PermissionOutcome),
    /// Undecided, with the reason: the approver is asked, and without an approver the answer is no.
    Open(Option<Arc<str>>),
}

/// The outcome of a requested permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionOutcome {
    /// Whether the call may run.
    pub allow: bool,
    /// The reason, for the model and for handlers.
    pub reason: Option<Arc<str>>,
}

impl PermissionOutcome {
    /// Allows the call.
    #[must_use]
    pub fn allow() -> PermissionOutcome {
        PermissionOutcome { allow: true, reason: None }
    }

    /// Denies the call.
    pub fn deny(reason: impl Into<Arc<str>>) -> PermissionOutcome {
        PermissionOutcome { allow: false, reason: Some(reason.into()) }
    }
}

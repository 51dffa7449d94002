//! Permissions: who decides whether a tool may run. A script's [`Permissions`] come first; what they leave open is asked of
//! the [`Approver`], where somebody stands behind the run.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::message::{ToolCall, ToolSpec};
use crate::patience::TookTooLong;

use super::{Answer, Fault, Outcome, Preview, Turn, fault};

/// Who decides before a tool runs.
pub trait Permissions: fmt::Debug {
    /// Why a call needs a permission; nothing where it needs none.
    fn wanted(&self, call: &ToolCall) -> Option<Arc<str>>;
    /// What is reported where the answer takes longer than a handler may.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }
    /// Decides, or leaves it open; a fault counts as a refusal.
    fn ask<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall, reason: &'a Arc<str>) -> Answer<'a, Outcome<Ruling>>;
}

/// Whoever stands behind a run: a person at an editor. Asked about what a script does not decide.
pub trait Approver: fmt::Debug {
    /// What becomes of a call before the script is asked.
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

/// What an approver wants of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// It may run, unless the script says otherwise.
    Nothing,
    /// To be asked, unless the script decides; why.
    Asked(Arc<str>),
    /// It must not run, whatever the script says; why.
    Refused(Arc<str>),
}

/// What a script says about a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// That is it.
    Final(Permit),
    /// It does not decide: whoever stands behind the run is asked, and where nobody does, the answer is no. Why.
    Open(Option<Arc<str>>),
}

/// What became of a permission that was asked for.
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

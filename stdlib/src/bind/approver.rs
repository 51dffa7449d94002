//! The approver of the run.

use crate::clock::RunClock;
use base::call::Answer;
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{ApprovalDemand, Approver, PermissionOutcome, Preview, Turn};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// An approver that the run waits for like everything outside: a clock that jumps stops meanwhile.
pub(crate) struct OutsideApprover {
    pub(crate) approver: Rc<dyn Approver>,
    pub(crate) clock: Rc<RunClock>,
}

impl Approver for OutsideApprover {
    fn demand(&self, tool: &ToolSpec, call: &ToolCall) -> ApprovalDemand {
        self.approver.demand(tool, call)
    }

    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        tool: &'a ToolSpec,
        call: &'a ToolCall,
        preview: Option<&'a Preview>,
        reason: &'a Arc<str>,
    ) -> Answer<'a, PermissionOutcome> {
        match self.approver.ask(turn, tool, call, preview, reason) {
            Answer::Now(permit) => Answer::Now(permit),
            Answer::Later(later) => Answer::later(async move {
                let _outside = self.clock.outside();
                later.await
            }),
        }
    }
}

impl fmt::Debug for OutsideApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.approver.fmt(f)
    }
}

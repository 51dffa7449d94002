//! The seams: each delivers the items that a host has queued and notifies handlers that it was passed.

use base::call::Outcome;
use eventlog::Ticket;

use crate::hooks::HookEvent;
use crate::reminder::bridge::Seam;

use super::observe::LoopEvent;
use super::{LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Passes a seam. Returns the number of delivered items that the model should see. A stopped loop does not call the
    /// model again, so queued items stay queued for a loop that does.
    pub(super) async fn pass(&self, seam: Seam, state: &mut LoopState) -> Outcome<usize> {
        if seam == Seam::DaemonIdlePre {
            self.let_see(state.iteration, LoopEvent::Idle);
        }
        let is_stopped = self.scope.check().is_err();
        let items = if is_stopped { Vec::new() } else { self.session.deliver(&self.scope, seam) };
        let delivered = items.len();
        if delivered > 0 {
            // A delivery is not reported while a crash could still lose its record.
            self.scope.log.durable(Ticket::ALL).await?;
        }
        let visible = if seam == Seam::LoopExit { 0 } else { delivered };
        items.iter().take(visible).for_each(|item| self.let_see(state.iteration, LoopEvent::Delivered(item)));
        state.unseen += u32::try_from(visible).unwrap_or(u32::MAX);
        let event = HookEvent::LoopCheckpoint {
            session_id: self.session.id(),
            iteration: state.iteration,
            kind: seam,
            delivered,
            dispatch_skipped: seam == Seam::PreToolDispatch && delivered > 0,
        };
        self.emit(&event).await?;
        Ok(visible)
    }
}

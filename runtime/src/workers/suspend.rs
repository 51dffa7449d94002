//! Being suspended: at the border of an iteration, where nothing is half done.

use std::rc::Rc;

use crate::agent_loop::LoopState;
use crate::data::Data;
use crate::hooks::EventKind;
use crate::seam::{Outcome, Scope};

use super::{Suspension, Worker, WorkerStatus};

impl Worker {
    /// Takes what the loop left and tells of the suspension. Whatever is thrown meanwhile, the worker is suspended; the
    /// first that was thrown is given back.
    pub(super) async fn suspend(self: &Rc<Self>, scope: &Scope, left: Box<LoopState>) -> Outcome<()> {
        let request = self.parking.requested();
        let suspension = Suspension {
            reason: request.as_ref().map_or_else(|| "suspended".into(), |request| request.reason.clone()),
            suspended_at_turn: self.session.with(|state| state.turns),
            suspended_at_ms: scope.clock.now_ms(),
            by_itself: request.is_some_and(|request| request.by_itself),
        };
        let reason = || Data::dict([("reason", Data::from(&suspension.reason))]);
        let before = self.tell_session(scope, EventKind::PreSuspend, reason()).await;
        self.park(left, suspension.clone());
        self.become_for_certain(WorkerStatus::Suspended);
        self.parking.clear();
        let fields = reason().with("suspension", suspension.to_data());
        let waiting = if suspension.by_itself {
            self.tell(scope, EventKind::WorkerWaitingForInput, fields.clone()).await
        } else {
            Ok(())
        };
        let told = self.tell(scope, EventKind::WorkerSuspended, fields).await;
        let persona = reason().with("persona", (&self.options.persona).into());
        let paused = self.tell_session(scope, EventKind::OnPersonaPaused, persona).await;
        let after = self.tell_session(scope, EventKind::PostSuspend, reason()).await;
        self.rest();
        before.and(waiting).and(told).and(paused).and(after)
    }
}

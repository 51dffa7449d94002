//! Suspension at the start of an iteration, when no work is half done.

use std::path::Path;
use std::rc::Rc;

use base::call::{Outcome, call_error};
use base::data::Data;

use crate::agent_loop::LoopState;
use crate::agent_loop::snapshot::StoredWork;
use crate::agent_loop::snapshot::{Snapshot, SnapshotError, SnapshotTarget, SnapshotText, Suspension};
use crate::events::EventKind;
use crate::note::Note;
use crate::scope::Scope;

use super::{Worker, WorkerStatus};

impl Worker {
    /// Builds the snapshot of the worker, which has just been suspended.
    fn snapshot(&self, suspension: Suspension, state: LoopState) -> Snapshot {
        let work = StoredWork {
            id: self.id.clone(),
            name: self.name.clone(),
            task: self.task.clone(),
            mode: self.mode,
            recipe: &self.recipe,
            tools: self.parts.tools.iter().map(|tool| tool.spec().name.clone()).collect(),
        };
        Snapshot::of(work, &self.session, suspension, state, None)
    }

    /// Stores the state that the loop left and emits the event. The worker is suspended whatever is thrown meanwhile;
    /// the first error is returned.
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
        let written = self.store(scope, suspension).await;
        self.rest();
        before.and(waiting).and(told).and(paused).and(after).and(written)
    }

    /// Rewrites the snapshot of a suspended worker after a change.
    ///
    /// # Errors
    /// Fails if the snapshot was claimed meanwhile, or cannot be written.
    pub async fn store_again(&self) -> Result<(), SnapshotError> {
        let mut turn = self.storage.turn().await;
        let (Some(path), Some(suspension), Some(left)) = (self.snapshot_path(), self.suspension(), self.left()) else {
            return Ok(());
        };
        let text = SnapshotText::of(&self.snapshot(suspension, left));
        turn.write(text, SnapshotTarget::Unclaimed(Path::new(&*path).into())).await.map(drop)
    }

    /// Writes the snapshot last, so that it contains what observers of the event have added. If a requested file cannot
    /// be written, that is a failure; otherwise it is noted, and the worker can be resumed only in this process.
    async fn store(&self, scope: &Scope, suspension: Suspension) -> Outcome<()> {
        let wanted = self.take_wanted_path();
        let is_wanted = wanted.is_some();
        let target = match (wanted, self.snapshot_path(), &self.recipe.folder) {
            // Its own previous file was claimed when it was resumed.
            (Some(path), _, _) | (None, Some(path), Some(_)) => SnapshotTarget::File(Path::new(&*path).into()),
            (None, None, Some(folder)) => {
                SnapshotTarget::Folder { folder: Path::new(&**folder).into(), stem: self.id.clone() }
            }
            (None, _, None) => return Ok(()),
        };
        let mut turn = self.storage.turn().await;
        // An observer may have closed it.
        let Some(left) = self.left().filter(|_| self.status() == WorkerStatus::Suspended) else { return Ok(()) };
        let text = SnapshotText::of(&self.snapshot(suspension, left));
        match turn.write(text, target).await {
            Ok(path) => self.set_snapshot_path(Some(path.to_string_lossy().into())),
            Err(error) if is_wanted => return Err(call_error(error)),
            Err(error) => {
                self.set_snapshot_path(None);
                scope.note(Note::of_fault(&*self.name, call_error(error)));
            }
        }
        Ok(())
    }
}

//! The workers of a run.
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::ids::shortened;

use super::{Worker, WorkerError, WorkerStatus};

/// The workers of a run. A run may start workers for months, so the oldest of the ended ones are forgotten.
pub struct Workers {
    capacity: usize,
    known: RefCell<BTreeMap<Arc<str>, NumberedWorker>>,
    /// Number of workers added.
    added: Cell<usize>,
}

/// A worker and its number in the order in which they began.
type NumberedWorker = (usize, Rc<Worker>);

impl Default for Workers {
    fn default() -> Workers {
        Workers::of(Workers::CAPACITY)
    }
}

impl Workers {
    fn of(capacity: usize) -> Workers {
        Workers { capacity, known: RefCell::default(), added: Cell::default() }
    }

    /// Number of workers above which the oldest of the ended ones are forgotten.
    pub const CAPACITY: usize = 10_000;

    /// Adds a worker. The id of a forgotten one is unknown from then on; its session stays.
    pub fn add(&self, worker: &Rc<Worker>) {
        let mut known = self.known.borrow_mut();
        if known.len() >= self.capacity {
            // Several at once, so that the search costs little per worker.
            let mut ended: Vec<_> = known.values().filter(|(_, worker)| has_ended(worker)).cloned().collect();
            ended.sort_by_key(|(place, _)| *place);
            for (_, worker) in ended.into_iter().take((self.capacity / 10).max(1)) {
                known.remove(&worker.id);
            }
        }
        let place = self.added.replace(self.added.get() + 1);
        known.insert(worker.id.clone(), (place, worker.clone()));
    }

    /// Returns the worker with an id.
    pub fn get(&self, id: &str) -> Result<Rc<Worker>, WorkerError> {
        let known = self.known.borrow();
        known.get(id).map(|(_, worker)| worker.clone()).ok_or_else(|| WorkerError::Unknown(shortened(id)))
    }

    /// Returns all workers, in the order in which they began.
    #[must_use]
    pub fn list(&self) -> Vec<Rc<Worker>> {
        let known = self.known.borrow();
        let mut all: Vec<_> = known.values().collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, worker)| worker.clone()).collect()
    }

    /// Drops all workers, because they may hold the run.
    pub fn clear(&self) {
        let known = std::mem::take(&mut *self.known.borrow_mut());
        drop(known);
    }
}

/// Returns whether a worker has ended and none of its results waits to be read.
fn has_ended(worker: &Worker) -> bool {
    let is_over = matches!(worker.status(), WorkerStatus::Completed | WorkerStatus::Failed | WorkerStatus::Cancelled);
    is_over && worker.is_at_rest() && worker.unseen_failure().is_none()
}

#[cfg(test)]
mod tests {
    use super::super::worker::WorkerIdentity;
    use super::*;
    use crate::agent_loop::snapshot::{Recipe, SnapshotStorage, WorkerMode};
    use crate::agent_loop::{LoopOptions, LoopParts};
    use crate::conditions::NoConditions;
    use crate::hooks::Hooks;
    use crate::model::{Delta, ModelReply, Request};
    use crate::reminder_providers::ReminderProviders;
    use crate::seam::{Model, Turn};
    use crate::session::Session;
    use base::call::{Answer, Outcome};
    use base::ids::IdStream;

    struct SilentModel;

    impl Model for SilentModel {
        fn call<'a>(
            &'a self,
            _: Turn<'a>,
            _: &'a Request,
            _: &'a dyn Fn(Delta<'_>),
        ) -> Answer<'a, Outcome<ModelReply>> {
            Answer::later(std::future::pending())
        }
    }

    fn worker(id: &str) -> Rc<Worker> {
        let parts = LoopParts {
            model: Rc::new(SilentModel),
            source: None,
            tools: Vec::new(),
            hooks: Rc::new(Hooks::new()),
            providers: Rc::new(ReminderProviders::new(Vec::new())),
            conditions: Rc::new(NoConditions),
            judge: None,
            files: None,
            slots: Rc::default(),
            post_turn: None,
            live: Rc::new(|_| {}),
        };
        let session = Session::new(id, IdStream::new(1, id), 0);
        let (id, mode, recipe) = (id.into(), WorkerMode::Agent, Recipe::default());
        Worker::new(
            WorkerIdentity {
                id,
                name: "w".into(),
                mode,
                handed: Vec::new(),
                recipe,
                storage: SnapshotStorage::default(),
            },
            session,
            parts,
            LoopOptions::new(""),
        )
    }

    #[test]
    fn the_oldest_workers_that_have_ended_are_forgotten() {
        let workers = Workers::of(10);
        for n in 0..25 {
            let worker = worker(&format!("w{n:02}"));
            workers.add(&worker);
            // Every fifth keeps working.
            if n % 5 > 0 {
                worker.abandon();
            }
        }
        let ids: Vec<_> = workers.list().iter().map(|worker| worker.id.to_string()).collect();
        assert_eq!(ids, ["w00", "w05", "w10", "w15", "w19", "w20", "w21", "w22", "w23", "w24"]);
        assert!(workers.get("w01").is_err() && workers.get("w05").is_ok());
    }
}

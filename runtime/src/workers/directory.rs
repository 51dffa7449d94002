//! All workers of a run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{Worker, WorkerError};
use crate::ids::shortened;

/// All workers of a run.
#[derive(Default)]
pub struct Workers {
    known: RefCell<BTreeMap<Arc<str>, Placed>>,
}

/// A worker and which of all it was.
type Placed = (usize, Rc<Worker>);

impl Workers {
    /// Enters a worker.
    pub fn add(&self, worker: &Rc<Worker>) {
        let mut known = self.known.borrow_mut();
        let place = known.len();
        known.insert(worker.id.clone(), (place, worker.clone()));
    }

    /// The worker with an id.
    pub fn get(&self, id: &str) -> Result<Rc<Worker>, WorkerError> {
        let known = self.known.borrow();
        known.get(id).map(|(_, worker)| worker.clone()).ok_or_else(|| WorkerError::Unknown(shortened(id)))
    }

    /// All of them, in the order in which they began.
    #[must_use]
    pub fn list(&self) -> Vec<Rc<Worker>> {
        let known = self.known.borrow();
        let mut all: Vec<_> = known.values().collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, worker)| worker.clone()).collect()
    }

    /// Lets all of them go: what they hold may hold the run.
    pub fn clear(&self) {
        let known = std::mem::take(&mut *self.known.borrow_mut());
        drop(known);
    }
}

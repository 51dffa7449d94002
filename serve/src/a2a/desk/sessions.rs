//! [`Sessions`]: which session works on which task now, and so whom its host serves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cell::Cell;
use crate::host::{Event, Peer, PermissionQuestion, Verdict, Waiting};

/// Which session works on which task now.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Arc<str>, Arc<Cell>>>);

impl Sessions {
    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Cell>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it works on this one.
    pub(super) fn begin(&self, session_id: &Arc<str>, cell: &Arc<Cell>) {
        self.lock().insert(session_id.clone(), cell.clone());
    }

    /// It works on this one no more. Another that it works on by now stays.
    pub(super) fn end(&self, session_id: &str, cell: &Arc<Cell>) {
        let mut sessions = self.lock();
        if sessions.get(session_id).is_some_and(|at_work| Arc::ptr_eq(at_work, cell)) {
            sessions.remove(session_id);
        }
    }

    fn find(&self, session_id: &str) -> Option<Arc<Cell>> {
        self.lock().get(session_id).cloned()
    }

    /// How many are at work.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }
}

impl Peer for Sessions {
    fn show(&self, session_id: &Arc<str>, event: Event) {
        // What a session does beside any task is told to nobody.
        if let Some(cell) = self.find(session_id) {
            cell.show(event);
        }
    }

    /// Those who follow have bounded buffers of their own, and whoever does not take what is told is cut off.
    fn room(&self, _: &Arc<str>) -> Waiting<()> {
        Box::pin(std::future::ready(()))
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        match self.find(&question.session_id) {
            Some(cell) => cell.permit(question),
            None => {
                let why = "no task is active, so no client can answer";
                Box::pin(std::future::ready(Verdict::Unusable(why.into())))
            }
        }
    }
}

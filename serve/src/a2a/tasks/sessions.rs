//! [`SessionTasks`]: maps each session to the task that it runs, and so events of the host to their task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared_task::SharedTask;
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};

/// The task that each session runs.
#[derive(Default)]
pub(crate) struct SessionTasks(Mutex<HashMap<Arc<str>, Arc<SharedTask>>>);

impl SessionTasks {
    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<SharedTask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the session runs this task.
    pub(super) fn begin(&self, session_id: &Arc<str>, shared_task: &Arc<SharedTask>) {
        self.lock().insert(session_id.clone(), shared_task.clone());
    }

    /// Records that the session no longer runs this task. If it already runs another one, that one stays.
    pub(super) fn end(&self, session_id: &str, shared_task: &Arc<SharedTask>) {
        let mut sessions = self.lock();
        if sessions.get(session_id).is_some_and(|at_work| Arc::ptr_eq(at_work, shared_task)) {
            sessions.remove(session_id);
        }
    }

    fn find(&self, session_id: &str) -> Option<Arc<SharedTask>> {
        self.lock().get(session_id).cloned()
    }

    /// Returns the id of the task that a session runs.
    pub(crate) fn task_of(&self, session_id: &str) -> Option<Arc<str>> {
        self.find(session_id).map(|shared_task| shared_task.id.clone())
    }

    /// Returns the number of busy sessions.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }
}

impl Peer for SessionTasks {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        // Events of a session without a task are dropped.
        if let Some(shared_task) = self.find(session_id) {
            shared_task.show(event);
        }
    }

    /// Subscribers have bounded buffers of their own, and slow ones are cut off.
    fn room(&self, _: &Arc<str>) -> Waiting<()> {
        Box::pin(std::future::ready(()))
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        match self.find(&question.session_id) {
            Some(shared_task) => shared_task.permit(question),
            None => {
                let why = "no task is active, so no client can answer";
                Box::pin(std::future::ready(Verdict::Unusable(why.into())))
            }
        }
    }
}

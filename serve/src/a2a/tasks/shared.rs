//! [`ManagerState`]: the state shared by everything on a task manager.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stdlib::Replies;

use super::directory::TaskDirectory;
use super::media::InputModes;
use super::sessions::SessionTasks;
use super::shared_task::SharedTask;
use super::{ENDED_STATES, TaskJournal};
use crate::a2a::context::ContextPool;
use crate::host::Host;
use crate::metrics::Counter;

/// The state shared by everything on a task manager.
pub(super) struct ManagerState {
    pub(super) host: Host,
    pub(super) sessions: Arc<SessionTasks>,
    pub(super) contexts: ContextPool,
    pub(super) journal: Arc<dyn TaskJournal>,
    /// The agent's name, used in rejections.
    pub(super) agent_id: Arc<str>,
    /// The maximum number of tasks that are not over.
    pub(super) open: usize,
    /// The maximum number of ended tasks in memory.
    pub(super) finished: usize,
    /// The media types that messages may have.
    pub(super) input_modes: InputModes,
    /// The kind of response that callers get.
    pub(super) replies: Replies,
    pub(super) directory: Mutex<TaskDirectory>,
    /// The number of ended tasks, by state.
    pub(super) ended: [Counter; ENDED_STATES.len()],
}

impl ManagerState {
    /// Locks the directory. Code that holds this lock does not panic or wait.
    pub(super) fn directory(&self) -> MutexGuard<'_, TaskDirectory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an ended task. A task left to the next process does not count.
    pub(super) fn count(&self, shared_task: &SharedTask) {
        let state = shared_task.state();
        if let Some(at) = ENDED_STATES.iter().position(|(known, _)| *known == state) {
            self.ended[at].add();
        }
    }

    /// Moves an open task to the ended ones.
    pub(super) fn over(&self, shared_task: &Arc<SharedTask>) {
        self.directory().end(shared_task, self.finished);
    }
}

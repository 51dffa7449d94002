//! [`Shared`]: the state shared by everything on a desk.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stdlib::Replies;

use super::cell::Cell;
use super::directory::Directory;
use super::media::InputModes;
use super::sessions::Sessions;
use super::{ENDED_STATES, Journal};
use crate::a2a::context::Contexts;
use crate::host::Host;
use crate::metrics::Counter;

/// The state shared by everything on a desk.
pub(super) struct Shared {
    pub(super) host: Host,
    pub(super) sessions: Arc<Sessions>,
    pub(super) contexts: Contexts,
    pub(super) journal: Arc<dyn Journal>,
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
    pub(super) directory: Mutex<Directory>,
    /// The number of ended tasks, by state.
    pub(super) ended: [Counter; ENDED_STATES.len()],
}

impl Shared {
    /// Locks the directory. Code that holds this lock does not panic or wait.
    pub(super) fn directory(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an ended task. A task left to the next process does not count.
    pub(super) fn count(&self, cell: &Cell) {
        let state = cell.state();
        if let Some(at) = ENDED_STATES.iter().position(|(known, _)| *known == state) {
            self.ended[at].add();
        }
    }

    /// Moves an open task to the ended ones.
    pub(super) fn over(&self, cell: &Arc<Cell>) {
        self.directory().end(cell, self.finished);
    }
}

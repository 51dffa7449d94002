//! [`Shared`]: what all that happens at a desk has in common.

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

/// What all that happens at a desk has in common.
pub(super) struct Shared {
    pub(super) host: Host,
    pub(super) sessions: Arc<Sessions>,
    pub(super) contexts: Contexts,
    pub(super) journal: Arc<dyn Journal>,
    /// Who rejects.
    pub(super) agent_id: Arc<str>,
    /// Tasks that are not over, at most.
    pub(super) open: usize,
    /// Tasks in memory that are over, at most.
    pub(super) finished: usize,
    /// The media types that messages may have.
    pub(super) input_modes: InputModes,
    /// What callers get in response.
    pub(super) replies: Replies,
    pub(super) directory: Mutex<Directory>,
    /// How many tasks are over, by state.
    pub(super) ended: [Counter; ENDED_STATES.len()],
}

impl Shared {
    /// Nothing panics while it holds the lock, and nothing waits.
    pub(super) fn directory(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a task that is over. One that is left to the next process is not.
    pub(super) fn count(&self, cell: &Cell) {
        let state = cell.state();
        if let Some(at) = ENDED_STATES.iter().position(|(known, _)| *known == state) {
            self.ended[at].add();
        }
    }

    /// A task that has begun is over.
    pub(super) fn over(&self, cell: &Arc<Cell>) {
        self.directory().end(cell, self.finished);
    }
}

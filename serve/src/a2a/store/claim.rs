//! Ids that callers choose: the log says whether there is a task with one, and between that look and the task's first record whoever
//! begins it holds a lock of the id. So of two processes that are sent the same one, one has the task.

use std::thread::sleep;
use std::time::{Duration, Instant};

use runtime::workers::snapshot::{Lock, SnapshotError};
use sha2::{Digest, Sha256};

use super::super::desk::Claim;
use super::{StoreError, TaskStore};

/// How long one waits for another that begins a task, or looks for tasks.
const PATIENCE: Duration = Duration::from_secs(10);

impl TaskStore {
    /// The right to begin a task with this id. Waits for whoever has it.
    pub(super) fn claimed(&self, task_id: &str) -> Result<Claim, StoreError> {
        Ok(Claim(Some(self.wait_for(&name_of(task_id))?)))
    }

    /// A lock beside the log, once whoever holds it lets go.
    pub(super) fn wait_for(&self, name: &str) -> Result<Lock, StoreError> {
        let start = Instant::now();
        loop {
            match self.0.store.lock(name) {
                Ok(lock) => return Ok(lock),
                Err(SnapshotError::Held(_)) if start.elapsed() < PATIENCE => sleep(Duration::from_millis(10)),
                Err(error) => return Err(StoreError::CannotClaim(error.to_string())),
            }
        }
    }
}

/// The lock of an id, which may hold what no name of a file does. No process and no session has such a name.
fn name_of(task_id: &str) -> String {
    let digest = Sha256::digest(task_id.as_bytes());
    let digest = digest[..16].iter().map(|byte| format!("{byte:02x}"));
    format!("task-{}", digest.collect::<String>())
}

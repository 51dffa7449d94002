//! Locks beside the log, which are waited for.

use std::thread::sleep;
use std::time::{Duration, Instant};

use runtime::workers::snapshot::{Lock, SnapshotError};

use super::{StoreError, TaskStore};

/// How long one waits for another that looks for tasks.
const PATIENCE: Duration = Duration::from_secs(10);

impl TaskStore {
    /// Takes a lock beside the log, as soon as its holder releases it.
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

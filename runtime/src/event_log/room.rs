//! [`Room`]: a place in a log that is set aside before a lock is taken, so that the append under the lock never waits.

use std::fmt;
use std::sync::Arc;

/// Room for records that are about to be appended with [`EventLog::append_in`](super::EventLog::append_in). Dropping it
/// frees what was not used.
#[derive(Default)]
pub struct Room {
    /// `None` if the log sets nothing aside.
    store: Option<Arc<dyn RoomStore>>,
    pub(super) records: usize,
    pub(super) bytes: usize,
}

/// A store that reserves room.
pub(super) trait RoomStore: Send + Sync {
    /// Frees room that was not used.
    fn free(&self, records: usize, bytes: usize);
}

impl Room {
    pub(super) fn new(store: Arc<dyn RoomStore>, records: usize, bytes: usize) -> Room {
        Room { store: Some(store), records, bytes }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(store) = self.store.take().filter(|_| self.records > 0 || self.bytes > 0) {
            store.free(self.records, self.bytes);
        }
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("records", &self.records).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

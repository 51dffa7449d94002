//! [`LogReservation`]: space in a log that is reserved before a lock is taken, so that what is appended under it has room.

use std::fmt;
use std::sync::Arc;

/// Room for records to append with [`SharedLog::put_in`](super::SharedLog::put_in). Dropping it frees unused room.
#[derive(Default)]
pub struct LogReservation {
    /// `None` if the log reserves no room.
    store: Option<Arc<dyn ReservationStore>>,
    pub(super) records: usize,
    pub(super) bytes: usize,
}

/// A store that reserves room.
pub(super) trait ReservationStore: Send + Sync {
    /// Frees unused room.
    fn free(&self, records: usize, bytes: usize);
}

impl LogReservation {
    pub(super) fn new(store: Arc<dyn ReservationStore>, records: usize, bytes: usize) -> LogReservation {
        LogReservation { store: Some(store), records, bytes }
    }
}

impl Drop for LogReservation {
    fn drop(&mut self) {
        if let Some(store) = self.store.take().filter(|_| self.records > 0 || self.bytes > 0) {
            store.free(self.records, self.bytes);
        }
    }
}

impl fmt::Debug for LogReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("records", &self.records).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

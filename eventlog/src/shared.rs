//! [`SharedLog`]: a log that several threads write to. [`EventLog`] is the interface for a single thread; this is the
//! one that can be sent between threads.

use std::pin::Pin;
use std::rc::Rc;

use super::{EventLog, LogError, LogReservation, NewRecord, Ticket};

/// A future that is ready once records are durable. It may be awaited on any thread.
pub type DurableFuture = Pin<Box<dyn Future<Output = Result<(), LogError>> + Send>>;

/// A log that several threads write to.
pub trait SharedLog: Send + Sync {
    /// Appends a record like [`EventLog::append`].
    fn put(&self, record: NewRecord) -> Ticket;

    /// Reserves room for a number of records with a total size in bytes. Returns `None` if the writer is too far behind.
    fn reserve_now(&self, _records: usize, _bytes: usize) -> Option<LogReservation> {
        Some(LogReservation::default())
    }

    /// Appends a record like [`EventLog::append`], into reserved room. A record that needs more is accepted all the same.
    fn put_in(&self, _room: &mut LogReservation, record: NewRecord) -> Ticket {
        self.put(record)
    }

    /// Waits like [`EventLog::durable`] until everything up to a ticket would survive the end of the process.
    fn settled(&self, upto: Ticket) -> DurableFuture;

    /// Returns the same log for work on one thread.
    fn here(&self) -> Rc<dyn EventLog>;
}

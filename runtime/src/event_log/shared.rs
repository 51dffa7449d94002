//! [`SharedLog`]: a log that several threads write to. What a thread does with a log is [`EventLog`]; this is what goes
//! from one thread to another.

use std::pin::Pin;
use std::rc::Rc;

use super::{EventLog, LogError, NewRecord, Room, Ticket};

/// Ready once records are durable. It may be waited for on any thread.
pub type Settled = Pin<Box<dyn Future<Output = Result<(), LogError>> + Send>>;

/// A log that several threads write to.
pub trait SharedLog: Send + Sync {
    /// Takes a record, as [`EventLog::append`] does.
    fn put(&self, record: NewRecord) -> Ticket;

    /// Reserves room for a number of records with a total size in bytes, without ever waiting. Returns `None` if the
    /// writer is too far behind. The room reserved here is separate; [`SharedLog::put`] does not fill it.
    fn reserve_now(&self, _records: usize, _bytes: usize) -> Option<Room> {
        Some(Room::default())
    }

    /// Takes a record as [`EventLog::append_in`] does.
    fn put_in(&self, _room: &mut Room, record: NewRecord) -> Ticket {
        self.put(record)
    }

    /// Waits, as [`EventLog::durable`] does, until everything up to a ticket would survive the end of the process.
    fn settled(&self, upto: Ticket) -> Settled;

    /// Returns the same log for work on one thread.
    fn here(&self) -> Rc<dyn EventLog>;
}

//! [`EventLog`]: the interface of a log for a single thread, and [`Subscription`], its reader.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, BlockingPool, LocalFuture, Outcome, call_error};

use crate::{LogReader, NewRecord, Record, RecordBatch, RecordFilter, RecordPosition, Ticket};

/// A reader that yields history first and then appended records, each once and in order. A reader overtaken by the
/// log's retention fails once with [`LogError::Lagged`] and goes on after the gap.
pub trait Subscription {
    /// Returns whether [`Subscription::try_next`] has to wait for the disk.
    fn waits_for_disk(&self) -> bool {
        false
    }
    /// Returns the next record if it is available already.
    fn try_next(&mut self) -> Answer<'_, Outcome<Option<Arc<Record>>>>;
    /// Waits for the next record and returns it.
    fn next(&mut self) -> LocalFuture<'_, Outcome<Option<Arc<Record>>>>;
}

/// An append-only list of records. A caller sees the records it has appended in all its later reads.
pub trait EventLog {
    /// Appends a record, in the order of the calls. It is safe only once [`EventLog::durable`] returns; a failed write
    /// is reported there, and so is a record without room. Never waits.
    fn append(&self, record: NewRecord) -> Ticket;

    /// Returns a wait for room, if too many records are on their way to the disk. A run that does not wait for it before it
    /// goes on may lose records. `None` if there is room, or nothing can be written.
    fn room(&self) -> Option<LocalFuture<'static, ()>> {
        None
    }

    /// Appends all records of a batch in order, like [`EventLog::append`].
    fn tell(&self, batch: Arc<dyn RecordBatch>, occurred_at_ms: u64) -> Ticket {
        let records = (0..batch.count()).map(|place| NewRecord::of(&batch, place, occurred_at_ms));
        // The ticket of a refused record is greater than all others.
        records.fold(Ticket::NONE, |last, record| last.max(self.append(record)))
    }

    /// Appends a record and returns its place once it is written and would survive the end of the process.
    ///
    /// # Errors
    /// The record was not written and will not be.
    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<RecordPosition>>;

    /// Returns a reader of the log, for this thread or another one.
    fn reader(&self) -> LogReader;

    /// Returns the id, within its topic, of the record last appended there, or `None` if the topic is empty. Waits for
    /// the disk if the log is a file: the thread of a session reads with [`EventLog::reader`] on a pool.
    fn latest(&self, topic: &str) -> Outcome<Option<u64>> {
        self.reader().latest(topic).map_err(call_error)
    }

    /// Waits until everything up to a ticket would survive the end of the process.
    fn durable(&self, upto: Ticket) -> LocalFuture<'_, Outcome<()>>;

    /// Reads at most `limit` records after `filter.after`, oldest first. Waits for the disk like [`EventLog::latest`].
    fn read(&self, filter: &RecordFilter, limit: usize) -> Outcome<Vec<Arc<Record>>> {
        self.reader().read(filter, limit).map_err(call_error)
    }

    /// Reads history after `filter.after`, then new records. Waits for the disk like [`EventLog::latest`], also in the
    /// reads of the subscription.
    fn subscribe(&self, filter: RecordFilter) -> Box<dyn Subscription>;

    /// Subscribes like [`EventLog::subscribe`], and waits for the disk on a pool.
    fn subscribe_on(
        &self,
        filter: RecordFilter,
        _pool: Rc<dyn BlockingPool>,
    ) -> Answer<'static, Box<dyn Subscription>> {
        Answer::Now(self.subscribe(filter))
    }
}

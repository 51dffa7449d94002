//! The event log: an append-only list of records by topic. A trait with two backends: [`MemoryLog`] for a single
//! process that keeps nothing, and [`SqliteLog`] in a file.
//!
//! Durability is requested explicitly: [`EventLog::append`] returns a [`Ticket`] at once, [`EventLog::durable`] waits
//! until everything up to it would survive a crash. A record's id and cursor are known only once it is written:
//! [`EventLog::emit`] waits for that.
//!
//! - [`LogBackend`]: the backend as a person names it, `memory` or `sqlite:PATH`.
//! - [`LogFile`]: a log in a file, read while others write it.
//! - [`RunTaggedLog`]: adds the run to each record of the runtime, since many runs write to a log in a file.
//! - [`RecordPayload`]: the content of a record; [`PayloadSource`]: content from the runtime, converted to data on demand; [`RecordBatch`]:
//!   records that are appended together.
//! - [`LogReader`]: reads a log on any thread.
//! - [`LogReservation`]: space for records, reserved before a lock is taken.
//! - [`SharedLog`]: a log that several threads write to.
//! - [`RecordRemover`]: removes single records from a log in a file.
//! - [`ObservedLog`]: a log whose records another subscriber sees too.
//! - [`InterceptedLog`]: a log with a [`RecordInterceptor`] in front of it.
//! - [`Topic`]: the topics that scripts cannot write to.
//! - [`LogError`]: the errors; its codes are [`LogCode`].

use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::seam::{Answer, BlockingPool, LocalFuture, Outcome, call_error};

mod backend;
mod codes;
mod error;
mod intercepted;
mod memory;
mod observed;
mod payload;
mod read;
mod reader;
mod reservation;
mod run_tagged;
mod shared;
mod sqlite;
mod topic;

pub use backend::LogBackend;
pub use codes::LogCode;
pub use error::LogError;
pub use intercepted::{InterceptedLog, RecordInterceptor};
pub use memory::{MemoryLog, MemoryRetention};
pub use observed::{ObservedLog, RecordObserver};
pub use payload::{PayloadSource, RecordBatch, RecordPayload};
pub use reader::LogReader;
pub use reservation::LogReservation;
pub use run_tagged::{RUN_ID, RunTaggedLog};
pub use shared::{DurableFuture, SharedLog};
pub use sqlite::{
    LogFile, RecordRemover, RunCursors, SqliteLog, SqliteOptions, Synchronous, ask_while_reading, while_wanted, within,
};
pub use topic::Topic;

/// A record that is about to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    /// The topic.
    pub topic: Arc<str>,
    /// The kind of event.
    pub kind: Arc<str>,
    /// Content of the record.
    pub payload: RecordPayload,
    /// Headers, a dict or nil.
    pub headers: Data,
    /// Time of the event, in milliseconds since 1970-01-01 UTC.
    pub occurred_at_ms: u64,
}

impl NewRecord {
    /// Maximum size of a record, in bytes as [`NewRecord::weight`] counts them.
    pub const MOST: usize = 64 << 20;

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        Self::FRAME + self.topic.len() + self.kind.len() + self.payload.weight() + self.headers.weight()
    }

    /// Size of a record besides its content, without headers.
    const FRAME: usize = 64;
    const NO_HEADERS: usize = 16;

    /// Returns the record of a batch at index `place`.
    #[must_use]
    pub fn of(batch: &Arc<dyn RecordBatch>, place: usize, occurred_at_ms: u64) -> NewRecord {
        let (topic, kind) = batch.names(place);
        let payload = RecordPayload::part(batch.clone(), place);
        NewRecord { topic: topic.clone(), kind: kind.clone(), payload, headers: Data::Nil, occurred_at_ms }
    }
}

/// A record of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The topic.
    pub topic: Arc<str>,
    /// The kind of event.
    pub kind: Arc<str>,
    /// Content of the record.
    pub payload: RecordPayload,
    /// Headers, a dict or nil.
    pub headers: Data,
    /// Time of the event, in milliseconds since 1970-01-01 UTC. Clocks jump; the order is that of the cursors.
    pub occurred_at_ms: u64,
    /// The record's number within its topic, from 1.
    pub id: u64,
    /// The record's place in the whole log, from 1.
    pub cursor: u64,
}

impl Record {
    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        NewRecord::FRAME + self.topic.len() + self.kind.len() + self.payload.weight() + self.headers.weight()
    }

    /// Converts the record to the dict that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict([
            ("id", Data::from(self.id)),
            ("cursor", self.cursor.into()),
            ("topic", (&self.topic).into()),
            ("kind", (&self.kind).into()),
            ("payload", self.payload.to_data()),
            ("headers", self.headers.clone()),
            ("occurred_at_ms", self.occurred_at_ms.into()),
        ])
    }
}

/// A position in the sequence of appended records. Meaningful only to the log that issued it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// The empty ticket, which is durable at once.
    pub const NONE: Ticket = Ticket(0);
    /// The ticket of everything appended so far.
    pub const ALL: Ticket = Ticket(u64::MAX);

    /// Returns the ticket with a number: that of a record, counted from 1 in the order of appending.
    #[must_use]
    pub fn of_number(number: u64) -> Ticket {
        Ticket(number)
    }

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The id and cursor of a written record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPosition {
    /// Its number within its topic, from 1.
    pub id: u64,
    /// Its place in the whole log, from 1.
    pub cursor: u64,
}

/// Selection of records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Only this topic.
    pub topic: Option<Arc<str>>,
    /// Only kinds with this prefix.
    pub kind_prefix: Option<Arc<str>>,
    /// Only records after this cursor; 0 means from the oldest that is kept.
    pub after: u64,
}

impl RecordFilter {
    /// Creates a filter for all records of one topic.
    pub fn topic(topic: impl Into<Arc<str>>) -> RecordFilter {
        RecordFilter { topic: Some(topic.into()), ..RecordFilter::default() }
    }

    /// Returns whether a record of this topic and kind is selected.
    #[must_use]
    pub fn takes(&self, topic: &str, kind: &str) -> bool {
        self.topic.as_deref().is_none_or(|wanted| wanted == topic) && self.takes_kind(kind)
    }

    fn takes_kind(&self, kind: &str) -> bool {
        self.kind_prefix.as_deref().is_none_or(|prefix| kind.starts_with(prefix))
    }
}

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
    /// is reported there. Waits only for room, if too many records are queued already.
    fn append(&self, record: NewRecord) -> Ticket;

    /// Reserves room for a number of records with a total size in bytes. Waits like [`EventLog::append`], so call it
    /// before taking a lock.
    fn reserve(&self, _records: usize, _bytes: usize) -> LogReservation {
        LogReservation::default()
    }

    /// Appends a record like [`EventLog::append`], into reserved room, and never waits: it may be called while a lock
    /// is held. A record that needs more than the reserved room is accepted all the same.
    fn append_in(&self, _room: &mut LogReservation, record: NewRecord) -> Ticket {
        self.append(record)
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

#[cfg(test)]
mod agreement;

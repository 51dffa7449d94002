//! The event log: an append-only list of records by topic. A trait with two backends: [`MemoryLog`] for a single
//! process that keeps nothing, and [`SqliteLog`] in a file.
//!
//! Durability is requested explicitly: [`EventLog::append`] returns a [`Ticket`] at once, [`EventLog::durable`] waits
//! until everything up to it would survive a crash. A record's id and cursor are known only once it is written:
//! [`EventLog::emit`] waits for that.
//!
//! - [`Log`]: the contract of every backend, for any thread: batches of a subject, conditions, owners, pages, tails.
//! - [`LogBackend`]: the backend as a person names it, `memory` or `sqlite:PATH`.
//! - [`LogFile`]: a log in a file, read while others write it; [`IndexedRow`]: a row of an index of it; [`LogDefect`]:
//!   what is wrong with one.
//! - [`LogMark`]: a place between two records that were appended.
//! - [`RecordPayload`]: the content of a record; [`PayloadSource`]: content from the runtime, converted to data on demand; [`RecordBatch`]:
//!   records that are appended together.
//! - [`LogReader`]: reads a log on any thread.
//! - [`LogReservation`]: space for records, reserved before a lock is taken.
//! - [`SharedLog`]: a log that several threads write to.
//! - [`RecordRemover`]: removes single records from a log in a file.
//! - [`ObservedLog`]: a log whose records another subscriber sees too.
//! - [`InterceptedLog`]: a log with a [`RecordInterceptor`] in front of it.
//! - [`LogError`]: the errors; its codes are [`LogCode`].

mod backend;
mod codes;
mod error;
mod intercepted;
mod local;
mod log;
mod memory;
mod observed;
mod payload;
mod reader;
mod record;
mod reservation;
mod shared;
mod sqlite;

pub use backend::LogBackend;
pub use codes::LogCode;
pub use error::LogError;
pub use intercepted::{InterceptedLog, RecordInterceptor};
pub use local::{EventLog, Subscription};
pub use log::{
    Append, AppendError, Batch, ClaimError, Lease, LeaseClock, LiveFeed, Log, LogFuture, Page, Query, Subject,
    SubjectQuery, Tail, TailItem, Written,
};
pub use memory::{MemoryLog, MemoryRetention};
pub use observed::{ObservedLog, RecordObserver};
pub use payload::{PayloadSource, RecordBatch, RecordPayload};
pub use reader::LogReader;
pub use record::{NewRecord, RUN_ID, Record, RecordFilter, RecordPosition, Ticket};
pub use reservation::LogReservation;
pub use shared::{DurableFuture, SharedLog};
pub use sqlite::{
    IndexedRow, LogDefect, LogFile, LogMark, RecordRemover, RunCursors, SqliteLog, SqliteOptions, Synchronous,
    ask_while_reading, while_wanted, within,
};

#[cfg(test)]
mod agreement;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;

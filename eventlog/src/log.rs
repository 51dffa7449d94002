//! [`Log`]: the contract of every backend of the event log, whatever it stores records in.
//!
//! - [`Batch`]: records of one subject that are appended together or not at all.
//! - [`Append`]: a batch on its way; [`Written`]: its place once it is safe.
//! - [`Query`], [`Page`]: selections of records, read in pages; [`Tail`]: all that follows, and what comes later.
//! - [`Lease`]: the right to append to a subject, which one owner has at a time.
//! - [`SubjectQuery`], [`Subject`]: the subjects of a log, newest first.
//! - [`LeaseClock`]: the time by which leases end.
//!
//! A subject is what records belong to: a run, a session, a task, the hub. The log knows its name only.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base::data::Data;

use crate::{LogError, NewRecord, RUN_ID, Record, Ticket};

mod clock;
mod live;

pub use clock::LeaseClock;
pub use live::LiveFeed;
pub(crate) use live::LiveFeeds;

/// A future that may be awaited on any thread.
pub type LogFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Records of one subject, of which all are appended, in order and without others between them, or none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Name of the subject.
    pub subject: Arc<str>,
    /// The epoch of the owner that appends; without it, ownership is not asked.
    pub epoch: Option<u64>,
    /// Number of records that the subject must have had so far.
    pub expected: Option<u64>,
    /// Name of the request. The second batch of a subject with the same one is not appended: it is answered with the place
    /// of the first, even if its other conditions do not hold.
    pub request_id: Option<Arc<str>>,
    /// A word for what the subject is from now on, by which [`Log::subjects`] finds it.
    pub state: Option<Arc<str>>,
    /// The records; an empty batch changes the state only.
    pub records: Vec<NewRecord>,
}

impl Batch {
    /// Creates a batch without conditions.
    pub fn new(subject: impl Into<Arc<str>>, records: Vec<NewRecord>) -> Batch {
        Batch { subject: subject.into(), records, ..Batch::default() }
    }

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.records.iter().map(NewRecord::weight).sum::<usize>() + self.subject.len()
    }

    /// Writes the subject into the headers of its records, where every reader finds it.
    pub(crate) fn stamp(&mut self) {
        for record in &mut self.records {
            if record.headers.get(RUN_ID).as_str() != Some(&self.subject) {
                let headers = if record.headers.is_nil() { Data::dict::<Arc<str>>([]) } else { record.headers.clone() };
                record.headers = headers.with(RUN_ID, Data::from(&self.subject));
            }
        }
    }
}

/// The reason a batch was not appended. Nothing of it is in the log, now or later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Another owner has the subject, or the lease has ended.
    #[error("the subject belongs to epoch {epoch}")]
    Fenced {
        /// The last epoch of the subject.
        epoch: u64,
    },
    /// Others have appended.
    #[error("the subject has {sequence} records")]
    Unexpected {
        /// Number of records that the subject has had so far.
        sequence: u64,
    },
    /// Too much waits to be written.
    #[error("too many records wait to be written")]
    Full,
    /// The log cannot be written.
    #[error(transparent)]
    Unavailable(#[from] LogError),
}

/// The place of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Cursors of its records, in order.
    pub cursors: Vec<u64>,
    /// Number of records that the subject has had with them.
    pub sequence: u64,
    /// Whether an earlier batch with the same request id was appended instead.
    pub repeated: bool,
}

/// A batch on its way: a future of its place. The batch is appended whether or not the future is awaited.
#[must_use]
pub struct Append {
    /// Stands for everything appended up to this batch; see [`crate::EventLog::durable`].
    pub ticket: Ticket,
    outcome: AppendOutcome,
}

enum AppendOutcome {
    Now(Option<Result<Written, AppendError>>),
    Later(LogFuture<'static, Result<Written, AppendError>>),
}

impl Append {
    /// Creates the answer of a backend that knows the outcome.
    pub fn now(ticket: Ticket, outcome: Result<Written, AppendError>) -> Append {
        Append { ticket, outcome: AppendOutcome::Now(Some(outcome)) }
    }

    /// Creates the answer of a backend that writes later.
    pub fn later(
        ticket: Ticket,
        outcome: impl Future<Output = Result<Written, AppendError>> + Send + 'static,
    ) -> Append {
        Append { ticket, outcome: AppendOutcome::Later(Box::pin(outcome)) }
    }
}

impl Future for Append {
    type Output = Result<Written, AppendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.outcome {
            // Polled again after its end, which a caller must not do.
            AppendOutcome::Now(outcome) => outcome.take().map_or(Poll::Pending, Poll::Ready),
            AppendOutcome::Later(outcome) => outcome.as_mut().poll(cx),
        }
    }
}

/// A selection of records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Only this subject.
    pub subject: Option<Arc<str>>,
    /// Only these topics; none means all.
    pub topics: Vec<Arc<str>>,
    /// Only kinds with this prefix.
    pub kind_prefix: Option<Arc<str>>,
    /// Only records after this cursor.
    pub after: u64,
    /// Only records before this cursor.
    pub before: Option<u64>,
    /// Whether the newest come first.
    pub backwards: bool,
}

impl Query {
    /// Creates a query for the records of one subject.
    pub fn subject(name: impl Into<Arc<str>>) -> Query {
        Query { subject: Some(name.into()), ..Query::default() }
    }

    /// Creates a query for the records of one topic.
    pub fn topic(name: impl Into<Arc<str>>) -> Query {
        Query { topics: vec![name.into()], ..Query::default() }
    }

    /// Returns whether a record is selected.
    #[must_use]
    pub fn takes(&self, record: &Record) -> bool {
        record.cursor > self.after
            && self.before.is_none_or(|before| record.cursor < before)
            && (self.topics.is_empty() || self.topics.contains(&record.topic))
            && self.kind_prefix.as_deref().is_none_or(|prefix| record.kind.starts_with(prefix))
            && self.subject.as_deref().is_none_or(|subject| record.headers.get(RUN_ID).as_str() == Some(subject))
    }
}

/// Some of the records of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The records, in the order of the query.
    pub records: Vec<Arc<Record>>,
    /// Cursor up to which records that the query selects may have been removed; 0 if none was.
    pub trimmed_before: u64,
    /// Cursor of the last record that the log had had when the page was read, whatever the query selects; 0 if it had none.
    pub head: u64,
}

/// An item that a tail yields.
#[derive(Debug, Clone, PartialEq)]
pub enum TailItem {
    /// The next record.
    Record(Arc<Record>),
    /// Records with cursors below `before` may have been removed before they were read. What is left of them follows.
    Gap {
        /// The cursor.
        before: u64,
    },
}

/// A reader that yields what a query selects after a cursor, oldest first, and then what is appended, each once.
pub trait Tail: Send {
    /// Waits for the next item. A wait that is given up loses nothing.
    fn next(&mut self) -> LogFuture<'_, Result<TailItem, LogError>>;
}

/// The right to append to a subject, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The subject.
    pub subject: Arc<str>,
    /// The owner, as it named itself.
    pub owner: Arc<str>,
    /// Rises with each change of the owner.
    pub epoch: u64,
}

/// The reason a lease was not given or renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// Another owner has the subject.
    #[error("{owner} has the subject (epoch {epoch})")]
    Held {
        /// The owner, as it named itself.
        owner: Arc<str>,
        /// Its epoch.
        epoch: u64,
    },
    /// The lease has ended, and another owner may have the subject.
    #[error("the lease has ended (epoch {epoch})")]
    Ended {
        /// The last epoch of the subject.
        epoch: u64,
    },
    /// The log cannot be read or written.
    #[error(transparent)]
    Unavailable(#[from] LogError),
}

/// A selection of subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectQuery {
    /// Only names with this prefix.
    pub prefix: Option<Arc<str>>,
    /// Only subjects in this state.
    pub state: Option<Arc<str>>,
    /// Only subjects that this owner has now.
    pub owner: Option<Arc<str>>,
    /// Only subjects whose last record has a lower cursor; the last cursor of a page asks for the next page.
    pub before: Option<u64>,
    /// Maximum number of subjects.
    pub limit: usize,
}

impl Default for SubjectQuery {
    fn default() -> SubjectQuery {
        SubjectQuery { prefix: None, state: None, owner: None, before: None, limit: 100 }
    }
}

/// A subject with records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its name.
    pub name: Arc<str>,
    /// Number of records that it has had, removed ones included.
    pub sequence: u64,
    /// Cursor of the last one.
    pub last_cursor: u64,
    /// The word of the last batch that gave one.
    pub state: Option<Arc<str>>,
    /// Its present lease.
    pub lease: Option<Lease>,
}

/// An append-only log of records by subject and topic. All methods return at once; futures may be awaited on any thread.
/// A caller sees what it appended in all its later reads.
pub trait Log: Send + Sync {
    /// Appends a batch, if its conditions hold at that moment.
    fn append(&self, batch: Batch) -> Append;

    /// Reads at most `limit` records of a query.
    fn read(&self, query: Query, limit: usize) -> LogFuture<'static, Result<Page, LogError>>;

    /// Reads what a query selects, and what is appended later. `before` and `backwards` have no effect.
    fn tail(&self, query: Query) -> Box<dyn Tail>;

    /// Makes `owner` the owner of a subject for a time. An owner may claim again what it has: its epoch stays.
    fn claim(&self, subject: Arc<str>, owner: Arc<str>, ttl: Duration)
    -> LogFuture<'static, Result<Lease, ClaimError>>;

    /// Extends a lease to a time from now.
    fn renew(&self, lease: Lease, ttl: Duration) -> LogFuture<'static, Result<(), ClaimError>>;

    /// Ends a lease. A lease that has ended before is not an error.
    fn release(&self, lease: Lease) -> LogFuture<'static, Result<(), LogError>>;

    /// Returns the present lease of a subject.
    fn owner_of(&self, subject: Arc<str>) -> LogFuture<'static, Result<Option<Lease>, LogError>>;

    /// Returns subjects, those with the newest records first.
    fn subjects(&self, query: SubjectQuery) -> LogFuture<'static, Result<Vec<Subject>, LogError>>;

    /// Removes the records of a subject with a lower cursor, and what is known of their requests. Returns their number.
    fn trim(&self, subject: Arc<str>, before: u64) -> LogFuture<'static, Result<u64, LogError>>;

    /// Returns the feed of pieces of a subject that are not stored, such as text while it streams.
    fn live(&self, subject: &str) -> LiveFeed;
}

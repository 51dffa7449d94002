//! The event log: an append-only list of records by topic. A trait with several homes; [`MemoryLog`] is the one for a
//! single process that keeps nothing.
//!
//! Durability is asked for, not assumed: [`EventLog::append`] gives a cursor at once, [`EventLog::durable`] waits until
//! everything up to a cursor would survive.

use std::sync::Arc;

use crate::data::Data;
use crate::seam::{Local, Outcome};

mod memory;

pub use memory::MemoryLog;

/// A record that is about to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    /// The topic.
    pub topic: Arc<str>,
    /// The kind of event.
    pub kind: Arc<str>,
    /// What happened.
    pub payload: Data,
    /// Headers, a dict or nil.
    pub headers: Data,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub occurred_at_ms: u64,
}

/// A record of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The topic.
    pub topic: Arc<str>,
    /// The kind of event.
    pub kind: Arc<str>,
    /// What happened.
    pub payload: Data,
    /// Headers, a dict or nil.
    pub headers: Data,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub occurred_at_ms: u64,
    /// The record's number within its topic, from 1.
    pub id: u64,
    /// The record's place in the whole log, from 1.
    pub cursor: u64,
}

impl Record {
    /// As scripts see it.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict([
            ("id", Data::from(self.id)),
            ("cursor", self.cursor.into()),
            ("topic", (&self.topic).into()),
            ("kind", (&self.kind).into()),
            ("payload", self.payload.clone()),
            ("headers", self.headers.clone()),
            ("occurred_at_ms", self.occurred_at_ms.into()),
        ])
    }
}

/// Which records are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this topic.
    pub topic: Option<Arc<str>>,
    /// Only kinds that begin so.
    pub kind_prefix: Option<Arc<str>>,
    /// Only records behind this cursor.
    pub after: u64,
}

impl Filter {
    /// All records of one topic.
    pub fn topic(topic: impl Into<Arc<str>>) -> Filter {
        Filter { topic: Some(topic.into()), ..Filter::default() }
    }

    /// Whether a record of this topic and kind is wanted.
    #[must_use]
    pub fn takes(&self, topic: &str, kind: &str) -> bool {
        self.topic.as_deref().is_none_or(|wanted| wanted == topic)
            && self.kind_prefix.as_deref().is_none_or(|prefix| kind.starts_with(prefix))
    }
}

/// A reader that gets history first and then what is appended.
pub trait Subscription {
    /// The next record that is there already.
    fn try_next(&mut self) -> Outcome<Option<Arc<Record>>>;
    /// The next record, waiting for one.
    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>>;
}

/// An append-only list of records.
pub trait EventLog {
    /// Writes a record and gives its cursor. It is seen by readers at once, but it is safe only once
    /// [`EventLog::durable`] says so.
    fn append(&self, record: NewRecord) -> u64;

    /// The id, within its topic, of the record last appended there; nothing where the topic is empty.
    fn latest(&self, topic: &str) -> Outcome<Option<u64>>;

    /// Waits until everything up to a cursor would survive a crash; `u64::MAX` means all that was appended so far.
    fn durable(&self, upto: u64) -> Local<'_, Outcome<()>>;

    /// Reads at most `limit` records behind `filter.after`, oldest first.
    fn read(&self, filter: &Filter, limit: usize) -> Outcome<Vec<Arc<Record>>>;

    /// Reads history behind `filter.after`, then what comes.
    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription>;
}

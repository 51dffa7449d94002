//! Records, their places in the log, and selections of them.

use std::sync::Arc;

use base::data::Data;

use crate::{RecordBatch, RecordPayload};

/// The header of a record that names its run.
pub const RUN_ID: &str = "run_id";

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
    pub(crate) const FRAME: usize = 64;
    pub(crate) const NO_HEADERS: usize = 16;

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

    /// Reads a record from a dict that [`Record::to_data`] made, as logs in JSON lines contain it. A log that was written manually may lack numbers; `cursor` then replaces them.
    ///
    /// # Errors
    /// Describes the missing part, as the end of a sentence.
    pub fn from_data(data: &Data, cursor: u64) -> Result<Record, String> {
        if data.as_dict().is_none() {
            return Err(format!("a record must be a dict, got {}", data.type_name()));
        }
        let text = |field: &str| match data.get(field) {
            Data::Str(text) if !text.is_empty() => Ok(text.clone()),
            Data::Nil => Err(format!("`{field}` is missing")),
            _ => Err(format!("`{field}` is not a string")),
        };
        let number = |field: &str, otherwise: u64| match data.get(field) {
            Data::Nil => Ok(otherwise),
            given => given
                .as_int()
                .and_then(|number| u64::try_from(number).ok())
                .ok_or_else(|| format!("`{field}` is not a number of at least 0")),
        };
        Ok(Record {
            topic: text("topic")?,
            kind: text("kind")?,
            payload: data.get("payload").clone().into(),
            headers: data.get("headers").clone(),
            occurred_at_ms: number("occurred_at_ms", 0)?,
            id: number("id", cursor)?,
            cursor: number("cursor", cursor)?,
        })
    }
}

/// A position in the sequence of appended records. Meaningful only to the log that issued it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);

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

    pub(crate) fn takes_kind(&self, kind: &str) -> bool {
        self.kind_prefix.as_deref().is_none_or(|prefix| kind.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            topic: "t".into(),
            kind: "k".into(),
            payload: Data::dict([("a", Data::from(1))]).into(),
            headers: Data::Nil,
            occurred_at_ms: 5,
            id: 2,
            cursor: 7,
        };
        assert_eq!(Record::from_data(&record.to_data(), 99).unwrap(), record);
        let least = Data::from_json(r#"{"topic":"t","kind":"k"}"#).unwrap();
        assert_eq!(Record::from_data(&least, 3).unwrap().cursor, 3);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (json, part) in [
            ("[]", "got list"),
            ("{}", "`topic` is missing"),
            (r#"{"topic":1}"#, "`topic` is not a string"),
            (r#"{"topic":"t"}"#, "`kind` is missing"),
            (r#"{"topic":"t","kind":"k","cursor":-1}"#, "`cursor` is not a number"),
        ] {
            let error = Record::from_data(&Data::from_json(json).unwrap(), 1).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}

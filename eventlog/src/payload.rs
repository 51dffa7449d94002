//! [`RecordPayload`]: the content of a record.
//!
//! A turn of a loop appends a dozen records, and most logs in memory are never read. The runtime's payloads are
//! therefore kept in their original form, [`PayloadSource`], and converted to data when they are read or a file is written.
//! Records appended together share their facts.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use base::data::Data;

/// The runtime's content of one or more records, in a shape of its own.
pub trait PayloadSource: fmt::Debug + Send + Sync {
    /// Converts the payload of the record at index `place`.
    fn to_data(&self, place: usize) -> Data;
    /// Returns its approximate size as data, in bytes.
    fn weight(&self, place: usize) -> usize;
    /// Appends the payload as JSON. A source that is often written to a file can do so without data in between.
    fn write_json(&self, place: usize, json: &mut Vec<u8>) {
        write_data(&self.to_data(place), json);
    }
}

/// Appends a value as JSON.
fn write_data(data: &Data, json: &mut Vec<u8>) {
    let start = json.len();
    if serde_json::to_writer(&mut *json, data).is_err() {
        // Does not happen: keys are strings, and a vector takes all.
        json.truncate(start);
        json.extend_from_slice(b"null");
    }
}

/// Records that the runtime writes together: their payloads, topics and kinds.
pub trait RecordBatch: PayloadSource {
    /// Returns the number of records.
    fn count(&self) -> usize;
    /// Returns topic and kind of the record at index `place`.
    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>);
}

/// The content of a record; it reads like [`Data`].
#[derive(Clone)]
pub struct RecordPayload(PayloadForm);

#[derive(Clone)]
enum PayloadForm {
    Plain(Data),
    Deferred(DeferredPayload),
}

#[derive(Clone)]
struct DeferredPayload {
    facts: Arc<dyn PayloadSource>,
    place: u32,
    /// The converted data, cached on first read.
    read: OnceLock<Box<Data>>,
}

impl RecordPayload {
    /// Creates a payload that is converted to data on first read.
    pub fn of(facts: impl PayloadSource + 'static) -> RecordPayload {
        RecordPayload::part(Arc::new(facts), 0)
    }

    /// Creates the payload for index `place` of facts that several records share.
    pub fn part(facts: Arc<dyn PayloadSource>, place: usize) -> RecordPayload {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        RecordPayload(PayloadForm::Deferred(DeferredPayload { facts, place, read: OnceLock::new() }))
    }

    /// Converts the payload to data without caching the result.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match &self.0 {
            PayloadForm::Plain(data) => data.clone(),
            PayloadForm::Deferred(told) => told.read.get().map_or_else(|| told.to_data(), |read| read.as_ref().clone()),
        }
    }

    /// Appends the payload as JSON.
    pub(super) fn write_json(&self, json: &mut Vec<u8>) {
        match &self.0 {
            PayloadForm::Plain(data) => write_data(data, json),
            PayloadForm::Deferred(told) => match told.read.get() {
                Some(read) => write_data(read, json),
                None => told.facts.write_json(told.place as usize, json),
            },
        }
    }

    /// Inserts an entry.
    pub fn set(&mut self, key: &str, value: Data) {
        self.0 = PayloadForm::Plain(self.to_data().with(key, value));
    }

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        match &self.0 {
            PayloadForm::Plain(data) => data.weight(),
            PayloadForm::Deferred(told) => told.facts.weight(told.place as usize),
        }
    }
}

impl DeferredPayload {
    fn to_data(&self) -> Data {
        self.facts.to_data(self.place as usize)
    }
}

impl Deref for RecordPayload {
    type Target = Data;

    fn deref(&self) -> &Data {
        match &self.0 {
            PayloadForm::Plain(data) => data,
            PayloadForm::Deferred(told) => told.read.get_or_init(|| Box::new(told.to_data())),
        }
    }
}

impl From<Data> for RecordPayload {
    fn from(data: Data) -> RecordPayload {
        RecordPayload(PayloadForm::Plain(data))
    }
}

impl PartialEq for RecordPayload {
    fn eq(&self, other: &RecordPayload) -> bool {
        **self == **other
    }
}

impl PartialEq<Data> for RecordPayload {
    fn eq(&self, other: &Data) -> bool {
        **self == *other
    }
}

impl fmt::Debug for RecordPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_data(), f)
    }
}

//! [`Payload`]: the content of a record.
//!
//! A turn of a loop appends a dozen records, and most logs in memory are never read. The runtime's payloads are
//! therefore kept in their original form, [`Facts`], and converted to data when they are read or a file is written.
//! Records appended together share their facts.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::data::Data;

/// The runtime's content of one or more records, in a shape of its own.
pub trait Facts: fmt::Debug + Send + Sync {
    /// Converts the payload of the record at index `place`.
    fn to_data(&self, place: usize) -> Data;
    /// Roughly the bytes that this takes as data.
    fn weight(&self, place: usize) -> usize;
}

/// All records that the runtime writes at once: what they tell, and what they are called.
pub trait Batch: Facts {
    /// Returns the number of records.
    fn count(&self) -> usize;
    /// Returns topic and kind of the record at index `place`.
    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>);
}

/// The content of a record; it reads like [`Data`].
#[derive(Clone)]
pub struct Payload(Form);

#[derive(Clone)]
enum Form {
    Plain(Data),
    Told(Told),
}

#[derive(Clone)]
struct Told {
    facts: Arc<dyn Facts>,
    place: u32,
    /// The converted data, cached on first read.
    read: OnceLock<Box<Data>>,
}

impl Payload {
    /// Creates a payload that is converted to data on first read.
    pub fn of(facts: impl Facts + 'static) -> Payload {
        Payload::part(Arc::new(facts), 0)
    }

    /// Creates the payload for index `place` of facts that several records share.
    pub fn part(facts: Arc<dyn Facts>, place: usize) -> Payload {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        Payload(Form::Told(Told { facts, place, read: OnceLock::new() }))
    }

    /// Converts the payload to data without caching the result.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match &self.0 {
            Form::Plain(data) => data.clone(),
            Form::Told(told) => told.read.get().map_or_else(|| told.to_data(), |read| read.as_ref().clone()),
        }
    }

    /// Puts an entry in.
    pub fn set(&mut self, key: &str, value: Data) {
        self.0 = Form::Plain(self.to_data().with(key, value));
    }

    /// Roughly the bytes that it takes.
    #[must_use]
    pub fn weight(&self) -> usize {
        match &self.0 {
            Form::Plain(data) => data.weight(),
            Form::Told(told) => told.facts.weight(told.place as usize),
        }
    }
}

impl Told {
    fn to_data(&self) -> Data {
        self.facts.to_data(self.place as usize)
    }
}

impl Deref for Payload {
    type Target = Data;

    fn deref(&self) -> &Data {
        match &self.0 {
            Form::Plain(data) => data,
            Form::Told(told) => told.read.get_or_init(|| Box::new(told.to_data())),
        }
    }
}

impl From<Data> for Payload {
    fn from(data: Data) -> Payload {
        Payload(Form::Plain(data))
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Payload) -> bool {
        **self == **other
    }
}

impl PartialEq<Data> for Payload {
    fn eq(&self, other: &Data) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_data(), f)
    }
}

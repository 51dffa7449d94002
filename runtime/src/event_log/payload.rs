//! [`Payload`]: what a record tells.
//!
//! A turn of a loop puts down a dozen records, and most logs in memory are never read. So what the runtime tells is kept as it
//! came, [`Facts`], and made into data where somebody looks or a file is written. Records that come together share what they
//! were told of.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::data::Data;

/// What the runtime tells of in one or more records, in a shape of its own.
pub trait Facts: fmt::Debug + Send + Sync {
    /// As the record has it that came so many places behind the first.
    fn to_data(&self, place: usize) -> Data;
    /// Roughly the bytes that this takes as data.
    fn weight(&self, place: usize) -> usize;
}

/// All records that the runtime writes at once: what they tell, and what they are called.
pub trait Batch: Facts {
    /// How many there are.
    fn count(&self) -> usize;
    /// Topic and kind of the one that came so many places behind the first.
    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>);
}

/// What a record tells: it reads like [`Data`].
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
    /// As data, once somebody has looked.
    read: OnceLock<Box<Data>>,
}

impl Payload {
    /// What is made into data once somebody looks.
    pub fn of(facts: impl Facts + 'static) -> Payload {
        Payload::part(Arc::new(facts), 0)
    }

    /// The same of facts that several records tell of: of the one that came so many places behind the first.
    pub fn part(facts: Arc<dyn Facts>, place: usize) -> Payload {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        Payload(Form::Told(Told { facts, place, read: OnceLock::new() }))
    }

    /// As data. Nothing is kept of that here.
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

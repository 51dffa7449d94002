//! [`Payload`]: what a record tells.
//!
//! A turn of a loop puts down a dozen records, and most logs in memory are never read. So what the runtime tells is kept as it
//! came, [`Facts`], and made into data where somebody looks or a file is written.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::data::Data;

/// What the runtime tells of, in a shape of its own.
pub trait Facts: fmt::Debug + Send + Sync {
    /// As a record has it.
    fn to_data(&self) -> Data;
    /// Roughly the bytes that it takes as data.
    fn weight(&self) -> usize;
}

/// What a record tells: it reads like [`Data`].
#[derive(Clone)]
pub struct Payload(Form);

#[derive(Clone)]
enum Form {
    Plain(Data),
    Told(Arc<Told<dyn Facts>>),
}

struct Told<F: ?Sized> {
    /// The facts as data, once somebody has looked.
    read: OnceLock<Data>,
    facts: F,
}

impl Payload {
    /// What is made into data once somebody looks.
    pub fn of(facts: impl Facts + 'static) -> Payload {
        Payload(Form::Told(Arc::new(Told { read: OnceLock::new(), facts })))
    }

    /// As data. Nothing is kept of that here.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match &self.0 {
            Form::Plain(data) => data.clone(),
            Form::Told(told) => told.read.get().cloned().unwrap_or_else(|| told.facts.to_data()),
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
            Form::Told(told) => told.facts.weight(),
        }
    }
}

impl Deref for Payload {
    type Target = Data;

    fn deref(&self) -> &Data {
        match &self.0 {
            Form::Plain(data) => data,
            Form::Told(told) => told.read.get_or_init(|| told.facts.to_data()),
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

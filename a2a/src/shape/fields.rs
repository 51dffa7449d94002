//! [`Fields`]: what an object is written with.

use std::sync::Arc;

use base::data::{Data, Entries};

use super::key::Key;

/// An object that is being written.
#[derive(Default)]
pub(super) struct Fields(Entries);

impl Fields {
    /// Returns an object without fields.
    pub(super) fn new() -> Fields {
        Fields::default()
    }

    /// Adds a field.
    pub(super) fn with(mut self, key: &Key, value: impl Into<Data>) -> Fields {
        self.0.insert(key.shared(), value.into());
        self
    }

    /// Adds a field unless the value is nil.
    pub(super) fn with_present(self, key: &Key, value: impl Into<Data>) -> Fields {
        match value.into() {
            Data::Nil => self,
            value => self.with(key, value),
        }
    }

    /// Adds a field if the flag is true.
    pub(super) fn with_flag(self, key: &Key, flag: bool) -> Fields {
        if flag { self.with(key, true) } else { self }
    }

    /// Adds a text unless it is empty.
    pub(super) fn with_text(self, key: &Key, text: &Arc<str>) -> Fields {
        if text.is_empty() { self } else { self.with(key, text) }
    }

    /// Adds a list of texts unless it is empty.
    pub(super) fn with_texts(self, key: &Key, texts: &[Arc<str>]) -> Fields {
        self.with_list(key, texts.iter().map(Data::from))
    }

    /// Adds a list unless it is empty.
    pub(super) fn with_list(self, key: &Key, items: impl Iterator<Item = Data>) -> Fields {
        let items: Vec<Data> = items.collect();
        if items.is_empty() { self } else { self.with(key, items) }
    }

    /// The object.
    pub(super) fn done(self) -> Data {
        Data::from(self.0)
    }
}

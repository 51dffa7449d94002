//! [`Document`]: what came over the wire as a whole, and how serde reads it.

use base::data::Data;
use serde::de::DeserializeOwned;

use super::error::{Place, ShapeError, without_ignored};
use super::spelling::Spelling;

/// The parameters of a request, or a result.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    /// The name in a sentence.
    name: &'static str,
    data: &'a Data,
}

impl<'a> Document<'a> {
    pub(super) fn params(data: &'a Data) -> Document<'a> {
        Document { name: "the parameters", data }
    }

    pub(super) fn result(data: &'a Data) -> Document<'a> {
        Document { name: "the result", data }
    }

    /// Returns the place of the whole, for errors.
    pub(super) fn place(self) -> Place<'a> {
        Place::of(self.name, self.data)
    }

    /// Reads the whole. A path costs a text for each field, so only a document that cannot be read is read with one.
    pub(super) fn read<V: Spelling, T: DeserializeOwned>(self) -> Result<T, ShapeError> {
        T::deserialize(self.data).or_else(|_| {
            let data = &without_ignored::<V>(self.data);
            serde_path_to_error::deserialize(data)
                .map_err(|error| ShapeError::of_serde(Place::of(self.name, data), &error))
        })
    }
}

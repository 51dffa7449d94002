//! The types of single fields on the wire. An optional field that is null or an empty text counts as absent.

use std::sync::Arc;

use base::data::Data;
use base::moment::from_rfc3339;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::base64;

/// A text that must not be empty.
#[derive(Deserialize)]
#[serde(try_from = "Arc<str>")]
pub(super) struct NonEmptyText(pub(super) Arc<str>);

impl TryFrom<Arc<str>> for NonEmptyText {
    type Error = &'static str;

    fn try_from(text: Arc<str>) -> Result<NonEmptyText, &'static str> {
        if text.is_empty() { Err("must not be empty") } else { Ok(NonEmptyText(text)) }
    }
}

/// Returns the text unless it is empty.
pub(super) fn present(text: Option<Arc<str>>) -> Option<Arc<str>> {
    text.filter(|text| !text.is_empty())
}

/// A file in base64.
#[derive(Deserialize)]
#[serde(try_from = "Arc<str>")]
pub(super) struct Base64Text(pub(super) Arc<str>);

impl TryFrom<Arc<str>> for Base64Text {
    type Error = &'static str;

    fn try_from(text: Arc<str>) -> Result<Base64Text, &'static str> {
        base64::plain(text).map(Base64Text).ok_or("must be base64")
    }
}

/// A dict with any content.
#[derive(Default)]
pub(super) struct OpenDict(Data);

impl OpenDict {
    /// Returns the dict, or nil if there is none.
    pub(super) fn or_nil(dict: Option<OpenDict>) -> Data {
        dict.unwrap_or_default().0
    }
}

impl<'de> Deserialize<'de> for OpenDict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OpenDict, D::Error> {
        match Data::deserialize(deserializer)? {
            dict @ Data::Dict(_) => Ok(OpenDict(dict)),
            _ => Err(D::Error::invalid_type(Unexpected::Other("another value"), &"an object")),
        }
    }
}

/// A count. The JSON of protocol buffers also accepts it as text.
pub(super) struct Count(pub(super) u32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        let data = Data::deserialize(deserializer)?;
        let number = data.as_int().or_else(|| data.as_str().and_then(|text| text.parse().ok()));
        match number.map(i32::try_from) {
            Some(Ok(count)) if count >= 0 => Ok(Count(count.unsigned_abs())),
            Some(_) => Err(D::Error::custom("must be from 0 to 2147483647")),
            None if data.as_float().is_some() => Err(D::Error::custom("must be an integer")),
            None => Err(D::Error::invalid_type(Unexpected::Other("another value"), &"an integer")),
        }
    }
}

/// A moment in RFC 3339, in milliseconds since 1970-01-01 UTC.
#[derive(Deserialize)]
#[serde(try_from = "Arc<str>")]
pub(super) struct Moment(pub(super) Option<u64>);

impl TryFrom<Arc<str>> for Moment {
    type Error = &'static str;

    fn try_from(text: Arc<str>) -> Result<Moment, &'static str> {
        match from_rfc3339(&text) {
            None if !text.is_empty() => Err("must be an RFC 3339 time since 1970, such as `2026-01-31T12:00:00.000Z`"),
            ms => Ok(Moment(ms)),
        }
    }
}

impl From<Moment> for Option<u64> {
    fn from(moment: Moment) -> Option<u64> {
        moment.0
    }
}

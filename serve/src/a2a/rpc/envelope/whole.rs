//! A request that is as it must be, read in one go.

use std::borrow::Cow;

use runtime::data::Data;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Request, id_of};

/// Reads a request; nothing where anything about it is not as it must be.
pub(super) fn read(body: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(body).ok()?;
    let Members { is_2_0: true, id, method, params } = serde_json::from_str(text).ok()? else { return None };
    let id = id.map(id_of).transpose().ok()?;
    Some(Request { id, method: method?.into_owned(), params })
}

#[derive(Default)]
struct Members<'a> {
    is_2_0: bool,
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
    params: Data,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "jsonrpc" => members.is_2_0 = map.next_value::<Text<'_>>()?.0 == "2.0",
                "id" => members.id = Some(map.next_value()?),
                "method" => members.method = Some(map.next_value::<Text<'_>>()?.0),
                "params" => {
                    members.params = map.next_value()?;
                    if !matches!(members.params, Data::Nil | Data::Dict(_)) {
                        return Err(A::Error::custom("`params` is no object"));
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

/// A text, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(TextReader)
    }
}

struct TextReader;

impl<'de> Visitor<'de> for TextReader {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

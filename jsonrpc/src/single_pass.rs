//! The fast path: a valid request, read in one pass.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::envelope::{Request, Rules};
use crate::id::Id;

/// Reads a valid request. Returns `None` if anything about it is unusual.
pub(crate) fn read<P: DeserializeOwned>(text: &str, rules: &Rules) -> Option<Request<P>> {
    let mut json = serde_json::Deserializer::from_str(text);
    let members = RequestMembersSeed { rules, params: PhantomData }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    let RequestMembers { is_2_0: true, id, method, params } = members else { return None };
    let id = id.map(|id| Id::read(id, rules.ids, rules.max_id_len)).transpose().ok()?;
    Some(Request { id, method: method?.into_owned(), params })
}

struct RequestMembers<'a, P> {
    is_2_0: bool,
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
    params: Option<P>,
}

struct RequestMembersSeed<'r, P> {
    rules: &'r Rules,
    params: PhantomData<P>,
}

impl<'de, P: DeserializeOwned> DeserializeSeed<'de> for RequestMembersSeed<'_, P> {
    type Value = RequestMembers<'de, P>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestMembers<'de, P>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, P: DeserializeOwned> Visitor<'de> for RequestMembersSeed<'_, P> {
    type Value = RequestMembers<'de, P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestMembers<'de, P>, A::Error> {
        let mut members = RequestMembers { is_2_0: false, id: None, method: None, params: None };
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "jsonrpc" => members.is_2_0 = map.next_value::<Text<'_>>()?.0 == "2.0",
                "id" => members.id = Some(map.next_value()?),
                "method" => members.method = Some(map.next_value::<Text<'_>>()?.0),
                "params" => {
                    let lists = self.rules.positional_params;
                    members.params = map.next_value_seed(ParamsSeed { lists, params: PhantomData })?;
                }
                "result" | "error" if self.rules.answers => return Err(A::Error::custom("may be an answer")),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

struct ParamsSeed<P> {
    /// Whether they may be a list.
    lists: bool,
    params: PhantomData<P>,
}

impl<'de, P: DeserializeOwned> DeserializeSeed<'de> for ParamsSeed<P> {
    type Value = Option<P>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<P>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, P: DeserializeOwned> Visitor<'de> for ParamsSeed<P> {
    type Value = Option<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_unit<E>(self) -> Result<Option<P>, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<P>, A::Error> {
        P::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<P>, A::Error> {
        if !self.lists {
            return Err(A::Error::custom("`params` is a list"));
        }
        P::deserialize(SeqAccessDeserializer::new(list)).map(Some)
    }
}

/// A text, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

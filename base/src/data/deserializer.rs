//! [`Data`] as a source of serde: any type that implements `Deserialize` is read from it as from JSON. Unlike JSON, a list is never
//! read as a struct, and an enum is a text, never a dict.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Error, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use super::Data;

/// The reason why data cannot be read as a type. `serde_path_to_error` finds the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FromDataError {
    /// The value has another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// The expected type, with its article.
        expected: String,
        /// A description of the value.
        found: String,
    },
    /// A field is missing, or null where a value is required.
    #[error("missing field `{0}`")]
    Missing(&'static str),
    /// The value is not one of these words.
    #[error("expected one of `{}`", .0.join("`, `"))]
    Word(&'static [&'static str]),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Error for FromDataError {
    fn custom<T: fmt::Display>(message: T) -> FromDataError {
        FromDataError::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> FromDataError {
        FromDataError::Type { expected: expected.to_string(), found: found.to_string() }
    }

    fn unknown_variant(_word: &str, known: &'static [&'static str]) -> FromDataError {
        FromDataError::Word(known)
    }

    fn missing_field(field: &'static str) -> FromDataError {
        FromDataError::Missing(field)
    }
}

impl Data {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Data::Nil => Unexpected::Unit,
            Data::Bool(value) => Unexpected::Bool(*value),
            Data::Int(value) => Unexpected::Signed(*value),
            Data::Float(value) => Unexpected::Float(*value),
            Data::Str(text) => Unexpected::Str(text),
            Data::List(_) => Unexpected::Seq,
            Data::Dict(_) => Unexpected::Map,
        }
    }

    fn visit_dict<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, FromDataError> {
        let Data::Dict(entries) = self else { return Err(Error::invalid_type(self.unexpected(), &visitor)) };
        let mut map = MapDeserializer::new(entries.iter().map(|(key, value)| (key.as_ref(), value)));
        let value = visitor.visit_map(&mut map)?;
        map.end().map(|()| value)
    }
}

impl<'de> IntoDeserializer<'de, FromDataError> for &'de Data {
    type Deserializer = &'de Data;

    fn into_deserializer(self) -> &'de Data {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Data {
    type Error = FromDataError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FromDataError> {
        match self {
            Data::Nil => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(*value),
            Data::Int(value) => visitor.visit_i64(*value),
            Data::Float(value) => visitor.visit_f64(*value),
            Data::Str(text) => visitor.visit_borrowed_str(text),
            Data::List(items) => {
                let mut list = SeqDeserializer::new(items.iter());
                let value = visitor.visit_seq(&mut list)?;
                list.end().map(|()| value)
            }
            Data::Dict(_) => self.visit_dict(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FromDataError> {
        if self.is_nil() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, FromDataError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FromDataError> {
        self.visit_dict(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FromDataError> {
        match self {
            Data::Str(word) => visitor.visit_enum(StrDeserializer::new(word)),
            _ => Err(FromDataError::Word(words)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FromDataError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", expecting = "an object")]
    struct Order {
        item_id: Arc<str>,
        count: Option<u32>,
        size: OrderSize,
        notes: Option<Vec<Data>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum OrderSize {
        Small,
        Large,
    }

    fn read(json: &str) -> Result<Order, String> {
        Order::deserialize(&Data::from_json(json).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_type_is_read_from_data() {
        let full =
            read(r#"{"itemId": "a", "count": 2, "size": "large", "notes": [null, {"n": [1, 2.5, true]}], "x": [{}]}"#);
        let notes = Data::from_json(r#"[null, {"n": [1, 2.5, true]}]"#).unwrap().as_list().unwrap().to_vec();
        let size = OrderSize::Large;
        assert_eq!(full, Ok(Order { item_id: "a".into(), count: Some(2), size, notes: Some(notes) }));
        let least = read(r#"{"itemId": "a", "count": null, "size": "small"}"#);
        assert_eq!(least, Ok(Order { item_id: "a".into(), count: None, size: OrderSize::Small, notes: None }));
    }

    #[test]
    fn an_error_names_its_reason() {
        for (json, reason) in [
            (r#"{"size": "small"}"#, "missing field `itemId`"),
            (r#"{"itemId": 5, "size": "small"}"#, "expected a string, found integer `5`"),
            (r#"{"itemId": null, "size": "small"}"#, "expected a string, found unit value"),
            (r#"{"itemId": "a", "size": "tiny"}"#, "expected one of `small`, `large`"),
            (r#"{"itemId": "a", "size": {"small": null}}"#, "expected one of `small`, `large`"),
            (r#"["a", 2, "small", []]"#, "expected an object, found sequence"),
            (r#"{"itemId": "a", "size": "small", "count": -1}"#, "invalid value: integer `-1`, expected u32"),
        ] {
            assert_eq!(read(json).unwrap_err(), reason, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn data_is_read_from_data_as_it_was(ints: Vec<i64>, texts: Vec<String>, flag: bool, float in -1.0e9..1.0e9) {
            let list = Data::list(ints.into_iter().map(Data::from).chain([Data::Bool(flag), Data::Float(float), Data::Nil]));
            let dict = Data::dict(texts.into_iter().map(|text| (text.clone(), Data::from(text))));
            let all = Data::dict([("list", list), ("dict", dict), ("none", Data::empty_dict())]);
            proptest::prop_assert_eq!(Data::deserialize(&all), Ok(all));
        }
    }
}

//! JSON reader and writer. Our key order is kept whatever features of `serde_json` are enabled for its maps.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Data, Entries, keys};

/// The reason a text is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON: {message} (line {line}, column {column})")]
pub struct DataError {
    /// Description of what was expected or found.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Data {
    /// Converts to compact JSON. Numbers that JSON cannot represent (infinities, NaN) become `null`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "null".to_owned())
    }

    /// Returns the length of [`Data::to_json`] in bytes without writing it.
    #[must_use]
    pub fn json_len(&self) -> usize {
        match self {
            Data::Nil => "null".len(),
            Data::Bool(value) => if *value { "true" } else { "false" }.len(),
            Data::Int(value) => {
                let digits = value.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1);
                digits + usize::from(*value < 0)
            }
            Data::Float(_) => self.to_json().len(),
            Data::Str(text) => text_json_len(text),
            Data::List(items) => {
                let between = items.len().saturating_sub(1);
                2 + between + items.iter().map(Data::json_len).sum::<usize>()
            }
            Data::Dict(entries) => {
                let between = entries.len().saturating_sub(1);
                let entry = |(key, value): (&Arc<str>, &Data)| text_json_len(key) + 1 + value.json_len();
                2 + between + entries.iter().map(entry).sum::<usize>()
            }
        }
    }

    /// Converts to JSON with two spaces of indentation.
    #[must_use]
    pub fn to_json_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|_| "null".to_owned())
    }

    /// Reads JSON text that nests up to `levels`, for values that scripts have built and a log holds. At most a few
    /// hundred: the value is built, compared and dropped without a work list.
    pub fn from_nested_json(text: &str, levels: usize) -> Result<Data, DataError> {
        if nesting(text) > levels {
            return Err(DataError { message: "a value is nested too deeply".to_owned(), line: 1, column: 1 });
        }
        let read = |text: &str| {
            let mut reader = serde_json::Deserializer::from_str(text);
            reader.disable_recursion_limit();
            let data = Data::deserialize(&mut reader)?;
            reader.end().map(|()| data)
        };
        json::read_with(text, read).map_err(|error| why(&error))
    }

    /// Reads JSON text (nesting up to 127 levels). Half of a character is U+FFFD, an integer of more than 64 bits a text.
    pub fn from_json(text: &str) -> Result<Data, DataError> {
        json::from_str(text).map_err(|error| why(&error))
    }
}

/// Returns the length of a text as JSON in bytes, its quotes included.
pub fn text_json_len(text: &str) -> usize {
    let more = |bytes: &[u8]| bytes.iter().map(|byte| usize::from(MORE[usize::from(*byte)])).sum::<usize>();
    let (parts, rest) = text.as_bytes().as_chunks::<16>();
    let mut length = 2 + text.len() + more(rest);
    for part in parts {
        // Most parts have no byte that is escaped, which a few instructions find out for all bytes at once.
        if part.iter().fold(false, |found, byte| found | is_escaped(*byte)) {
            length += more(part);
        }
    }
    length
}

/// Returns whether JSON escapes a byte of a text.
const fn is_escaped(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The number of bytes, besides the first, that JSON takes for each byte of a text.
const MORE: [u8; 256] = {
    let (mut all, mut byte) = ([0; 256], 0);
    while byte < all.len() {
        let is_short = matches!(byte as u8, b'"' | b'\\' | b'\x08' | b'\t' | b'\n' | b'\x0c' | b'\r');
        all[byte] = match (is_escaped(byte as u8), is_short) {
            (false, _) => 0,
            (true, true) => b"\\n".len() as u8 - 1,
            (true, false) => b"\\u0000".len() as u8 - 1,
        };
        byte += 1;
    }
    all
};

fn why(error: &serde_json::Error) -> DataError {
    let message = error.to_string().split(" at line ").next().unwrap_or_default().to_owned();
    DataError { message, line: error.line(), column: error.column() }
}

/// Returns the nesting depth of brackets outside of strings.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

impl From<serde_json::Value> for Data {
    fn from(value: serde_json::Value) -> Data {
        match value {
            serde_json::Value::Null => Data::Nil,
            serde_json::Value::Bool(value) => Data::Bool(value),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => Data::Int(int),
                (None, Some(large)) => Data::from(large.to_string()),
                (None, None) => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Data::Str(text.into()),
            serde_json::Value::Array(items) => Data::list(items.into_iter().map(Data::from)),
            serde_json::Value::Object(map) => Data::dict(map.into_iter().map(|(key, value)| (key, Data::from(value)))),
        }
    }
}

impl From<&Data> for serde_json::Value {
    fn from(data: &Data) -> serde_json::Value {
        match data {
            Data::Nil => serde_json::Value::Null,
            Data::Bool(value) => (*value).into(),
            Data::Int(value) => (*value).into(),
            Data::Float(value) => (*value).into(),
            Data::Str(text) => text.as_ref().into(),
            Data::List(items) => items.iter().map(serde_json::Value::from).collect(),
            Data::Dict(entries) => serde_json::Value::Object(
                entries.iter().map(|(key, value)| (key.to_string(), serde_json::Value::from(value))).collect(),
            ),
        }
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Data::Nil => serializer.serialize_unit(),
            Data::Bool(value) => serializer.serialize_bool(*value),
            Data::Int(value) => serializer.serialize_i64(*value),
            Data::Float(value) => serializer.serialize_f64(*value),
            Data::Str(text) => serializer.serialize_str(text),
            Data::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Data::Dict(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries.iter() {
                    map.serialize_entry(key.as_ref(), value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Data, D::Error> {
        deserializer.deserialize_any(DataReader)
    }
}

struct DataReader;

impl<'de> Visitor<'de> for DataReader {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Nil)
    }

    fn visit_none<E>(self) -> Result<Data, E> {
        Ok(Data::Nil)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        Data::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Int(value))
    }

    /// An integer that is too large is the text of its digits: a float would be another number.
    fn visit_u64<E>(self, value: u64) -> Result<Data, E> {
        Ok(i64::try_from(value).map_or_else(|_| Data::from(value.to_string()), Data::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Str(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Data, E> {
        Ok(Data::Str(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Data::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
        let mut entries = Entries::new();
        while let Some(Key(key)) = map.next_key()? {
            entries.insert(key, map.next_value()?);
        }
        Ok(Data::from(entries))
    }
}

/// A key of a dict.
struct Key(Arc<str>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(KeyReader)
    }
}

struct KeyReader;

impl Visitor<'_> for KeyReader {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, text: &str) -> Result<Key, E> {
        Ok(Key(keys::shared(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_in_bytewise_order() {
        let data = Data::from_json(r#"{"b": 1, "a": [true, null, 2.5, "x"], "Z": {}}"#).unwrap();
        assert_eq!(data.to_json(), r#"{"Z":{},"a":[true,null,2.5,"x"],"b":1}"#);
        assert_eq!(Data::from(serde_json::Value::from(&data)), data);
    }

    proptest::proptest! {
        #[test]
        fn what_is_counted_is_what_is_written(text in ".{0,12}", control in "[\u{0}-\u{22}\\\\\u{7f}]{0,6}", int: i64, float: f64, flag: bool) {
            let list = Data::list([text.as_str().into(), int.into(), (int % 10).into(), float.into(), flag.into(), Data::Nil]);
            let dict = Data::dict([(text.as_str(), list.clone()), (control.as_str(), control.as_str().into()), ("k", 0.into())]);
            for data in [list, dict, Data::empty_dict(), Data::list([]), i64::MIN.into(), Data::from(-9)] {
                proptest::prop_assert_eq!(data.json_len(), data.to_json().len(), "{}", data);
            }
        }
    }

    #[test]
    fn a_broken_text_says_where() {
        let error = Data::from_json("{\"a\": 1,\n  oops}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 3));
        assert!(error.to_string().starts_with("not valid JSON: "), "{error}");
    }

    #[test]
    fn a_text_too_deep_is_an_error_and_no_overflow() {
        assert!(Data::from_json(&"[".repeat(100_000)).is_err());
        assert!(Data::from_nested_json(&"[".repeat(100_000), Data::MAX_DEPTH).is_err());
        let deep = "[".repeat(400) + &"]".repeat(400);
        assert_eq!(Data::from_nested_json(&deep, Data::MAX_DEPTH).unwrap().to_json(), deep);
    }
}

//! Values into a pack and out of it. What would not fit into its budget is refused as a whole: a guard that sees half of
//! what it guards is none.

use super::budget::Budget;
use super::meter::Limit;
use base::data::Data;
use rhai::{Array, Dynamic, ImmutableString, Map};
use std::sync::Arc;

/// The reason why a value cannot be converted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PackValueError {
    /// It is larger than the budget allows.
    Over(Limit),
    /// It contains something that is not data; a description of it.
    NoData(&'static str),
    /// It is nested too deep.
    TooDeep,
}

/// Counts what crosses.
pub(super) struct PackConverter<'a> {
    budget: &'a Budget,
    elements: usize,
    entries: usize,
    bytes: usize,
}

impl<'a> PackConverter<'a> {
    pub(super) fn new(budget: &'a Budget) -> Self {
        Self { budget, elements: 0, entries: 0, bytes: 0 }
    }

    fn text(&mut self, text: &str) -> Result<(), PackValueError> {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > self.budget.string { Err(PackValueError::Over(Limit::String)) } else { Ok(()) }
    }

    fn list(&mut self, items: usize) -> Result<(), PackValueError> {
        self.elements = self.elements.saturating_add(items);
        if self.elements > self.budget.elements { Err(PackValueError::Over(Limit::Elements)) } else { Ok(()) }
    }

    fn map(&mut self, entries: usize) -> Result<(), PackValueError> {
        self.entries = self.entries.saturating_add(entries);
        if self.entries > self.budget.elements { Err(PackValueError::Over(Limit::Elements)) } else { Ok(()) }
    }

    /// Data as the pack sees it. Data is never deeper than [`Data::MAX_DEPTH`].
    pub(super) fn inward(&mut self, data: &Data) -> Result<Dynamic, PackValueError> {
        Ok(match data {
            Data::Nil => Dynamic::UNIT,
            Data::Bool(b) => (*b).into(),
            Data::Int(i) => (*i).into(),
            Data::Float(f) => (*f).into(),
            Data::Str(s) => {
                self.text(s)?;
                Dynamic::from(ImmutableString::from(s.as_ref()))
            }
            Data::List(items) => {
                self.list(items.len())?;
                let mut array = Array::with_capacity(items.len());
                for item in items.iter() {
                    array.push(self.inward(item)?);
                }
                array.into()
            }
            Data::Dict(entries) => {
                self.map(entries.len())?;
                let mut map = Map::new();
                for (key, value) in entries.iter() {
                    map.insert(key.as_ref().into(), self.inward(value)?);
                }
                map.into()
            }
        })
    }

    /// Returns a pack's value as data.
    pub(super) fn outward(&mut self, value: &Dynamic) -> Result<Data, PackValueError> {
        self.outward_at(value, 0)
    }

    fn outward_at(&mut self, value: &Dynamic, depth: usize) -> Result<Data, PackValueError> {
        if depth > Data::MAX_DEPTH {
            return Err(PackValueError::TooDeep);
        }
        if value.is_unit() {
            return Ok(Data::Nil);
        }
        if let Ok(b) = value.as_bool() {
            return Ok(Data::Bool(b));
        }
        if let Ok(i) = value.as_int() {
            return Ok(Data::Int(i));
        }
        if let Ok(f) = value.as_float() {
            return Ok(Data::Float(f));
        }
        if let Ok(c) = value.as_char() {
            let mut buffer = [0; 4];
            return Ok(Data::str(&*c.encode_utf8(&mut buffer)));
        }
        if let Some(text) = value.read_lock::<ImmutableString>() {
            self.text(&text)?;
            return Ok(Data::str(text.as_str()));
        }
        if let Some(array) = value.read_lock::<Array>() {
            self.list(array.len())?;
            let items = array.iter().map(|item| self.outward_at(item, depth + 1));
            return Ok(Data::from(items.collect::<Result<Vec<_>, _>>()?));
        }
        if let Some(map) = value.read_lock::<Map>() {
            self.map(map.len())?;
            let mut entries = Vec::with_capacity(map.len());
            for (key, item) in map.iter() {
                self.text(key)?;
                entries.push((Arc::<str>::from(key.as_str()), self.outward_at(item, depth + 1)?));
            }
            return Ok(Data::dict(entries));
        }
        Err(PackValueError::NoData(match value {
            _ if value.is_fnptr() => "a function",
            _ if value.is_blob() => "a blob",
            _ if value.is::<super::seen::Seen>() => "the session",
            _ => "a value of an unsupported type",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_crosses_and_comes_back() {
        let data = Data::from_json(r#"{"a": [1, 2.5, "x", null, true], "b": {"c": []}}"#).unwrap_or_default();
        let budget = Budget::default();
        let there = PackConverter::new(&budget).inward(&data).unwrap_or_default();
        assert_eq!(PackConverter::new(&budget).outward(&there), Ok(data));
    }

    #[test]
    fn what_is_too_large_does_not_cross() {
        let budget = Budget { string: 4, elements: 3, ..Budget::default() };
        let crossing = |data: Data| PackConverter::new(&budget).inward(&data).err();
        assert_eq!(crossing("12345".into()), Some(PackValueError::Over(Limit::String)));
        assert_eq!(crossing(Data::list(["123".into(), "45".into()])), Some(PackValueError::Over(Limit::String)));
        assert_eq!(crossing(Data::list([1, 2, 3, 4].map(Data::Int))), Some(PackValueError::Over(Limit::Elements)));
        assert_eq!(
            crossing(Data::list([Data::list([1, 2].map(Data::Int)), 3.into()])),
            Some(PackValueError::Over(Limit::Elements))
        );
        assert_eq!(crossing(Data::list([1, 2, 3].map(Data::Int))), None);
    }

    #[test]
    fn what_is_nested_too_deep_does_not_leave() {
        let mut value = Dynamic::UNIT;
        for _ in 0..2 * Data::MAX_DEPTH {
            value = Dynamic::from_array(vec![value]);
        }
        assert_eq!(PackConverter::new(&Budget::default()).outward(&value), Err(PackValueError::TooDeep));
    }
}

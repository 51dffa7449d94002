//! The size of arguments, measured before anything is copied.

use base::data::Data;
use lang::value::Value;

/// The size of a value without its text, in bytes.
const VALUE_BYTES: usize = 32;

/// The size of values, up to a maximum.
struct ArgumentSize {
    bytes: usize,
    most: usize,
}

/// An argument with which the arguments are larger than the maximum.
pub(crate) struct TooLarge {
    /// Its index.
    pub(crate) argument: usize,
}

/// The values are larger than the maximum.
struct BeyondMaximum;

impl ArgumentSize {
    fn add(&mut self, bytes: usize) -> Result<(), BeyondMaximum> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.most { Err(BeyondMaximum) } else { Ok(()) }
    }

    fn add_value(&mut self, value: &Value, depth: usize) -> Result<(), BeyondMaximum> {
        // The conversion reports values that are nested too deep.
        if depth > Data::MAX_DEPTH {
            return Ok(());
        }
        self.add(VALUE_BYTES)?;
        let mut add_all = |items: &[Value]| items.iter().try_for_each(|item| self.add_value(item, depth + 1));
        match value {
            Value::Str(text) => self.add(text.len()),
            Value::Bytes(bytes) => self.add(bytes.len()),
            Value::List(list) => add_all(&list.items),
            Value::Set(set) => add_all(set.items()),
            Value::Pair(pair) => add_all(&[pair.first.clone(), pair.second.clone()]),
            Value::Range(range) => self.add(range.len().saturating_mul(VALUE_BYTES)),
            Value::Dict(dict) => dict.dict.iter().try_for_each(|(key, value)| {
                self.add(key.len())?;
                self.add_value(value, depth + 1)
            }),
            Value::Struct(value) => value.entries().try_for_each(|(key, value)| {
                self.add(key.len())?;
                self.add_value(value, depth + 1)
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the size of the arguments of a call in bytes, at most `most`.
pub(crate) fn argument_size(args: &[Value], most: usize) -> Result<usize, TooLarge> {
    let mut size = ArgumentSize { bytes: 0, most };
    for (argument, value) in args.iter().enumerate() {
        size.add_value(value, 0).map_err(|BeyondMaximum| TooLarge { argument })?;
    }
    Ok(size.bytes)
}

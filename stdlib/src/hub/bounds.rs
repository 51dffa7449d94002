//! Bounds of what a script passes to a hub. They are checked before anything is copied: on its way, a message exists
//! several times.

use hub::broker::MAX_ID_BYTES;
use lang::builtins::args;
use lang::value::{Stopped, Value};
use lang::vm::{Meter, Raise};
use runtime::data::Data;

use super::HubClientCode;

/// The maximum size of the arguments of a call, in bytes. A hub keeps no larger task.
const MAX_BYTES: usize = 16 << 20;

/// The size of a value without its text, in bytes.
const VALUE_BYTES: usize = 32;

/// The number of copies of a message on its way: as data, as a message, as a request, and encoded.
const COPIES: usize = 4;

/// The size of values, up to the maximum.
struct ArgumentSize(usize);

/// The values are larger than the maximum.
struct TooLarge;

impl ArgumentSize {
    fn add(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_BYTES { Err(TooLarge) } else { Ok(()) }
    }

    fn add_value(&mut self, value: &Value, depth: usize) -> Result<(), TooLarge> {
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

/// Checks the size of the arguments of a call, and that the memory of the run has room for their copies.
pub(crate) fn check_size(args: &[Value]) -> Result<(), Box<Raise>> {
    let mut size = ArgumentSize(0);
    for (i, value) in args.iter().enumerate() {
        size.add_value(value, 0).map_err(|TooLarge| {
            Raise::error(HubClientCode::Refused, format!("the arguments are larger than {MAX_BYTES} bytes"))
                .field("category", "resource_exhausted")
                .about(i, "too large for a hub")
                .help("store the content elsewhere, and send its URL")
        })?;
    }
    Meter::start().room(size.0.saturating_mul(COPIES)).map_err(Stopped::raise)
}

/// Returns an id in an argument. A hub knows no longer ones.
pub(crate) fn id(args: &[Value], i: usize) -> Result<String, Box<Raise>> {
    let id = args::str(args, i)?;
    if id.len() > MAX_ID_BYTES {
        return Err(Raise::error(HubClientCode::Refused, format!("the id is longer than {MAX_ID_BYTES} bytes"))
            .field("category", "invalid_argument")
            .about(i, "too long"));
    }
    Ok(id.to_string())
}

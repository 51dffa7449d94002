//! The elements of what reads like a list.

use super::RunCode;
use super::{Meter, Raise, Stopped};
use crate::value::meter::{charge_copy, copied};
use crate::value::{Range, Value, inspect};

/// One element.
#[inline]
pub(crate) fn element(value: &Value, index: usize) -> Option<Value> {
    match value {
        Value::List(l) => l.items.get(index).cloned(),
        Value::Set(s) => s.items().get(index).cloned(),
        Value::Range(r) => r.at(index).map(Value::Int),
        Value::Host(h) => h.object().at(i64::try_from(index).ok()?),
        _ => None,
    }
}

/// The elements of a list, set, range, or host list; nothing for what has none.
///
/// # Errors
/// When a range is too long to be a list.
pub fn elements(value: &Value) -> Result<Option<Vec<Value>>, Box<Raise>> {
    Ok(match value {
        Value::List(l) => Some(copied(&l.items)),
        Value::Set(s) => Some(copied(s.items())),
        Value::Range(r) if r.len() > Range::MOST_ITEMS => return Err(long_range(**r)),
        Value::Range(r) => {
            Meter::start().room(r.len().saturating_mul(size_of::<Value>())).map_err(Stopped::raise)?;
            charge_copy(r.len());
            Some((0..r.len()).filter_map(|i| r.at(i)).map(Value::Int).collect())
        }
        Value::Host(h) => match h.object().to_value() {
            Some(Value::List(l)) => Some(copied(&l.items)),
            _ => None,
        },
        _ => None,
    })
}

/// The error for a range that should become a list and is too long.
#[must_use]
pub fn long_range(range: Range) -> Box<Raise> {
    let message =
        format!("`{}` has more than {} items, too many for a list", inspect(&range.into()), Range::MOST_ITEMS);
    Raise::error(RunCode::Size, message).help("use its bounds instead: `{from: …, to: …}`")
}

//! Reading a builtin's arguments: each reader names the argument and what was expected.

use crate::advice;
use crate::value::{Dict, Str, Value, article};
use crate::vm::{Raise, RunCode};

/// `args[i]` with an error that points at it.
fn wrong(i: usize, args: &[Value], expected: &str) -> Box<Raise> {
    let given = args.get(i).unwrap_or(&Value::Nil);
    let raise = Raise::error(RunCode::Type, format!("expected {expected}, found {}", article(given.type_name())))
        .about(i, format!("this is {}", super::items::shown(given)));
    raise.help_by_some(advice::argument(given.into(), expected))
}

/// A string.
///
/// # Errors
/// When it is something else.
pub fn str(args: &[Value], i: usize) -> Result<&Str, Box<Raise>> {
    if let Some(Value::Str(s)) = args.get(i) { Ok(s) } else { Err(wrong(i, args, "a string")) }
}

/// A string, or nothing for nil.
///
/// # Errors
/// When it is something else.
pub fn opt_str(args: &[Value], i: usize) -> Result<Option<&Str>, Box<Raise>> {
    match args.get(i) {
        None | Some(Value::Nil) => Ok(None),
        _ => str(args, i).map(Some),
    }
}

/// An int.
///
/// # Errors
/// When it is something else.
pub fn int(args: &[Value], i: usize) -> Result<i64, Box<Raise>> {
    if let Some(Value::Int(n)) = args.get(i) { Ok(*n) } else { Err(wrong(i, args, "an int")) }
}

/// An int, or nothing for nil.
///
/// # Errors
/// When it is something else.
pub fn opt_int(args: &[Value], i: usize) -> Result<Option<i64>, Box<Raise>> {
    match args.get(i) {
        None | Some(Value::Nil) => Ok(None),
        _ => int(args, i).map(Some),
    }
}

/// A number of things: an int that is not negative.
///
/// # Errors
/// When it is something else.
pub fn count(args: &[Value], i: usize) -> Result<usize, Box<Raise>> {
    let n = int(args, i)?;
    usize::try_from(n).map_err(|_| {
        Raise::error(RunCode::Value, format!("expected a number of at least 0, found {n}")).about(i, "negative")
    })
}

/// A span of time in milliseconds: an int that is not negative, as `30s` is one.
///
/// # Errors
/// When it is something else.
pub fn duration(args: &[Value], i: usize) -> Result<u64, Box<Raise>> {
    match args.get(i) {
        Some(Value::Int(n)) => u64::try_from(*n)
            .map_err(|_| Raise::error(RunCode::Value, format!("expected a duration, found {n}")).about(i, "negative")),
        _ => Err(wrong(i, args, "a duration").help("write a duration with a unit: `500ms`, `30s`, `5m`")),
    }
}

/// A span of time as a script would write it.
#[must_use]
pub fn duration_text(ms: u64) -> String {
    for (unit, size) in [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
        if ms > 0 && ms.is_multiple_of(size) {
            return format!("{}{unit}", ms / size);
        }
    }
    format!("{ms}ms")
}

/// An int or float as a float.
///
/// # Errors
/// When it is something else.
pub fn number(args: &[Value], i: usize) -> Result<f64, Box<Raise>> {
    args.get(i).and_then(Value::as_number).ok_or_else(|| wrong(i, args, "a number"))
}

/// A bool.
///
/// # Errors
/// When it is something else.
pub fn bool(args: &[Value], i: usize) -> Result<bool, Box<Raise>> {
    if let Some(Value::Bool(b)) = args.get(i) { Ok(*b) } else { Err(wrong(i, args, "a bool")) }
}

/// A list.
///
/// # Errors
/// When it is something else.
pub fn list(args: &[Value], i: usize) -> Result<&[Value], Box<Raise>> {
    args.get(i).and_then(Value::as_list).ok_or_else(|| wrong(i, args, "a list"))
}

/// A dict.
///
/// # Errors
/// When it is something else.
pub fn dict(args: &[Value], i: usize) -> Result<&Dict, Box<Raise>> {
    args.get(i).and_then(Value::as_dict).ok_or_else(|| wrong(i, args, "a dict"))
}

/// A dict, or nothing for nil.
///
/// # Errors
/// When it is something else.
pub fn opt_dict(args: &[Value], i: usize) -> Result<Option<&Dict>, Box<Raise>> {
    match args.get(i) {
        None | Some(Value::Nil) => Ok(None),
        _ => dict(args, i).map(Some),
    }
}

/// A function.
///
/// # Errors
/// When it is something else.
pub fn function(args: &[Value], i: usize) -> Result<&Value, Box<Raise>> {
    args.get(i).filter(|v| v.is_callable()).ok_or_else(|| wrong(i, args, "a function"))
}

/// The elements of a list, set, range, or anything that reads like one.
///
/// # Errors
/// When it is something else.
pub fn elements(args: &[Value], i: usize) -> Result<Vec<Value>, Box<Raise>> {
    let found = args.get(i).map(super::elements).transpose()?.flatten();
    found.ok_or_else(|| wrong(i, args, "a list, set or range"))
}

/// The error for an argument that is of another type than expected.
#[must_use]
pub fn mismatch(args: &[Value], i: usize, expected: &str) -> Box<Raise> {
    wrong(i, args, expected)
}

//! Access to values that read like lists (lists, sets, ranges, host lists), and a few words that errors share.

use super::args;
use crate::value::{List, Value, inspect};
pub(super) use crate::vm::element as at;
use crate::vm::{Cx, Raise, RunCode};
use std::borrow::Cow;
use std::rc::Rc;

/// Expected type in the errors of the readers of [`items`].
const EXPECTED: &str = "a list, set or range";

/// Cost of looking at an element, in instructions: fewer where elements are added up, more where they are inserted into a
/// set.
const EACH: usize = 4;

/// Returns the number of elements, or `None` if the value has none.
pub(super) fn len(value: &Value) -> Option<usize> {
    match value {
        Value::List(l) => Some(l.items.len()),
        Value::Set(s) => Some(s.len()),
        Value::Range(r) => Some(r.len()),
        Value::Host(h) if h.object().is_list() => h.object().size(),
        _ => None,
    }
}

/// Returns the number of elements of an argument.
pub(super) fn count(args: &[Value], i: usize) -> Result<usize, Box<Raise>> {
    args.get(i).and_then(len).ok_or_else(|| args::mismatch(args, i, EXPECTED))
}

/// The elements of an argument, which are gone through: borrowed where they lie in memory, made where they do not.
pub(super) fn items<'a>(cx: &Cx<'_>, args: &'a [Value], i: usize) -> Result<Cow<'a, [Value]>, Box<Raise>> {
    match args.get(i) {
        Some(Value::List(l)) => {
            cx.charge(l.items.len(), EACH);
            Ok(Cow::Borrowed(&l.items))
        }
        Some(Value::Set(s)) => {
            cx.charge(s.len(), EACH);
            Ok(Cow::Borrowed(s.items()))
        }
        Some(value) => {
            let n = count(args, i)?;
            room(cx, n)?;
            cx.charge(n, EACH);
            Ok(Cow::Owned((0..n).map_while(|index| at(value, index)).collect()))
        }
        None => Err(args::mismatch(args, i, EXPECTED)),
    }
}

/// The elements of an argument as a list that can be changed; the argument is taken, unless there is an error.
pub(super) fn take(cx: &Cx<'_>, args: &mut [Value], i: usize) -> Result<Rc<List>, Box<Raise>> {
    // Whoever changes a list that others hold as well copies it.
    if let Value::List(list) = &args[i]
        && Rc::strong_count(list) > 1
    {
        cx.check_copy(list.items.len().saturating_mul(size_of::<Value>()))?;
    }
    if matches!(args[i], Value::List(_))
        && let Value::List(list) = std::mem::take(&mut args[i])
    {
        return Ok(list);
    }
    let items = items(cx, args, i)?.into_owned();
    Ok(Rc::new(List { items }))
}

/// The elements of an argument, changed: in place where they are held once. The argument is taken.
pub(super) fn change(
    cx: &Cx<'_>,
    args: &mut [Value],
    i: usize,
    how: impl FnOnce(&mut Vec<Value>),
) -> Result<Value, Box<Raise>> {
    let mut list = take(cx, args, i)?;
    how(&mut Rc::make_mut(&mut list).items);
    Ok(Value::List(list))
}

/// Asks for room for a list of `n` elements.
pub(super) fn room(cx: &Cx<'_>, n: usize) -> Result<(), Box<Raise>> {
    cx.check_size(n.checked_mul(size_of::<Value>()))
}

/// One element more, as long as there is room for it.
pub(super) fn push(cx: &Cx<'_>, items: &mut Vec<Value>, value: Value) -> Result<(), Box<Raise>> {
    // Only where the list grows, which it does by doubling.
    if items.len() == items.capacity() {
        room(cx, items.len().saturating_mul(2))?;
    }
    items.push(value);
    Ok(())
}

/// A list of as many elements as come, as long as there is room for them.
pub(super) fn collect(cx: &Cx<'_>, values: impl Iterator<Item = Value>) -> Result<Value, Box<Raise>> {
    let mut items = Vec::new();
    for value in values {
        push(cx, &mut items, value)?;
    }
    Ok(Value::list(items))
}

/// Returns the position at which a slice begins or ends: negative bounds count from the end, and all are clamped.
pub(super) fn bound(index: i64, len: usize) -> usize {
    let signed = i64::try_from(len).unwrap_or(i64::MAX);
    let at = if index < 0 { index.saturating_add(signed) } else { index };
    usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(len)
}

/// Returns the position of `index` among `len` elements; negative ones count from the end.
pub(super) fn position(index: i64, len: usize) -> Option<usize> {
    let at = if index < 0 { index.checked_add(i64::try_from(len).ok()?)? } else { index };
    usize::try_from(at).ok().filter(|at| *at < len)
}

/// An argument that says how large a part is: at least 1.
pub(super) fn size(args: &[Value], i: usize, what: &str) -> Result<usize, Box<Raise>> {
    let n = args::count(args, i)?;
    if n == 0 {
        return Err(Raise::error(RunCode::Value, format!("{what} must be at least 1, found 0")).about(i, "too small"));
    }
    Ok(n)
}

/// A value's type in a sentence.
pub(super) fn article(value: &Value) -> String {
    crate::value::article(value.type_name())
}

/// A value for a message, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = inspect(value);
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

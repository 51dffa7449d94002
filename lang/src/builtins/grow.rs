//! Methods that give a list with elements more or fewer.

use super::args;
use super::items::{self, position};
use crate::value::Value;
use crate::vm::{Cx, Raise, RunCode};

crate::builtins! { "<list>" =>
    /// The list with one more element at its end.
    plain "push(self: list<T>, value: U) -> list<T | U>" [pure] push;
    /// The list without its last element; an empty list stays empty.
    plain "pop(self: list<T>) -> list<T>" [pure] pop;
    /// The list with one more element before the one at `index`; negative indexes count from the end.
    plain "insert(self: list<T>, index: int, value: U) -> list<T | U>" [pure] insert;
    /// The list without the element at `index`; negative indexes count from the end.
    plain "remove_at(self: list<T>, index: int) -> list<T>" [pure] remove_at;
    /// The elements of this list, then those of the other.
    plain "concat(self: list<T>, other: list<U> | set<U>) -> list<T | U>" [pure] concat;
}

/// Elements of a list that grows by parts of itself.
const MANY: usize = 1 << 16;

fn push(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    // Before the list leaves its place: what fails leaves it there.
    let n = items::count(args, 0)?;
    items::room(cx, n.saturating_add(1))?;
    // A quarter more, and only where there is room for it: by itself a list would double.
    let is_full = matches!(&args[0], Value::List(list) if list.items.len() == list.items.capacity());
    let more = if is_full && n >= MANY { n / 4 } else { 0 };
    cx.check_copy(more.saturating_mul(size_of::<Value>()))?;
    let value = std::mem::take(&mut args[1]);
    items::change(cx, args, 0, |items| {
        items.reserve_exact(more);
        items.push(value);
    })
}

fn pop(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    items::change(cx, args, 0, |items| drop(items.pop()))
}

fn insert(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    let index = args::int(args, 1)?;
    // One place more than there are elements: behind the last one.
    let Some(at) = (if index < 0 { position(index, n) } else { position(index, n + 1) }) else {
        return Err(out_of_range(index, n).help(format!("insert at an index from 0 to {n}")));
    };
    items::room(cx, n.saturating_add(1))?;
    // The elements after it move.
    cx.charge_part(n - at, 16);
    let value = std::mem::take(&mut args[2]);
    items::change(cx, args, 0, |items| items.insert(at, value))
}

fn remove_at(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    let index = args::int(args, 1)?;
    let Some(at) = position(index, n) else { return Err(out_of_range(index, n)) };
    cx.charge_part(n - at, 16);
    items::change(cx, args, 0, |items| drop(items.remove(at)))
}

fn concat(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let total = items::count(args, 0)?.saturating_add(items::count(args, 1)?);
    items::room(cx, total)?;
    let other = items::items(cx, args, 1)?.into_owned();
    items::change(cx, args, 0, |items| items.extend(other))
}

fn out_of_range(index: i64, len: usize) -> Box<Raise> {
    let holds = match len {
        0 => "is empty".to_owned(),
        1 => "has one element".to_owned(),
        n => format!("has {n} elements"),
    };
    Raise::error(RunCode::Index, format!("index {index} is out of range: the list {holds}")).about(1, "out of range")
}

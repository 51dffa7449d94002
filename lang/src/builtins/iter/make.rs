//! `iter` and the adaptors: each makes an iterator and runs nothing.

use super::lazy;
use crate::builtins::{Builtin, args, items};
use crate::value::{Flavor, ItemSource, Iter, Value};
use crate::vm::{Cx, Raise, RunCode, walkable};

crate::builtins! { "<iter>" =>
    /// The iterator itself.
    plain "iter(self: iter<T>) -> iter<T>" iter;
    /// Maps each item with the function.
    plain "map(self: iter<T>, f: fn(T) -> U) -> iter<U>" map;
    /// The items for which the function gives something true.
    plain "filter(self: iter<T>, f: fn(T) -> any) -> iter<T>" filter;
    /// The items of what the function gives: of lists, sets, ranges, iterators, generators and streams. Anything else
    /// is one item.
    plain "flat_map(self: iter<T>, f: fn(T) -> any) -> iter" flat_map;
    /// The first `n` items. Nothing is asked for beyond them.
    plain "take(self: iter<T>, n: int) -> iter<T>" take;
    /// The items behind the first `n`.
    plain "skip(self: iter<T>, n: int) -> iter<T>" skip;
    /// The items up to the first for which the function gives nothing true; that one is used up.
    plain "take_while(self: iter<T>, f: fn(T) -> any) -> iter<T>" take_while;
    /// The items from the first on for which the function gives nothing true.
    plain "skip_while(self: iter<T>, f: fn(T) -> any) -> iter<T>" skip_while;
    /// Pairs of the items of both, as long as both have some.
    plain "zip(self: iter<T>, other: any) -> iter<pair<T, any>>" zip;
    /// Pairs of the number of each item, from 0, and the item.
    plain "enumerate(self: iter<T>) -> iter<pair<int, T>>" enumerate;
    /// The items of this one, then those of the other.
    plain "chain(self: iter, other: any) -> iter" chain;
    /// Lists of `size` items in a row; the last one may be shorter.
    plain "chunks(self: iter<T>, size: int) -> iter<list<T>>" chunks;
    /// Lists of `size` items in a row, each beginning one item later.
    plain "windows(self: iter<T>, size: int) -> iter<list<T>>" windows;
    /// Returns every run of `size` items, each of which begins `step` items after the one before.
    ///
    /// ```harn
    /// (1 to 5).iter().window(2, 2).to_list() // => [[1, 2], [3, 4]]
    /// ```
    plain "window(self: iter<T>, size: int, step: int = 1) -> iter<list<T>>" window;
    /// Returns the items, and calls the function with each of them as it passes.
    ///
    /// ```harn
    /// [1, 2].iter().tap({ x -> println(x) }).sum() // => 3
    /// ```
    plain "tap(self: iter<T>, f: fn(T) -> any) -> iter<T>" tap;
    /// Returns each result on the way: calls the function with the result so far, which begins as `start`, and each item in turn.
    ///
    /// ```harn
    /// [1, 2, 3].iter().scan(0, { sum, x -> sum + x }).to_list() // => [1, 3, 6]
    /// ```
    plain "scan(self: iter<T>, start: S, f: fn(any, T) -> R) -> iter<R>" scan;
    /// Returns the items without those that arrive within `time` after the last one that passed.
    ///
    /// ```harn
    /// [1, 2, 3].iter().throttle(1s).to_list() // => [1]
    /// ```
    plain "throttle(self: iter<T>, time: duration) -> iter<T>" throttle;
}

/// The row for values that are no iterators.
pub(crate) mod iter {
    crate::builtins! { "<list>" =>
        /// A lazy iterator over the items: of a dict its entries `{key, value}`, of a string its characters.
        plain "iter(self: list<T> | set<T> | dict | string | bytes) -> iter<T>" super::iter;
    }
}

/// A value's items as an iterator; the value itself when it has none.
pub(super) fn try_iter(value: Value) -> Result<Value, Value> {
    match walkable(value)? {
        iter @ Value::Iter(_) => Ok(iter),
        source => Ok(Iter::over(source)),
    }
}

/// An argument's items as an iterator.
pub(super) fn source(args: &mut [Value], i: usize) -> Result<Value, Box<Raise>> {
    try_iter(std::mem::take(&mut args[i])).map_err(|value| {
        let message = format!("{} is not iterable", items::article(&value));
        Raise::error(RunCode::Type, message).about(i, format!("this is {}", items::shown(&value)))
    })
}

/// An iterator over the items of any value that has some.
pub(in crate::builtins) fn iter(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    source(args, 0)
}

fn made(cx: &Cx<'_>, machine: &'static Builtin, registers: Vec<Value>) -> Value {
    cx.isolate.iterator(Flavor::Iter, ItemSource::Native { machine, registers })
}

/// An iterator whose machine has a source, a function, and registers of its own.
fn with_function(
    cx: &Cx<'_>,
    machine: &'static Builtin,
    args: &mut [Value],
    slots: usize,
) -> Result<Value, Box<Raise>> {
    args::function(args, 1)?;
    let mut registers = vec![source(args, 0)?, std::mem::take(&mut args[1])];
    registers.resize(2 + slots, Value::Nil);
    Ok(made(cx, machine, registers))
}

fn map(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::MAP, args, 1)
}

fn filter(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::FILTER, args, 2)
}

fn flat_map(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::FLAT_MAP, args, 2)
}

fn take_while(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::TAKE_WHILE, args, 2)
}

fn skip_while(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::SKIP_WHILE, args, 2)
}

fn take(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = args::count(args, 1)?;
    Ok(made(cx, &lazy::TAKE, vec![source(args, 0)?, Value::from(n)]))
}

fn skip(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = args::count(args, 1)?;
    Ok(made(cx, &lazy::SKIP, vec![source(args, 0)?, Value::from(n)]))
}

fn zip(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = source(args, 1)?;
    Ok(made(cx, &lazy::ZIP, vec![source(args, 0)?, other, Value::Unbound]))
}

fn chain(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = source(args, 1)?;
    Ok(made(cx, &lazy::CHAIN, vec![source(args, 0)?, other]))
}

fn enumerate(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(made(cx, &lazy::ENUMERATE, vec![source(args, 0)?, Value::Int(0)]))
}

fn chunks(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let size = items::size(args, 1, "the size of a chunk")?;
    Ok(made(cx, &lazy::CHUNKS, vec![source(args, 0)?, Value::from(size), Value::list(Vec::new())]))
}

fn windows(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    windows_by(cx, args, 1)
}

fn window(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let step = if args[2].is_nil() { 1 } else { items::size(args, 2, "the step")? };
    windows_by(cx, args, step)
}

fn windows_by(cx: &Cx<'_>, args: &mut [Value], step: usize) -> Result<Value, Box<Raise>> {
    let size = items::size(args, 1, "the size of a window")?;
    let registers =
        vec![source(args, 0)?, Value::from(size), Value::list(Vec::new()), Value::from(step), Value::Int(0)];
    Ok(made(cx, &lazy::WINDOW, registers))
}

fn tap(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    with_function(cx, &lazy::TAP, args, 2)
}

fn scan(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::function(args, 2).map_err(|raise| raise.help("pass the start value first: `it.scan(0, { a, b -> … })`"))?;
    let (start, function) = (std::mem::take(&mut args[1]), std::mem::take(&mut args[2]));
    Ok(made(cx, &lazy::SCAN, vec![source(args, 0)?, start, function, Value::Nil, Value::Nil]))
}

fn throttle(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let ms = Value::Int(i64::try_from(args::duration(args, 1)?).unwrap_or(i64::MAX));
    Ok(made(cx, &lazy::THROTTLE, vec![source(args, 0)?, ms, Value::Nil]))
}

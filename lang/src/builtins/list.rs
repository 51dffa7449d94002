//! Methods of lists, ranges and sets that call no function.

use super::items::{bound, items, room};
use super::ordering::{extreme, extreme_of_range};
use super::{args, items, random, statistics};
use crate::value::meter::copied;
use crate::value::{Dict, Set, Str, Value, display, equal};
use crate::vm::{Cx, Meter, Raise, RunCode, Stopped, overflow};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

crate::builtins! { "<list>" =>
    /// Returns the number of elements.
    ///
    /// ```harn
    /// [1, 2].count // => 2
    /// ```
    plain "count(self: list) -> int" [pure, property] count;
    /// Returns whether there are no elements.
    ///
    /// ```harn
    /// [].empty // => true
    /// ```
    plain "empty(self: list) -> bool" [pure, property] empty;
    /// Returns the first element, or nil if there is none.
    ///
    /// ```harn
    /// [1, 2].first // => 1
    /// ```
    plain "first(self: list<T>) -> T?" [pure, property] first;
    /// Returns the last element, or nil if there is none.
    ///
    /// ```harn
    /// [1, 2].last // => 2
    /// ```
    plain "last(self: list<T>) -> T?" [pure, property] last;
    /// Returns whether an element equals the value.
    ///
    /// ```harn
    /// [1, 2].contains(2) // => true
    /// ```
    plain "contains(self: list, value: any) -> bool" [pure] contains;
    /// Returns the index of the first element that equals the value, or -1 if there is none.
    ///
    /// ```harn
    /// [5, 6].index_of(6) // => 1
    /// [5, 6].index_of(7) // => -1
    /// ```
    plain "index_of(self: list, value: any) -> int" [pure] index_of;
    /// Returns the elements from `start` up to `end`, which is not included. Negative ones count from the end.
    ///
    /// ```harn
    /// [1, 2, 3, 4].slice(1, -1) // => [2, 3]
    /// ```
    plain "slice(self: list<T>, start: int, end: int = nil) -> list<T>" [pure] slice;
    /// Returns the first `n` elements, or all if there are fewer.
    ///
    /// ```harn
    /// [1, 2, 3].take(2) // => [1, 2]
    /// ```
    plain "take(self: list<T>, n: int) -> list<T>" [pure] take;
    /// Returns all but the first `n` elements.
    ///
    /// ```harn
    /// [1, 2, 3].skip(2) // => [3]
    /// ```
    plain "skip(self: list<T>, n: int) -> list<T>" [pure] skip;
    /// Returns pairs of the elements of both, as long as both have one.
    ///
    /// ```harn
    /// [1, 2].zip(["a", "b"]) // => [(1, "a"), (2, "b")]
    /// ```
    plain "zip(self: list<T>, other: list<U> | set<U>) -> list<pair<T, U>>" [pure] zip;
    /// Returns pairs `(index, element)`.
    ///
    /// ```harn
    /// ["a", "b"].enumerate() // => [(0, "a"), (1, "b")]
    /// ```
    plain "enumerate(self: list<T>) -> list<pair<int, T>>" [pure] enumerate;
    /// Returns the elements without those that equal an earlier one.
    ///
    /// ```harn
    /// [1, 2, 1].unique() // => [1, 2]
    /// ```
    plain "unique(self: list<T>) -> list<T>" [pure] unique;
    /// Returns the elements of the lists, sets and ranges inside, one level deep. Other elements stay as they are.
    ///
    /// ```harn
    /// [[1, 2], 3].flatten() // => [1, 2, 3]
    /// ```
    plain "flatten(self: list) -> list" [pure] flatten;
    /// Returns lists of `size` elements each, in order; the last one may be shorter.
    ///
    /// ```harn
    /// [1, 2, 3].chunk(2) // => [[1, 2], [3]]
    /// ```
    plain "chunk(self: list<T>, size: int) -> list<list<T>>" [pure] chunk;
    /// Returns every run of `size` neighbours, each of which begins `step` elements after the one before.
    ///
    /// ```harn
    /// [1, 2, 3].window(2) // => [[1, 2], [2, 3]]
    /// ```
    plain "window(self: list<T>, size: int, step: int = 1) -> list<list<T>>" [pure] window;
    /// Returns the elements that are not nil.
    ///
    /// ```harn
    /// [1, nil, 2].compact() // => [1, 2]
    /// ```
    plain "compact(self: list<T?>) -> list<T>" [pure] compact;
    /// Counts the occurrences of each element, by its text.
    ///
    /// ```harn
    /// ["a", "b", "a"].tally() // => {a: 2, b: 1}
    /// ```
    plain "tally(self: list) -> dict<string, int>" [pure] tally;
    /// Returns the sum of numbers, 0 if there are none.
    ///
    /// ```harn
    /// [1, 2.5].sum() // => 3.5
    /// ```
    plain "sum(self: list) -> int | float" [pure] sum;
    /// Returns the mean of numbers, or nil if there are none.
    ///
    /// ```harn
    /// [1, 2, 6].mean() // => 3.0
    /// ```
    plain "mean(self: list) -> float?" [pure] statistics::mean;
    /// Returns the median of numbers, or nil if there are none.
    ///
    /// ```harn
    /// [5, 1, 3].median() // => 3.0
    /// ```
    plain "median(self: list) -> float?" [pure] statistics::median;
    /// Returns the percentile `p` of numbers, from 0 to 100, or nil if there are none.
    ///
    /// ```harn
    /// [10, 20, 30, 40].percentile(50) // => 25.0
    /// ```
    plain "percentile(self: list, p: int | float) -> float?" [pure] statistics::percentile;
    /// Returns the standard deviation of a sample, or nil if it has fewer than two numbers.
    ///
    /// ```harn
    /// [1, 3].stddev().round(3) // => 1.414
    /// ```
    plain "stddev(self: list) -> float?" [pure] statistics::stddev;
    /// Returns a random element.
    ///
    /// ```harn
    /// ["red"].choice() // => "red"
    /// ```
    plain "choice(self: list<T>) -> T" [pure] random::choice;
    /// Returns the elements in random order.
    ///
    /// ```harn
    /// [1, 2, 3].shuffle().sort() // => [1, 2, 3]
    /// ```
    plain "shuffle(self: list<T>) -> list<T>" [pure] random::shuffle;
    /// Returns `n` random elements in random order, or all if there are fewer.
    ///
    /// ```harn
    /// [1, 2, 3].sample(2).count // => 2
    /// ```
    plain "sample(self: list<T>, n: int) -> list<T>" [pure] random::sample;
    /// Returns the least element, or nil if there is none.
    ///
    /// ```harn
    /// [3, 1, 2].min() // => 1
    /// ```
    plain "min(self: list<T>) -> T?" [pure] min;
    /// Returns the greatest element, or nil if there is none.
    ///
    /// ```harn
    /// [3, 1, 2].max() // => 3
    /// ```
    plain "max(self: list<T>) -> T?" [pure] max;
    /// Joins the texts of the elements, with the separator between them.
    ///
    /// ```harn
    /// [1, 2, 3].join("-") // => "1-2-3"
    /// ```
    plain "join(self: list, separator: string = \"\") -> string" [pure] join;
    /// Returns the elements in the opposite order.
    ///
    /// ```harn
    /// [1, 2, 3].reverse() // => [3, 2, 1]
    /// ```
    plain "reverse(self: list<T>) -> list<T>" [pure] reverse;
    /// Returns the elements as a list.
    ///
    /// ```harn
    /// (1 to 3).to_list() // => [1, 2, 3]
    /// ```
    plain "to_list(self: list<T>) -> list<T>" [pure] to_list;
    /// Returns the elements as a set.
    ///
    /// ```harn
    /// [1, 2, 1].to_set().count // => 2
    /// ```
    plain "to_set(self: list<T>) -> set<T>" [pure] to_set;
    /// Makes a dict of pairs `(key, value)`, lists `[key, value]` or entries `{key, value}`.
    ///
    /// ```harn
    /// [["a", 1], ["b", 2]].to_dict() // => {a: 1, b: 2}
    /// ```
    plain "to_dict(self: list) -> dict" [pure] to_dict;
}

fn count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(items::count(args, 0)?))
}

fn empty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(items::count(args, 0)? == 0))
}

fn first(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    items::count(args, 0)?;
    Ok(items::at(&args[0], 0).unwrap_or_default())
}

fn last(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    Ok(n.checked_sub(1).and_then(|i| items::at(&args[0], i)).unwrap_or_default())
}

fn find(cx: &Cx<'_>, args: &[Value]) -> Result<Option<usize>, Box<Raise>> {
    if let Value::Range(r) = &args[0] {
        return Ok(r.find(&args[1]));
    }
    let Some(Value::List(list)) = args.first() else {
        return Ok(items(cx, args, 0)?.iter().position(|item| equal(item, &args[1]) || Meter::is_stopped()));
    };
    let found = list.items.iter().position(|item| equal(item, &args[1]) || Meter::is_stopped());
    cx.charge(found.unwrap_or(list.items.len()), 1);
    Ok(found)
}

pub(super) fn contains(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Value::Set(s) = &args[0] {
        return Ok(Value::Bool(s.contains(&args[1])));
    }
    Ok(Value::Bool(find(cx, args)?.is_some()))
}

pub(super) fn index_of(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(find(cx, args)?.map_or(Value::Int(-1), Value::from))
}

/// A part of the receiver as a list; a list that is held once is cut in place.
fn part(cx: &Cx<'_>, args: &mut [Value], from: usize, to: usize) -> Result<Value, Box<Raise>> {
    let from = from.min(to);
    room(cx, to - from)?;
    cx.charge(to - from, 1);
    if let Value::List(l) = &mut args[0]
        && let Some(list) = Rc::get_mut(l)
    {
        list.items.truncate(to);
        list.items.drain(..from);
        return Ok(std::mem::take(&mut args[0]));
    }
    Ok(match &args[0] {
        Value::List(l) => Value::list(copied(l.items.get(from..to).unwrap_or(&[]))),
        other => Value::list((from..to).map_while(|i| items::at(other, i)).collect()),
    })
}

fn slice(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    let from = bound(args::int(args, 1)?, n);
    let to = args::opt_int(args, 2)?.map_or(n, |to| bound(to, n));
    part(cx, args, from, to)
}

fn take(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    let to = args::count(args, 1)?.min(n);
    part(cx, args, 0, to)
}

fn skip(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    let from = args::count(args, 1)?.min(n);
    part(cx, args, from, n)
}

pub(super) fn zip(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?.min(items::count(args, 1)?);
    room(cx, n)?;
    cx.charge(n, 8);
    let pair = |i| Some(Value::pair(items::at(&args[0], i)?, items::at(&args[1], i)?));
    Ok(Value::list((0..n).map_while(pair).collect()))
}

pub(super) fn enumerate(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = items::count(args, 0)?;
    room(cx, n)?;
    cx.charge(n, 8);
    let pair = |i| Some(Value::pair(Value::from(i), items::at(&args[0], i)?));
    Ok(Value::list((0..n).map_while(pair).collect()))
}

pub(super) fn unique(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let set: Set = items(cx, args, 0)?.iter().cloned().collect();
    Ok(Value::list(copied(set.items())))
}

pub(super) fn flatten(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut flat = Vec::new();
    let mut meter = Meter::start();
    for i in 0..items::count(args, 0)? {
        let Some(item) = items::at(&args[0], i) else { break };
        match items::len(&item) {
            Some(n) => {
                room(cx, flat.len().saturating_add(n))?;
                flat.extend((0..n).map_while(|i| items::at(&item, i)));
            }
            None => flat.push(item),
        }
        // A range may be longer than any memory.
        meter.step().map_err(Stopped::raise)?;
    }
    cx.charge(flat.len(), 1);
    Ok(Value::list(flat))
}

fn chunk(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let size = items::size(args, 1, "the size of a chunk")?;
    let items = items(cx, args, 0)?;
    Ok(Value::list(items.chunks(size).map(|part| Value::list(copied(part))).collect()))
}

fn window(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let size = items::size(args, 1, "the size of a window")?;
    let step = if args[2].is_nil() { 1 } else { items::size(args, 2, "the step")? };
    let items = items(cx, args, 0)?;
    let starts = (0..(items.len() + 1).saturating_sub(size)).step_by(step);
    room(cx, starts.len().saturating_mul(size))?;
    cx.charge(starts.len().saturating_mul(size), 1);
    Ok(Value::list(starts.map(|at| Value::list(copied(&items[at..at + size]))).collect()))
}

fn compact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(items::count(args, 0)?, 1);
    items::change(cx, args, 0, |items| items.retain(|item| !item.is_nil()))
}

/// The key of a value in a dict that counts or groups: strings themselves, the text of anything else.
pub(super) fn key_of(value: &Value) -> Str {
    match value {
        Value::Str(s) => s.clone(),
        other => Str::from(display(other)),
    }
}

fn tally(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut counts = Dict::new();
    for item in items(cx, args, 0)?.iter() {
        if Meter::is_stopped() {
            break;
        }
        let slot = counts.slot(&key_of(item));
        *slot = Value::Int(slot.as_int().unwrap_or(0) + 1);
    }
    Ok(Value::dict(counts))
}

pub(super) fn sum(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Value::Range(range) = &args[0] {
        return range.sum().map(Value::Int).ok_or_else(|| overflow("the sum"));
    }
    let mut total = Value::Int(0);
    for (i, item) in (0..).zip(items(cx, args, 0)?.iter()) {
        total = plus(&total, item, i)?;
    }
    Ok(total)
}

/// A sum with the element at `index` added.
pub(super) fn plus(total: &Value, item: &Value, index: i64) -> Result<Value, Box<Raise>> {
    if let (Value::Int(a), Value::Int(b)) = (total, item) {
        return a.checked_add(*b).map(Value::Int).ok_or_else(|| overflow("the sum"));
    }
    if let (Some(a), Some(b)) = (total.as_number(), item.as_number()) {
        return Ok(Value::Float(a + b));
    }
    let message = format!("cannot sum: element {index} is {}", items::article(item));
    Err(Raise::error(RunCode::Type, message)
        .about(0, format!("holds {}", items::shown(item)))
        .help("convert the elements to numbers first: `xs.map({ x -> … }).sum()`"))
}

fn best(cx: &Cx<'_>, args: &[Value], wanted: Ordering) -> Result<Value, Box<Raise>> {
    match &args[0] {
        Value::Range(range) => Ok(extreme_of_range(**range, wanted)),
        _ => extreme(&items(cx, args, 0)?, wanted),
    }
}

fn min(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    best(cx, args, Ordering::Less)
}

fn max(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    best(cx, args, Ordering::Greater)
}

pub(super) fn join(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let separator = args::opt_str(args, 1)?.map_or("", |s| s.as_str());
    let mut out = Str::new("");
    for (i, item) in items(cx, args, 0)?.iter().enumerate() {
        let text = match item {
            Value::Str(s) => Cow::Borrowed(s.as_str()),
            other => Cow::Owned(display(other)),
        };
        let separator = if i > 0 { separator } else { "" };
        // Looked at before the texts are copied.
        cx.check_size(out.len().checked_add(separator.len()).and_then(|size| size.checked_add(text.len())))?;
        out.push_str(separator);
        out.push_str(&text);
    }
    cx.charge_part(out.len(), 16);
    Ok(Value::Str(out))
}

pub(super) fn reverse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(items::count(args, 0)?, 1);
    items::change(cx, args, 0, |items| items.reverse())
}

fn to_list(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    items::take(cx, args, 0).map(Value::List)
}

pub(super) fn to_set(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Value::Set(_) = args[0] {
        return Ok(std::mem::take(&mut args[0]));
    }
    let set: Set = items(cx, args, 0)?.iter().cloned().collect();
    Ok(Value::Set(set.into()))
}

pub(super) fn to_dict(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut dict = Dict::new();
    for (i, item) in items(cx, args, 0)?.iter().enumerate() {
        let entry = match item {
            Value::Pair(p) => Some((&p.first, &p.second)),
            Value::List(l) if l.items.len() == 2 => Some((&l.items[0], &l.items[1])),
            Value::Dict(d) => d.dict.get_str("key").zip(d.dict.get_str("value")),
            _ => None,
        };
        let Some((Value::Str(key), value)) = entry else {
            let message = format!("element {i} is not an entry of a dict: {}", items::shown(item));
            return Err(Raise::error(RunCode::Type, message)
                .about(0, "not a list of entries")
                .help("write an entry as `(key, value)`, `[key, value]` or `{key, value}` with a string as the key"));
        };
        dict.insert(key.clone(), value.clone());
    }
    Ok(Value::dict(dict))
}

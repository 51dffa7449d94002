//! Sorting: by the order of the values, by a key, by a comparator of the script's own.

use super::items::{self, article};
use super::ordering::Comparer;
use super::walk::{self, VisitAction, push, walk};
use super::{Native, Step, args};
use crate::value::{List, Value};
use crate::vm::{Cx, Raise, RunCode};
use std::rc::Rc;

crate::builtins! { "<list>" =>
    /// The elements in order, equal ones as they stood. The function, if given, gets two elements and says which comes
    /// first: by a number (negative: the first of them) or by a bool (true: the first of them).
    native "sort(self: list<T>, compare: fn(T, T) -> any = nil) -> list<T>" SORT;
    /// The elements in the order of the keys that the function gives, equal ones as they stood.
    native "sort_by(self: list<T>, key: fn(T) -> any) -> list<T>" SORT_BY;
}

/// Sorts by the values' own order; when some have none, the items stay as they were.
fn sort_values(cx: &Cx<'_>, items: &mut Vec<Value>) -> Result<(), Box<Raise>> {
    if items.iter().all(|v| matches!(v, Value::Int(_))) {
        items.sort_unstable_by_key(|v| v.as_int().unwrap_or(0));
        return Ok(());
    }
    cx.check_copy(items.len().saturating_mul(size_of::<Value>()))?;
    let mut sorted = items.clone();
    let mut comparer = Comparer::default();
    sorted.sort_by(|a, b| comparer.compare(a, b));
    comparer.finish()?;
    *items = sorted;
    Ok(())
}

/// Returns the order of the elements, given their keys: `order[0]` is the index of the first one.
fn order_of(keys: &[Value]) -> Result<Vec<usize>, Box<Raise>> {
    if let Some(mut order) = all(keys, Value::as_int) {
        order.sort_unstable();
        return Ok(order.into_iter().map(|(_, at)| at).collect());
    }
    if let Some(mut order) = all(keys, Value::as_str) {
        order.sort_unstable();
        return Ok(order.into_iter().map(|(_, at)| at).collect());
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut comparer = Comparer::default();
    order.sort_by(|&a, &b| comparer.compare(&keys[a], &keys[b]));
    comparer.finish().map_err(|raise| raise.about(1, "returns keys that cannot be ordered"))?;
    Ok(order)
}

/// The keys as plain data beside their places, when all are of one type.
fn all<'k, K>(keys: &'k [Value], read: fn(&'k Value) -> Option<K>) -> Option<Vec<(K, usize)>> {
    keys.iter().enumerate().map(|(at, key)| Some((read(key)?, at))).collect()
}

static SORT_BY: &Native = walk!(
    Value::list(Vec::new()),
    |cx, keys, _, key| {
        push(cx, keys, key)?;
        Ok(VisitAction::On)
    },
    |regs| {
        let keys = walk::result(regs);
        let order = order_of(keys.as_list().unwrap_or(&[]))?;
        if let Value::List(l) = &mut regs[walk::SOURCE]
            && let Some(list) = Rc::get_mut(l)
        {
            let items = &mut list.items;
            return Ok(Value::list(order.into_iter().map(|at| std::mem::take(&mut items[at])).collect()));
        }
        Ok(Value::list(order.into_iter().filter_map(|at| items::at(&regs[walk::SOURCE], at)).collect()))
    }
);

// Registers of a merge sort: the list being read, the comparator, the list being written, how long the sorted runs are,
// where the two runs being merged begin and end, and the call's two. Runs of `WIDTH` at `LEFT` and behind it are merged
// into one; when all are, reading and writing change places and the runs are twice as long. A comparator that lies makes
// a wrong order and nothing else: the number of questions does not depend on its answers by more than a factor of two.
const FROM: usize = 0;
const COMPARE: usize = 1;
const INTO: usize = 2;
const WIDTH: usize = 3;
const LEFT: usize = 4;
const RIGHT: usize = 5;
const END_LEFT: usize = 6;
const END_RIGHT: usize = 7;
const CALL: usize = 8;

pub(super) static SORT: &Native = &Native { enter: sort_enter, resume: sort_resume, item: super::no_item, slots: 8 };

fn sort_enter(cx: &mut Cx<'_>, regs: &mut [Value]) -> Result<Step, Box<Raise>> {
    let n = items::count(regs, FROM)?;
    if regs[COMPARE].is_nil() {
        // About as often as the number has bits each is compared with another one.
        cx.charge(n, 4 * n.max(1).ilog2() as usize);
    } else {
        args::function(regs, COMPARE)?;
    }
    let mut list = items::take(cx, regs, FROM)?;
    let items = &mut Rc::<List>::make_mut(&mut list).items;
    if regs[COMPARE].is_nil() {
        sort_values(cx, items)?;
        return Ok(Step::Return(Value::List(list)));
    }
    items::room(cx, n.saturating_mul(2))?;
    regs[FROM] = Value::List(list);
    regs[INTO] = Value::list(Vec::with_capacity(n));
    set(regs, WIDTH, 1);
    begin_runs(regs, 0, n);
    Ok(merge(regs))
}

fn get(regs: &[Value], register: usize) -> usize {
    regs[register].as_int().and_then(|i| usize::try_from(i).ok()).unwrap_or(0)
}

fn set(regs: &mut [Value], register: usize, value: usize) {
    regs[register].store(Value::from(value));
}

/// The next two runs begin at `at`.
fn begin_runs(regs: &mut [Value], at: usize, len: usize) {
    let width = get(regs, WIDTH);
    let middle = at.saturating_add(width).min(len);
    set(regs, LEFT, at);
    set(regs, END_LEFT, middle);
    set(regs, RIGHT, middle);
    set(regs, END_RIGHT, middle.saturating_add(width).min(len));
}

/// Goes on until there is something to ask, or all is sorted.
fn merge(regs: &mut [Value]) -> Step {
    let n = regs[FROM].as_list().map_or(0, <[Value]>::len);
    loop {
        if let Some(question) = ask(regs) {
            return question;
        }
        let (left, right) = (get(regs, LEFT), get(regs, RIGHT));
        let (end_left, end_right) = (get(regs, END_LEFT), get(regs, END_RIGHT));
        let (from, to) = if left < end_left { (left, end_left) } else { (right, end_right) };
        move_items(regs, from, to);
        if end_right < n {
            begin_runs(regs, end_right, n);
            continue;
        }
        let width = get(regs, WIDTH).saturating_mul(2);
        let sorted = std::mem::replace(&mut regs[INTO], Value::Nil);
        if width >= n {
            return Step::Return(sorted);
        }
        regs[INTO] = std::mem::replace(&mut regs[FROM], sorted);
        if let Value::List(l) = &mut regs[INTO] {
            Rc::<List>::make_mut(l).items.clear();
        }
        set(regs, WIDTH, width);
        begin_runs(regs, 0, n);
    }
}

/// The question about the first elements of the two runs, if both have some.
#[inline]
fn ask(regs: &mut [Value]) -> Option<Step> {
    let [
        Value::List(read),
        _,
        _,
        _,
        Value::Int(left),
        Value::Int(right),
        Value::Int(end_left),
        Value::Int(end_right),
        first,
        second,
        ..,
    ] = regs
    else {
        return None;
    };
    if left >= end_left || right >= end_right {
        return None;
    }
    let at =
        |index: i64| usize::try_from(index).ok().and_then(|index| read.items.get(index)).cloned().unwrap_or_default();
    // The right one is asked about first: only if it must come first does it pass the left one, so equal elements keep their
    // order whether the answer is a number or a bool.
    first.store(at(*right));
    second.store(at(*left));
    Some(Step::Call { callee: COMPARE, args: CALL, argc: 2 })
}

/// Moves an element from the list being read to the one being written.
#[inline]
fn move_item(regs: &mut [Value], at: usize) {
    let [Value::List(read), _, Value::List(write), ..] = regs else { return };
    if let Some(item) = Rc::<List>::make_mut(read).items.get_mut(at) {
        Rc::<List>::make_mut(write).items.push(std::mem::take(item));
    }
}

/// Moves elements from the list being read to the one being written.
fn move_items(regs: &mut [Value], from: usize, to: usize) {
    let [Value::List(read), _, Value::List(write), ..] = regs else { return };
    let read = &mut Rc::<List>::make_mut(read).items;
    let write = &mut Rc::<List>::make_mut(write).items;
    write.extend(read.get_mut(from..to).into_iter().flatten().map(std::mem::take));
}

fn sort_resume(_: &mut Cx<'_>, regs: &mut [Value], answer: Value) -> Result<Step, Box<Raise>> {
    let right_first = match answer {
        Value::Bool(b) => b,
        Value::Int(i) => i < 0,
        Value::Float(f) => f < 0.0,
        other => {
            let message = format!("comparator returned {}, expected a number or a bool", article(&other));
            return Err(Raise::error(RunCode::Type, message).about(1, "must return a number or a bool").help(
                "return a negative number or true if the first value comes first: `xs.sort({ a, b -> a - b })`",
            ));
        }
    };
    let register = if right_first { RIGHT } else { LEFT };
    let at = get(regs, register);
    move_item(regs, at);
    set(regs, register, at + 1);
    Ok(ask(regs).unwrap_or_else(|| merge(regs)))
}

//! Methods of lists, ranges and sets that call a function for each element.

use super::items::{self, room};
use super::list::key_of;
use super::ordering::Comparer;
use super::walk::{At, VisitAction, push, walk};
use super::{Native, Step, args};
use crate::value::{Dict, List, Pair, Value};
use crate::vm::{Cx, Raise};
use std::cmp::Ordering;
use std::rc::Rc;

crate::builtins! { "<list>" =>
    /// Maps each element with the function.
    native "map(self: list<T>, f: fn(T) -> U) -> list<U>" MAP;
    /// The elements for which the function gives something true.
    native "filter(self: list<T>, f: fn(T) -> any) -> list<T>" FILTER;
    /// Combines the elements into one value: calls the function with the result so far, which begins as `start`, and each
    /// element in turn.
    native "reduce(self: list<T>, start: S, f: fn(any, T) -> R) -> S | R" REDUCE;
    /// Calls the function with each element.
    native "for_each(self: list<T>, f: fn(T) -> any) -> nil" FOR_EACH;
    /// The first element for which the function gives something true, nil when there is none.
    native "find(self: list<T>, f: fn(T) -> any) -> T?" FIND;
    /// Returns the index of that element, or -1 if there is none.
    native "find_index(self: list<T>, f: fn(T) -> any) -> int" FIND_INDEX;
    /// Whether the function gives something true for any element.
    native "any(self: list<T>, f: fn(T) -> any) -> bool" ANY;
    /// Whether the function gives something true for every element.
    native "all(self: list<T>, f: fn(T) -> any) -> bool" EVERY;
    /// Does what `all` does.
    native "every(self: list<T>, f: fn(T) -> any) -> bool" EVERY;
    /// Whether the function gives something true for no element.
    native "none(self: list<T>, f: fn(T) -> any) -> bool" NONE;
    /// The elements of the lists, sets and ranges that the function gives; what is none of these is one element.
    native "flat_map(self: list<T>, f: fn(T) -> any) -> list" FLAT_MAP;
    /// The elements up to the first for which the function gives nothing true.
    native "take_while(self: list<T>, f: fn(T) -> any) -> list<T>" TAKE_WHILE;
    /// The elements from the first on for which the function gives nothing true.
    native "skip_while(self: list<T>, f: fn(T) -> any) -> list<T>" SKIP_WHILE;
    /// The pair of the elements for which the function gives something true, and the others.
    native "partition(self: list<T>, f: fn(T) -> any) -> pair<list<T>, list<T>>" PARTITION;
    /// Lists of the elements by the key that the function gives; keys are kept by their text.
    native "group_by(self: list<T>, f: fn(T) -> any) -> dict<string, list<T>>" GROUP_BY;
    /// The element with the least key, nil when there is none.
    native "min_by(self: list<T>, key: fn(T) -> any) -> T?" MIN_BY;
    /// The element with the greatest key, nil when there is none.
    native "max_by(self: list<T>, key: fn(T) -> any) -> T?" MAX_BY;
}

fn no_items() -> Value {
    Value::list(Vec::new())
}

static MAP: &Native = walk!(no_items(), |cx, acc, _, answer| {
    push(cx, acc, answer)?;
    Ok(VisitAction::On)
});

static FILTER: &Native = walk!(no_items(), |cx, acc, at, answer| {
    let keep = answer.truthy();
    answer.discard();
    if keep {
        push(cx, acc, at.item())?;
    }
    Ok(VisitAction::On)
});

static FOR_EACH: &Native = walk!(Value::Nil, |_, _, _, answer| {
    answer.discard();
    Ok(VisitAction::On)
});

static FIND: &Native = walk!(Value::Nil, |_, _, at, answer| Ok(if answer.truthy() {
    VisitAction::Done(at.item())
} else {
    VisitAction::On
}));

static FIND_INDEX: &Native = walk!(Value::Int(-1), |_, _, at, answer| Ok(if answer.truthy() {
    VisitAction::Done(Value::Int(at.index))
} else {
    VisitAction::On
}));

static ANY: &Native = walk!(Value::Bool(false), |_, _, _, answer| Ok(if answer.truthy() {
    VisitAction::Done(Value::Bool(true))
} else {
    VisitAction::On
}));

static EVERY: &Native = walk!(Value::Bool(true), |_, _, _, answer| Ok(if answer.truthy() {
    VisitAction::On
} else {
    VisitAction::Done(Value::Bool(false))
}));

static NONE: &Native = walk!(Value::Bool(true), |_, _, _, answer| Ok(if answer.truthy() {
    VisitAction::Done(Value::Bool(false))
} else {
    VisitAction::On
}));

static FLAT_MAP: &Native = walk!(no_items(), flat);

fn flat(cx: &Cx<'_>, acc: &mut Value, _: &At<'_>, answer: Value) -> Result<VisitAction, Box<Raise>> {
    let Value::List(l) = acc else { return Ok(VisitAction::On) };
    let into = &mut Rc::<List>::make_mut(l).items;
    match items::len(&answer) {
        Some(n) => {
            room(cx, into.len().saturating_add(n))?;
            into.extend((0..n).map_while(|i| items::at(&answer, i)));
        }
        None => into.push(answer),
    }
    Ok(VisitAction::On)
}

static TAKE_WHILE: &Native = walk!(no_items(), |cx, acc, at, answer| {
    if !answer.truthy() {
        return Ok(VisitAction::Done(std::mem::take(acc)));
    }
    push(cx, acc, at.item())?;
    Ok(VisitAction::On)
});

static SKIP_WHILE: &Native = walk!(no_items(), |cx, _, at, answer| if answer.truthy() {
    Ok(VisitAction::On)
} else {
    at.rest(cx).map(VisitAction::Done)
});

static PARTITION: &Native = walk!(Value::pair(no_items(), no_items()), |cx, acc, at, answer| {
    if let Value::Pair(p) = acc {
        let p = Rc::<Pair>::make_mut(p);
        push(cx, if answer.truthy() { &mut p.first } else { &mut p.second }, at.item())?;
    }
    Ok(VisitAction::On)
});

static GROUP_BY: &Native = walk!(Value::dict(Dict::new()), |cx, acc, at, answer| {
    if let Value::Dict(d) = acc {
        let group = Rc::make_mut(d).dict.slot(&key_of(&answer));
        if group.is_nil() {
            *group = no_items();
        }
        push(cx, group, at.item())?;
    }
    Ok(VisitAction::On)
});

static MIN_BY: &Native =
    walk!(Value::Nil, |_, acc, at, key| better(acc, at, key, Ordering::Less), |regs| Ok(second(regs)));

static MAX_BY: &Native =
    walk!(Value::Nil, |_, acc, at, key| better(acc, at, key, Ordering::Greater), |regs| Ok(second(regs)));

/// Keeps the pair (key, element) with the best key, the first of several.
fn better(acc: &mut Value, at: &At<'_>, key: Value, wanted: Ordering) -> Result<VisitAction, Box<Raise>> {
    if let Value::Pair(best) = acc {
        let mut comparer = Comparer::default();
        let found = comparer.compare(&key, &best.first);
        comparer.finish().map_err(|raise| raise.about(1, "returns keys that cannot be compared"))?;
        if found != wanted {
            return Ok(VisitAction::On);
        }
    }
    *acc = Value::pair(key, at.item());
    Ok(VisitAction::On)
}

fn second(regs: &mut [Value]) -> Value {
    match super::walk::result(regs) {
        Value::Pair(p) => p.second.clone(),
        _ => Value::Nil,
    }
}

// Registers of `reduce`: list, what came so far, function, index, the call's two.
const SO_FAR: usize = 1;
const FUNCTION: usize = 2;
const INDEX: usize = 3;
const CALL: usize = 4;

static REDUCE: &Native = &Native {
    enter: |_, regs| {
        items::count(regs, 0)?;
        args::function(regs, FUNCTION)
            .map_err(|raise| raise.help("pass the start value first: `xs.reduce(0, { a, b -> … })`"))?;
        regs[INDEX] = Value::Int(0);
        Ok(reduce_next(regs))
    },
    resume: |_, regs, answer| {
        regs[SO_FAR] = answer;
        if let Value::Int(index) = &mut regs[INDEX] {
            *index += 1;
        }
        Ok(reduce_next(regs))
    },
    item: super::no_item,
    slots: 3,
};

fn reduce_next(regs: &mut [Value]) -> Step {
    let index = regs[INDEX].as_int().and_then(|i| usize::try_from(i).ok());
    let so_far = std::mem::take(&mut regs[SO_FAR]);
    match index.and_then(|i| items::at(&regs[0], i)) {
        Some(item) => {
            // Handed over, not copied: the function may add to a list in place.
            regs[CALL] = so_far;
            regs[CALL + 1] = item;
            Step::Call { callee: FUNCTION, args: CALL, argc: 2 }
        }
        None => Step::Return(so_far),
    }
}

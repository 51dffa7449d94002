//! Methods of lists, ranges and sets that call a function for each element.

use super::items::{self, room};
use super::list::{key_of, plus};
use super::ordering::Comparer;
use super::walk::{At, VisitAction, push, walk};
use super::{Native, Step, args};
use crate::value::{Dict, List, Pair, Value};
use crate::vm::{Cx, Raise, RunCode};
use std::cmp::Ordering;
use std::rc::Rc;

crate::builtins! { "<list>" =>
    /// Maps each element with the function.
    ///
    /// ```harn
    /// [1, 2].map({ x -> x * 10 }) // => [10, 20]
    /// ```
    native "map(self: list<T>, f: fn(T) -> U) -> list<U>" MAP;
    /// Returns the elements for which the function returns something true.
    ///
    /// ```harn
    /// [1, 2, 3].filter({ x -> x > 1 }) // => [2, 3]
    /// ```
    native "filter(self: list<T>, f: fn(T) -> any) -> list<T>" FILTER;
    /// Combines the elements into one value: calls the function with the result so far, which begins as `start`, and each
    /// element in turn.
    ///
    /// ```harn
    /// [1, 2, 3].reduce(0, { sum, x -> sum + x }) // => 6
    /// ```
    native "reduce(self: list<T>, start: S, f: fn(any, T) -> R) -> S | R" REDUCE;
    /// Calls the function with each element.
    native "for_each(self: list<T>, f: fn(T) -> any) -> nil" FOR_EACH;
    /// Returns the first element for which the function returns something true, or nil if there is none.
    ///
    /// ```harn
    /// [1, 2, 3].find({ x -> x > 1 }) // => 2
    /// ```
    native "find(self: list<T>, f: fn(T) -> any) -> T?" FIND;
    /// Returns the index of that element, or -1 if there is none.
    ///
    /// ```harn
    /// [1, 2, 3].find_index({ x -> x > 1 }) // => 1
    /// ```
    native "find_index(self: list<T>, f: fn(T) -> any) -> int" FIND_INDEX;
    /// Returns whether the function returns something true for any element.
    ///
    /// ```harn
    /// [1, 2].any({ x -> x > 1 }) // => true
    /// ```
    native "any(self: list<T>, f: fn(T) -> any) -> bool" ANY;
    /// Returns whether the function returns something true for every element.
    ///
    /// ```harn
    /// [1, 2].all({ x -> x > 1 }) // => false
    /// ```
    native "all(self: list<T>, f: fn(T) -> any) -> bool" EVERY;
    /// Does what `all` does.
    native "every(self: list<T>, f: fn(T) -> any) -> bool" EVERY;
    /// Returns whether the function returns something true for no element.
    ///
    /// ```harn
    /// [1, 2].none({ x -> x > 2 }) // => true
    /// ```
    native "none(self: list<T>, f: fn(T) -> any) -> bool" NONE;
    /// Returns the elements of the lists, sets and ranges that the function returns. Other results are one element.
    ///
    /// ```harn
    /// [1, 2].flat_map({ x -> [x, x] }) // => [1, 1, 2, 2]
    /// ```
    native "flat_map(self: list<T>, f: fn(T) -> any) -> list" FLAT_MAP;
    /// Returns the elements up to the first for which the function returns nothing true.
    ///
    /// ```harn
    /// [1, 2, 3, 1].take_while({ x -> x < 3 }) // => [1, 2]
    /// ```
    native "take_while(self: list<T>, f: fn(T) -> any) -> list<T>" TAKE_WHILE;
    /// Returns the elements from the first on for which the function returns nothing true.
    ///
    /// ```harn
    /// [1, 2, 3, 1].skip_while({ x -> x < 3 }) // => [3, 1]
    /// ```
    native "skip_while(self: list<T>, f: fn(T) -> any) -> list<T>" SKIP_WHILE;
    /// Returns the pair of the elements for which the function returns something true, and the others.
    ///
    /// ```harn
    /// [1, 2, 3].partition({ x -> x > 1 }) // => ([2, 3], [1])
    /// ```
    native "partition(self: list<T>, f: fn(T) -> any) -> pair<list<T>, list<T>>" PARTITION;
    /// Groups the elements by the key that the function returns; keys are kept by their text.
    ///
    /// ```harn
    /// ["a", "bb", "cc"].group_by({ text -> text.count }) // => {"1": ["a"], "2": ["bb", "cc"]}
    /// ```
    native "group_by(self: list<T>, f: fn(T) -> any) -> dict<string, list<T>>" GROUP_BY;
    /// Counts the elements by the key that the function returns; keys are kept by their text.
    ///
    /// ```harn
    /// ["a", "bb", "cc"].count_by({ text -> text.count }) // => {"1": 1, "2": 2}
    /// ```
    native "count_by(self: list<T>, f: fn(T) -> any) -> dict<string, int>" COUNT_BY;
    /// Returns the sum of the numbers that the function returns.
    ///
    /// ```harn
    /// [{price: 2}, {price: 3.5}].sum_by({ item -> item.price }) // => 5.5
    /// ```
    native "sum_by(self: list<T>, f: fn(T) -> int | float) -> int | float" SUM_BY;
    /// Returns the elements without those whose key equals that of an earlier one.
    ///
    /// ```harn
    /// ["a", "A", "b"].unique_by({ text -> text.lower() }) // => ["a", "b"]
    /// ```
    native "unique_by(self: list<T>, key: fn(T) -> any) -> list<T>" UNIQUE_BY;
    /// Returns a dict of the elements by the key that the function returns. A later element replaces an earlier one.
    ///
    /// ```harn
    /// [{id: "x", n: 1}].key_by({ item -> item.id }) // => {x: {id: "x", n: 1}}
    /// ```
    native "key_by(self: list<T>, f: fn(T) -> any) -> dict<string, T>" KEY_BY;
    /// Returns the element with the least key, or nil if there is none.
    ///
    /// ```harn
    /// ["bb", "a"].min_by({ text -> text.count }) // => "a"
    /// ```
    native "min_by(self: list<T>, key: fn(T) -> any) -> T?" MIN_BY;
    /// Returns the element with the greatest key, or nil if there is none.
    ///
    /// ```harn
    /// ["bb", "a"].max_by({ text -> text.count }) // => "bb"
    /// ```
    native "max_by(self: list<T>, key: fn(T) -> any) -> T?" MAX_BY;
}

fn no_items() -> Value {
    Value::list(Vec::new())
}

pub(super) static MAP: &Native = walk!(no_items(), |cx, acc, _, answer| {
    push(cx, acc, answer)?;
    Ok(VisitAction::On)
});

pub(super) static FILTER: &Native = walk!(no_items(), |cx, acc, at, answer| {
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

static COUNT_BY: &Native = walk!(Value::dict(Dict::new()), |_, acc, _, answer| {
    if let Value::Dict(d) = acc {
        let count = Rc::make_mut(d).dict.slot(&key_of(&answer));
        *count = Value::Int(count.as_int().unwrap_or(0) + 1);
    }
    Ok(VisitAction::On)
});

static SUM_BY: &Native = walk!(Value::Int(0), |_, acc, at, answer| {
    if answer.as_number().is_none() {
        let message = format!("expected a number from the function, found {}", items::article(&answer));
        return Err(Raise::error(RunCode::Type, message).about(1, format!("returns {}", items::shown(&answer))));
    }
    *acc = plus(acc, &answer, at.index)?;
    Ok(VisitAction::On)
});

static UNIQUE_BY: &Native = walk!(
    Value::pair(Value::Set(Rc::default()), no_items()),
    |cx, acc, at, key| {
        if let Value::Pair(p) = acc {
            let p = Rc::<Pair>::make_mut(p);
            if let Value::Set(seen) = &mut p.first
                && Rc::make_mut(seen).add(key)
            {
                push(cx, &mut p.second, at.item())?;
            }
        }
        Ok(VisitAction::On)
    },
    |regs| Ok(second(regs))
);

static KEY_BY: &Native = walk!(Value::dict(Dict::new()), |_, acc, at, answer| {
    if let Value::Dict(d) = acc {
        *Rc::make_mut(d).dict.slot(&key_of(&answer)) = at.item();
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

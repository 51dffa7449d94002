//! Methods that consume an iterator: `next`, and those that run to the end.

use crate::builtins::ordering::Comparer;
use crate::builtins::walk::push;
use crate::builtins::{Native, Step, args, list};
use crate::value::Value;
use crate::vm::{Cx, Next, Raise};
use std::cmp::Ordering;

crate::builtins! { "<iter>" =>
    /// The next item: `{value, done}`. At the end `done` is true, and `value` is what a generator returned.
    native "next(self: iter<T>) -> {done: bool, value: T?}" NEXT_ITEM;
    /// The items as a list.
    native "to_list(self: iter<T>) -> list<T>" TO_LIST;
    /// The items as a set.
    native "to_set(self: iter<T>) -> set<T>" TO_SET;
    /// A dict from items that are pairs `(key, value)`, lists `[key, value]` or entries `{key, value}`.
    native "to_dict(self: iter) -> dict" TO_DICT;
    /// Counts the remaining items.
    native "count(self: iter) -> int" COUNT;
    /// The sum of the items, 0 when there are none.
    native "sum(self: iter) -> int | float" SUM;
    /// The least item, nil when there is none.
    native "min(self: iter<T>) -> T?" MIN;
    /// The greatest item, nil when there is none.
    native "max(self: iter<T>) -> T?" MAX;
    /// Combines the items into one value: calls the function with the result so far, which begins as `start`, and each item
    /// in turn.
    native "reduce(self: iter<T>, start: S, f: fn(any, T) -> R) -> S | R" REDUCE;
    /// The next item, nil when there is none.
    native "first(self: iter<T>) -> T?" FIRST;
    /// The last item, nil when there is none.
    native "last(self: iter<T>) -> T?" LAST;
    /// Whether the function gives something true for any item; what is behind the first such item is left.
    native "any(self: iter<T>, f: fn(T) -> any) -> bool" ANY;
    /// Whether the function gives something true for every item; what is behind the first other item is left.
    native "all(self: iter<T>, f: fn(T) -> any) -> bool" ALL;
    /// The first item for which the function gives something true, nil when there is none.
    native "find(self: iter<T>, f: fn(T) -> any) -> T?" FIND;
    /// Calls the function with each item.
    native "for_each(self: iter<T>, f: fn(T) -> any) -> nil" FOR_EACH;
}

/// State that only streams have.
pub(super) mod stream {
    crate::builtins! { "<stream>" =>
        /// The item that is there already, else nil.
        native "try_next(self: stream<T>) -> T?" super::TRY_NEXT;
    }
}

type SinkStep = Result<Step, Box<Raise>>;

const SOURCE: usize = 0;
const NEXT: Step = Step::Next { source: SOURCE };

fn next(_: &mut Cx<'_>, _: &mut [Value]) -> SinkStep {
    Ok(NEXT)
}

fn no_answer(_: &mut Cx<'_>, _: &mut [Value], _: Value) -> SinkStep {
    Ok(Step::Return(Value::Nil))
}

/// A sink that calls nothing: what it starts from, what becomes of it with each item, what it gives at the end.
/// Register 1 holds what came so far.
macro_rules! gather {
    ($start:expr, $take:expr) => {
        gather!($start, $take, |_, so_far| Ok(so_far))
    };
    ($start:expr, $take:expr, $end:expr) => {{
        static MACHINE: Native = Native {
            enter: |_, regs| {
                regs[1] = $start;
                Ok(NEXT)
            },
            item: |cx, regs, item| {
                let take: fn(&mut Cx<'_>, &mut Value, Value) -> Result<(), Box<Raise>> = $take;
                let end: fn(&mut Cx<'_>, Value) -> Result<Value, Box<Raise>> = $end;
                match item {
                    Some(item) => take(cx, &mut regs[1], item).map(|()| NEXT),
                    None => end(cx, std::mem::take(&mut regs[1])).map(Step::Return),
                }
            },
            resume: no_answer,
            slots: 1,
        };
        &MACHINE
    }};
}

fn no_items() -> Value {
    Value::list(Vec::new())
}

fn keep(cx: &mut Cx<'_>, so_far: &mut Value, item: Value) -> Result<(), Box<Raise>> {
    push(cx, so_far, item)
}

static TO_LIST: &Native = gather!(no_items(), keep);
static TO_SET: &Native = gather!(no_items(), keep, |cx, items| list::to_set(cx, &mut [items]));
static TO_DICT: &Native = gather!(no_items(), keep, |cx, items| list::to_dict(cx, &mut [items]));

static COUNT: &Native = gather!(Value::Int(0), |_, so_far, _| {
    if let Value::Int(n) = so_far {
        *n += 1;
    }
    Ok(())
});

// Registers: the iterator, what came so far, how many.
static SUM: &Native = &Native {
    enter: |_, regs| {
        regs[1] = Value::Int(0);
        regs[2] = Value::Int(0);
        Ok(NEXT)
    },
    item: |_, regs, item| {
        let [_, so_far, Value::Int(count)] = regs else { return Ok(Step::Return(Value::Nil)) };
        let Some(item) = item else { return Ok(Step::Return(std::mem::take(so_far))) };
        *so_far = list::plus(so_far, &item, *count)?;
        *count += 1;
        Ok(NEXT)
    },
    resume: no_answer,
    slots: 2,
};

static MIN: &Native = gather!(Value::Unbound, |_, best, item| better(best, item, Ordering::Less), found);
static MAX: &Native = gather!(Value::Unbound, |_, best, item| better(best, item, Ordering::Greater), found);

fn better(best: &mut Value, item: Value, wanted: Ordering) -> Result<(), Box<Raise>> {
    let mut comparer = Comparer::default();
    if matches!(best, Value::Unbound) || comparer.compare(&item, best) == wanted {
        *best = item;
    }
    comparer.finish()
}

fn found(_: &mut Cx<'_>, best: Value) -> Result<Value, Box<Raise>> {
    Ok(if matches!(best, Value::Unbound) { Value::Nil } else { best })
}

static LAST: &Native = gather!(Value::Nil, |_, last, item| {
    *last = item;
    Ok(())
});

static FIRST: &Native =
    &Native { enter: next, item: |_, _, item| Ok(Step::Return(item.unwrap_or_default())), resume: no_answer, slots: 0 };

static TRY_NEXT: &Native = &Native {
    enter: |_, regs| match &regs[SOURCE] {
        Value::Host(h) => {
            if let Some(attempt) = h.object().attempt() {
                regs[SOURCE] = attempt;
                return Ok(NEXT);
            }
            match h.object().next() {
                Some(Next::Ready(item)) => item.map(|item| Step::Return(item.unwrap_or_default())),
                Some(Next::Later(_)) => Ok(Step::Return(Value::Nil)),
                None => Err(args::mismatch(regs, SOURCE, "a stream")),
            }
        }
        _ => Ok(NEXT),
    },
    item: |_, _, item| Ok(Step::Return(item.unwrap_or_default())),
    resume: no_answer,
    slots: 0,
};

static NEXT_ITEM: &Native = &Native {
    enter: next,
    item: |cx, regs, item| {
        let done = item.is_none();
        let value = match (item, &regs[SOURCE]) {
            (Some(item), _) => item,
            (None, Value::Iter(iter)) => iter.take_result(),
            (None, _) => Value::Nil,
        };
        Ok(Step::Return(cx.isolate.step(value, done)))
    },
    resume: no_answer,
    slots: 0,
};

// Registers of those that ask a function: the iterator, the function, the item, the call's.
const FUNCTION: usize = 1;
const ITEM: usize = 2;
const CALL: usize = 3;

/// A sink that asks a function about each item: what it gives at the end, and what an answer means.
macro_rules! asking {
    ($end:expr, $answer:expr) => {{
        static MACHINE: Native = Native {
            enter: |_, regs| args::function(regs, FUNCTION).map(|_| NEXT),
            item: |_, regs, item| {
                let Some(item) = item else { return Ok(Step::Return($end)) };
                regs[ITEM] = item.clone();
                regs[CALL] = item;
                Ok(Step::Call { callee: FUNCTION, args: CALL, argc: 1 })
            },
            resume: |_, regs, answer| {
                let judge: fn(&mut Value, Value) -> Option<Value> = $answer;
                Ok(judge(&mut regs[ITEM], answer).map_or(NEXT, Step::Return))
            },
            slots: 2,
        };
        &MACHINE
    }};
}

static ANY: &Native = asking!(Value::Bool(false), |_, answer| answer.truthy().then_some(Value::Bool(true)));
static ALL: &Native = asking!(Value::Bool(true), |_, answer| (!answer.truthy()).then_some(Value::Bool(false)));
static FIND: &Native = asking!(Value::Nil, |item, answer| answer.truthy().then(|| std::mem::take(item)));
static FOR_EACH: &Native = asking!(Value::Nil, |_, _| None);

// Registers of `reduce`: the iterator, what came so far, the function, the call's two.
static REDUCE: &Native = &Native {
    enter: |_, regs| {
        args::function(regs, 2)
            .map_err(|raise| raise.help("pass the start value first: `it.reduce(0, { a, b -> … })`"))?;
        Ok(NEXT)
    },
    item: |_, regs, item| {
        let so_far = std::mem::take(&mut regs[1]);
        let Some(item) = item else { return Ok(Step::Return(so_far)) };
        regs[3] = so_far;
        regs[4] = item;
        Ok(Step::Call { callee: 2, args: 3, argc: 2 })
    },
    resume: |_, regs, answer| {
        regs[1] = answer;
        Ok(NEXT)
    },
    slots: 2,
};

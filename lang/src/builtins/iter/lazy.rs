//! Machines that adaptors run to make an item; their registers rest in the iterator between two items. The source is in
//! register 0; each machine is entered anew for every item.

use super::make::try_iter;
use crate::builtins::walk::push;
use crate::builtins::{Builtin, BuiltinRun, Native, Step, items};
use crate::value::{List, Value};
use crate::vm::{Cx, Raise};
use std::rc::Rc;

type LazyStep = Result<Step, Box<Raise>>;

const fn machine(name: &'static str, native: &'static Native) -> Builtin {
    Builtin {
        module: "<iter>",
        name,
        sig: "next()",
        doc: "",
        caps: &[],
        pure: false,
        property: false,
        arity: crate::builtins::arity("next()"),
        run: BuiltinRun::Native(native),
        lint: None,
        typed_by: &[],
    }
}

/// It has no more items.
const OVER: Step = Step::Return(Value::Nil);
const SOURCE: usize = 0;
const FUNCTION: usize = 1;
const NEXT: Step = Step::Next { source: SOURCE };

fn next(_: &mut Cx<'_>, _: &mut [Value]) -> LazyStep {
    Ok(NEXT)
}

/// For machines that call nothing.
fn no_answer(_: &mut Cx<'_>, _: &mut [Value], _: Value) -> LazyStep {
    Ok(OVER)
}

pub(super) static MAP: Builtin = machine(
    "map",
    &Native {
        enter: next,
        item: |_, regs, item| {
            let Some(item) = item else { return Ok(OVER) };
            regs[2] = item;
            Ok(Step::Call { callee: FUNCTION, args: 2, argc: 1 })
        },
        resume: |_, _, answer| Ok(Step::Yield(answer)),
        slots: 0,
    },
);

// Registers of those that look at an item and then give it: source, function, item, the call's.
const ITEM: usize = 2;
const CALL: usize = 3;

fn ask(_: &mut Cx<'_>, regs: &mut [Value], item: Option<Value>) -> LazyStep {
    let Some(item) = item else { return Ok(OVER) };
    regs[ITEM] = item.clone();
    regs[CALL] = item;
    Ok(Step::Call { callee: FUNCTION, args: CALL, argc: 1 })
}

fn give(regs: &mut [Value]) -> LazyStep {
    Ok(Step::Yield(std::mem::take(&mut regs[ITEM])))
}

pub(super) static FILTER: Builtin = machine(
    "filter",
    &Native {
        enter: next,
        item: ask,
        resume: |_, regs, answer| if answer.truthy() { give(regs) } else { Ok(NEXT) },
        slots: 0,
    },
);

pub(super) static TAKE_WHILE: Builtin = machine(
    "take_while",
    &Native {
        enter: next,
        item: ask,
        resume: |_, regs, answer| if answer.truthy() { give(regs) } else { Ok(OVER) },
        slots: 0,
    },
);

// The function is let go once it has said no.
pub(super) static SKIP_WHILE: Builtin = machine(
    "skip_while",
    &Native {
        enter: next,
        item: |cx, regs, item| match item {
            Some(item) if regs[FUNCTION].is_nil() => Ok(Step::Yield(item)),
            item => ask(cx, regs, item),
        },
        resume: |_, regs, answer| {
            if answer.truthy() {
                return Ok(NEXT);
            }
            regs[FUNCTION] = Value::Nil;
            give(regs)
        },
        slots: 0,
    },
);

// Register 2 holds the iterator whose items are given just now, if any.
pub(super) static FLAT_MAP: Builtin = machine(
    "flat_map",
    &Native {
        enter: |_, regs| Ok(if regs[2].is_nil() { NEXT } else { Step::Next { source: 2 } }),
        item: |_, regs, item| match item {
            Some(item) if !regs[2].is_nil() => Ok(Step::Yield(item)),
            Some(item) => {
                regs[CALL] = item;
                Ok(Step::Call { callee: FUNCTION, args: CALL, argc: 1 })
            }
            None if regs[2].is_nil() => Ok(OVER),
            None => {
                regs[2] = Value::Nil;
                Ok(NEXT)
            }
        },
        resume: |_, regs, answer| {
            if !matches!(answer, Value::Iter(_)) && items::len(&answer).is_none() {
                return Ok(Step::Yield(answer));
            }
            match try_iter(answer) {
                Ok(iter) => {
                    regs[2] = iter;
                    Ok(Step::Next { source: 2 })
                }
                Err(answer) => Ok(Step::Yield(answer)),
            }
        },
        slots: 0,
    },
);

/// Register 1 counts down; whether it was not yet at 0.
fn counted(regs: &mut [Value]) -> bool {
    let Value::Int(left) = &mut regs[1] else { return false };
    let some = *left > 0;
    *left -= i64::from(some);
    some
}

pub(super) static TAKE: Builtin = machine(
    "take",
    &Native { enter: |_, regs| Ok(if counted(regs) { NEXT } else { OVER }), item: pass, resume: no_answer, slots: 0 },
);

fn pass(_: &mut Cx<'_>, _: &mut [Value], item: Option<Value>) -> LazyStep {
    Ok(item.map_or(OVER, Step::Yield))
}

pub(super) static SKIP: Builtin = machine(
    "skip",
    &Native {
        enter: next,
        item: |cx, regs, item| if item.is_some() && counted(regs) { Ok(NEXT) } else { pass(cx, regs, item) },
        resume: no_answer,
        slots: 0,
    },
);

// Register 2 holds the item of the first one while the second is asked.
pub(super) static ZIP: Builtin = machine(
    "zip",
    &Native {
        enter: next,
        item: |_, regs, item| {
            let Some(item) = item else { return Ok(OVER) };
            match std::mem::replace(&mut regs[2], Value::Unbound) {
                Value::Unbound => {
                    regs[2] = item;
                    Ok(Step::Next { source: 1 })
                }
                first => Ok(Step::Yield(Value::pair(first, item))),
            }
        },
        resume: no_answer,
        slots: 0,
    },
);

pub(super) static ENUMERATE: Builtin = machine(
    "enumerate",
    &Native {
        enter: next,
        item: |_, regs, item| {
            let (Some(item), Value::Int(index)) = (item, &mut regs[1]) else { return Ok(OVER) };
            *index += 1;
            Ok(Step::Yield(Value::pair(Value::Int(*index - 1), item)))
        },
        resume: no_answer,
        slots: 0,
    },
);

pub(super) static CHAIN: Builtin = machine(
    "chain",
    &Native {
        enter: next,
        item: |_, regs, item| match item {
            Some(item) => Ok(Step::Yield(item)),
            None if regs[1].is_nil() => Ok(OVER),
            None => {
                regs[SOURCE] = std::mem::take(&mut regs[1]);
                Ok(NEXT)
            }
        },
        resume: no_answer,
        slots: 0,
    },
);

// Registers of `chunks` and `window`: source, size, the items so far.
fn collected(cx: &Cx<'_>, regs: &mut [Value], item: Value) -> Result<bool, Box<Raise>> {
    let size = regs[1].as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
    let n = regs[2].as_list().map_or(0, <[Value]>::len);
    push(cx, &mut regs[2], item)?;
    Ok(n + 1 == size)
}

pub(super) static CHUNKS: Builtin = machine(
    "chunks",
    &Native {
        enter: next,
        item: |cx, regs, item| {
            if let Some(item) = item
                && !collected(cx, regs, item)?
            {
                return Ok(NEXT);
            }
            let part = std::mem::replace(&mut regs[2], Value::list(Vec::new()));
            Ok(if part.truthy() { Step::Yield(part) } else { OVER })
        },
        resume: no_answer,
        slots: 0,
    },
);

/// Registers of `window`, which begin as those of `chunks`: the step, and how many items of it are left to skip.
const STEP: usize = 3;
const SKIPPED: usize = 4;

pub(super) static WINDOW: Builtin = machine(
    "window",
    &Native {
        enter: next,
        item: |cx, regs, item| {
            let Some(item) = item else { return Ok(OVER) };
            if let Value::Int(left) = &mut regs[SKIPPED]
                && *left > 0
            {
                *left -= 1;
                return Ok(NEXT);
            }
            if !collected(cx, regs, item)? {
                return Ok(NEXT);
            }
            let window = regs[2].clone();
            let step = regs[STEP].as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
            if let Value::List(l) = &mut regs[2] {
                cx.charge(l.items.len(), 1);
                let items = &mut Rc::<List>::make_mut(l).items;
                let dropped = step.min(items.len());
                items.drain(..dropped);
                regs[SKIPPED] = Value::from(step - dropped);
            }
            Ok(Step::Yield(window))
        },
        resume: no_answer,
        slots: 0,
    },
);

pub(super) static TAP: Builtin =
    machine("tap", &Native { enter: next, item: ask, resume: |_, regs, _| give(regs), slots: 0 });

// Registers of `scan`: the source, the result so far, the function, the call's two.
pub(super) static SCAN: Builtin = machine(
    "scan",
    &Native {
        enter: next,
        item: |_, regs, item| {
            let Some(item) = item else { return Ok(OVER) };
            regs[3] = std::mem::take(&mut regs[1]);
            regs[4] = item;
            Ok(Step::Call { callee: 2, args: 3, argc: 2 })
        },
        resume: |_, regs, answer| {
            regs[1] = answer.clone();
            Ok(Step::Yield(answer))
        },
        slots: 0,
    },
);

// Registers of `throttle`: the source, the time, when the last item passed.
pub(super) static THROTTLE: Builtin = machine(
    "throttle",
    &Native {
        enter: next,
        item: |cx, regs, item| {
            let Some(item) = item else { return Ok(OVER) };
            let now = i64::try_from(cx.isolate.host().now_ms()).unwrap_or(i64::MAX);
            // Time that was put back limits nothing.
            let since = match &regs[2] {
                Value::Int(last) => now.checked_sub(*last),
                _ => None,
            };
            let is_early = matches!((&regs[1], since), (Value::Int(ms), Some(since)) if (0..*ms).contains(&since));
            if is_early {
                return Ok(NEXT);
            }
            regs[2] = Value::Int(now);
            Ok(Step::Yield(item))
        },
        resume: no_answer,
        slots: 0,
    },
);

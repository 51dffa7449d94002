//! Builtins that call a closure for each element: one machine, whose state lies in registers.

use super::{Step, args};
use crate::value::{List, Value};
use crate::vm::{Cx, Raise};
use std::rc::Rc;

/// The elements of a list, set, range, or host list; nothing for what has none.
#[must_use]
pub fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(l) => Some(l.items.clone()),
        Value::Set(s) => Some(s.items().to_vec()),
        Value::Range(r) => Some((0..r.len()).filter_map(|i| r.at(i)).map(Value::Int).collect()),
        Value::Host(h) => match h.object().to_value() {
            Some(Value::List(l)) => Some(l.items.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// What a walk does with each answer.
pub enum Walk {
    /// Goes on.
    On,
    /// The result is known.
    Done(Value),
}

// Registers of a walk over one list with one closure: the arguments, then index and accumulator, then the call's own.
const LIST: usize = 0;
const CLOSURE: usize = 1;
const INDEX: usize = 2;
const ACC: usize = 3;
const CALL: usize = 4;

/// Registers that a [`walk`] needs beyond its two arguments.
pub const SLOTS: u8 = 4;

/// Starts a walk over the list in the first argument with the closure in the second.
///
/// # Errors
/// When the arguments are something else.
pub fn start(cx: &mut Cx<'_>, regs: &mut [Value], acc: Value, end: fn(Value) -> Value) -> Result<Step, Box<Raise>> {
    args::function(regs, CLOSURE)?;
    if !matches!(regs[LIST], Value::List(_)) {
        // A range or set has the methods of a list; it is walked as one.
        let items = args::elements(regs, LIST)?;
        cx.check_size(items.len().checked_mul(16))?;
        regs[LIST] = Value::list(items);
    }
    regs[INDEX] = Value::Int(0);
    regs[ACC] = acc;
    Ok(next(regs, end))
}

/// Takes an answer and goes on.
pub fn resume(
    regs: &mut [Value],
    answer: Value,
    take: fn(&mut Value, &Value, Value, i64) -> Walk,
    end: fn(Value) -> Value,
) -> Step {
    let Value::Int(index) = regs[INDEX] else { return Step::Return(Value::Nil) };
    let item = item(&regs[LIST], index).unwrap_or_default();
    let mut acc = std::mem::take(&mut regs[ACC]);
    match take(&mut acc, &item, answer, index) {
        Walk::Done(value) => Step::Return(value),
        Walk::On => {
            regs[ACC] = acc;
            regs[INDEX] = Value::Int(index + 1);
            next(regs, end)
        }
    }
}

fn item(list: &Value, index: i64) -> Option<Value> {
    let Value::List(l) = list else { return None };
    l.items.get(usize::try_from(index).ok()?).cloned()
}

fn next(regs: &mut [Value], end: fn(Value) -> Value) -> Step {
    let Value::Int(index) = regs[INDEX] else { return Step::Return(Value::Nil) };
    match item(&regs[LIST], index) {
        Some(item) => {
            regs[CALL] = item;
            Step::Call { callee: CLOSURE, args: CALL, argc: 1 }
        }
        None => Step::Return(end(std::mem::take(&mut regs[ACC]))),
    }
}

/// The accumulator of a walk that builds a list.
pub fn push(acc: &mut Value, value: Value) {
    if let Value::List(l) = acc {
        Rc::<List>::make_mut(l).items.push(value);
    }
}

/// Makes the machine of a walk: what it starts from, what it does with an answer, what it gives at the end.
macro_rules! walk {
    ($acc:expr, $take:expr, $end:expr) => {{
        static MACHINE: $crate::builtins::Native = $crate::builtins::Native {
            enter: |cx, regs| $crate::builtins::walk::start(cx, regs, $acc, $end),
            resume: |_, regs, answer| Ok($crate::builtins::walk::resume(regs, answer, $take, $end)),
            slots: $crate::builtins::walk::SLOTS,
        };
        &MACHINE
    }};
}

pub(super) use walk;

/// For other walks than these: nothing to do at the end.
pub(super) fn same(value: Value) -> Value {
    value
}

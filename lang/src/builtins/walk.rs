//! Builtins that call a closure for each element: one machine, whose state lies in registers.

use super::{Step, args, items};
use crate::value::{List, Value};
use crate::vm::{Cx, Raise};
use std::rc::Rc;

/// Action of a walk for each answer.
pub(super) enum VisitAction {
    /// Goes on.
    On,
    /// The result is known.
    Done(Value),
}

/// Position in a sequence that is iterated over.
pub(super) struct At<'a> {
    source: &'a Value,
    /// From 0.
    pub(super) index: i64,
}

impl At<'_> {
    /// The element that the closure was asked about.
    pub(super) fn item(&self) -> Value {
        usize::try_from(self.index).ok().and_then(|i| items::at(self.source, i)).unwrap_or_default()
    }

    /// Returns that element and all after it.
    pub(super) fn rest(&self, cx: &Cx<'_>) -> Result<Value, Box<Raise>> {
        let from = usize::try_from(self.index).unwrap_or(usize::MAX);
        let n = items::len(self.source).unwrap_or(0);
        items::room(cx, n.saturating_sub(from))?;
        Ok(Value::list((from..n).map_while(|i| items::at(self.source, i)).collect()))
    }
}

/// Use of an answer.
pub(super) type Take = fn(&Cx<'_>, &mut Value, &At<'_>, Value) -> Result<VisitAction, Box<Raise>>;
/// Computes the result from the registers at the end.
pub(super) type End = fn(&mut [Value]) -> Result<Value, Box<Raise>>;

// Registers of a walk over one list with one closure: the arguments, then index and accumulator, then the call's own.
pub(super) const SOURCE: usize = 0;
const CLOSURE: usize = 1;
const INDEX: usize = 2;
const ACC: usize = 3;
const CALL: usize = 4;

/// Registers that a walk needs beyond its two arguments.
pub(super) const SLOTS: u8 = 3;

/// Starts a walk over what the first argument holds with the closure in the second.
pub(super) fn start(regs: &mut [Value], acc: Value, end: End) -> Result<Step, Box<Raise>> {
    items::count(regs, SOURCE)?;
    args::function(regs, CLOSURE)?;
    regs[INDEX] = Value::Int(0);
    regs[ACC] = acc;
    next(regs, end)
}

/// Takes an answer and goes on.
pub(super) fn resume(cx: &Cx<'_>, regs: &mut [Value], answer: Value, take: Take, end: End) -> Result<Step, Box<Raise>> {
    let [source, _, Value::Int(index), acc, ..] = regs else { return Ok(Step::Return(Value::Nil)) };
    match take(cx, acc, &At { source, index: *index }, answer)? {
        VisitAction::Done(value) => Ok(Step::Return(value)),
        VisitAction::On => {
            *index += 1;
            next(regs, end)
        }
    }
}

fn next(regs: &mut [Value], end: End) -> Result<Step, Box<Raise>> {
    let [source, _, Value::Int(index), _, call, ..] = regs else { return Ok(Step::Return(Value::Nil)) };
    let item = match (source, usize::try_from(*index)) {
        (Value::List(list), Ok(index)) => list.items.get(index).cloned(),
        (source, Ok(index)) => items::at(source, index),
        (_, Err(_)) => None,
    };
    match item {
        Some(item) => {
            call.store(item);
            Ok(Step::Call { callee: CLOSURE, args: CALL, argc: 1 })
        }
        None => end(regs).map(Step::Return),
    }
}

/// The accumulator of a walk that builds a list.
pub(super) fn push(cx: &Cx<'_>, acc: &mut Value, value: Value) -> Result<(), Box<Raise>> {
    if let Value::List(l) = acc {
        items::push(cx, &mut Rc::<List>::make_mut(l).items, value)?;
    }
    Ok(())
}

/// The accumulator at the end of a walk.
pub(super) fn result(regs: &mut [Value]) -> Value {
    std::mem::take(&mut regs[ACC])
}

/// Makes the machine of a walk: what it starts from, what it does with an answer, what it gives at the end.
macro_rules! walk {
    ($acc:expr, $take:expr) => {
        $crate::builtins::walk::walk!($acc, $take, |regs| Ok($crate::builtins::walk::result(regs)))
    };
    ($acc:expr, $take:expr, $end:expr) => {{
        static MACHINE: $crate::builtins::Native = $crate::builtins::Native {
            enter: |_, regs| $crate::builtins::walk::start(regs, $acc, $end),
            resume: |cx, regs, answer| $crate::builtins::walk::resume(cx, regs, answer, $take, $end),
            item: $crate::builtins::no_item,
            slots: $crate::builtins::walk::SLOTS,
        };
        &MACHINE
    }};
}

pub(super) use walk;

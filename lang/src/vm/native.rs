//! Rust functions that the machine calls: those of builtins, and host values that can be called.

use super::{Cx, Raise, Wait};
use crate::source::{SourceRef, Span};
use crate::value::Value;

/// A builtin that answers at once.
pub type PlainFn = fn(&mut Cx<'_>, &mut [Value]) -> Result<Value, Box<Raise>>;
/// A builtin that may have to wait.
pub type WaitFn = fn(&mut Cx<'_>, &mut [Value]) -> Result<Wait, Box<Raise>>;

/// Goes on with what a closure gave.
pub type ResumeFn = fn(&mut Cx<'_>, &mut [Value], Value) -> Result<Step, Box<Raise>>;

/// Goes on with the item that a [`Step::Next`] asked for, or with its absence.
pub type ItemFn = fn(&mut Cx<'_>, &mut [Value], Option<Value>) -> Result<Step, Box<Raise>>;

/// Outcome of a step of a [`Native`].
pub enum Step {
    /// It is done. An iterator's machine has no more items.
    Return(Value),
    /// An iterator's machine has made an item, and will be entered again for the next.
    Yield(Value),
    /// It wants the next item of the iterator in register `source`.
    Next {
        /// Register of the iterator.
        source: usize,
    },
    /// It wants the value in register `callee` called with `argc` arguments from register `args` on.
    Call {
        /// Register of the callee.
        callee: usize,
        /// Register of the first argument.
        args: usize,
        /// Number of arguments.
        argc: usize,
    },
}

/// A builtin that calls closures: a machine whose state is in the registers of its own window, so that nothing recurses
/// on the native stack and a closure may wait.
pub struct Native {
    /// Starts it; the arguments are in the first registers.
    pub enter: fn(&mut Cx<'_>, &mut [Value]) -> Result<Step, Box<Raise>>,
    /// Goes on with what the closure gave.
    pub resume: ResumeFn,
    /// Goes on with an item of an iterator.
    pub item: ItemFn,
    /// Registers beyond the arguments.
    pub slots: u8,
}

/// For a [`Native`] that asks no iterator.
///
/// # Errors
/// None.
pub fn no_item(_: &mut Cx<'_>, _: &mut [Value], _: Option<Value>) -> Result<Step, Box<Raise>> {
    Ok(Step::Return(Value::Nil))
}

/// Way in which a builtin runs.
#[derive(Clone, Copy)]
pub enum BuiltinRun {
    /// At once.
    Plain(PlainFn),
    /// It may wait.
    Waits(WaitFn),
    /// It calls closures.
    Native(&'static Native),
}

/// A host value that can be called like a closure: a function of another language.
pub trait Callable {
    /// Calls it. Arguments beyond those it takes are left out.
    ///
    /// # Errors
    /// Returns the error that it raises before it has to wait; later ones are in the wait.
    fn call(&self, cx: &mut Cx<'_>, args: Vec<Value>) -> Result<Wait, Box<Raise>>;

    /// Returns the number of arguments, if it is known.
    fn parameters(&self) -> Option<usize> {
        None
    }

    /// Returns the source position at which it was written.
    fn place(&self) -> Option<(SourceRef, Span)> {
        None
    }
}

/// Outcome of an iteration step.
pub enum Next {
    /// An item, or nothing at the end.
    Ready(Result<Option<Value>, Box<Raise>>),
    /// The item comes later; the future gives a pair (item, true), or nil at the end.
    Later(Wait),
}

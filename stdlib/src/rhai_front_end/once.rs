//! Closures that run once, as functions of the run.

use lang::source::{SourceRef, Span};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Callable, Cx, Outcome, Raise, Wait, begin};
use std::any::Any;
use std::cell::RefCell;

/// A closure that runs at the first call; every other call returns nil.
pub(super) struct Once<F>(RefCell<Option<F>>);

impl<F: FnOnce() -> Outcome + 'static> Once<F> {
    /// Returns the closure as a value of the run.
    pub(super) fn value(run: F) -> Value {
        HostBox::value(Self(RefCell::new(Some(run))))
    }
}

impl<F: FnOnce() -> Outcome + 'static> HostObject for Once<F> {
    fn type_name(&self) -> &'static str {
        "closure"
    }

    fn callable(&self) -> Option<&dyn Callable> {
        Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<F: FnOnce() -> Outcome + 'static> Callable for Once<F> {
    fn call(&self, cx: &mut Cx<'_>, _: Vec<Value>) -> Result<Wait, Box<Raise>> {
        match self.0.take() {
            Some(run) => begin(cx, run),
            None => Ok(Wait::ready(Ok(Value::Nil))),
        }
    }

    fn place(&self) -> Option<(SourceRef, Span)> {
        None
    }
}

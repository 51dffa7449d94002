//! Errors that were caught and may be thrown again: they keep their code, their place and their stack trace.
//!
//! Origin of caught errors. `catch` binds a plain value, so that scripts can print, store and compare it. The identity of a
//! dict tells the error that it came from: the last few are remembered for as long as the dict is held. Values without an
//! identity (`throw "text"`) are thrown again by their name in the `catch` itself, and the error waits in a register beside
//! it.

use super::Raise;
use super::fiber::Fiber;
use super::unwind::held;
use crate::value::{DictBox, Value};
use std::rc::{Rc, Weak};

/// Errors that are remembered.
const MOST: usize = 8;

/// An error and the dict that a `catch` bound to it.
pub(super) struct Caught {
    value: Weak<DictBox>,
    raise: Box<Raise>,
}

impl Fiber {
    /// Value that `catch` binds.
    pub(super) fn caught(&mut self, mut raise: Box<Raise>) -> Value {
        let value = raise.to_value();
        if let Some(payload) = &raise.payload {
            payload.caught();
        }
        if let Value::Dict(dict) = &value {
            if self.caught.len() == MOST {
                self.caught.retain(|c| c.value.strong_count() > 0);
                self.caught.truncate(MOST - 1);
            }
            raise.value = Value::Nil;
            raise.told = Some(self.frames.len());
            self.caught.insert(0, Caught { value: Rc::downgrade(dict), raise });
        }
        value
    }

    /// Throws a value; one that is an error caught before goes on as that error.
    pub(super) fn thrown(&mut self, value: Value) -> Box<Raise> {
        let known = match &value {
            Value::Dict(dict) => self.caught.iter().position(|c| std::ptr::eq(c.value.as_ptr(), Rc::as_ptr(dict))),
            _ => None,
        };
        match known {
            Some(at) => {
                let mut raise = self.caught.remove(at).raise;
                raise.value = value;
                raise
            }
            None => Raise::thrown(value),
        }
    }

    /// Throws what a `catch` of this function bound, with the error that waits beside it.
    pub(super) fn thrown_again(&mut self, value: Value, beside: &Value) -> Box<Raise> {
        match held(beside) {
            Some(mut raise) => {
                raise.told = Some(self.frames.len());
                raise
            }
            None => self.thrown(value),
        }
    }
}

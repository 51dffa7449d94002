//! A task's own variables of the file.

use super::cross::{Crossing, holds_variables};
use crate::value::Value;
use crate::vm::{Isolate, Raise};
use std::cell::RefCell;
use std::rc::Rc;

/// Storage for the variables at the top of the file while another task runs: those of the running one are in the isolate.
#[derive(Default)]
pub(in crate::vm) struct Globals {
    pub(in crate::vm) values: RefCell<Vec<Value>>,
}

impl Globals {
    /// Enters the variables that a fiber sees while it runs; returns those that were visible before.
    pub(in crate::vm) fn enter(isolate: &Isolate, wanted: Option<&Rc<Self>>) -> Rc<Self> {
        let wanted = wanted.unwrap_or(isolate.own_globals()).clone();
        isolate.swap_globals(wanted)
    }

    /// A copy for another task of what a fiber with `from` sees.
    pub(super) fn copy(
        isolate: &Isolate,
        from: Option<&Rc<Self>>,
        crossing: &mut Crossing<'_>,
    ) -> Result<Rc<Self>, Box<Raise>> {
        let mut values = isolate.see_globals(from.unwrap_or(isolate.own_globals()), <[Value]>::to_vec);
        let mut plain = isolate.plain_globals();
        plain.resize(values.len(), Value::Nil);
        for (value, plain) in values.iter_mut().zip(plain.iter_mut()) {
            // A long list is not searched for variables each time a task is started.
            if !value.on_heap() || value.is_identical(plain) {
                continue;
            }
            if holds_variables(value) {
                *value = crossing.value(value)?;
            } else {
                *plain = value.clone();
            }
        }
        Ok(Rc::new(Self { values: RefCell::new(values) }))
    }
}

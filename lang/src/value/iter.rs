//! Iterators: what gives one item after another, on demand. Lazy iterators, generators and streams are all of this one
//! kind; who holds one shares its position with everybody else who does.

use super::{Closure, Flavor, Value, drop};
use crate::declaration::Builtin;
use crate::later::{Machine, ThisCrate};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Status of an iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can be asked for an item.
    Ready,
    /// It is making one: its registers are on a fiber's stack.
    Running,
    /// It has no more.
    Over,
}

/// Source of the items.
pub(crate) enum ItemSource {
    /// A value that is walked without running anything, and the position of the next item.
    Items {
        /// A list, range, string, or host value.
        source: Value,
        /// An index, or a byte offset in a string.
        position: i64,
    },
    /// A function that stopped at a `yield`.
    Script {
        /// Its code.
        code: Rc<<ThisCrate as Machine>::Proto>,
        /// Captured variables.
        closure: Option<Rc<Closure>>,
        /// The instruction it goes on with.
        pc: usize,
        /// Its window.
        registers: Vec<Value>,
    },
    /// A machine between two items.
    Native {
        /// Builtin that runs as this machine.
        machine: &'static Builtin,
        /// Its window.
        registers: Vec<Value>,
    },
    /// Nothing is left but what a generator returned.
    Over(Value),
}

/// An iterator.
pub struct Iter {
    flavor: Flavor,
    status: Cell<Status>,
    body: RefCell<ItemSource>,
}

impl Iter {
    /// A new iterator; the machine makes those with registers.
    pub(crate) fn new(flavor: Flavor, body: ItemSource) -> Self {
        Self { flavor, status: Cell::new(Status::Ready), body: RefCell::new(body) }
    }

    /// An iterator over what a value holds.
    pub(crate) fn over(source: Value) -> Value {
        Value::Iter(Rc::new(Self::new(Flavor::Iter, ItemSource::Items { source, position: 0 })))
    }

    /// Name in scripts.
    #[must_use]
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Returns the status of the iterator.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.get()
    }

    pub(crate) fn set_status(&self, status: Status) {
        self.status.set(status);
    }

    pub(crate) fn body(&self) -> &RefCell<ItemSource> {
        &self.body
    }

    /// It has no more items; what it held is let go.
    pub(crate) fn finish(&self, result: Value) {
        self.status.set(Status::Over);
        let old = self.body.replace(ItemSource::Over(result));
        std::mem::drop(old);
    }

    /// Returns the return value of a generator the first time, then `None`.
    pub(crate) fn take_result(&self) -> Value {
        match &mut *self.body.borrow_mut() {
            ItemSource::Over(result) => std::mem::take(result),
            _ => Value::Nil,
        }
    }
}

impl Drop for ItemSource {
    fn drop(&mut self) {
        match self {
            Self::Script { registers, .. } | Self::Native { registers, .. } => {
                drop::drop_values(std::mem::take(registers));
            }
            Self::Items { source: value, .. } | Self::Over(value) => {
                if value.holds_values() {
                    drop::drop_values(vec![std::mem::take(value)]);
                }
            }
        }
    }
}

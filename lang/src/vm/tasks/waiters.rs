//! Queue of the waiters for one event, in the order of arrival.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::Waker;

/// A queue of wakers. Whoever joins it leaves it again: when woken, or when dropped before.
#[derive(Default)]
pub(crate) struct Waiters {
    last: Cell<u64>,
    queue: RefCell<BTreeMap<u64, Waker>>,
}

impl Waiters {
    /// A place at the end of the queue.
    pub(crate) fn ticket(&self) -> u64 {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Takes the place, or renews the waker in it.
    pub(crate) fn join(&self, ticket: u64, waker: &Waker) {
        let mut queue = self.queue.borrow_mut();
        match queue.get_mut(&ticket) {
            Some(known) => known.clone_from(waker),
            None => {
                queue.insert(ticket, waker.clone());
            }
        }
    }

    /// Gives the place up; false when it was woken already.
    pub(crate) fn leave(&self, ticket: u64) -> bool {
        self.queue.borrow_mut().remove(&ticket).is_some()
    }

    /// Wakes the first one, and takes it out.
    pub(crate) fn wake_one(&self) -> Option<u64> {
        let (ticket, waker) = self.queue.borrow_mut().pop_first()?;
        waker.wake();
        Some(ticket)
    }

    /// Wakes all, and takes them out.
    pub(crate) fn wake_all(&self) {
        let queue = std::mem::take(&mut *self.queue.borrow_mut());
        queue.into_values().for_each(Waker::wake);
    }
}

//! Stopping one call of a function that the runtime made, and nothing beside it.

use super::{Raise, Why};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

/// Number of interruptions of the call after the grace period, before it is stopped for good.
const PATIENCE: u16 = 1_000;

/// A switch for one call. `catch` does not see that it was thrown; `defer` and `finally` run. Clones are the same switch.
#[derive(Clone, Default)]
pub struct Halt(Rc<HaltState>);

#[derive(Default)]
struct HaltState {
    reason: RefCell<Option<String>>,
    over: Cell<bool>,
    watchers: RefCell<Vec<Waker>>,
}

impl Halt {
    /// Throws it. The first reason counts.
    pub fn halt(&self, reason: &str) {
        self.0.reason.borrow_mut().get_or_insert_with(|| reason.to_owned());
        self.wake();
    }

    /// The grace is over: what still runs, runs up to its next wait.
    pub fn end_grace(&self) {
        self.0.over.set(true);
        self.wake();
    }

    fn wake(&self) {
        let watchers = std::mem::take(&mut *self.0.watchers.borrow_mut());
        watchers.into_iter().for_each(Waker::wake);
    }

    /// Wakes once it was thrown.
    pub(super) fn watch(&self, waker: &Waker) {
        let mut watchers = self.0.watchers.borrow_mut();
        if !watchers.iter().any(|known| known.will_wake(waker)) {
            watchers.push(waker.clone());
        }
    }

    /// Whether a fiber that was interrupted so often is interrupted again.
    pub(super) fn interrupts(&self, times: u16) -> bool {
        self.0.reason.borrow().is_some() && (times == 0 || self.0.over.get())
    }

    /// Returns the interruption for a fiber that was interrupted `times` times.
    pub(super) fn interrupt(&self, times: &mut u16) -> Option<Box<Raise>> {
        let reason = self.0.reason.borrow();
        let reason = reason.as_ref()?;
        if *times > 0 && !self.0.over.get() {
            return None;
        }
        *times = times.saturating_add(1);
        let mut raise = Raise::cancelled(reason.clone());
        if *times > PATIENCE {
            raise.why = Why::Abandoned;
        }
        Some(raise)
    }
}

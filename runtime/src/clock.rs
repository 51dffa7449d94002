//! Time comes in from outside, so a run can be repeated exactly. The owner of a runtime that can sleep supplies the
//! wall clock; [`ManualClock`] is advanced explicitly.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::seam::Local;

/// A source of time.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;

    /// Ready once [`Clock::now_ms`] has reached `at_ms`.
    fn sleep_until(&self, at_ms: u64) -> Local<'_, ()>;

    /// Sleeps like `sleep_until`, but for limits: sleepers advance a mocked clock, tasks that only check a limit do
    /// not.
    fn alarm(&self, at_ms: u64) -> Local<'_, ()> {
        self.sleep_until(at_ms)
    }
}

/// A clock that advances only when told to. Clones share the same time.
#[derive(Clone, Default)]
pub struct ManualClock(Rc<State>);

#[derive(Default)]
struct State {
    now: Cell<u64>,
    sleepers: RefCell<BTreeMap<(u64, u64), Waker>>,
    next: Cell<u64>,
}

impl ManualClock {
    /// A clock that shows `now_ms`.
    #[must_use]
    pub fn new(now_ms: u64) -> ManualClock {
        let clock = ManualClock::default();
        clock.0.now.set(now_ms);
        clock
    }

    /// Moves the clock forward and wakes those whose time has come, earliest first.
    pub fn advance(&self, ms: u64) {
        let now = self.0.now.get().saturating_add(ms);
        self.0.now.set(now);
        let due = {
            let mut sleepers = self.0.sleepers.borrow_mut();
            let later = sleepers.split_off(&(now.saturating_add(1), 0));
            std::mem::replace(&mut *sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// When the first sleeper wants to be woken.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        self.0.sleepers.borrow().keys().next().map(|key| key.0)
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.now.get()
    }

    fn sleep_until(&self, at_ms: u64) -> Local<'_, ()> {
        let seq = self.0.next.get();
        self.0.next.set(seq + 1);
        let entry = Sleeper { state: &self.0, key: (at_ms, seq) };
        Box::pin(poll_fn(move |cx| {
            if entry.state.now.get() >= at_ms {
                return Poll::Ready(());
            }
            entry.state.sleepers.borrow_mut().insert(entry.key, cx.waker().clone());
            Poll::Pending
        }))
    }
}

/// Removes its entry when the sleep is dropped, so that a cancelled sleep wakes no task.
struct Sleeper<'a> {
    state: &'a State,
    key: (u64, u64),
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.state.sleepers.borrow_mut().remove(&self.key);
    }
}

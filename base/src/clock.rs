//! Time comes in from outside, so a run can be repeated exactly. The owner of a runtime that can sleep supplies the
//! wall clock; [`ManualClock`] is advanced explicitly.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::call::LocalFuture;

/// A source of time.
pub trait Clock {
    /// Returns the milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;

    /// Waits until [`Clock::now_ms`] has reached `at_ms`.
    fn sleep_until(&self, at_ms: u64) -> LocalFuture<'_, ()>;

    /// Sleeps like `sleep_until`, but for limits: sleepers advance a mocked clock, tasks that only check a limit do
    /// not.
    fn alarm(&self, at_ms: u64) -> LocalFuture<'_, ()> {
        self.sleep_until(at_ms)
    }
}

/// A clock that advances only when told to. Clones share the same time.
#[derive(Clone, Default)]
pub struct ManualClock(Rc<ManualClockState>);

#[derive(Default)]
struct ManualClockState {
    now: Cell<u64>,
    sleepers: RefCell<BTreeMap<(u64, u64), Waker>>,
    next: Cell<u64>,
}

impl ManualClock {
    /// Creates a clock that shows `now_ms`.
    #[must_use]
    pub fn new(now_ms: u64) -> ManualClock {
        let clock = ManualClock::default();
        clock.0.now.set(now_ms);
        clock
    }

    /// Advances the clock and wakes the sleepers that are due, earliest first.
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

    /// Returns the time at which the first sleeper is due.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        self.0.sleepers.borrow().keys().next().map(|key| key.0)
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.now.get()
    }

    fn sleep_until(&self, at_ms: u64) -> LocalFuture<'_, ()> {
        let seq = self.0.next.get();
        self.0.next.set(seq + 1);
        let entry = SleepGuard { state: &self.0, key: (at_ms, seq) };
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
struct SleepGuard<'a> {
    state: &'a ManualClockState,
    key: (u64, u64),
}

impl Drop for SleepGuard<'_> {
    fn drop(&mut self) {
        self.state.sleepers.borrow_mut().remove(&self.key);
    }
}

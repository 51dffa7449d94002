//! The clock of a run: the system's, or one that stands still but for sleeping.
//!
//! Mocked time moves when nobody can do anything else: to the next moment that somebody sleeps to, with every alarm before
//! it going off in its turn. So tasks that sleep side by side wake in the order of their times, as they would in real time.

use lang::vm::Idle;
use runtime::clock::Clock;
use runtime::seam::Local;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When a seeded run begins: 2025-01-01T00:00:00Z.
const SEEDED_START_MS: u64 = 1_735_689_600_000;

/// A clock that can be mocked while it runs.
#[derive(Default)]
pub(crate) struct RunClock {
    /// The mocked time.
    mocked: Cell<Option<u64>>,
    /// Who waits, by time and the order of coming.
    timers: RefCell<BTreeMap<(u64, u64), Timer>>,
    last: Cell<u64>,
}

struct Timer {
    waker: Waker,
    /// It moves mocked time; an alarm only goes off when time has come to it.
    sleeps: bool,
}

impl RunClock {
    /// The system's clock.
    pub(crate) fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still but for sleeping.
    pub(crate) fn fixed() -> Self {
        Self { mocked: Cell::new(Some(SEEDED_START_MS)), ..Self::default() }
    }

    /// Stands still from now on.
    pub(crate) fn mock(&self, now_ms: u64) {
        self.mocked.set(Some(now_ms));
        self.wake(u64::MAX);
    }

    /// Follows the system again.
    pub(crate) fn unmock(&self) {
        self.mocked.set(None);
        self.wake(u64::MAX);
    }

    /// Moves mocked time; false where time is not mocked.
    pub(crate) fn advance(&self, ms: u64) -> bool {
        let Some(now) = self.mocked.get() else { return false };
        let now = now.saturating_add(ms);
        self.mocked.set(Some(now));
        self.wake(now);
        true
    }

    /// Nothing can go on by itself: mocked time moves to the next timer.
    pub(crate) fn idle(&self, outside: bool) -> Idle {
        let next = {
            let timers = self.timers.borrow();
            let Some(first) = timers.keys().next().copied() else { return Idle::Never };
            if self.mocked.get().is_none() || (outside && !timers.values().any(|timer| timer.sleeps)) {
                return Idle::Later;
            }
            first.0
        };
        self.mocked.set(self.mocked.get().map(|now| now.max(next)));
        self.wake(next);
        Idle::Moved
    }

    /// Wakes those who wait for a time up to this one, the earliest first.
    fn wake(&self, up_to: u64) {
        let later = match up_to.checked_add(1) {
            Some(after) => self.timers.borrow_mut().split_off(&(after, 0)),
            None => BTreeMap::new(),
        };
        let due = std::mem::replace(&mut *self.timers.borrow_mut(), later);
        due.into_values().for_each(|timer| timer.waker.wake());
    }

    /// Ready once the time has come, whoever it is that moves it.
    async fn until(&self, at_ms: u64, sleeps: bool) {
        self.last.set(self.last.get() + 1);
        let entry = Entry { clock: self, key: (at_ms, self.last.get()) };
        let mut real: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(move |cx| {
            let now = entry.clock.now_ms();
            if now >= at_ms {
                return Poll::Ready(());
            }
            if entry.clock.mocked.get().is_some() {
                real = None;
            } else {
                let left = Duration::from_millis(at_ms - now);
                let timer = real.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
                if timer.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
            }
            let timer = Timer { waker: cx.waker().clone(), sleeps };
            entry.clock.timers.borrow_mut().insert(entry.key, timer);
            Poll::Pending
        })
        .await;
    }
}

/// Takes its timer out when the wait is over, so that what was dropped moves no time.
struct Entry<'a> {
    clock: &'a RunClock,
    key: (u64, u64),
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.clock.timers.borrow_mut().remove(&self.key);
    }
}

impl Clock for RunClock {
    fn now_ms(&self) -> u64 {
        match self.mocked.get() {
            Some(now) => now,
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            }
        }
    }

    fn sleep_until(&self, at_ms: u64) -> Local<'_, ()> {
        Box::pin(self.until(at_ms, true))
    }

    fn alarm(&self, at_ms: u64) -> Local<'_, ()> {
        Box::pin(self.until(at_ms, false))
    }
}

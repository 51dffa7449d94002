//! Events from outside, in their order among the timers of the clock.

use super::{ClockMode, Entry, RunClock, Timer, TimerKey};
use base::clock::Clock;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The place of one question to the outside in the order of what happens: taken when it is asked. Each piece of the answer
/// passes it: in a recorded run when it has come and everything before it has happened, in a replayed one at the time that
/// was written down then.
pub(crate) struct Gate {
    clock: Rc<RunClock>,
    number: u64,
    begun_ms: u64,
    begun: Instant,
}

impl Gate {
    /// A question that is asked now.
    pub(crate) fn new(clock: &Rc<RunClock>) -> Self {
        Self { clock: clock.clone(), number: clock.number(), begun_ms: clock.now_ms(), begun: Instant::now() }
    }

    /// Returns the time since the request on the run's clock, in milliseconds.
    pub(crate) fn age_ms(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.begun_ms)
    }

    /// Waits for its turn after an event has arrived. Returns the time since the question on the
    /// run's clock, in milliseconds.
    pub(crate) async fn arrived(&self) -> u64 {
        let took = match self.clock.mode() {
            ClockMode::Jumps => 0,
            _ => u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let clock = &self.clock;
        let mut key = self.key(took);
        // An event must not follow this one with an earlier time: timers that have passed stay
        // before it.
        if clock.passed.get().is_some_and(|passed| passed > key) {
            key.at_ms = key.at_ms.saturating_add(1);
        }
        self.pass(key, true).await;
        key.at_ms.saturating_sub(self.begun_ms)
    }

    /// Ready so many milliseconds after the question, in its turn.
    pub(crate) async fn at(&self, after_ms: u64) {
        self.pass(self.key(after_ms), false).await;
    }

    fn key(&self, after_ms: u64) -> TimerKey {
        let now = self.clock.now_ms();
        // Who set the clock back meanwhile has made the question's own time mean nothing.
        let at_ms = if now < self.begun_ms { now } else { self.begun_ms.saturating_add(after_ms).max(now) };
        TimerKey { at_ms, is_gate: true, number: self.number }
    }

    async fn pass(&self, key: TimerKey, has_come: bool) {
        let let_go = Rc::new(Cell::new(false));
        let entry = Entry { clock: &self.clock, key };
        let mut real: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(move |cx| {
            if let_go.get() {
                return Poll::Ready(());
            }
            let mut is_due = has_come;
            if !has_come && entry.clock.mode() == ClockMode::Steps {
                let left = Duration::from_millis(key.at_ms.saturating_sub(entry.clock.now_ms()));
                let timer = real.get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
                is_due = timer.is_elapsed() || timer.as_mut().poll(cx).is_ready();
            }
            let timer = Timer { waker: cx.waker().clone(), sleeps: true, is_due, let_go: Some(let_go.clone()) };
            entry.clock.timers.borrow_mut().insert(entry.key, timer);
            Poll::Pending
        })
        .await;
    }
}

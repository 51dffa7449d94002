//! How deep functions that the runtime calls stand within one another. Each level lies on the native stack, while it runs
//! and whenever it is polled, so what counts is where a call happens and not where its function was made.

use super::Isolate;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

/// The levels that a thread's stack surely holds.
pub(super) const MOST: u32 = 32;

/// The level at which the thread is now; 0 outside of all calls.
#[derive(Default)]
pub(super) struct Nesting(Cell<u32>);

impl Nesting {
    pub(super) fn level(&self) -> u32 {
        self.0.get()
    }
}

/// Puts the level back, also when a panic passes.
struct Back<'a>(&'a Cell<u32>, u32);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// Runs something at a level.
pub(super) fn at<R>(isolate: &Isolate, level: u32, run: impl FnOnce() -> R) -> R {
    let cell = &isolate.nesting().0;
    let _back = Back(cell, cell.replace(level));
    run()
}

/// Polls something at a level.
pub(super) async fn polled_at<T>(isolate: Rc<Isolate>, level: u32, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| at(&isolate, level, || future.as_mut().poll(cx))).await
}

//! The functions that the runtime is calling now, each inside the one before. Each lies on the native stack, while it runs and
//! whenever it is polled, so what counts is where a call happens and not where its function was made.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use super::{Isolate, Raise, RunCode};

/// The most calls within one another.
pub(super) const MOST: usize = 32;

/// Native stack that one call may need, with everything that the runtime puts on it until the next call.
const NEEDED: usize = 1 << 20;
/// Growth of the stack when less than that is left.
const GROWTH: usize = 8 << 20;

/// The error of a call more than may be.
pub(super) fn too_deep() -> Box<Raise> {
    let message = format!("functions called by the runtime nested more than {MOST} levels deep");
    Raise::error(RunCode::Depth, message).help("check for a hook, tool or provider that calls itself indirectly")
}

/// Runs a call where the native stack has room for it.
pub(super) fn with_room<R>(run: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(NEEDED, GROWTH, run)
}

/// The calls that the thread is inside of now; none outside of all.
#[derive(Default)]
pub(super) struct Nesting {
    /// Their numbers, the outermost first.
    calls: RefCell<Vec<u64>>,
    last: Cell<u64>,
}

impl Nesting {
    pub(super) fn level(&self) -> usize {
        self.calls.borrow().len()
    }

    /// The innermost call; 0 outside of all.
    pub(super) fn call(&self) -> u64 {
        self.calls.borrow().last().copied().unwrap_or(0)
    }

    /// Whether the thread is inside of a call.
    pub(super) fn is_within(&self, call: u64) -> bool {
        call == 0 || self.calls.borrow().contains(&call)
    }

    /// All of them, for [`polled_in`].
    pub(super) fn calls(&self) -> Vec<u64> {
        self.calls.borrow().clone()
    }

    /// Begins a call. It ends with what this gives.
    pub(super) fn enter(&self) -> Within<'_> {
        self.last.set(self.last.get() + 1);
        let level = self.level();
        self.calls.borrow_mut().push(self.last.get());
        Within { calls: &self.calls, level }
    }
}

/// A call at hand. It is left also when a panic passes.
pub(super) struct Within<'a> {
    calls: &'a RefCell<Vec<u64>>,
    level: usize,
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.calls.borrow_mut().truncate(self.level);
    }
}

/// Polls something inside of calls.
pub(super) async fn polled_in<T>(isolate: Rc<Isolate>, mut calls: Vec<u64>, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _swapped = Swapped::new(&isolate.nesting().calls, &mut calls);
        with_room(|| future.as_mut().poll(cx))
    })
    .await
}

/// The calls at hand, in place of those that the thread was inside of. They are swapped back also when a panic passes.
struct Swapped<'a>(&'a RefCell<Vec<u64>>, &'a mut Vec<u64>);

impl<'a> Swapped<'a> {
    fn new(at_hand: &'a RefCell<Vec<u64>>, calls: &'a mut Vec<u64>) -> Self {
        std::mem::swap(&mut *at_hand.borrow_mut(), calls);
        Self(at_hand, calls)
    }
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        std::mem::swap(&mut *self.0.borrow_mut(), self.1);
    }
}

//! Counts what a pack uses while it computes.
//!
//! The interpreter asks at every operation, also in callbacks of built-in functions, where its own counters begin anew; so
//! the figures here are those of a whole evaluation. Once a limit is hit every further operation is refused, and no `catch`
//! sees it.

use super::budget::Budget;
use lang::vm::allocated;
use nix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The number of operations between two checks of the clock.
const CLOCK_EVERY: u64 = 8;

/// The limit of a budget that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Operations,
    Depth,
    String,
    Elements,
    Time,
    Memory,
    Reminders,
}

impl Limit {
    /// Returns the end of a sentence that begins with "it used up its".
    pub(super) fn describe(self, budget: &Budget) -> String {
        match self {
            Self::Operations => format!("{} operations", budget.operations),
            Self::Depth => format!("{} nested calls", budget.depth),
            Self::String => format!("{} bytes of text in one value", budget.string),
            Self::Elements => format!("{} elements in one value", budget.elements),
            Self::Time => format!("{} ms of computing time", budget.time.as_millis()),
            Self::Memory => format!("{} bytes of memory", budget.memory),
            Self::Reminders => format!("{} reminders in one evaluation", budget.reminders),
        }
    }

    /// Returns the key that raises the limit.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Operations => "max_operations",
            Self::Depth => "max_depth",
            Self::String => "max_string",
            Self::Elements => "max_elements",
            Self::Time => "timeout_ms",
            Self::Memory => "max_memory",
            Self::Reminders => "max_reminders",
        }
    }
}

/// The usage of a pack.
pub(super) struct Meter {
    budget: Budget,
    operations: Cell<u64>,
    hit: Cell<Option<Limit>>,
    /// The memory that the pack holds between evaluations, in bytes.
    held: Cell<i64>,
    /// The thread's count of bytes at which it holds too much.
    mark: Cell<i64>,
    began: Cell<Option<(Instant, Duration)>>,
    /// An address on the stack where the evaluation began, and how far down it may go.
    stack: Cell<(usize, usize)>,
}

impl Meter {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            operations: Cell::new(0),
            hit: Cell::new(None),
            held: Cell::new(0),
            mark: Cell::new(i64::MAX),
            began: Cell::new(None),
            stack: Cell::new((0, usize::MAX)),
        }
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The limit that was hit since [`Self::measure`] began.
    pub(super) fn hit(&self) -> Option<Limit> {
        self.hit.get()
    }

    /// Returns the number of operations since then.
    #[cfg(test)]
    pub(super) fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// Computes something within a fresh budget; `stack` bytes of stack are there for it. What is alive afterwards counts as
    /// held by the pack.
    pub(super) fn measure<T>(&self, stack: usize, work: impl FnOnce() -> T) -> T {
        let before = allocated();
        let room = i64::try_from(self.budget.memory).unwrap_or(i64::MAX).saturating_sub(self.held.get());
        self.operations.set(0);
        self.hit.set(None);
        self.mark.set(before.saturating_add(room));
        self.began.set(Some((Instant::now(), computed())));
        self.stack.set((here(), stack));
        let done = work();
        self.began.set(None);
        self.held.set((self.held.get() + allocated() - before).max(0));
        done
    }

    /// Called at every operation; true ends the evaluation.
    pub(super) fn is_over(&self) -> bool {
        if self.hit.get().is_some() {
            return true;
        }
        let count = self.operations.get() + 1;
        self.operations.set(count);
        let (top, room) = self.stack.get();
        let hit = if count > self.budget.operations {
            Limit::Operations
        } else if allocated() > self.mark.get() {
            Limit::Memory
        } else if top.saturating_sub(here()) > room {
            Limit::Depth
        } else if count.is_multiple_of(CLOCK_EVERY) && self.is_timeout() {
            Limit::Time
        } else {
            return false;
        };
        self.hit.set(Some(hit));
        true
    }

    /// Whether there is stack left; where not, the evaluation ends.
    pub(super) fn has_stack(&self) -> bool {
        let (top, room) = self.stack.get();
        let is_there = top.saturating_sub(here()) <= room;
        if !is_there {
            self.end(Limit::Depth);
        }
        is_there
    }

    /// Ends the evaluation for a limit that was found elsewhere.
    pub(super) fn end(&self, limit: Limit) {
        if self.hit.get().is_none() {
            self.hit.set(Some(limit));
        }
    }

    /// The clock on the wall is cheap; only who seems late by it is measured by what the thread computed.
    fn is_timeout(&self) -> bool {
        let Some((began, computed_before)) = self.began.get() else { return false };
        began.elapsed() > self.budget.time && computed().saturating_sub(computed_before) > self.budget.time
    }
}

/// The computing time of this thread so far.
fn computed() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Returns the approximate address of the stack's top.
#[inline(never)]
fn here() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}

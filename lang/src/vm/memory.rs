//! Memory of a run.
//!
//! [`Counted`] counts the bytes of each thread; a program makes it its global allocator, or no run has a limit of memory.
//! A run's share is what the count has grown by during its slices and the turns of its tasks. It is looked at where a
//! slice ends, and a slice is cut short where the count passes a mark on the way to the limit.
#![allow(unsafe_code)]

use super::context::LARGE;
use super::fiber::Fiber;
use super::{Isolate, Limits, Meter, Raise, RunCode, Why, meter, operate};
use crate::ast::BinaryOp;
use crate::value::Value;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;

thread_local! {
    /// Bytes that this thread has taken, less those it has given back; another thread may give back its own.
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
pub struct Counted;

#[inline]
#[allow(clippy::cast_possible_wrap)] // no layout is larger than `isize::MAX`
fn count(bytes: usize) {
    // Without a destructor, a thread's count is there until the thread is gone.
    LIVE.with(|live| live.set(live.get().wrapping_add(bytes as i64)));
}

#[inline]
#[allow(clippy::cast_possible_wrap)]
fn discount(bytes: usize) {
    LIVE.with(|live| live.set(live.get().wrapping_sub(bytes as i64)));
}

/// Counts bytes that another thread has taken and that this one will give back, as if it had taken them itself.
pub fn take_over(bytes: usize) {
    count(bytes);
}

// SAFETY: every call goes to the system's allocator as it came; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counted {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        discount(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        discount(layout.size());
        count(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

fn live() -> i64 {
    LIVE.with(Cell::get)
}

/// Bytes that this thread has taken from the allocator, less those that it has given back. Only the difference of two
/// readings means something; it is always 0 where [`Counted`] is not the allocator.
#[must_use]
pub fn allocated() -> i64 {
    live()
}

/// The account of a run.
#[derive(Default)]
pub(super) struct Account {
    /// Contents when it was last put aside.
    held: Cell<i64>,
    /// The thread's count when it was taken up; nothing while it is put aside.
    since: Cell<Option<i64>>,
    /// The thread's count at which a slice is cut short.
    mark: Cell<i64>,
}

impl Account {
    /// The slice is cut short where the count is looked at next.
    pub(super) fn look_soon(&self) {
        self.mark.set(i64::MIN);
    }

    fn used(&self) -> i64 {
        self.held.get() + self.since.get().map_or(0, |since| live() - since)
    }
}

impl Isolate {
    /// Runs something on this run's account. Nested calls are on it already.
    pub(super) fn on_account<T>(&self, work: impl FnOnce() -> T) -> T {
        let account = self.account();
        if account.since.get().is_some() {
            return work();
        }
        account.since.set(Some(live()));
        self.set_mark();
        let done = meter::within(self, work);
        // What others freed in between may have been ours.
        account.held.set(account.used().max(0));
        account.since.set(None);
        done
    }

    /// Bytes left until the limit; nothing where there is none.
    fn memory_left(&self) -> Option<i64> {
        let limit = self.limits().memory?;
        Some(i64::try_from(limit).unwrap_or(i64::MAX).saturating_sub(self.account().used()))
    }

    /// The next look is half way to the limit, or a little further on.
    fn set_mark(&self) {
        const STEP: i64 = 1 << 20;
        let mark = self.memory_left().map_or(i64::MAX, |left| live().saturating_add((left / 2).max(STEP)));
        self.account().mark.set(mark);
    }

    /// Refuses when the run holds more than it may, or would with `more` bytes.
    pub(super) fn check_memory(&self, more: usize) -> Result<(), Box<Raise>> {
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        if self.memory_left().is_none_or(|left| left >= more) {
            return Ok(());
        }
        Err(exhausted(self.limits()))
    }
}

impl Isolate {
    /// Refuses when the run holds more than code of another language may, whose values take room on the stack when they
    /// are dropped.
    pub(super) fn check_most(&self, most: usize) -> Result<(), Box<Raise>> {
        if self.account().used() <= i64::try_from(most).unwrap_or(i64::MAX) {
            return Ok(());
        }
        let mut raise = Raise::error(
            RunCode::Memory,
            format!("memory limit of {} for code in another language reached", size(most as u64)),
        );
        raise.why = Why::Exhausted;
        Err(raise.help("keep less in variables, or do it in Harn"))
    }
}

/// The run is over its limit.
fn exhausted(limits: &Limits) -> Box<Raise> {
    let limit = limits.memory.unwrap_or_default();
    let mut raise = Raise::error(RunCode::Memory, format!("memory limit of {} reached", size(limit)));
    raise.why = Why::Exhausted;
    raise.help(limits.suggestions.memory)
}

/// Bytes as people write them.
fn size(bytes: u64) -> String {
    [(30, "GiB"), (20, "MiB"), (10, "KiB")]
        .into_iter()
        .find(|(shift, _)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift)
        .map_or_else(|| format!("{bytes} bytes"), |(shift, unit)| format!("{} {unit}", bytes >> shift))
}

impl Fiber {
    /// One slice on the run's account.
    pub(super) fn metered(&mut self, slice: impl FnOnce(&mut Self) -> super::Exit) -> super::Exit {
        let isolate = self.isolate.clone();
        isolate.on_account(|| slice(self))
    }

    /// Cuts the slice short when much was allocated, or much was done by builtins: called after whatever may make or copy a large
    /// value.
    ///
    /// # Errors
    /// Cause that stopped a walk over a value, whose result is then invalid.
    #[inline]
    pub(super) fn weigh(&mut self) -> Result<(), Box<Raise>> {
        if live() > self.isolate.account().mark.get() { self.cut_short() } else { Ok(()) }
    }

    /// Charges what an operator goes through, and refuses a result that the run's memory has no room for.
    #[inline(always)]
    pub(super) fn afford(&self, op: BinaryOp, a: &Value, b: &Value) -> Result<(), Box<Raise>> {
        let work = operate::work(op, a, b);
        if work < LARGE { Ok(()) } else { self.afford_work(op, work) }
    }

    #[cold]
    #[inline(never)]
    fn afford_work(&self, op: BinaryOp, work: usize) -> Result<(), Box<Raise>> {
        self.isolate.charge_large(work);
        match op {
            // An element has as many bytes as a unit of work has of a text.
            BinaryOp::Add | BinaryOp::Mul => self.afford_bytes(work.saturating_mul(size_of::<Value>())),
            _ => Ok(()),
        }
    }

    /// Refuses so many bytes more where the run has no room for them: before they are taken. A value beyond the limit of single
    /// values is left to that limit, whose error a script can catch.
    #[inline(always)]
    pub(super) fn afford_bytes(&self, bytes: usize) -> Result<(), Box<Raise>> {
        if bytes < LARGE || bytes > self.isolate.limits().value_bytes {
            return Ok(());
        }
        self.isolate.check_memory(bytes)
    }

    /// Checks the memory for a copy of a list or dict that has other holders: a change makes a copy.
    pub(super) fn afford_copy(&self, value: &Value) -> Result<(), Box<Raise>> {
        let bytes = match value {
            Value::List(list) if Rc::strong_count(list) > 1 => list.items.len() * size_of::<Value>(),
            Value::Dict(dict) if Rc::strong_count(dict) > 1 => dict.dict.len() * 2 * size_of::<Value>(),
            _ => 0,
        };
        self.afford_bytes(bytes)
    }

    #[cold]
    fn cut_short(&mut self) -> Result<(), Box<Raise>> {
        // What was not used up is not charged.
        self.slice -= self.ticks + 1;
        self.ticks = -1;
        if !Meter::is_stopped() {
            return Ok(());
        }
        self.stopped_walk().map_or(Ok(()), Err)
    }

    /// Looks at the run's memory, and from where on to look again.
    pub(super) fn check_memory(&self) -> Result<(), Box<Raise>> {
        self.isolate.check_memory(0)?;
        self.isolate.set_mark();
        Ok(())
    }

    /// Replaces a builtin's error about its argument if memory is used up, because it would explain nothing.
    pub(super) fn as_memory(&mut self, raise: Box<Raise>) -> Box<Raise> {
        // A walk that was stopped has led to whatever this is.
        let raise = if Meter::is_stopped() { self.stopped_walk().unwrap_or(raise) } else { raise };
        let limits = self.isolate.limits();
        if limits.memory.is_some() && raise.code == RunCode::Memory && !raise.located {
            exhausted(limits)
        } else {
            raise
        }
    }
}

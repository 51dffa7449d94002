//! [`Meter`]: what one walk over values costs.
//!
//! Printing, comparing, hashing, JSON and conversions go through values that may be far larger than the memory they take:
//! shared parts are visited once for each place that holds them. Each of these walks counts its steps with a meter. Every
//! [`STEP`] steps the meter charges fuel and looks at the limits of the run that is at work on this thread: memory, time,
//! interruption. When one of them is reached, the walk stops where it is and its result means nothing. The reason is kept
//! until the machine raises it, which it does before the script sees that result.
#![allow(unsafe_code)]

use super::fiber::Fiber;
use super::fiber::SLICE;
use super::tasks::{self, Noticed};
use super::{Context, Isolate, Raise};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

/// Steps between two looks at the limits.
const STEP: u32 = 1024;

/// Bytes of a text that count as a step, so that 64 KiB of text are a look.
const BYTES: usize = 64;

/// A text of this many bytes needs room before it is copied.
const LARGE_TEXT: usize = 64 << 10;

thread_local! {
    static WALKS: Walks = const {
        Walks {
            left: Cell::new(STEP),
            run: Cell::new(ptr::null()),
            line: Cell::new(Line { context: ptr::null(), noticed: Noticed::NEW, halted: 0 }),
            stopped: Cell::new(false),
            done: Cell::new(0),
        }
    };
    /// Why a walk was stopped, until that is raised.
    static WHY: RefCell<Option<Why>> = const { RefCell::new(None) };
}

/// The walks of a thread.
struct Walks {
    /// Steps until the next look, over all walks: many small ones count like a large one.
    left: Cell<u32>,
    /// The run at work; null outside of any.
    run: Cell<*const Isolate>,
    /// The fiber at work.
    line: Cell<Line>,
    /// Whether a walk was stopped.
    stopped: Cell<bool>,
    /// Steps since the slice was last asked to end.
    done: Cell<u64>,
}

/// Why a walk was stopped.
enum Why {
    /// A limit of the run was reached.
    Limit(Box<Raise>),
    /// The fiber is interrupted; it knows by what.
    Interrupted,
}

/// What decides whether a fiber is interrupted.
#[derive(Clone, Copy)]
pub(super) struct Line {
    context: *const Context,
    noticed: Noticed,
    halted: u16,
}

/// The walk was stopped; its result means nothing.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

impl Stopped {
    /// Returns the error to hand on; inside of a fiber the machine puts the reason in its place.
    #[must_use]
    pub fn raise(self) -> Box<Raise> {
        let limit = WALKS.with(|walks| {
            if walks.line.get().context.is_null() {
                walks.stopped.set(false);
                return WHY.take();
            }
            None
        });
        match limit {
            Some(Why::Limit(raise)) => raise,
            _ => Raise::cancelled("interrupted"),
        }
    }
}

/// Counts the steps of one walk.
pub struct Meter {
    left: u32,
}

impl Meter {
    /// Texts that are shorter, in bytes, are not counted.
    pub const TEXT_STEP: usize = BYTES;

    /// Starts a walk.
    #[must_use]
    #[inline]
    pub fn start() -> Self {
        Self { left: WALKS.with(|walks| walks.left.get()) }
    }

    /// Whether a walk of this thread was stopped, so that a loop of walks can end as well.
    #[must_use]
    #[inline]
    pub fn is_stopped() -> bool {
        WALKS.with(|walks| walks.stopped.get())
    }

    /// Counts one value.
    ///
    /// # Errors
    /// When the walk must stop.
    #[inline]
    pub fn step(&mut self) -> Result<(), Stopped> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { self.look() } else { Ok(()) }
    }

    /// Counts a text that is copied or compared.
    ///
    /// # Errors
    /// When the walk must stop, or the memory of the run has no room for the text.
    #[inline]
    pub fn text(&mut self, bytes: usize) -> Result<(), Stopped> {
        if bytes < BYTES { Ok(()) } else { self.large_text(bytes) }
    }

    #[cold]
    fn large_text(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.steps(bytes / BYTES)?;
        if bytes >= LARGE_TEXT { self.room(bytes) } else { Ok(()) }
    }

    /// Counts many values at once.
    ///
    /// # Errors
    /// When the walk must stop.
    pub fn steps(&mut self, count: usize) -> Result<(), Stopped> {
        if let Ok(count) = u32::try_from(count)
            && count < self.left
        {
            self.left -= count;
            return Ok(());
        }
        self.left = STEP;
        self.limits(u64::from(STEP).saturating_add(count as u64))
    }

    /// Asks for room in the memory of the run.
    ///
    /// # Errors
    /// When there is none.
    pub fn room(&mut self, bytes: usize) -> Result<(), Stopped> {
        let refused = with_run(|isolate| isolate.check_memory(bytes).err()).flatten();
        refused.map_or(Ok(()), |raise| Err(stop(Why::Limit(raise))))
    }

    /// Looks at the limits now: for work that goes on in pieces of unknown length.
    ///
    /// # Errors
    /// When the walk must stop.
    pub fn check(&mut self) -> Result<(), Stopped> {
        self.limits(1)
    }

    /// Charges fuel and looks at the limits.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<(), Stopped> {
        self.left = STEP;
        self.limits(u64::from(STEP))
    }

    fn limits(&mut self, steps: u64) -> Result<(), Stopped> {
        if Self::is_stopped() {
            // Each walk that begins now ends at its first step.
            self.left = 1;
            return Err(Stopped);
        }
        let found = with_run(|isolate| {
            // A walk is work like any other: after a slice of it, other tasks have their turn.
            let done = WALKS.with(|walks| walks.done.get()).saturating_add(steps);
            let is_slice = done >= SLICE.unsigned_abs();
            WALKS.with(|walks| walks.done.set(if is_slice { 0 } else { done }));
            if is_slice {
                isolate.account().look_soon();
            }
            if !isolate.burn(steps) {
                return Some(Why::Limit(isolate.out_of_fuel()));
            }
            match isolate.check_memory(0).and_then(|()| isolate.check_time(false)) {
                Err(raise) => Some(Why::Limit(raise)),
                // The main task was told, and takes the error from there.
                Ok(told) => (told || is_interrupted(isolate)).then_some(Why::Interrupted),
            }
        });
        match found.flatten() {
            Some(why) => {
                self.left = 1;
                Err(stop(why))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Meter {
    #[inline]
    fn drop(&mut self) {
        WALKS.with(|walks| walks.left.set(self.left.max(1)));
    }
}

/// Remembers why a walk was stopped; the machine looks soon.
fn stop(why: Why) -> Stopped {
    with_run(|isolate| isolate.account().look_soon());
    WALKS.with(|walks| {
        walks.stopped.set(true);
        walks.left.set(1);
    });
    WHY.with_borrow_mut(|known| {
        known.get_or_insert(why);
    });
    Stopped
}

fn with_run<T>(work: impl FnOnce(&Isolate) -> T) -> Option<T> {
    let run = WALKS.with(|walks| walks.run.get());
    // SAFETY: set by `within` for the time of its work, during which the caller holds the isolate.
    (!run.is_null()).then(|| work(unsafe { &*run }))
}

fn is_interrupted(isolate: &Isolate) -> bool {
    let line = WALKS.with(|walks| walks.line.get());
    if line.context.is_null() {
        return false;
    }
    // SAFETY: set by `Fiber::on_line` for the time of its work, during which the fiber holds the context.
    let context = unsafe { &*line.context };
    let nesting = isolate.nesting();
    let ending = context.task.is_ending(nesting);
    (isolate.host().is_interrupted() && !ending)
        || context.task.interrupts(line.noticed, nesting)
        || (!ending && context.halt.as_ref().is_some_and(|halt| halt.interrupts(line.halted)))
}

/// Does something that belongs to a run. What stopped a walk of it does not outlive it.
pub(super) fn within<T>(isolate: &Isolate, work: impl FnOnce() -> T) -> T {
    let outer = WALKS.with(|walks| walks.run.replace(isolate));
    let done = work();
    WALKS.with(|walks| {
        walks.run.set(outer);
        if walks.stopped.replace(false) {
            WHY.take();
            walks.left.set(STEP);
        }
    });
    done
}

impl Isolate {
    /// Goes through what a run came to, after its end: on its account, and with its time anew.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn walk_result<T>(&self, work: impl FnOnce() -> T) -> Result<T, Box<Raise>> {
        self.start_watch();
        let done = self.on_account(|| {
            let done = work();
            if Meter::is_stopped() { Err(Stopped.raise()) } else { Ok(done) }
        });
        self.end_watch();
        done
    }
}

impl Fiber {
    /// Runs a slice of this fiber; what interrupts the fiber stops its walks.
    pub(super) fn on_line<T>(&mut self, slice: impl FnOnce(&mut Self) -> T) -> T {
        let line = Line { context: Rc::as_ptr(&self.context), noticed: self.noticed, halted: self.halted };
        let outer = WALKS.with(|walks| walks.line.replace(line));
        let done = slice(self);
        WALKS.with(|walks| walks.line.set(outer));
        done
    }

    /// The fiber has noticed what interrupts it.
    pub(super) fn note_line(&self) {
        WALKS.with(|walks| {
            let line = walks.line.get();
            if ptr::eq(line.context, Rc::as_ptr(&self.context)) {
                walks.line.set(Line { noticed: self.noticed, halted: self.halted, ..line });
            }
        });
    }

    /// Takes what stopped a walk, to raise it.
    #[cold]
    pub(super) fn stopped_walk(&mut self) -> Option<Box<Raise>> {
        let why = WALKS.with(|walks| {
            walks.stopped.set(false);
            walks.left.set(STEP);
            WHY.take()
        })?;
        Some(match why {
            Why::Limit(raise) => raise,
            Why::Interrupted => {
                if self.isolate.host().is_interrupted() {
                    tasks::interrupt(&self.isolate, &self.context.task, "interrupted");
                }
                self.interrupt().unwrap_or_else(|| Raise::cancelled("interrupted"))
            }
        })
    }
}

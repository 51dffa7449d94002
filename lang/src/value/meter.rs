//! [`Meter`]: counts the steps of a walk over values.
//!
//! Printing, comparing, hashing, JSON and conversions go through values that may be far larger than the memory they take:
//! shared parts are visited once for each place that holds them. Each of these walks counts its steps with a meter. Every
//! [`STEP`] steps the meter asks the machine, which charges fuel and looks at the limits of the run that is at work on this
//! thread. When one of them is reached, the walk stops where it is and its result means nothing.

use super::Value;
use crate::later::{Machine, ThisCrate};
use std::cell::Cell;

/// Steps between two looks at the limits.
const STEP: u32 = 1024;

/// Bytes of a text that count as a step, so that 64 KiB of text are a look.
const BYTES: usize = 64;

/// A text of this many bytes needs room before it is copied.
const LARGE_TEXT: usize = 64 << 10;

thread_local! {
    static WALKS: StepBudget = const { StepBudget { left: Cell::new(STEP), stopped: Cell::new(false) } };
}

/// The walks of a thread.
struct StepBudget {
    /// Steps until the next look, over all walks of the run at work: many small ones count like a large one.
    left: Cell<u32>,
    /// Whether a walk was stopped.
    stopped: Cell<bool>,
}

/// Steps that the walks of a run may take until their next look at the limits, while the run is not at work.
#[derive(Clone, Copy)]
pub(crate) struct StepsLeft(u32);

impl Default for StepsLeft {
    fn default() -> Self {
        Self(STEP)
    }
}

impl StepsLeft {
    /// Makes these the steps of the thread. Returns those of the run that was at work before.
    pub(crate) fn begin(self) -> Self {
        Self(WALKS.with(|walks| walks.left.replace(self.0)))
    }
}

/// The walk was stopped; its result means nothing.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

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
        let walked = STEP.saturating_sub(self.left);
        self.left = STEP;
        self.limits(u64::from(walked).saturating_add(count as u64))
    }

    /// Asks for room in the memory of the run.
    ///
    /// # Errors
    /// When there is none.
    pub fn room(&mut self, bytes: usize) -> Result<(), Stopped> {
        if ThisCrate::lacks_room(bytes) {
            stop();
            return Err(Stopped);
        }
        Ok(())
    }

    /// Checks the limits now: for work that goes on in pieces of unknown length.
    ///
    /// # Errors
    /// When the walk must stop.
    pub fn check(&mut self) -> Result<(), Stopped> {
        self.limits(1)
    }

    /// Begins a new round of steps, charges it, and checks the limits.
    fn look(&mut self) -> Result<(), Stopped> {
        self.left = STEP;
        self.limits(u64::from(STEP))
    }

    /// Charges fuel for the steps and checks the limits.
    #[cold]
    #[inline(never)]
    fn limits(&mut self, steps: u64) -> Result<(), Stopped> {
        if Self::is_stopped() {
            // Each walk that begins now ends at its first step.
            self.left = 1;
            return Err(Stopped);
        }
        if ThisCrate::charge_walk(steps) {
            stop();
            self.left = 1;
            return Err(Stopped);
        }
        Ok(())
    }
}

impl Drop for Meter {
    #[inline]
    fn drop(&mut self) {
        WALKS.with(|walks| walks.left.set(self.left.max(1)));
    }
}

/// Marks the walks of this thread as stopped.
fn stop() {
    WALKS.with(|walks| {
        walks.stopped.set(true);
        walks.left.set(1);
    });
}

/// Parts of a value that are copied without a charge: to count them would cost more.
const SMALL_COPY: usize = 256;

/// Charges a copy of so many parts of a value, or of as many steps of [`BYTES`] of a text. Each place that copies a value
/// calls this: fuel pays for the copy, and what is to stop the run is looked at soon after.
#[inline(always)]
pub(crate) fn charge_copy(parts: usize) {
    if parts >= SMALL_COPY {
        charge_large_copy(parts);
    }
}

#[cold]
#[inline(never)]
fn charge_large_copy(parts: usize) {
    // A copy cannot fail. If the walk must stop, the machine raises the reason before the script sees the copy.
    let _ = Meter::start().steps(parts);
}

/// Charges a copy of a text.
#[inline(always)]
pub(crate) fn charge_text(bytes: usize) {
    charge_copy(bytes / BYTES);
}

/// Returns a copy of elements.
#[must_use]
pub(crate) fn copied(items: &[Value]) -> Vec<Value> {
    charge_copy(items.len());
    items.to_vec()
}

/// Forgets that a walk was stopped. Returns whether one was.
pub(crate) fn take_stopped() -> bool {
    WALKS.with(|walks| walks.stopped.replace(false))
}

/// Lets walks go on as if none had been counted yet.
pub(crate) fn start_anew() {
    WALKS.with(|walks| {
        walks.stopped.set(false);
        walks.left.set(STEP);
    });
}

//! Signals that interrupt a task.
//!
//! Each event (a cancellation, a deadline that passed, the end of a grace) raises the task's serial number. A fiber keeps
//! the number it has noticed last; where they differ it looks closer. A fiber that begins while its task is being cancelled
//! belongs to the cleaning up and is left alone until the grace is over.

use super::FutureKey;
use crate::vm::nesting::Nesting;
use crate::vm::{Raise, RunCode, Why};
use std::cell::{Cell, RefCell};

/// Time that `defer` and `finally` may wait once their task was interrupted.
pub(super) const GRACE_MS: u64 = 2_000;

/// Number of interruptions of a fiber after the grace period, before it is stopped for good.
const PATIENCE: u16 = 1_000;

/// The events of a task.
#[derive(Default)]
pub(super) struct Signals {
    serial: Cell<u32>,
    state: RefCell<SignalState>,
}

#[derive(Default)]
struct SignalState {
    /// Why the task must end.
    stop: Option<Event>,
    /// An error that it is told, once.
    told: Option<Box<Raise>>,
    /// Open deadlines, the outermost first.
    deadlines: Vec<OpenDeadline>,
    next: u64,
}

struct Event {
    raise: Box<Raise>,
    at: u32,
    /// The grace is over.
    over: bool,
}

struct OpenDeadline {
    id: u64,
    /// The call of the runtime that it was opened in; 0 for none. What stands outside of that call does not notice it.
    call: u64,
    message: String,
    passed: Option<u32>,
    over: bool,
    timer: Option<FutureKey>,
}

/// Signals of its task that a fiber has seen.
#[derive(Clone, Copy, Default)]
pub(in crate::vm) struct Noticed {
    serial: u32,
    /// Interruptions after the grace.
    pressed: u16,
}

impl Noticed {
    /// Nothing has been noticed yet.
    pub(in crate::vm) const NEW: Self = Self { serial: 0, pressed: 0 };
}

impl Signals {
    fn bump(&self) -> u32 {
        self.serial.set(self.serial.get() + 1);
        self.serial.get()
    }

    /// For a fiber that begins now.
    pub(super) fn noticed(&self) -> Noticed {
        Noticed { serial: self.serial.get(), pressed: 0 }
    }

    /// Returns the interruption for a fiber, given what it has noticed so far.
    pub(super) fn interrupt(&self, noticed: &mut Noticed, nesting: &Nesting) -> Option<Box<Raise>> {
        let serial = self.serial.get();
        if serial == 0 {
            return None;
        }
        let since = std::mem::replace(&mut noticed.serial, serial);
        let mut state = self.state.borrow_mut();
        if since != serial
            && let Some(raise) = state.told.take()
        {
            return Some(raise);
        }
        if let Some(stop) = &state.stop {
            return if stop.over {
                Some(press(stop.raise.clone(), noticed))
            } else {
                (stop.at > since).then(|| stop.raise.clone())
            };
        }
        let mut inside = state.deadlines.iter().filter(|d| nesting.is_within(d.call));
        let passed = inside.find(|d| d.over || d.passed.is_some_and(|at| at > since))?;
        let mut raise = Raise::error(RunCode::Deadline, passed.message.clone());
        raise.why = Why::Deadline(passed.id);
        Some(if passed.over { press(raise, noticed) } else { raise })
    }

    /// Whether a fiber that has noticed so much is interrupted.
    pub(super) fn interrupts(&self, noticed: Noticed, nesting: &Nesting) -> bool {
        let since = noticed.serial;
        if self.serial.get() == 0 {
            return false;
        }
        let state = self.state.borrow();
        if since != self.serial.get() && state.told.is_some() {
            return true;
        }
        if let Some(stop) = &state.stop {
            return stop.over || stop.at > since;
        }
        let mut inside = state.deadlines.iter().filter(|d| nesting.is_within(d.call));
        inside.any(|d| d.over || d.passed.is_some_and(|at| at > since))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state.borrow().stop.is_some()
    }

    pub(super) fn is_ending(&self, nesting: &Nesting) -> bool {
        let state = self.state.borrow();
        state.stop.is_some() || state.deadlines.iter().any(|d| d.passed.is_some() && nesting.is_within(d.call))
    }

    /// The task must end; false when it must already.
    pub(super) fn stop(&self, raise: Box<Raise>) -> bool {
        let mut state = self.state.borrow_mut();
        if state.stop.is_some() {
            return false;
        }
        state.stop = Some(Event { raise, at: self.bump(), over: false });
        true
    }

    /// The grace of a cancellation is over.
    pub(super) fn stop_now(&self) {
        if let Some(stop) = &mut self.state.borrow_mut().stop {
            stop.over = true;
            self.bump();
        }
    }

    /// The task is told of an error where it is: nothing can wake it, or the run's time is up.
    pub(super) fn tell(&self, raise: Box<Raise>) {
        self.state.borrow_mut().told = Some(raise);
        self.bump();
    }

    /// Why it must end before its fiber has begun.
    pub(super) fn stopped_by(&self) -> Option<Box<Raise>> {
        self.state.borrow().stop.as_ref().map(|s| s.raise.clone())
    }

    /// The numbers of the open deadlines that stand around the call at hand, the outermost first.
    pub(super) fn deadlines(&self, nesting: &Nesting) -> Vec<u64> {
        self.state.borrow().deadlines.iter().filter(|d| nesting.is_within(d.call)).map(|d| d.id).collect()
    }

    /// Opens a deadline in a call; its number.
    pub(super) fn open_deadline(&self, message: String, call: u64) -> u64 {
        let state = &mut *self.state.borrow_mut();
        state.next += 1;
        state.deadlines.push(OpenDeadline { id: state.next, call, message, passed: None, over: false, timer: None });
        state.next
    }

    /// Notes the timer of a deadline and gives the one it had.
    pub(super) fn set_timer(&self, id: u64, timer: FutureKey) -> Option<FutureKey> {
        let mut state = self.state.borrow_mut();
        state.deadlines.iter_mut().find(|d| d.id == id)?.timer.replace(timer)
    }

    /// Closes a deadline; its timer.
    pub(super) fn close_deadline(&self, id: u64) -> Option<FutureKey> {
        let mut state = self.state.borrow_mut();
        let at = state.deadlines.iter().position(|d| d.id == id)?;
        state.deadlines.remove(at).timer
    }

    /// A deadline passed, or the grace after it; what it says.
    pub(super) fn pass(&self, id: u64) -> Option<String> {
        let mut state = self.state.borrow_mut();
        let deadline = state.deadlines.iter_mut().find(|d| d.id == id)?;
        if deadline.passed.is_some() {
            deadline.over = true;
            self.bump();
            return None;
        }
        deadline.passed = Some(self.bump());
        Some(deadline.message.clone())
    }
}

/// An interruption after the grace: what still has to run runs up to its first wait. What swallows it again and again is
/// given up without running any more of it.
fn press(mut raise: Box<Raise>, noticed: &mut Noticed) -> Box<Raise> {
    noticed.pressed = noticed.pressed.saturating_add(1);
    if noticed.pressed > PATIENCE {
        raise.why = Why::Abandoned;
    }
    raise
}

//! One line of work.

use super::Waiters;
use super::group::Group;
use super::signals::{Noticed, Signals};
use super::waiting::Noted;
use crate::source::{SourceRef, Span};
use crate::value::release;
use crate::vm::nesting::Nesting;
use crate::vm::{Outcome, Raise, Why};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::task::Waker;

/// One line of work: the main one of a run, or one that `spawn` or `parallel` started. All fibers that wait for one another
/// (a hook in a loop in a function) are in the same task.
#[derive(Default)]
pub struct Task {
    /// Source position at which it was started; `None` for the main task.
    pub(super) origin: Option<(SourceRef, Span)>,
    pub(super) signals: Signals,
    /// Wakers of its waiting fibers, for signals.
    watchers: RefCell<Vec<Waker>>,
    /// Waits of its fibers, the innermost last.
    pub(super) waits: RefCell<Vec<Noted>>,
    /// Tasks it started, each with the deadlines it was under then.
    pub(super) children: RefCell<Vec<(Weak<Task>, Vec<u64>)>>,
    /// Result.
    outcome: RefCell<Option<Outcome>>,
    /// Tasks that wait for its end.
    pub(crate) waiters: Waiters,
    /// The `parallel` that it is an item of, and which.
    pub(super) group: RefCell<Option<(Weak<Group>, usize)>>,
    /// Somebody saw what it came to.
    seen: Cell<bool>,
}

impl Task {
    pub(super) fn new(origin: Option<(SourceRef, Span)>) -> Rc<Self> {
        let mut task = Self::default();
        task.origin = origin;
        Rc::new(task)
    }

    /// Whether it is over.
    pub(crate) fn is_done(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    /// Whether somebody gave it up.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.signals.is_stopped()
    }

    /// Whether it is being interrupted: it was given up, or a deadline that is still open has passed.
    pub(in crate::vm) fn is_ending(&self, nesting: &Nesting) -> bool {
        self.signals.is_ending(nesting)
    }

    /// Whether `exit` or a limit of the run, somewhere else, ends it.
    pub(super) fn is_exiting(&self) -> bool {
        self.signals.stopped_by().is_some_and(|raise| matches!(raise.why, Why::Exit(_) | Why::Exhausted))
    }

    /// Takes its result, `None` while it runs. The result then counts as seen.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let outcome = self.outcome.borrow();
        let outcome = outcome.as_ref()?;
        self.seen.set(true);
        Some(outcome.clone())
    }

    /// The error that nobody saw.
    pub(in crate::vm) fn unseen_error(&self) -> Option<Box<Raise>> {
        if self.seen.get() {
            return None;
        }
        let mut raise = self.outcome.borrow().as_ref()?.as_ref().err().cloned()?;
        Some(raise.clean_up.take().unwrap_or(raise))
    }

    pub(super) fn end(&self, outcome: Outcome) {
        *self.outcome.borrow_mut() = Some(outcome);
        self.watchers.borrow_mut().clear();
        self.waiters.wake_all();
    }

    /// For a fiber that begins now.
    pub(in crate::vm) fn noticed(&self) -> Noticed {
        self.signals.noticed()
    }

    /// Returns the interruption for a fiber, given what it has noticed so far.
    pub(in crate::vm) fn interrupt(&self, noticed: &mut Noticed, nesting: &Nesting) -> Option<Box<Raise>> {
        self.signals.interrupt(noticed, nesting)
    }

    /// Whether a fiber that has noticed so much is interrupted.
    pub(in crate::vm) fn interrupts(&self, noticed: Noticed, nesting: &Nesting) -> bool {
        self.signals.interrupts(noticed, nesting)
    }

    /// Raises something in it, wherever it waits; `ends` it where nothing may take that.
    pub(in crate::vm) fn interrupt_with(&self, raise: Box<Raise>, ends: bool) {
        if ends {
            self.signals.stop(raise);
        } else {
            self.signals.tell(raise);
        }
        self.wake();
    }

    /// Wakes with the task's signals.
    pub(super) fn watch(&self, waker: &Waker) {
        let mut watchers = self.watchers.borrow_mut();
        if !watchers.iter().any(|known| known.will_wake(waker)) {
            watchers.push(waker.clone());
        }
    }

    pub(super) fn wake(&self) {
        let watchers = std::mem::take(&mut *self.watchers.borrow_mut());
        watchers.into_iter().for_each(Waker::wake);
    }

    /// Notes a task that it started.
    pub(super) fn adopt(&self, child: &Rc<Task>, nesting: &Nesting) {
        let mut children = self.children.borrow_mut();
        if children.len() == children.capacity() {
            children.retain(|(child, _)| child.upgrade().is_some_and(|c| !c.is_done()));
        }
        children.push((Rc::downgrade(child), self.signals.deadlines(nesting)));
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // A task may have given the handle of another, and so on: no depth of that may overflow the native stack.
        if let Some(Ok(value)) = self.outcome.get_mut().take() {
            release(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn a_long_chain_of_results_is_dropped_without_a_deep_stack() {
        let chain = (0..200_000).fold(Value::Nil, |inner, _| {
            let task = Task::new(None);
            task.end(Ok(inner));
            crate::builtins::task_value(task)
        });
        drop(chain);
    }
}

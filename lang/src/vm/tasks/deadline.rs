//! Deadlines: a timer that raises a signal of the task, and closes itself.

use super::Task;
use crate::vm::tasks::signals::GRACE_MS;
use crate::vm::tasks::spawn::stop_all;
use crate::vm::{Isolate, Raise};
use std::rc::{Rc, Weak};

/// An open deadline. Dropping it closes it.
pub struct Deadline {
    isolate: Weak<Isolate>,
    task: Rc<Task>,
    number: u64,
}

impl Deadline {
    /// The task must be done with what it does in so many milliseconds; `message` says what passed when it is not.
    #[must_use]
    pub fn open(isolate: &Rc<Isolate>, task: &Rc<Task>, ms: u64, message: String) -> Self {
        let number = task.signals.open_deadline(message, isolate.nesting().call());
        arm(isolate, task, number, ms);
        Self { isolate: Rc::downgrade(isolate), task: task.clone(), number }
    }

    /// Its number: the raise that it causes bears it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let (Some(timer), Some(isolate)) = (self.task.signals.close_deadline(self.number), self.isolate.upgrade()) {
            isolate.tasks().remove(timer);
        }
    }
}

/// Passes the deadline when its time has come.
fn arm(isolate: &Rc<Isolate>, task: &Rc<Task>, number: u64, ms: u64) {
    let alarm = isolate.host().alarm(isolate.host().now_ms().saturating_add(ms));
    let (run, of) = (Rc::downgrade(isolate), Rc::downgrade(task));
    let timer = isolate.tasks().add(
        Box::pin(async move {
            alarm.await;
            if let (Some(isolate), Some(task)) = (run.upgrade(), of.upgrade()) {
                pass(&isolate, &task, number);
            }
        }),
        None,
    );
    if let Some(old) = task.signals.set_timer(number, timer) {
        isolate.tasks().remove(old);
    }
}

/// The fibers of the task are interrupted, and the tasks that were started inside the block are cancelled.
fn pass(isolate: &Rc<Isolate>, task: &Rc<Task>, number: u64) {
    let message = task.signals.pass(number);
    task.wake();
    let Some(message) = message else { return };
    let children = task.children.borrow();
    let inside = children.iter().filter(|(_, under)| under.contains(&number)).filter_map(|(child, _)| child.upgrade());
    let inside: Vec<_> = inside.collect();
    drop(children);
    stop_all(isolate, inside, &Raise::cancelled(message));
    // The unwinding may wait so long.
    arm(isolate, task, number, GRACE_MS);
}

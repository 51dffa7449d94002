//! A run that is told from outside to stop, and one that a function called by the runtime ends.

use super::Task;
use crate::vm::{Isolate, Raise};
use std::rc::Rc;

/// Cancels the main task, and with it all that it started: they clean up within the grace. `at` is who noticed, which is
/// the main task where no other has begun.
pub fn interrupt(isolate: &Rc<Isolate>, at: &Rc<Task>, reason: &str) {
    let main = isolate.tasks().root.borrow().clone();
    main.as_ref().unwrap_or(at).cancel(isolate, reason);
}

/// The grace is over for everybody who was cancelled, whatever the run's own clock says.
pub fn end_grace(isolate: &Rc<Isolate>, main: &Rc<Task>) {
    for task in isolate.tasks().all().iter().chain([main]) {
        task.signals.stop_now();
        task.wake();
    }
}

/// Ends the run as `raise` says, wherever it was raised: `exit` in a tool of a worker ends more than the worker.
pub fn end_run(isolate: &Isolate, raise: &Raise) {
    let main = isolate.tasks().root.borrow().clone();
    if let Some(main) = main
        && main.signals.stop(Box::new(raise.clone()))
    {
        main.wake();
    }
}

/// Begins another main task, because the one before it was interrupted.
pub fn begin_anew(isolate: &Isolate, main: &Rc<Task>) {
    isolate.tasks().take_over(main);
}

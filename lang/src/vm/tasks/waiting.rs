//! Waits of a fiber, and their interruption.

use super::Task;
use crate::source::{SourceRef, Span};
use crate::vm::wait::WaitState;
use crate::vm::{Fiber, Isolate, Local, On, Outcome, Wait};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Time that work may continue after it was told to end, once the grace period of its waiter is over.
const FAREWELL_MS: u64 = 500;

/// Wait of a fiber and its source position, for the message about a deadlock.
#[derive(Debug)]
pub(in crate::vm) struct Noted {
    id: u64,
    pub(super) on: On,
    pub(super) place: Option<(SourceRef, Span)>,
}

impl Isolate {
    /// Returns the source position at which the current task waits, for code that finds an error in the meantime.
    #[must_use]
    pub fn waiting_place(&self) -> Option<(SourceRef, Span)> {
        let task = self.tasks().current()?;
        let waits = task.waits.borrow();
        waits.last()?.place.clone()
    }
}

/// Waits for what a builtin asked for. What is interrupted is dropped; work that must not be dropped half way is told to end
/// and given the grace, and what it comes to no longer counts.
pub(in crate::vm) async fn wait_for(fiber: &mut Fiber, wait: Wait) -> Outcome {
    let Wait { state, on, mut stop, takes } = wait;
    let mut future = match state {
        WaitState::Now(outcome) => return outcome,
        WaitState::Later(future) => future,
    };
    // The fiber inside sees the signals, and cleans up behind itself.
    if let On::Script = on {
        return future.await;
    }
    let task = fiber.context().task.clone();
    let _note = Note::new(fiber, &task, on);
    let mut interrupted = None;
    let mut farewell: Option<Local<()>> = None;
    poll_fn(|cx| {
        let mut signal = if takes || stop.is_some() { fiber.interrupt() } else { None };
        loop {
            // What is done at the moment of the signal is done: a value that was taken was sent.
            if signal.is_none()
                && let Poll::Ready(outcome) = future.as_mut().poll(cx)
            {
                // But `exit` somewhere in it has ended the run.
                let ends = if interrupted.is_none() && task.is_exiting() { fiber.interrupt() } else { None };
                return Poll::Ready(interrupted.take().or(ends).map_or(outcome, Err));
            }
            let Some(raise) = signal.take().or_else(|| fiber.interrupt()) else {
                watch(fiber, &task, cx.waker());
                return Poll::Pending;
            };
            if let Some(stop) = stop.take() {
                stop(&raise.message);
                interrupted = Some(raise);
                continue;
            }
            if interrupted.is_none() {
                return Poll::Ready(Err(raise));
            }
            // The grace is over for what the work waits for in its turn. It has a moment to come to its own end.
            let Some(over) = &mut farewell else {
                let host = fiber.isolate.host();
                farewell = Some(host.alarm(host.now_ms().saturating_add(FAREWELL_MS)));
                continue;
            };
            if over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(interrupted.take().unwrap_or(raise)));
            }
            watch(fiber, &task, cx.waker());
            return Poll::Pending;
        }
    })
    .await
}

/// Wakes with whatever may interrupt the fiber.
fn watch(fiber: &Fiber, task: &Task, waker: &Waker) {
    task.watch(waker);
    if let Some(halt) = &fiber.context().halt {
        halt.watch(waker);
    }
}

/// Takes the note off when the wait is over, however it ends.
struct Note {
    isolate: Rc<Isolate>,
    task: Rc<Task>,
    id: u64,
}

impl Note {
    fn new(fiber: &Fiber, task: &Rc<Task>, on: On) -> Self {
        let isolate = fiber.isolate.clone();
        let id = isolate.tasks().number();
        if let On::Outside = on {
            isolate.tasks().waits_outside(true);
        }
        task.waits.borrow_mut().push(Noted { id, on, place: fiber.place() });
        Self { isolate, task: task.clone(), id }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let mut waits = self.task.waits.borrow_mut();
        let Some(at) = waits.iter().rposition(|noted| noted.id == self.id) else { return };
        if let On::Outside = waits.remove(at).on {
            self.isolate.tasks().waits_outside(false);
        }
    }
}

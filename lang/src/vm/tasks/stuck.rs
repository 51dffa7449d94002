//! When nothing can go on by itself: time is moved, or it is a deadlock and somebody is told.

use super::set::Tasks;
use super::waiting::Noted;
use crate::source::{SourceRef, Span};
use crate::vm::{Idle, Isolate, On, Raise, RunCode};
use std::rc::Rc;

/// Tasks that the message names.
const NAMED: usize = 5;

/// Nothing is woken. Whether something is now.
pub(super) fn idle(tasks: &Tasks, isolate: &Rc<Isolate>, outside: bool) -> bool {
    match isolate.host().idle(outside) {
        Idle::Moved => true,
        Idle::Later => false,
        Idle::Never => !outside && deadlock(tasks),
    }
}

fn deadlock(tasks: &Tasks) -> bool {
    let Some(root) = tasks.root.borrow().clone() else { return false };
    if !root.waits.borrow().is_empty() {
        root.signals.tell(describe(tasks, root.waits.borrow().last()));
        root.wake();
        return true;
    }
    // The run is over, and what is left to clean up waits for what will never come.
    let left = tasks.all();
    if left.is_empty() {
        return false;
    }
    for task in &left {
        task.signals.stop_now();
        task.wake();
    }
    true
}

fn describe(tasks: &Tasks, main: Option<&Noted>) -> Box<Raise> {
    let mut raise =
        Raise::error(RunCode::Deadlock, "deadlock: all tasks are waiting, and nothing can wake any of them");
    if let Some(main) = main {
        raise = raise.labelled(format!("waits {}", main.on));
    }
    let others = tasks.all();
    for task in others.iter().take(NAMED) {
        let waits = task.waits.borrow();
        let (Some(noted), Some(origin)) = (waits.last(), &task.origin) else { continue };
        let at = noted.place.as_ref().map(|place| format!(" at {}", shown(place))).unwrap_or_default();
        raise = raise.note(format!("the task started at {} waits{at} {}", shown(origin), noted.on));
    }
    if others.len() > NAMED {
        raise = raise.note(format!("{} more tasks wait", others.len() - NAMED));
    }
    raise.help("close each channel after the last value is sent, or limit the wait: `deadline 30s { … }`")
}

fn shown((source, span): &(SourceRef, Span)) -> String {
    let at = source.position(span.start);
    format!("{}:{}:{}", source.name(), at.line, at.column)
}

impl std::fmt::Display for On {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside => f.write_str("for an external operation"),
            Self::Clock => f.write_str("for the clock"),
            Self::Script => f.write_str("for a function"),
            Self::Task(what, None) => f.write_str(what),
            Self::Task(what, Some(name)) => write!(f, "{what} `{name}`"),
        }
    }
}

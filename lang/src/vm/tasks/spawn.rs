//! Start and end of a task, and cancellation of several.

use super::cross::{Crossing, cross};
use super::group::Group;
use super::signals::GRACE_MS;
use super::{Globals, Task, wait_for};
use crate::diagnostic::TraceFrame;
use crate::source::{SourceRef, Span};
use crate::value::Value;
use crate::vm::unwind::KEPT_FRAMES;
use crate::vm::{Context, Cx, Fiber, Isolate, Outcome, Raise, RunCode, Wait, Why, drive};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// Starts a task that calls `function`; it runs when its turn comes.
///
/// # Errors
/// When there are too many already, or what it takes along cannot be copied.
pub(crate) fn spawn(
    cx: &Cx<'_>,
    function: &Value,
    args: &[Value],
    group: Option<(Weak<Group>, usize)>,
) -> Result<Rc<Task>, Box<Raise>> {
    let (isolate, parent) = (cx.isolate, cx.context);
    check_room(isolate)?;
    let task = Task::new(origin(function));
    let mut crossing = Crossing::new(isolate);
    let function = crossing.value(function)?;
    let args = args.iter().map(|arg| crossing.value(arg)).collect::<Result<Vec<_>, _>>()?;
    let globals = Globals::copy(isolate, parent.globals.as_ref(), &mut crossing)?;
    let path = match &group {
        // The group was counted as a whole.
        Some((_, index)) => parent.path.item(*index),
        None => parent.path.child("task"),
    };
    let context = Context { task: task.clone(), globals: Some(globals), path, ..(**parent).clone() };
    let fiber = Fiber::new(isolate, &Rc::new(context), function, args)?;
    *task.group.borrow_mut() = group;
    parent.task.adopt(&task, isolate.nesting());
    isolate.tasks().add(Box::pin(work(isolate.clone(), task.clone(), fiber)), Some(task.clone()));
    Ok(task)
}

/// Starts a task of the crate above, which calls no function of the script by itself. When the task is cancelled, `work` is
/// told as any wait is.
///
/// # Errors
/// When there are too many already.
pub fn spawn_work(cx: &Cx<'_>, work: Wait) -> Result<Rc<Task>, Box<Raise>> {
    let (isolate, parent) = (cx.isolate.clone(), cx.context);
    check_room(&isolate)?;
    let task = Task::new(None);
    let context = Context { task: task.clone(), ..(**parent).clone() };
    let mut fiber = Fiber::idle(&isolate, &Rc::new(context));
    parent.task.adopt(&task, isolate.nesting());
    let (run, own) = (isolate.clone(), task.clone());
    let job = async move {
        // Also where it was cancelled before it began: who waits for it is to hear of its end.
        let outcome = wait_for(&mut fiber, work).await;
        end(&run, &own, outcome);
    };
    isolate.tasks().add(Box::pin(job), Some(task.clone()));
    Ok(task)
}

fn check_room(isolate: &Isolate) -> Result<(), Box<Raise>> {
    let limit = isolate.limits().tasks;
    if isolate.tasks().live() < limit {
        return Ok(());
    }
    Err(Raise::error(RunCode::Tasks, format!("limit of {limit} running tasks reached"))
        .help("run fewer at the same time: `parallel each xs with {max_concurrent: 100} { x -> … }`"))
}

/// Returns the source position of a closure.
fn origin(function: &Value) -> Option<(SourceRef, Span)> {
    match function {
        Value::Closure(closure) => Some((closure.proto.source.clone()?, closure.proto.span)),
        Value::Host(host) => host.object().callable()?.place(),
        _ => None,
    }
}

async fn work(isolate: Rc<Isolate>, task: Rc<Task>, fiber: Fiber) {
    let outcome = match task.signals.stopped_by() {
        // Nothing of it has run: there is nothing to clean up.
        Some(raise) => {
            drop(fiber);
            Err(raise)
        }
        None => drive(fiber).await,
    };
    end(&isolate, &task, outcome);
}

fn end(isolate: &Rc<Isolate>, task: &Rc<Task>, outcome: Outcome) {
    let outcome = outcome.map_err(|mut raise| {
        raise.told = None;
        if matches!(raise.why, Why::Abandoned | Why::Deadline(_)) {
            raise.why = Why::Cancelled;
        }
        // Also where functions have filled the trace it says that there was a task, but not each of tasks in tasks.
        if raise.trace.len() < KEPT_FRAMES || !raise.trace.last().is_some_and(|f| f.function.is_empty()) {
            raise.trace.push(TraceFrame::new("", task.origin.clone()));
        }
        raise
    });
    let ends_run = outcome.as_ref().err().filter(|raise| matches!(raise.why, Why::Exit(_) | Why::Exhausted)).cloned();
    let failed =
        matches!(&outcome, Err(raise) if matches!(raise.why, Why::Thrown | Why::Error) || raise.clean_up.is_some());
    task.end(outcome);
    let group = task.group.borrow_mut().take().and_then(|(group, index)| Some((group.upgrade()?, index)));
    // Whoever gave up a `parallel` does not ask what its items came to: what one throws while it cleans up would be lost.
    let alone = group.as_ref().is_none_or(|(group, _)| group.is_given_up());
    isolate.tasks().ended((failed && alone).then(|| task.clone()));
    if let Some((group, index)) = group {
        group.item_done(index, task);
    }
    if let Some(raise) = ends_run
        && let Some(root) = &*isolate.tasks().root.borrow()
        && root.signals.stop(raise)
    {
        root.wake();
    }
}

/// Cancels tasks and those that they started. All get the grace to clean up.
pub(super) fn stop_all(isolate: &Rc<Isolate>, tasks: Vec<Rc<Task>>, raise: &Raise) {
    let mut open = VecDeque::from(tasks);
    let mut stopped = Vec::new();
    while let Some(task) = open.pop_front() {
        if task.is_done() || !task.signals.stop(Box::new(raise.clone())) {
            continue;
        }
        task.wake();
        open.extend(task.children.borrow().iter().filter_map(|(child, _)| child.upgrade()));
        stopped.push(Rc::downgrade(&task));
    }
    if stopped.is_empty() {
        return;
    }
    let host = isolate.host();
    let alarm = host.alarm(host.now_ms().saturating_add(GRACE_MS));
    isolate.tasks().add(
        Box::pin(async move {
            alarm.await;
            for task in stopped.iter().filter_map(Weak::upgrade).filter(|task| !task.is_done()) {
                task.signals.stop_now();
                task.wake();
            }
        }),
        None,
    );
}

/// The error of those who await a task that was cancelled.
fn given_up(raise: &Raise) -> Box<Raise> {
    let mut error = Raise::error(RunCode::TaskCancelled, format!("the task was cancelled: {}", raise.message))
        .labelled("it has no result");
    error.notes.clone_from(&raise.notes);
    match raise.labels.first() {
        Some(at) => error.also(&at.source, at.span, "cancelled while it was here"),
        None => error,
    }
}

impl Task {
    /// Gives the task up: it cleans up and ends. False when it was over, or given up, already.
    pub fn cancel(self: &Rc<Self>, isolate: &Rc<Isolate>, reason: &str) -> bool {
        let running = !self.is_done() && !self.is_cancelled();
        stop_all(isolate, vec![self.clone()], &Raise::cancelled(reason));
        running
    }

    /// Returns its result for a task that awaits it, `None` while it runs.
    pub(crate) fn result(&self, isolate: &Isolate) -> Option<Outcome> {
        Some(match self.outcome()? {
            Ok(value) => cross(isolate, &value),
            Err(raise) if raise.why == Why::Cancelled => Err(given_up(&raise)),
            Err(raise) => Err(raise),
        })
    }
}

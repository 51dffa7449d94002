//! Tasks: awaiting and cancelling them.

use super::args;
use crate::value::{HostBox, HostObject, Value};
use crate::vm::tasks::Task;
use crate::vm::{Cx, On, Raise, RunCode, TASK, Wait};
use std::any::Any;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

crate::builtins! { "" =>
    /// Waits until a task is over and gives its result. An error of the task is raised here, each time it is awaited.
    waits "await(task: task<T>) -> T" await_task;
    /// Gives a task up: its `defer` and `finally` blocks run, then it is over. Whether it was still running.
    plain "cancel(task: task, reason: string = \"no reason given\") -> bool" cancel;
    /// Whether a task was given up; without an argument, this one.
    plain "is_cancelled(task: task = nil) -> bool" is_cancelled;
}

/// A handle.
struct TaskHandle(Rc<Task>);

impl HostObject for TaskHandle {
    fn type_name(&self) -> &'static str {
        TASK
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A task as a value.
pub(crate) fn task_value(task: Rc<Task>) -> Value {
    HostBox::value(TaskHandle(task))
}

fn task_of(args: &[Value], i: usize) -> Result<&Rc<Task>, Box<Raise>> {
    match args.get(i).and_then(Value::as_host::<TaskHandle>) {
        Some(handle) => Ok(&handle.0),
        None => Err(args::mismatch(args, i, "a task").help("start one with `spawn { … }`")),
    }
}

fn await_task(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let task = task_of(args, 0)?.clone();
    if let Some(outcome) = task.result(cx.isolate) {
        return Ok(Wait::ready(outcome));
    }
    if Rc::ptr_eq(&task, &cx.context.task) {
        return Err(Raise::error(RunCode::Deadlock, "a task cannot await itself").about(0, "this is the current task"));
    }
    let isolate = cx.isolate.clone();
    let place = TaskAwaiter { ticket: task.waiters.ticket(), task };
    Ok(Wait::new(poll_fn(move |cx| match place.task.result(&isolate) {
        Some(outcome) => Poll::Ready(outcome),
        None => {
            place.task.waiters.join(place.ticket, cx.waker());
            Poll::Pending
        }
    }))
    .on(On::Task("for a task to end", None)))
}

/// A place among those who await a task.
struct TaskAwaiter {
    task: Rc<Task>,
    ticket: u64,
}

impl Drop for TaskAwaiter {
    fn drop(&mut self) {
        self.task.waiters.leave(self.ticket);
    }
}

fn cancel(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let reason = args::opt_str(args, 1)?.map_or("no reason given", |s| s.as_str());
    Ok(Value::Bool(task_of(args, 0)?.cancel(cx.isolate, reason)))
}

fn is_cancelled(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let task = if args[0].is_nil() { &cx.context.task } else { task_of(args, 0)? };
    Ok(Value::Bool(task.is_cancelled()))
}

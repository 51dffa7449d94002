//! Builtins to which the compiler translates `spawn`, `parallel`, `deadline`, `mutex` and `select`. Scripts cannot name them.

use super::task::task_value;
use super::{args, items};
use crate::value::{HostBox, HostObject, Value};
use crate::vm::tasks::{Deadline, ItemWork, Lock, ParallelItems, parallel};
use crate::vm::{Cx, Raise, RunCode, Wait, Why, held, held_why};
use std::any::Any;
use std::rc::Rc;

crate::builtins! { "<control>" =>
    /// `spawn { … }`
    plain "task_start(body: any) -> any" task_start;
    /// `parallel n { i -> … }`
    waits "parallel_count(count: any, options: any, body: any) -> any" parallel_count;
    /// `parallel each xs { x -> … }`
    waits "parallel_each(items: any, options: any, body: any) -> any" parallel_each;
    /// `parallel settle xs { x -> … }`
    waits "parallel_settle(items: any, options: any, body: any) -> any" parallel_settle;
    /// The beginning of a `deadline` block: its number.
    plain "deadline_open(limit: any) -> any" deadline_open;
    /// The end of a `deadline` block: an error, when it was left because its time was over.
    plain "deadline_close(number: any, way: any, raised: any) -> any" deadline_close;
    /// The beginning of a `mutex` block.
    waits "mutex_enter(lock: any) -> any" mutex_enter;
    /// The end of a `mutex` block.
    plain "mutex_leave(lock: any) -> any" mutex_leave;
}

fn task_start(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    crate::vm::tasks::spawn(cx, &args[0], &[], None).map(task_value)
}

fn parallel_count(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let count = args::count(args, 0)?;
    start(cx, args, ParallelItems::Count(count), false)
}

fn parallel_each(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let items = items_of(cx, args)?;
    start(cx, args, items, false)
}

fn parallel_settle(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let items =
        if let Value::Int(_) = args[0] { ParallelItems::Count(args::count(args, 0)?) } else { items_of(cx, args)? };
    start(cx, args, items, true)
}

fn items_of(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<ParallelItems, Box<Raise>> {
    if let Value::Dict(_) = &args[0] {
        args[0] = super::dict::entries(cx, &mut args[..1])?;
    }
    match items::len(&args[0]) {
        Some(len) => Ok(ParallelItems::Of(args[0].clone(), len)),
        None => Err(args::mismatch(args, 0, "a list, set, range or dict")),
    }
}

fn start(cx: &Cx<'_>, args: &[Value], items: ParallelItems, settle: bool) -> Result<Wait, Box<Raise>> {
    // Each result needs a place from the beginning.
    cx.check_size(items.len().checked_mul(32)).map_err(|raise| raise.about(0, "too many items"))?;
    let at_once = at_once(args)?;
    Ok(parallel(cx, ItemWork { items, function: args[2].clone(), at_once, settle }))
}

/// `max_concurrent` of the options.
fn at_once(args: &[Value]) -> Result<Option<usize>, Box<Raise>> {
    let Some(options) = args::opt_dict(args, 1)? else { return Ok(None) };
    if let Some((key, _)) = options.iter().find(|(key, _)| key.as_str() != "max_concurrent") {
        let raise = Raise::error(RunCode::Value, format!("unknown option `{key}` of `parallel`"));
        return Err(raise.about(1, "unknown option").help("the only option is `max_concurrent`"));
    }
    match options.get_str("max_concurrent") {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Int(n)) if *n > 0 => Ok(usize::try_from(*n).ok()),
        Some(other) => Err(Raise::error(
            RunCode::Value,
            format!("`max_concurrent` must be an int of at least 1, found {}", items::shown(other)),
        )
        .about(1, "")),
    }
}

fn deadline_open(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let ms = args::duration(args, 0)?;
    let message = format!("deadline of {} exceeded", args::duration_text(ms));
    let deadline = Deadline::open(cx.isolate, &cx.context.task, ms, message);
    let number = deadline.number();
    cx.context.open.deadline(deadline);
    Ok(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn deadline_close(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let number = args[0].as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    drop(cx.context.open.close_deadline(number));
    // The block was left by a raise: its own becomes an error here, any other goes on.
    if args[1].as_int() != Some(-1) || held_why(&args[2]) != Some(Why::Deadline(number)) {
        return Ok(Value::Nil);
    }
    held(&args[2]).map_or(Ok(Value::Nil), |raise| Err(passed(&raise)))
}

/// The error at the block, with the place where it was interrupted.
fn passed(raise: &Raise) -> Box<Raise> {
    let mut error = Raise::error(RunCode::Deadline, raise.message.clone()).labelled("did not finish in time");
    error.notes.clone_from(&raise.notes);
    match raise.labels.first() {
        Some(at) => error.also(&at.source, at.span, "this was running at the deadline"),
        None => error,
    }
}

/// The lock of a `mutex` block: a constant of the program, so there is one for each block and run.
struct LockValue(Rc<Lock>);

impl HostObject for LockValue {
    fn type_name(&self) -> &'static str {
        "mutex"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A lock for the compiler to put among the constants.
pub(crate) fn lock_value() -> Value {
    HostBox::value(LockValue(Rc::default()))
}

fn mutex_enter(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let Some(lock) = args[0].as_host::<LockValue>() else { return Err(args::mismatch(args, 0, "a mutex")) };
    let open = cx.context.clone();
    Ok(lock.0.enter(&cx.context.task, move |lock| open.open.mutex(lock)))
}

fn mutex_leave(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Some(lock) = args[0].as_host::<LockValue>() {
        cx.context.open.close_mutex(&lock.0);
    }
    Ok(Value::Nil)
}

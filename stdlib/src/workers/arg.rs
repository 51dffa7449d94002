//! Workers in arguments.

use crate::failed_loop::as_dict;
use crate::fault::of_worker;
use crate::here;
use crate::world::World;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use runtime::workers::{Worker, WorkerError};
use std::rc::Rc;

/// Returns the id in a handle, in a result of `sub_agent_run`, or in a text.
pub(crate) fn id_of(value: &Value) -> Option<&str> {
    match value {
        Value::Str(id) => Some(id.as_str()),
        handle => {
            let handle = as_dict(handle)?;
            handle.get_str("worker_id").or_else(|| handle.get_str("id")).and_then(Value::as_str)
        }
    }
}

/// The worker in an argument.
pub(crate) fn worker_arg(args: &[Value], i: usize, world: &World) -> Result<Rc<Worker>, Box<Raise>> {
    worker_of(args, i, &args[i], world)
}

/// Returns the worker that a value names; the value is an argument or part of one.
pub(crate) fn worker_of(args: &[Value], i: usize, value: &Value, world: &World) -> Result<Rc<Worker>, Box<Raise>> {
    let id = id_of(value).ok_or_else(|| args::mismatch(args, i, "a worker handle or id"))?;
    world.agents.workers.get(id).map_err(|error| of_worker(&error).about(i, "unknown worker"))
}

/// Whether the call comes from a worker's own hooks and tools, or from below it: it must not wait for it.
pub(crate) fn is_inside(cx: &Cx<'_>, world: &World, worker: &Worker) -> bool {
    here::session(cx).is_some_and(|session| world.agents.sessions.is_at_or_above(worker.session.id(), &session))
}

/// Refuses what would wait for itself.
pub(crate) fn not_inside(cx: &Cx<'_>, world: &World, worker: &Worker, arg: usize) -> Result<(), Box<Raise>> {
    if is_inside(cx, world, worker) {
        return Err(of_worker(&WorkerError::Itself(worker.name.clone())).about(arg, "the current worker"));
    }
    Ok(())
}

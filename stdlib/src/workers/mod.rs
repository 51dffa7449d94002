//! Sub-agents and workers as scripts describe and see them.
//!
//! - `make`: a worker of what a script describes. `arg`: workers in arguments. `handle`: workers as values.
//! - `crew`: running them as tasks of the run.
//! - `restore`: workers that another process has suspended.
//! - `tools`: what a model is offered to pause and resume them.

mod arg;
mod crew;
mod handle;
mod make;
mod restore;
mod tools;

pub(crate) use arg::{is_inside, not_inside, worker_arg, worker_of};
pub(crate) use crew::{Abandoned, WorkerContext, one_cycle, thrown_by_observer, unseen};
pub(crate) use handle::{awaited, envelope, handle};
pub(crate) use make::{Making, handed, make, resumed_scope, task_of};
pub(crate) use restore::restore;
pub(crate) use tools::{PauseTool, ReachableWorkers, ResumeTool};

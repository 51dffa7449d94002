//! Tasks: fibers that run beside one another in one thread.
//!
//! - [`Task`]: one line of work: where it was started, what it came to, who waits for it.
//! - `signals`: what interrupts it: cancellation, deadlines, a deadlock. Fibers look at one number on backward jumps and
//!   calls; a waiting fiber is woken.
//! - `waiting`: how a fiber waits and is interrupted while it does.
//! - `set`: the tasks of a run; polls those that were woken, beside the main fiber. `stuck`: when nobody can be.
//! - `interrupt`: a run that is told from outside to stop.
//! - `spawn`: how a task begins and ends. `group`: `parallel`.
//! - `deadline`, `lock`: what stands behind `deadline` and `mutex` blocks.
//! - `cross`: the one place where values are copied for another task. [`Globals`]: a task's own variables of the file.
//! - [`OpenBlocks`]: what a fiber must close behind it, however it ends.
//! - [`Waiters`]: who waits for one thing, in order.

mod cross;
mod deadline;
mod globals;
mod group;
mod interrupt;
mod lock;
mod open;
mod set;
mod signals;
mod spawn;
mod stuck;
mod task;
mod waiters;
mod waiting;

pub(crate) use cross::cross;
pub use deadline::Deadline;
pub(super) use globals::Globals;
pub(crate) use group::{ItemWork, ParallelItems, parallel};
pub use interrupt::{begin_anew, end_grace, end_run, interrupt};
pub(crate) use lock::Lock;
pub(crate) use open::OpenBlocks;
pub(super) use set::FutureKey;
pub(super) use set::Tasks;
pub use set::{close, run, run_beside, run_by};
pub(super) use signals::Noticed;
pub(crate) use spawn::spawn;
pub use spawn::spawn_work;
pub use task::Task;
pub(crate) use waiters::Waiters;
pub(super) use waiting::wait_for;

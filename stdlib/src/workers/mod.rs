//! Sub-agents and workers as scripts describe and see them.

mod handle;
mod make;

pub(crate) use handle::{envelope, handle};
pub(crate) use make::{Making, make, task_of};

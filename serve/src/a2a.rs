//! The Agent2Agent protocol over HTTP: JSON-RPC and server-sent events. Shapes are [`stdlib::a2a`]'s; sessions are [`crate::host`]'s.
//!
//! - [`Desk`]: all tasks of a served script: takes messages, follows what becomes of them.
//! - [`feed`]: what those who follow a task are told of it, with bounds.
//! - [`store`]: tasks that survive the process.
//! - [`Refusal`]: what is refused, and how JSON-RPC says it.

pub mod desk;
mod error;
pub mod feed;
pub mod store;

pub use desk::Desk;
pub use error::Refusal;

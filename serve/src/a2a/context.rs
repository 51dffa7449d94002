//! Contexts: conversations. Each has a host session in which its tasks run one after another.
//!
//! - [`Contexts`]: the known contexts and which of them are busy. A [`Seat`] is a task's use of a session.
//! - [`prompt`]: converts a message to the prompt of a pipeline.

mod prompt;
mod seat;

pub(super) use prompt::{merged, prompt};
pub(super) use seat::{Contexts, Seat};

//! Contexts: conversations, each with a session of the host in which its tasks run one after another.
//!
//! - [`Contexts`]: which there are, and which of them are at work. A [`Seat`] is the place of one task in a session.
//! - [`prompt`]: what a pipeline is told of a message.

mod prompt;
mod seat;

pub(super) use prompt::{merged, prompt};
pub(super) use seat::{Contexts, Seat};

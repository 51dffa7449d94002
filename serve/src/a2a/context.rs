//! Contexts: conversations. Each has a host session in which its tasks run one after another.
//!
//! - [`ContextPool`]: the known contexts and which of them are busy. A [`SessionLease`] is a task's use of a session.
//!   [`ContextSession`]: the session of a context.
//! - [`prompt`]: converts a message to the prompt of a pipeline.

mod pool;
mod prompt;

pub(super) use pool::{ContextPool, SessionLease};
pub(crate) use pool::{ContextSession, session_of_account};
pub(super) use prompt::{injected, merged, prompt};

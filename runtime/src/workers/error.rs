//! Errors of workers.

use std::any::Any;
use std::sync::Arc;

use crate::seam::{Fault, Sort};

use super::WorkerStatus;

/// An error of a worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// No worker has this id.
    #[error("unknown worker id '{0}'")]
    Unknown(Arc<str>),
    /// Its state does not allow it.
    #[error("the worker `{name}` is {status}, so it cannot {what}")]
    State {
        /// The worker.
        name: Arc<str>,
        /// Its state.
        status: WorkerStatus,
        /// The requested action: `be resumed`.
        what: &'static str,
    },
    /// The call comes from the worker itself, or from below it, and would wait for itself.
    #[error("the worker `{0}` would wait for itself")]
    Itself(Arc<str>),
    /// Another worker, or a loop, is at work in the session.
    #[error("the session '{0}' is already in use")]
    Busy(Arc<str>),
    /// The session that it should work in is its parent or an ancestor of its parent.
    #[error("a sub-agent cannot use the session '{0}' of the loop that started it")]
    OwnParent(Arc<str>),
}

impl Fault for WorkerError {
    fn sort(&self) -> Sort {
        Sort::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Errors of workers.

use std::any::Any;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind};

use super::WorkerStatus;

/// An error of a worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The worker id is unknown.
    #[error("unknown worker id '{0}'")]
    Unknown(Arc<str>),
    /// Its state does not allow the action.
    #[error("the worker `{name}` is {status}, so it cannot {what}")]
    State {
        /// The worker.
        name: Arc<str>,
        /// Its state.
        status: WorkerStatus,
        /// The requested action: `be resumed`.
        what: &'static str,
    },
    /// The call comes from the worker itself, or from a descendant, and would wait for itself.
    #[error("the worker `{0}` would wait for itself")]
    Itself(Arc<str>),
    /// Another worker, or a loop, is running in the session.
    #[error("the session '{0}' is already in use")]
    Busy(Arc<str>),
    /// The session that it should work in is its parent or an ancestor of its parent.
    #[error("a sub-agent cannot use the session '{0}' of the loop that started it")]
    OwnParent(Arc<str>),
}

impl CallError for WorkerError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

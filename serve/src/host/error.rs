//! [`HostError`]: what a host refuses.

use std::fmt;
use std::sync::Arc;

use stdlib::{CodeRef, Diagnostic, draw};

use crate::store::StoreError;

/// What a script failed with: a diagnostic for those who have neither its source nor colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code, such as `HARN-NAM-001`.
    pub code: CodeRef,
    /// One sentence, lower case, no full stop.
    pub message: Arc<str>,
    /// All of it with the lines of the source, as a person reads it; without colours.
    pub drawn: Arc<str>,
    /// The script's own words to its caller, where it returned `Err(words)`.
    pub words: Option<Arc<str>>,
}

impl From<&Diagnostic> for Failure {
    fn from(diagnostic: &Diagnostic) -> Failure {
        Failure {
            code: diagnostic.code,
            message: diagnostic.message.as_str().into(),
            drawn: draw(diagnostic, false).into(),
            words: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a host refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// No open session has this id.
    #[error("the session '{0}' is not open")]
    UnknownSession(Arc<str>),
    /// A session with this id is open already.
    #[error("the session '{0}' is already open")]
    Exists(Arc<str>),
    /// It is at work on a prompt.
    #[error("the session '{0}' is processing a prompt; wait until it is done, or cancel it")]
    Busy(Arc<str>),
    /// It asks nothing that could be answered.
    #[error("the session '{0}' does not wait for an answer")]
    NotAsking(Arc<str>),
    /// It was closed meanwhile.
    #[error("the session '{0}' was closed")]
    Closed(Arc<str>),
    /// It broke, by a fault of the runtime: nothing of it can go on. Others are untouched.
    #[error("the session '{id}' failed: {why}; close it and open another")]
    Broken {
        /// The session.
        id: Arc<str>,
        /// What happened.
        why: Arc<str>,
    },
    /// As many are open as may be.
    #[error("too many sessions: {0} are open, which is the limit; close one")]
    Full(usize),
    /// The host takes nothing more.
    #[error("the server is stopping")]
    Stopping,
    /// It is not kept, or cannot be had from where it is.
    #[error(transparent)]
    Store(StoreError),
    /// The script failed at its top level.
    #[error("the script failed before it could accept a prompt: {0}")]
    Failed(Failure),
}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> HostError {
        match error {
            StoreError::Unknown(id) => HostError::UnknownSession(id),
            error => HostError::Store(error),
        }
    }
}

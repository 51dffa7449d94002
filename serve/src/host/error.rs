//! [`HostError`]: a refusal by a host.

use std::fmt;
use std::sync::Arc;

use stdlib::{CodeRef, Diagnostic, draw};

use crate::store::StoreError;

/// A script error for clients that have neither the source nor colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFailure {
    /// The code, such as `HARN-NAM-001`.
    pub code: CodeRef,
    /// The message: one sentence in lower case without a full stop.
    pub message: Arc<str>,
    /// The rendered diagnostic with source lines, without colours.
    pub drawn: Arc<str>,
    /// The script's own message to its caller, if it returned `Err(words)`.
    pub words: Option<Arc<str>>,
}

impl From<&Diagnostic> for ScriptFailure {
    fn from(diagnostic: &Diagnostic) -> ScriptFailure {
        ScriptFailure {
            code: diagnostic.code,
            message: diagnostic.message.as_str().into(),
            drawn: draw(diagnostic, false).into(),
            words: None,
        }
    }
}

impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A refusal by a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// No open session has this id.
    #[error("the session '{0}' is not open")]
    UnknownSession(Arc<str>),
    /// A session with this id is open already.
    #[error("the session '{0}' is already open")]
    Exists(Arc<str>),
    /// The session is busy with a prompt.
    #[error("the session '{0}' is processing a prompt; wait until it is done, or cancel it")]
    Busy(Arc<str>),
    /// The session asks nothing.
    #[error("the session '{0}' does not wait for an answer")]
    NotAsking(Arc<str>),
    /// The session was closed meanwhile.
    #[error("the session '{0}' was closed")]
    Closed(Arc<str>),
    /// The session broke because of an error in the runtime and cannot continue. Other sessions are not affected.
    #[error("the session '{id}' failed: {why}; close it and open another")]
    Broken {
        /// The session.
        id: Arc<str>,
        /// The cause.
        why: Arc<str>,
    },
    /// The maximum number of sessions is open.
    #[error("too many sessions: {0} are open, which is the limit; close one")]
    Full(usize),
    /// The account of the session has its maximum number of sessions open.
    #[error(
        "too many sessions: the account has {0} open, which is its limit; close one, or wait until an idle one is \
        closed"
    )]
    AccountFull(usize),
    /// The host is stopping or draining.
    #[error("the server is stopping")]
    Stopping,
    /// The session is not stored, or cannot be loaded.
    #[error("{}", .0.client_message())]
    Store(StoreError),
    /// The script failed at its top level.
    #[error("the script failed before it could accept a prompt: {0}")]
    Failed(ScriptFailure),
}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> HostError {
        match error {
            StoreError::Unknown(id) => HostError::UnknownSession(id),
            error => HostError::Store(error),
        }
    }
}

//! [`BrokerError`]: the reason a command was not executed.

/// The kind of an error. [`ErrorKind::as_str`] is its code on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The task, agent or copy does not exist.
    NotFound,
    /// The command itself is malformed.
    InvalidArgument,
    /// The state of the task does not allow the command.
    FailedPrecondition,
    /// The id of a message or request was used for another one.
    AlreadyExists,
    /// The lease of the worker has ended: another attempt may be running.
    Aborted,
    /// The caller may not act as this agent or on this task.
    PermissionDenied,
    /// A limit is reached.
    ResourceExhausted,
    /// The events after a cursor were discarded.
    OutOfRange,
    /// The estimate of the worker exceeds the deadline of every task that it could claim.
    DeadlineImpossible,
    /// The store failed; nothing can be written any more.
    Unavailable,
}

impl ErrorKind {
    /// Returns the code, as gRPC spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "NOT_FOUND",
            ErrorKind::InvalidArgument => "INVALID_ARGUMENT",
            ErrorKind::FailedPrecondition | ErrorKind::DeadlineImpossible => "FAILED_PRECONDITION",
            ErrorKind::AlreadyExists => "ALREADY_EXISTS",
            ErrorKind::Aborted => "ABORTED",
            ErrorKind::PermissionDenied => "PERMISSION_DENIED",
            ErrorKind::ResourceExhausted => "RESOURCE_EXHAUSTED",
            ErrorKind::OutOfRange => "OUT_OF_RANGE",
            ErrorKind::Unavailable => "UNAVAILABLE",
        }
    }
}

/// The reason a command was not executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrokerError {
    /// The kind.
    pub kind: ErrorKind,
    /// Description of what happened, and where.
    pub message: String,
}

impl BrokerError {
    /// Creates an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> BrokerError {
        BrokerError { kind, message: message.into() }
    }

    pub(crate) fn not_found(what: &str, id: &str) -> BrokerError {
        BrokerError::new(ErrorKind::NotFound, format!("{what} not found: `{}`", base::ids::shortened(id)))
    }

    /// Returns the error of a request of an agent that the hub does not know.
    pub(crate) fn unregistered(agent_id: &str) -> BrokerError {
        let text = format!("agent not found: `{}`; register it first", base::ids::shortened(agent_id));
        BrokerError::new(ErrorKind::NotFound, text)
    }

    /// Returns the error of an id that was used for another message or request.
    pub(crate) fn used(what: &str, id: &str) -> BrokerError {
        let id = base::ids::shortened(id);
        let text = format!("the {what} `{id}` was used before with other content; use a new id");
        BrokerError::new(ErrorKind::AlreadyExists, text)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> BrokerError {
        BrokerError::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> BrokerError {
        BrokerError::new(ErrorKind::ResourceExhausted, message)
    }
}

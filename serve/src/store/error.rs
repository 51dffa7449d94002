//! The errors of stored sessions. Their codes are in the catalogue of the log.

use std::sync::Arc;

use base::failures::{FailedOperation, report};
use eventlog::{LogCode, LogError};
use stdlib::{CodeRef, from_core};

/// An error of stored sessions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The log holds no session with this id.
    #[error("session '{0}' not found in the event log")]
    Unknown(Arc<str>),
    /// Another process has the session open.
    #[error("the session '{0}' is open in another process")]
    Elsewhere(Arc<str>),
    /// A record of the session cannot be read.
    #[error(
        "the session '{id}' cannot be read from the event log: the record `{kind}` at cursor {cursor} is \
        incomplete: {why}"
    )]
    Unreadable {
        /// The id of the session.
        id: Arc<str>,
        /// The cursor of the record.
        cursor: u64,
        /// The kind of the record.
        kind: Arc<str>,
        /// The problem with the record.
        why: String,
    },
    /// The cursor of a list is invalid.
    #[error("`{0}` is not a cursor that `session/list` returned")]
    Cursor(String),
    /// The page token of a list of tasks is invalid.
    #[error("`{0}` is not a page token that a task list returned")]
    PageToken(String),
    /// Sessions are not stored.
    #[error("sessions are stored only if the event log is a file")]
    NotKept,
    /// The owner of a session cannot be determined.
    #[error("cannot use the lock file for sessions: {0}")]
    CannotClaim(String),
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl StoreError {
    /// Returns the message for a client, which may be on another machine: without files and the words of the system.
    #[must_use]
    pub fn client_message(&self) -> String {
        match self {
            StoreError::Log(error) => error.client_message(),
            StoreError::CannotClaim(_) => "cannot use the lock file for sessions".to_owned(),
            error => error.to_string(),
        }
    }

    /// Writes a line about a failure of the log or of a lock file. What a client did wrong is only its own matter.
    pub(super) fn report(&self) {
        let operation = match self {
            StoreError::Log(_) | StoreError::Unreadable { .. } => FailedOperation::Read,
            StoreError::CannotClaim(_) => FailedOperation::Claim,
            _ => return,
        };
        report(operation, self.code().as_str(), format_args!("{self}; {}", self.help()));
    }

    /// Returns the diagnostic code.
    #[must_use]
    pub fn code(&self) -> CodeRef {
        from_core(match self {
            StoreError::Unknown(_) => LogCode::Unknown,
            StoreError::Elsewhere(_) => LogCode::Elsewhere,
            StoreError::Unreadable { .. } => LogCode::Unreadable,
            StoreError::Cursor(_) | StoreError::PageToken(_) => LogCode::Page,
            StoreError::NotKept => LogCode::NotKept,
            StoreError::CannotClaim(_) => LogCode::CannotClaim,
            StoreError::Log(error) => error.code(),
        })
    }

    /// Returns the help text.
    #[must_use]
    pub fn help(&self) -> String {
        let help = match self {
            StoreError::Unknown(_) => "`session/list` returns the sessions",
            StoreError::Elsewhere(_) => "close it there, or stop that process, then load it again",
            StoreError::Unreadable { .. } => "other sessions of the log are not affected; open a new one",
            StoreError::Cursor(_) => {
                "start without a cursor, then pass each page's `nextCursor` to the next \
                request"
            }
            StoreError::PageToken(_) => {
                "start without a token, then pass each page's `nextPageToken` to the next \
                request"
            }
            StoreError::NotKept => {
                "serve with `--event-log sqlite:PATH`, or set `home` under `[event_log]` in `harn.toml`"
            }
            StoreError::CannotClaim(_) => "the folder of the event log must be writable",
            StoreError::Log(error) => return error.help(),
        };
        help.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bridge::BridgeError;
    use crate::channels::ActionError;
    use crate::host::HostError;

    #[test]
    fn no_file_is_named_to_a_client() {
        let path: Arc<Path> = Path::new("/secret/place/log.db").into();
        let why = "/secret/place/log.db: disk full".to_owned();
        let of_log = [
            LogError::Gone { path: path.clone() },
            LogError::NotWritten { path: path.clone(), why: why.clone() },
            LogError::Foreign { path: path.clone(), what: why.clone() },
            LogError::Locked { path, waited_ms: 1 },
        ];
        let messages = of_log.into_iter().flat_map(|error| {
            [
                StoreError::Log(error.clone()).client_message(),
                HostError::Store(StoreError::Log(error.clone())).to_string(),
                ActionError::Log(error.clone()).to_string(),
                BridgeError::Log(error).to_string(),
            ]
        });
        let claimed = [HostError::Store(StoreError::CannotClaim(why)).to_string()];
        for message in messages.chain(claimed) {
            assert!(!message.is_empty() && !message.contains("secret") && !message.contains("disk full"), "{message}");
        }
    }
}

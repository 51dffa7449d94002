//! What can go wrong with stored sessions. The rows of the codes stand with those of the log.

use std::sync::Arc;

use runtime::event_log::{LogCode, LogError};
use stdlib::{CodeRef, from_core};

/// What can go wrong with stored sessions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The log holds no session with this id.
    #[error("the event log holds no session with the id '{0}'")]
    Unknown(Arc<str>),
    /// Another process has it open.
    #[error("the session '{0}' is open in another process, and goes on in one at a time")]
    Elsewhere(Arc<str>),
    /// A record of it cannot be read.
    #[error(
        "the session '{id}' cannot be read from the event log: the record `{kind}` with the cursor {cursor} is not whole: {why}"
    )]
    Unreadable {
        /// The session.
        id: Arc<str>,
        /// The record.
        cursor: u64,
        /// Its kind.
        kind: Arc<str>,
        /// What is wrong with it.
        why: String,
    },
    /// No page of a list begins there.
    #[error("`{0}` is no cursor that `session/list` has given")]
    Cursor(String),
    /// No page of a list of tasks begins there.
    #[error("`{0}` is no page token that a list of tasks has given")]
    PageToken(String),
    /// Sessions are not kept here.
    #[error("sessions are kept only where the event log is a file")]
    NotKept,
    /// Nobody can be told whose a session is.
    #[error("the file that says which process has a session open cannot be used: {0}")]
    CannotClaim(String),
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl StoreError {
    /// The diagnostic code.
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

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        let help = match self {
            StoreError::Unknown(_) => "`session/list` tells which sessions there are",
            StoreError::Elsewhere(_) => "close it there, or end that process, and load it again",
            StoreError::Unreadable { .. } => "other sessions of the log are not concerned; open a new one",
            StoreError::Cursor(_) => "begin without a cursor, then give each page's `nextCursor` back as it came",
            StoreError::PageToken(_) => "begin without a token, then give each page's `nextPageToken` back as it came",
            StoreError::NotKept => {
                "serve with `--event-log sqlite:PATH`, or set `home` under `[event_log]` in `harn.toml`"
            }
            StoreError::CannotClaim(_) => "the folder of the event log must be one that may be written to",
            StoreError::Log(error) => return error.help(),
        };
        help.to_owned()
    }
}

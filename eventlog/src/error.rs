//! Errors of an event log.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind};
use base::codes::CodeRef;

use super::LogCode;

/// An error of an event log. Plain data, so that all waiters can get a copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The text does not name a log backend.
    #[error("{message}")]
    Home {
        /// Description of the mistake.
        message: String,
        /// Suggested spelling.
        help: String,
    },
    /// The file cannot be opened in the requested mode.
    #[error("the event log `{}` cannot be opened: {why}", .path.display())]
    CannotOpen {
        /// The file.
        path: Arc<Path>,
        /// The system's message.
        why: String,
    },
    /// The file is something else.
    #[error("`{}` is not an event log: {what}", .path.display())]
    Foreign {
        /// The file.
        path: Arc<Path>,
        /// Kind of file that was found.
        what: String,
    },
    /// The file was created by a later version.
    #[error("the event log `{}` has layout {found}; this version supports layouts up to {known}", .path.display())]
    Newer {
        /// The file.
        path: Arc<Path>,
        /// Its layout.
        found: i64,
        /// The latest supported layout.
        known: i64,
    },
    /// Another process holds the file.
    #[error("the event log `{}` has been locked by another process for more than {waited_ms} ms", .path.display())]
    Locked {
        /// The file.
        path: Arc<Path>,
        /// Time waited, in milliseconds.
        waited_ms: u64,
    },
    /// A write failed. It is retried; unwritten records are kept.
    #[error("the event log `{}` cannot be written: {why}", .path.display())]
    NotWritten {
        /// The file.
        path: Arc<Path>,
        /// The system's message.
        why: String,
    },
    /// Records were thrown away because writing failed and the queue was full.
    #[error("{count} records could not be written to the event log and are lost: {why}")]
    Lost {
        /// Number of lost records.
        count: u64,
        /// The error that prevented the write.
        why: Box<LogError>,
    },
    /// More records wait to be written than can be kept.
    #[error("too many records wait to be written to the event log")]
    Full,
    /// The file was moved or deleted.
    #[error("the event log `{}` was deleted or replaced while it was written", .path.display())]
    Gone {
        /// The file.
        path: Arc<Path>,
    },
    /// Another server owns the log.
    #[error("the event log `{}` is in use by another server{}", .path.display(), process(*.holder))]
    Owned {
        /// The file.
        path: Arc<Path>,
        /// Id of the process that owns it, if it is known.
        holder: Option<u32>,
    },
    /// A reader asks for records that are no longer kept.
    #[error("{lost} records after cursor {} are no longer in the event log", .resume_from.saturating_sub(*.lost))]
    Lagged {
        /// Number of lost records, including those that the reader's filter would have left out.
        lost: u64,
        /// The cursor after which the next kept record is found.
        resume_from: u64,
    },
    /// The file is broken.
    #[error("the event log `{}` is damaged: {why}", .path.display())]
    Damaged {
        /// The file.
        path: Arc<Path>,
        /// SQLite's message.
        why: String,
    },
    /// A record is too large.
    #[error("a record of {bytes} bytes is too large for the event log; the limit is {most}")]
    TooLarge {
        /// Approximate size in bytes.
        bytes: usize,
        /// The size limit.
        most: usize,
    },
}

impl LogError {
    /// Returns the diagnostic code.
    #[must_use]
    pub fn code(&self) -> LogCode {
        match self {
            LogError::Home { .. } => LogCode::Home,
            LogError::CannotOpen { .. } => LogCode::CannotOpen,
            LogError::Foreign { .. } => LogCode::Foreign,
            LogError::Newer { .. } => LogCode::Newer,
            LogError::Locked { .. } => LogCode::Locked,
            LogError::NotWritten { .. } => LogCode::NotWritten,
            LogError::Lost { why, .. } => why.code(),
            LogError::Full => LogCode::Full,
            LogError::Gone { .. } => LogCode::Gone,
            LogError::Owned { .. } => LogCode::Owned,
            LogError::Lagged { .. } => LogCode::Lagged,
            LogError::Damaged { .. } => LogCode::Damaged,
            LogError::TooLarge { .. } => LogCode::TooLarge,
        }
    }

    /// Returns the message for a client, which may be on another machine: without the file and the words of the system.
    #[must_use]
    pub fn client_message(&self) -> String {
        match self {
            LogError::Home { .. } | LogError::CannotOpen { .. } | LogError::Foreign { .. } | LogError::Newer { .. } => {
                "the event log cannot be opened".to_owned()
            }
            LogError::Locked { .. } => "the event log is locked by another process".to_owned(),
            LogError::NotWritten { .. } => "the event log cannot be written".to_owned(),
            LogError::Lost { count, .. } => {
                format!("{count} records could not be written to the event log and are lost")
            }
            LogError::Gone { .. } => "the event log was deleted or replaced while it was written".to_owned(),
            LogError::Owned { .. } => "the event log is in use by another server".to_owned(),
            LogError::Damaged { .. } => "the event log is damaged".to_owned(),
            LogError::Lagged { .. } | LogError::TooLarge { .. } | LogError::Full => self.to_string(),
        }
    }

    /// Returns advice on what to do.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            LogError::Home { help, .. } => help.clone(),
            LogError::CannotOpen { .. } => "use the path of a file in an existing, writable folder".to_owned(),
            LogError::Foreign { .. } => "the file was not changed; choose another path for the log".to_owned(),
            LogError::Newer { .. } => "use the version of harn that wrote it, or a new file".to_owned(),
            LogError::Locked { .. } => {
                "stop the process that holds the lock (a `sqlite3` shell with an open transaction?), or raise \
                `lock_timeout` under `[event_log]` in `harn.toml`"
                    .to_owned()
            }
            LogError::NotWritten { .. } => "free up disk space, or fix the permissions of the file".to_owned(),
            LogError::Lost { why, .. } => format!("{}; later records are written again once they can be", why.help()),
            LogError::Full => "use a faster disk for the log, or write fewer records at once".to_owned(),
            LogError::Gone { .. } => {
                "keep the file and its `-wal` and `-shm` in place while a process writes to it".to_owned()
            }
            LogError::Owned { .. } => "stop that server, or choose another file".to_owned(),
            LogError::Lagged { resume_from, .. } => format!(
                "continue with `from_cursor: {resume_from}`; read more often, or keep more records (`keep_records` \
                under `[event_log]` in `harn.toml`, or a log in a file)"
            ),
            LogError::Damaged { .. } => {
                "`sqlite3 FILE .recover` may recover the rest; choose another path for the log".to_owned()
            }
            LogError::TooLarge { .. } => "store large data in files and log their paths".to_owned(),
        }
    }

    /// Returns whether retrying cannot help.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, LogError::Locked { .. } | LogError::NotWritten { .. })
    }
}

/// Returns the words for a process after the name of what it holds.
fn process(id: Option<u32>) -> String {
    id.map_or_else(String::new, |id| format!(" (process {id})"))
}

impl CallError for LogError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Io
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        Some(LogError::code(self).into())
    }
}

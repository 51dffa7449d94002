//! Errors of snapshots.

use std::any::Any;

use base::call::{CallError, CallErrorKind};

/// An error of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The snapshot does not exist.
    #[error("snapshot `{0}` not found")]
    Missing(String),
    /// It was resumed already.
    #[error("the snapshot `{0}` was already resumed")]
    Claimed(String),
    /// Another process works with it.
    #[error("`{0}` is already used by a loop, in this process or in another")]
    Held(String),
    /// The file is not a valid snapshot.
    #[error("invalid snapshot: {0}")]
    Broken(String),
    /// A newer program wrote it.
    #[error("this snapshot has version {0}; the newest supported version is {known}", known = super::Snapshot::VERSION)]
    Newer(u64),
    /// The file cannot be read or written.
    #[error("the snapshot `{path}` cannot be used: {why}")]
    Io {
        /// The file.
        path: String,
        /// The system's message.
        why: String,
    },
    /// A part of it does not match the program.
    #[error("{0}")]
    Unfit(String),
}

impl CallError for SnapshotError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Io
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Why a snapshot cannot be used.

use std::any::Any;

use crate::seam::{Fault, Sort};

/// Why a snapshot cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// There is none.
    #[error("snapshot `{0}` not found")]
    Missing(String),
    /// It was resumed already.
    #[error("the snapshot `{0}` was already resumed")]
    Claimed(String),
    /// Another process works with it.
    #[error("`{0}` is already used by a loop, in this process or in another")]
    Held(String),
    /// It cannot be read as one.
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
    /// Something in it does not fit what is there.
    #[error("{0}")]
    Unfit(String),
}

impl Fault for SnapshotError {
    fn sort(&self) -> Sort {
        Sort::Io
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

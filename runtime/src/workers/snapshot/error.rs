//! Why a snapshot cannot be used.

use std::any::Any;

use crate::seam::{Fault, Sort};

/// Why a snapshot cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// There is none.
    #[error("there is no snapshot at `{0}`")]
    Missing(String),
    /// Somebody has resumed it.
    #[error("the snapshot `{0}` was resumed already")]
    Claimed(String),
    /// Somebody works with it.
    #[error("a loop is at work with `{0}`, here or in another process")]
    Held(String),
    /// It cannot be read as one.
    #[error("this is no whole snapshot: {0}")]
    Broken(String),
    /// A newer program wrote it.
    #[error("this snapshot has version {0}, the newest known is {known}", known = super::Snapshot::VERSION)]
    Newer(u64),
    /// The file cannot be read or written.
    #[error("the snapshot `{path}` cannot be used: {why}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
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

//! Detects whether the file is still in its place. SQLite keeps writing to a deleted file, and those writes would be
//! lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event_log::LogError;

use super::open::beside;

/// The file and its write-ahead log, as they were when the first look was taken.
pub(super) struct Presence {
    path: Arc<Path>,
    wal: PathBuf,
    file: Option<Identity>,
    log: Option<Identity>,
}

/// The identity of a file, which distinguishes it from another of the same name.
#[derive(PartialEq, Eq, Clone, Copy)]
struct Identity(u64, u64);

impl Presence {
    pub(super) fn new(path: Arc<Path>) -> Presence {
        let wal = beside(&path, "-wal");
        let (file, log) = (identity(&path), identity(&wal));
        Presence { path, wal, file, log }
    }

    /// Fails once the file or its write-ahead log is gone or another.
    pub(super) fn check(&mut self) -> Result<(), LogError> {
        let log = identity(&self.wal);
        if self.log.is_none() {
            // It comes with the first write.
            self.log = log;
        }
        if self.file.is_none() || identity(&self.path) != self.file || log != self.log {
            return Err(LogError::Gone { path: self.path.clone() });
        }
        Ok(())
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some(Identity(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    // A file that is open cannot be deleted there.
    path.exists().then_some(Identity(0, 0))
}

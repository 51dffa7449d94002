//! Detects whether the file is still in its place. SQLite keeps writing to a deleted file, and those writes would be
//! lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::LogError;

use super::open::beside;

/// The identity of the file and its write-ahead log at the first check.
pub(super) struct FilePresence {
    path: Arc<Path>,
    wal: PathBuf,
    file: Option<FileIdentity>,
    log: Option<FileIdentity>,
}

/// The identity of a file, which distinguishes it from another of the same name.
#[derive(PartialEq, Eq, Clone, Copy)]
struct FileIdentity(u64, u64);

impl FilePresence {
    pub(super) fn new(path: Arc<Path>) -> FilePresence {
        let wal = beside(&path, "-wal");
        let (file, log) = (identity(&path), identity(&wal));
        FilePresence { path, wal, file, log }
    }

    /// Fails once the file or its write-ahead log was deleted or replaced.
    pub(super) fn check(&mut self) -> Result<(), LogError> {
        let log = identity(&self.wal);
        if self.log.is_none() {
            // It is created by the first write.
            self.log = log;
        }
        if self.file.is_none() || identity(&self.path) != self.file || log != self.log {
            return Err(LogError::Gone { path: self.path.clone() });
        }
        Ok(())
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some(FileIdentity(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<FileIdentity> {
    // An open file cannot be deleted there.
    path.exists().then_some(FileIdentity(0, 0))
}

//! The file that a trace is written to, whole or not at all.

use crate::whole_file::{self, with_end};
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// Writes a trace.
///
/// # Errors
/// The target is the log that is read, or a part of it; or it cannot be written. The file is as it was then.
pub(super) fn write_whole(target: &Path, text: &str, log: &Path) -> Result<()> {
    if parts_of(log).iter().any(|part| is_same(part, target)) {
        return Err(Error::other("it is the log itself"));
    }
    whole_file::write_whole(target, text)
}

/// The files of a log: SQLite keeps two beside it.
fn parts_of(log: &Path) -> [PathBuf; 4] {
    [log.to_path_buf(), with_end(log, "-wal"), with_end(log, "-shm"), with_end(log, "-journal")]
}

/// Whether two names are one file.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
            return (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
    }
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

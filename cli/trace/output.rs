//! The file that a trace is written to, whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// Writes a file completely or not at all: to a temporary file beside it first, then renamed. Links
/// are followed and permissions kept; a target that is not a regular file (a device, a pipe) is
/// written to directly.
///
/// # Errors
/// Fails if the target is the log that is read, or a part of it, or if the system refuses. The old
/// content is then unchanged.
pub(super) fn write_whole(target: &Path, text: &str, log: &Path) -> Result<()> {
    // What a link points to, where that is there.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
    if parts_of(log).iter().any(|part| is_same(part, &target)) {
        return Err(Error::other("it is the log itself"));
    }
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => Err(Error::other("it is a folder")),
        Ok(there) if there.is_file() => replace(&target, text, Some(there.permissions())),
        Ok(_) => OpenOptions::new().write(true).open(&target)?.write_all(text.as_bytes()),
        // A link to nowhere: the file is made there.
        Err(_) if fs::symlink_metadata(&target).is_ok() => File::create(&target)?.write_all(text.as_bytes()),
        Err(_) => replace(&target, text, None),
    }
}

fn replace(target: &Path, text: &str, rights: Option<fs::Permissions>) -> Result<()> {
    let beside = with_end(target, &format!(".{}.part", std::process::id()));
    let write = || {
        // Never through a link that another process created.
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        if let Some(rights) = rights {
            file.set_permissions(rights)?;
        }
        fs::rename(&beside, target)
    };
    let written = write();
    if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The files of a log: SQLite keeps two beside it.
fn parts_of(log: &Path) -> [PathBuf; 4] {
    [log.to_path_buf(), with_end(log, "-wal"), with_end(log, "-shm"), with_end(log, "-journal")]
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
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

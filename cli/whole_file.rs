//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all: beside it first, then in its place. Links are followed and permissions kept; what is not
/// a file (a device, a pipe) is written to.
///
/// # Errors
/// The target is a folder, or the system refuses. The file is as it was then.
pub(crate) fn write_whole(target: &Path, text: &str) -> Result<()> {
    // What a link points to, if that exists.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
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
        // Never through a link that somebody put there.
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

/// Returns the path with more at its end.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

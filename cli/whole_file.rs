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
    write_whole_with(target, |file| file.write_all(text.as_bytes()))
}

/// Writes a file like [`write_whole`], piece by piece. If a piece fails, the file is as it was.
pub(crate) fn write_whole_with<T, E: From<Error>>(
    target: &Path,
    write: impl FnOnce(&mut File) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    // What a link points to, if that exists.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => Err(Error::other("it is a folder").into()),
        Ok(there) if there.is_file() => replace(&target, write, Some(there.permissions())),
        Ok(_) => write(&mut OpenOptions::new().write(true).open(&target)?),
        // A link to nowhere: the file is made there.
        Err(_) if fs::symlink_metadata(&target).is_ok() => write(&mut File::create(&target)?),
        Err(_) => replace(&target, write, None),
    }
}

fn replace<T, E: From<Error>>(
    target: &Path,
    write: impl FnOnce(&mut File) -> std::result::Result<T, E>,
    rights: Option<fs::Permissions>,
) -> std::result::Result<T, E> {
    let beside = with_end(target, &format!(".{}.part", std::process::id()));
    // Never through a link that somebody put there.
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside).inspect_err(|error| {
        if error.kind() != ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&beside);
        }
    })?;
    let written = write(&mut file).and_then(|written| {
        if let Some(rights) = rights {
            file.set_permissions(rights)?;
        }
        fs::rename(&beside, target)?;
        Ok(written)
    });
    if written.is_err() {
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

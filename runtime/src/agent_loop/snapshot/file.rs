//! Snapshots on disk: written as a whole or not at all, claimed by a single process.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::lock::{LockError, LockFile};

use super::{Snapshot, SnapshotError};

/// Maximum number of alternative names that are tried.
const TRIES: u32 = 10_000;

/// Maximum size of a file that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// A snapshot as the text of its file.
pub(crate) struct SnapshotText {
    id: Arc<str>,
    text: String,
}

impl SnapshotText {
    pub(crate) fn of(snapshot: &Snapshot) -> SnapshotText {
        SnapshotText { id: snapshot.id.clone(), text: snapshot.to_json() }
    }
}

/// Writes a snapshot to a path that does not exist or is a regular file.
///
/// # Errors
/// Fails if the file cannot be written; its previous content stays.
pub(super) fn write(path: &Path, snapshot: &SnapshotText) -> Result<(), SnapshotError> {
    require_regular(path)?;
    replace(path, snapshot.text.as_bytes(), &snapshot.id).map(drop)
}

/// Rejects a path to anything but a regular file.
pub(super) fn require_regular(path: &Path) -> Result<(), SnapshotError> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(io_error(path, &io::Error::other("it is not a regular file")));
    }
    Ok(())
}

/// Replaces a file atomically. Returns the new one, open at its end.
pub(super) fn replace(path: &Path, text: &[u8], id: &str) -> Result<File, SnapshotError> {
    let written = write_beside(path, text, id).and_then(|(draft, file)| {
        fs::rename(&draft, path)?;
        // The name is durable once its folder is.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
        Ok(file)
    });
    written.map_err(|error| io_error(path, &error))
}

/// Replaces a snapshot that is not claimed.
pub(super) fn write_over(path: &Path, snapshot: &SnapshotText) -> Result<(), SnapshotError> {
    match claim(path) {
        // The file was removed, so no process has claimed it.
        Ok(()) | Err(SnapshotError::Missing(_)) => {}
        Err(error) => return Err(error),
    }
    let written = write(path, snapshot);
    match written {
        Ok(()) => drop(fs::remove_file(claimed(path))),
        Err(_) => unclaim(path),
    }
    written
}

/// Writes a snapshot to `folder/stem.json`, or to a similar name if that is taken. Returns the path.
pub(super) fn write_new(folder: &Path, stem: &str, snapshot: &SnapshotText) -> Result<PathBuf, SnapshotError> {
    let first = folder.join(format!("{stem}.json"));
    let draft = write_beside(&first, snapshot.text.as_bytes(), &snapshot.id);
    let (draft, _) = draft.map_err(|error| io_error(&first, &error))?;
    let placed = (1..TRIES).find_map(|n| {
        let path = if n == 1 { first.clone() } else { folder.join(format!("{stem}-{n}.json")) };
        // A link is created only if the name is free, so only one of two processes gets it.
        match fs::hard_link(&draft, &path) {
            Ok(()) => Some(Ok(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(error)),
        }
    });
    let _ = fs::remove_file(&draft);
    match placed {
        Some(placed) => placed.map_err(|error| io_error(&first, &error)),
        None => {
            Err(SnapshotError::Io { path: shown(&first), why: "there are too many snapshots next to it".to_owned() })
        }
    }
}

/// Writes a draft next to a path, to replace the file once it is complete.
fn write_beside(path: &Path, text: &[u8], id: &str) -> io::Result<(PathBuf, File)> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let draft = with_suffix(path, &format!(".draft-{}-{id}", std::process::id()));
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()?;
        Ok(file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map(|file| (draft, file))
}

/// Reads the text of a snapshot.
///
/// # Errors
/// Fails if it does not exist or cannot be read.
pub(super) fn read_text(path: &Path) -> Result<String, SnapshotError> {
    match regular(path).and_then(|()| fs::read_to_string(path)) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(absent(path)),
        Err(error) => Err(io_error(path, &error)),
    }
}

/// Checks that the file is regular: a device or a pipe may never end, and a file may be larger than any memory.
fn regular(path: &Path) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    match meta.len() {
        _ if !meta.is_file() => Err(io::Error::other("it is not a regular file")),
        LARGEST.. => Err(io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20))),
        _ => Ok(()),
    }
}

/// Takes the lock of a snapshot, which need not exist yet, for the time that a loop works with it.
///
/// # Errors
/// Fails if another loop holds it, in this process or in another one, or if the file cannot be created.
pub(super) fn lock(path: &Path) -> Result<LockFile, SnapshotError> {
    LockFile::beside(path).map_err(|error| match error {
        LockError::Held => SnapshotError::Held(shown(path)),
        LockError::Io(error) => io_error(path, &error),
    })
}

/// Claims a snapshot. Of several processes that try, one succeeds.
pub(super) fn claim(path: &Path) -> Result<(), SnapshotError> {
    match fs::rename(path, claimed(path)) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(absent(path)),
        Err(error) => Err(io_error(path, &error)),
    }
}

/// Returns a claimed snapshot that could not be resumed after all.
pub(super) fn unclaim(path: &Path) {
    let _ = fs::rename(claimed(path), path);
}

/// Removes a snapshot that must not be resumed, claimed or not.
pub(super) fn discard(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_file(claimed(path));
}

fn claimed(path: &Path) -> PathBuf {
    with_suffix(path, ".resumed")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn absent(path: &Path) -> SnapshotError {
    if claimed(path).exists() { SnapshotError::Claimed(shown(path)) } else { SnapshotError::Missing(shown(path)) }
}

fn io_error(path: &Path, error: &io::Error) -> SnapshotError {
    SnapshotError::Io { path: shown(path), why: error.to_string() }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

//! The file: lines of JSON, only ever appended to.
//!
//! A record is one write of one line, followed by an fsync, before it counts as stored; a new folder is synced too. So what
//! was acknowledged survives a loss of power. Appending holds an exclusive lock on the file, reading a shared one, so
//! processes take turns. A crash in mid-write leaves at most one torn last line: a reader passes over it, and the next who
//! appends cuts it off; a whole line whose line break is missing gets it. What cannot be a torn line of ours is left where
//! it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use base::files;
use base::lock::{LockError, LockMode, lock_within};

use super::line::{self, BEGIN, MAX_LINE};
use super::{FactCode, FactError};

/// The largest file that is read.
const LARGEST: u64 = 256 << 20;
/// The timeout of the wait for another process's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The error of an operation on the file.
pub(super) fn failed(verb: &str, path: &Path, error: &io::Error) -> FactError {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string(),
    };
    FactError::new(FactCode::Store, "root", format!("cannot {verb} the facts in `{}`: {why}", path.display()))
}

/// Appends a line, and waits until it is on disk. Returns the number of bytes of a torn line that
/// were cut off.
pub(super) fn append(path: &Path, line: &str) -> Result<usize, FactError> {
    let io = |error: io::Error| failed("write", path, &error);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(io)?;
    let is_new = !is_file(path)?;
    let mut file = files::open_with(OpenOptions::new().read(true).append(true).create(true), path).map_err(io)?;
    lock(&file, path, LockMode::Exclusive)?;
    let torn = cut_incomplete_line(&mut file).map_err(io)?;
    let end = file.metadata().map_err(io)?.len();
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_data()) {
        // What was not acknowledged must not look as if it were; if this fails too, it is a torn line.
        let _ = file.set_len(end);
        return Err(io(error));
    }
    if is_new {
        sync_folder(folder);
    }
    Ok(torn)
}

/// Whether the file is there. Something else in its place, a pipe for instance, might never answer.
fn is_file(path: &Path) -> Result<bool, FactError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => {
            let message = format!("`{}` is not a file", path.display());
            Err(FactError::new(FactCode::Store, "root", message).help("move it, or use another namespace"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Waits for the lock up to [`LOCK_TIMEOUT`]. A file system without locks goes without.
fn lock(file: &File, path: &Path, mode: LockMode) -> Result<(), FactError> {
    match lock_within(file, mode, LOCK_TIMEOUT) {
        Ok(()) => Ok(()),
        Err(LockError::Io(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(LockError::Io(error)) => Err(failed("lock", path, &error)),
        Err(LockError::Held) => {
            let message = format!("another process has locked the facts in `{}`", path.display());
            Err(FactError::new(FactCode::Store, "root", message)
                .help("check whether a process that uses them is suspended"))
        }
    }
}

/// Cuts off an incomplete last line; returns the number of bytes removed.
fn cut_incomplete_line(file: &mut File) -> io::Result<usize> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(MAX_LINE as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(MAX_LINE as u64).read_to_end(&mut end)?;
    let tail = match end.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => &end[at + 1..],
        None => &end[..],
    };
    if tail.is_empty() {
        return Ok(0);
    }
    let ours = tail.len() < MAX_LINE && (tail.starts_with(BEGIN) || BEGIN.starts_with(tail));
    if ours && line::read(tail).is_err() {
        file.set_len(length - tail.len() as u64)?;
        return Ok(tail.len());
    }
    file.write_all(b"\n")?;
    Ok(0)
}

/// A new name lasts only once its folder is on disk. Not all systems let folders be synced.
fn sync_folder(folder: &Path) {
    for folder in folder.ancestors().take(8).filter(|folder| !folder.as_os_str().is_empty()) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Reads all bytes of the file; returns an empty vector if it does not exist.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, FactError> {
    let io = |error: io::Error| failed("read", path, &error);
    if !is_file(path)? {
        return Ok(Vec::new());
    }
    let file = files::open(path).map_err(io)?;
    lock(&file, path, LockMode::Shared)?;
    let found = file.metadata().map_err(io)?;
    if found.len() > LARGEST {
        let message = format!("`{}` has {} bytes; at most {LARGEST} are read", path.display(), found.len());
        return Err(
            FactError::new(FactCode::Store, "root", message).help("use a new namespace and move the old file away")
        );
    }
    files::read_open(&file, LARGEST).map_err(io)
}

//! Keeps servers and `harn log trim` apart: while one uses a log, the other is refused.
//!
//! Each process that serves sessions holds a lock of its own beside the log, so that many can. The command takes a further
//! lock first and then looks for those; a process takes its own lock first and then looks for that of the command. So one of two
//! that start at once always sees the other.

use std::path::Path;
use std::time::Duration;

use base::lock::{LockError, LockFile};
use eventlog::{LogError, SqliteLog};

use super::{StoreError, beside, place_of};

/// The name of the lock of the command.
const TRIM: &str = "trim";

/// The time for which a process waits for the lock of the command, because others that start hold it for a moment.
const PATIENCE: Duration = Duration::from_secs(2);

/// The locks of a process that uses a log alone.
#[derive(Debug)]
pub(crate) struct ExclusiveUse {
    _owner: LockFile,
    _trim: LockFile,
}

/// Takes a log for the removal of old records, before it is opened for writing.
///
/// # Errors
/// A server uses the log, or a lock file cannot be used.
pub(crate) fn exclude_servers(log: &Path) -> Result<ExclusiveUse, StoreError> {
    let place = place_of(log);
    let owner = SqliteLog::owner_lock(log)?;
    let trim = LockFile::beside_within(&beside(&place, TRIM), PATIENCE).map_err(|error| in_use(log, &place, &error))?;
    // The id only helps to find the process.
    let _ = trim.sign();
    match serving_process(&place)? {
        Some(holder) => Err(LogError::Owned { path: log.into(), holder: Some(holder) }.into()),
        None => Ok(ExclusiveUse { _owner: owner, _trim: trim }),
    }
}

/// Waits a moment until the command does not remove records.
pub(super) fn wait_for_trim(log: &Path, place: &Path) -> Result<(), StoreError> {
    let lock = LockFile::beside_within(&beside(place, TRIM), PATIENCE);
    lock.map(drop).map_err(|error| in_use(log, place, &error))
}

fn in_use(log: &Path, place: &Path, error: &LockError) -> StoreError {
    match error {
        LockError::Held => LogError::Owned { path: log.into(), holder: LockFile::holder(&beside(place, TRIM)) }.into(),
        LockError::Io(error) => StoreError::CannotClaim(error.to_string()),
    }
}

/// Returns the id of a process that serves sessions of a log. Removes the files of processes that were killed.
fn serving_process(place: &Path) -> Result<Option<u32>, StoreError> {
    let cannot = |error: std::io::Error| StoreError::CannotClaim(error.to_string());
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = place.file_name().map(|name| format!("{}.", name.to_string_lossy())).unwrap_or_default();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        let name = name.to_string_lossy();
        let process = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".lock"));
        // The name of a process: the time of its start, and its id.
        let Some((process, id)) = process.and_then(|process| Some((process, process.split_once('-')?.1))) else {
            continue;
        };
        let Ok(id) = u32::from_str_radix(id, 16) else { continue };
        match LockFile::beside(&beside(place, process)) {
            Ok(_) => {}
            Err(LockError::Held) => return Ok(Some(id)),
            Err(LockError::Io(error)) => return Err(cannot(error)),
        }
    }
    Ok(None)
}

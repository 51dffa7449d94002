//! Who works with a snapshot, while it works: a lock of the system beside the file. It is gone with the process that held it,
//! however that ended.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::SnapshotError;
use super::file::{io_error, shown, with_suffix};

/// How often a lock file may vanish between opening and locking it.
const TRIES: u32 = 1_000;

/// A lock that is held. Dropping it lets go.
#[derive(Debug)]
pub struct Lock {
    beside: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a snapshot, which need not be there yet.
    ///
    /// # Errors
    /// Somebody holds it, here or in another process; the file cannot be made.
    pub fn take(snapshot: &Path) -> Result<Lock, SnapshotError> {
        let failed = |error: &std::io::Error| io_error(snapshot, error);
        if let Some(folder) = snapshot.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let beside = with_suffix(snapshot, ".lock");
        for _ in 0..TRIES {
            let file = File::options().create(true).write(true).truncate(false).open(&beside);
            let file = file.map_err(|error| failed(&error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(SnapshotError::Held(shown(snapshot))),
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
            // Whoever held it last may have taken the file away meanwhile; then this is a lock that nobody else sees.
            let inode = |meta: std::io::Result<fs::Metadata>| meta.map(|meta| meta.ino()).ok();
            if inode(file.metadata()) == inode(fs::metadata(&beside)) {
                return Ok(Lock { beside, _file: file });
            }
        }
        Err(SnapshotError::Held(shown(snapshot)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: whoever opens it from here on makes a new one.
        let _ = fs::remove_file(&self.beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_locked_by_one() {
        let folder = std::env::temp_dir().join(format!("harn-lock-{}", std::process::id()));
        let path = folder.join("deep/state.json");
        let held = Lock::take(&path).unwrap();
        assert!(matches!(Lock::take(&path), Err(SnapshotError::Held(_))));
        drop(held);
        drop(Lock::take(&path).unwrap());
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }
}

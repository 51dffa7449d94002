//! Advisory locks on files: the single implementation, for all work that only one process at a time may do.
//!
//! - [`LockFile`]: a lock on an empty file next to the file it protects. The file is removed with the lock.
//! - [`lock_within`]: a lock on an open file, until that file is closed.
//!
//! The system releases a lock when the process that holds it ends, however it ends.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fd_lock::RwLock;

/// Maximum number of times that a lock file may vanish between opening and locking it.
const TRIES: u32 = 1_000;

/// Time between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(2);

/// The reason a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another holder has it, in this process or in another one.
    #[error("another process holds it")]
    Held,
    /// The file cannot be created or locked.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The access that a lock allows others meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Others may hold a shared lock too.
    Shared,
    /// Others may hold no lock.
    Exclusive,
}

/// A held lock on a separate file. Dropping it releases the lock and removes the file.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    file: File,
}

impl LockFile {
    /// Takes the lock of `path`, which need not exist: the file `path.lock`. Never waits.
    ///
    /// # Errors
    /// Fails if the lock is held, or the file cannot be created.
    pub fn beside(path: &Path) -> Result<LockFile, LockError> {
        LockFile::beside_within(path, Duration::ZERO)
    }

    /// Takes the lock of `path` like [`LockFile::beside`], and waits for its holder up to `timeout`.
    ///
    /// # Errors
    /// Fails if the lock is held for longer, or the file cannot be created.
    pub fn beside_within(path: &Path, timeout: Duration) -> Result<LockFile, LockError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let path = lock_path(path);
        let start = Instant::now();
        for _ in 0..TRIES {
            let file = File::options().create(true).write(true).truncate(false).open(&path)?;
            lock_within(&file, LockMode::Exclusive, timeout.saturating_sub(start.elapsed()))?;
            // The last holder may have removed the file meanwhile. In that case no other process sees this lock.
            let inode = |meta: io::Result<fs::Metadata>| meta.map(|meta| meta.ino()).ok();
            if inode(file.metadata()) == inode(fs::metadata(&path)) {
                return Ok(LockFile { path, file });
            }
        }
        Err(LockError::Held)
    }

    /// Writes the id of this process into the file, for [`LockFile::holder`].
    ///
    /// # Errors
    /// Fails if the file cannot be written. The lock is held all the same.
    pub fn sign(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).write_all(std::process::id().to_string().as_bytes())
    }

    /// Returns the id of the process that signed the lock of `path`; `None` if it did not. It may have ended since.
    #[must_use]
    pub fn holder(path: &Path) -> Option<u32> {
        let mut text = String::new();
        // A process id is short, and the file may hold any text.
        File::open(lock_path(path)).ok()?.take(16).read_to_string(&mut text).ok()?;
        text.parse().ok()
    }
}

/// Returns the path of the lock file of a file.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Still locked: a process that opens it from here on creates a new one.
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks an open file, and waits for other holders up to `timeout`. The lock lasts until the file is closed.
///
/// # Errors
/// Fails if the lock is held for longer, or the file system does not support locks.
pub fn lock_within(file: &File, mode: LockMode, timeout: Duration) -> Result<(), LockError> {
    let start = Instant::now();
    loop {
        match try_lock(file, mode) {
            Err(LockError::Held) if start.elapsed() < timeout => thread::sleep(PAUSE),
            done => return done,
        }
    }
}

fn try_lock(file: &File, mode: LockMode) -> Result<(), LockError> {
    let mut lock = RwLock::new(file);
    // The lock belongs to the open file. A guard would release it at the end of this function.
    let taken = match mode {
        LockMode::Shared => lock.try_read().map(mem::forget),
        LockMode::Exclusive => lock.try_write().map(mem::forget),
    };
    taken.map_err(|error| if error.kind() == io::ErrorKind::WouldBlock { LockError::Held } else { error.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::LIMIT;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Barrier};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("harn-lock-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_lock_file_has_one_holder_and_goes_with_it() {
        let folder = folder("beside");
        let path = folder.join("deep/state.json");
        let held = LockFile::beside(&path).unwrap();
        assert!(matches!(LockFile::beside(&path), Err(LockError::Held)));
        drop(held);
        drop(LockFile::beside(&path).unwrap());
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_lock_is_waited_for() {
        let folder = folder("waits");
        let path = folder.join("state");
        let held = LockFile::beside(&path).unwrap();
        let (is_free, begins) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(2)));
        let waiting = thread::spawn({
            let (path, is_free, begins) = (path.clone(), is_free.clone(), begins.clone());
            move || {
                begins.wait();
                let lock = LockFile::beside_within(&path, LIMIT);
                (lock.map(drop), is_free.load(Ordering::SeqCst))
            }
        });
        begins.wait();
        is_free.store(true, Ordering::SeqCst);
        drop(held);
        let (locked, was_free) = waiting.join().unwrap();
        locked.unwrap();
        assert!(was_free, "it was locked while another one held it");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn shared_locks_exclude_only_an_exclusive_one_and_end_with_their_files() {
        let folder = folder("shared");
        let open = || File::options().create(true).append(true).open(folder.join("data")).unwrap();
        let (one, two, three) = (open(), open(), open());
        lock_within(&one, LockMode::Shared, Duration::ZERO).unwrap();
        lock_within(&two, LockMode::Shared, Duration::ZERO).unwrap();
        assert!(matches!(lock_within(&three, LockMode::Exclusive, Duration::ZERO), Err(LockError::Held)));
        drop((one, two));
        lock_within(&three, LockMode::Exclusive, Duration::ZERO).unwrap();
        assert!(matches!(lock_within(&open(), LockMode::Shared, Duration::ZERO), Err(LockError::Held)));
        fs::remove_dir_all(folder).unwrap();
    }
}

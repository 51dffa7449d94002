//! [`SnapshotStorage`]: the file operations on snapshots. They wait for the disk, so they run on the blocking pool.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

use base::call::{BlockingPool, run_blocking};
use base::lock::LockFile;

use super::file::{self, SnapshotText};
use super::{Snapshot, SnapshotError};

/// The files of one worker's snapshots. Its operations run one at a time, also those whose wait has ended.
#[derive(Default)]
pub struct SnapshotStorage {
    pool: Option<Rc<dyn BlockingPool>>,
    order: Arc<Mutex<()>>,
}

impl SnapshotStorage {
    /// Creates a storage. Without a pool, the operations run on the caller's thread.
    #[must_use]
    pub fn new(pool: Option<Rc<dyn BlockingPool>>) -> SnapshotStorage {
        SnapshotStorage { pool, order: Arc::default() }
    }

    /// Reads a snapshot and leaves it in place.
    ///
    /// # Errors
    /// Fails if it does not exist or is invalid.
    pub async fn read(&self, path: &Path) -> Result<Snapshot, SnapshotError> {
        let text = self.turn().await.run(path, file::read_text).await??;
        if let Some(pool) = &self.pool {
            pool.keep(text.len());
        }
        // Parsed here: memory is counted per thread.
        Snapshot::from_json(&text)
    }

    /// Takes the lock of a snapshot, which need not exist yet, for the time that a loop works with it.
    ///
    /// # Errors
    /// Fails if another loop holds it, in this process or in another one, or if the file cannot be created.
    pub async fn lock(&self, path: &Path) -> Result<LockFile, SnapshotError> {
        self.turn().await.run(path, file::lock).await?
    }

    /// Claims a snapshot. Of several processes that try, one succeeds. If the wait ends before, the snapshot is
    /// returned.
    ///
    /// # Errors
    /// Fails if it does not exist, or is claimed already.
    pub async fn claim(&self, path: &Path) -> Result<(), SnapshotError> {
        let claim = |path: &Path| file::claim(path).map(|()| UntakenClaim(Some(path.to_owned())));
        let claim = self.turn().await.run(path, claim).await??;
        claim.take();
        Ok(())
    }

    /// Returns a claimed snapshot that could not be resumed after all.
    pub async fn unclaim(&self, path: &Path) {
        // A snapshot that cannot be returned stays claimed.
        let _ = self.turn().await.run(path, file::unclaim).await;
    }

    /// Removes a snapshot that must not be resumed, claimed or not.
    pub async fn discard(&self, path: &Path) {
        // It is removed as far as possible.
        let _ = self.turn().await.run(path, file::discard).await;
    }

    /// Waits for the operations requested before, and returns the turn for more.
    pub(crate) async fn turn(&self) -> StorageTurn {
        StorageTurn { pool: self.pool.clone(), held: Some(self.order.clone().lock_owned().await) }
    }
}

/// The turn of an operation.
pub(crate) struct StorageTurn {
    pool: Option<Rc<dyn BlockingPool>>,
    /// Goes along with the work, so that nothing overtakes work whose wait has ended.
    held: Option<OwnedMutexGuard<()>>,
}

impl StorageTurn {
    /// Writes a snapshot, and returns its path.
    pub(crate) async fn write(&mut self, text: SnapshotText, target: SnapshotTarget) -> Result<PathBuf, SnapshotError> {
        let path = match &target {
            SnapshotTarget::File(path) | SnapshotTarget::Unclaimed(path) => path.to_path_buf(),
            SnapshotTarget::Folder { folder, .. } => folder.to_path_buf(),
        };
        let write = move |path: &Path| {
            let written = match &target {
                SnapshotTarget::File(_) => file::write(path, &text).map(|()| path.to_owned()),
                SnapshotTarget::Unclaimed(_) => file::write_over(path, &text).map(|()| path.to_owned()),
                SnapshotTarget::Folder { stem, .. } => file::write_new(path, stem, &text),
            };
            // Memory is counted per thread, so the text comes back to be freed.
            (text, written)
        };
        self.run(&path, write).await?.1
    }

    async fn run<T: Send + 'static>(
        &mut self,
        path: &Path,
        work: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Result<T, SnapshotError> {
        let Some(pool) = self.pool.clone() else { return Ok(work(path)) };
        let (place, held) = (path.to_owned(), self.held.take());
        let work = move || {
            let done = work(&place);
            (done, place, held)
        };
        let (done, _place, held) = run_blocking(pool.as_ref(), work)
            .await
            .map_err(|error| SnapshotError::Io { path: path.display().to_string(), why: error.to_string() })?;
        self.held = held;
        Ok(done)
    }
}

/// The place of a snapshot that is written.
pub(crate) enum SnapshotTarget {
    /// This file, whether it exists or not.
    File(Arc<Path>),
    /// This file, unless another process has claimed it.
    Unclaimed(Arc<Path>),
    /// A new file in a folder.
    Folder { folder: Arc<Path>, stem: Arc<str> },
}

/// A claim whose claimer may have gone: the snapshot is returned unless the claim is taken.
struct UntakenClaim(Option<PathBuf>);

impl UntakenClaim {
    fn take(mut self) {
        self.0 = None;
    }
}

impl Drop for UntakenClaim {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            file::unclaim(path);
        }
    }
}

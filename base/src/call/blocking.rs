//! Work that waits for the disk, off the thread of a session.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::LocalFuture;

/// A bounded pool of threads for work that blocks.
pub trait BlockingPool {
    /// Runs work on one of the threads; ready once it is done. Work that has not begun when the wait ends may never
    /// run; work that has begun continues.
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> LocalFuture<'static, io::Result<()>>;

    /// Records that this thread keeps `bytes` bytes allocated by another thread, because memory is counted per thread.
    fn keep(&self, bytes: usize);
}

/// Runs work on a pool and returns its result.
///
/// # Errors
/// Fails if the system could not start a thread, or the work panicked.
pub async fn run_blocking<T: Send + 'static>(
    pool: &dyn BlockingPool,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let made = Arc::new(Mutex::new(None));
    let place = made.clone();
    let put = move || *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(work());
    pool.run(Box::new(put)).await?;
    let made = made.lock().unwrap_or_else(PoisonError::into_inner).take();
    made.ok_or_else(|| io::Error::other("the work ended without a result"))
}

//! Tasks of the async runtime, as boxes: tokio's code for a task is then compiled once for each type of result, and not twice for
//! each task. It was a tenth of this crate.

use std::future::Future;
use std::pin::Pin;

use stdlib::{CodeRef, Diagnostic};
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a task on the current runtime.
pub(crate) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(Box::pin(work) as Boxed<T>)
}

/// Starts a task on a runtime.
pub(crate) fn spawn_on<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    runtime.spawn(Box::pin(work) as Boxed<T>)
}

/// Starts a task of a set.
pub(crate) fn spawn_in<T: Send + 'static>(
    set: &mut JoinSet<T>,
    work: impl Future<Output = T> + Send + 'static,
) -> AbortHandle {
    set.spawn(Box::pin(work) as Boxed<T>)
}

/// Starts work that waits, on a thread of its own.
pub(crate) fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(Box::new(work) as Box<dyn FnOnce() -> T + Send>)
}

/// Runs a server on a runtime of the current thread. `code` is that of the diagnostic if the system refuses a runtime.
pub(crate) fn on_this_thread(
    code: impl Into<CodeRef>,
    work: impl Future<Output = Result<i32, Vec<Diagnostic>>>,
) -> Result<i32, Vec<Diagnostic>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| vec![Diagnostic::new(code, format!("could not start the async runtime: {error}"))])?;
    let ended = runtime.block_on(work);
    // Do not wait for connections whose clients do not read, and for threads that block.
    runtime.shutdown_background();
    ended
}

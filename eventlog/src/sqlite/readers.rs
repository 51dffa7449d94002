//! Threads that read the file for tasks that must not wait for the disk.
//!
//! Each has a connection of its own, so a long read delays no other one. Pages of tails have a thread to themselves, and
//! so have the changes of owners and removals, which also write.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::LogError;

use super::file::LogFile;
use super::open::{for_writing, not_written};
use super::presence::FilePresence;
use super::{SqliteOptions, progress};

/// Maximum number of threads that read pages for queries.
const READERS: usize = 3;

/// Work on a connection, which gets an error if there is none.
type Work<C> = Box<dyn FnOnce(Result<&C, LogError>) + Send>;

/// Threads with a connection each, started when they are needed, and ended with the pool.
struct Pool<C> {
    state: Arc<(Mutex<PoolState<C>>, Condvar)>,
    open: Arc<dyn Fn() -> Result<C, LogError> + Send + Sync>,
    most: usize,
    /// Whether work may be interrupted once its caller has given up.
    interrupts: bool,
}

/// Says that work is no longer wanted once it is dropped.
#[derive(Default)]
struct WantedGuard(Arc<AtomicBool>);

impl Drop for WantedGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct PoolState<C> {
    work: VecDeque<Work<C>>,
    /// Number of threads that wait for work.
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    is_closed: bool,
}

impl<C: 'static> Pool<C> {
    fn new(most: usize, interrupts: bool, open: impl Fn() -> Result<C, LogError> + Send + Sync + 'static) -> Pool<C> {
        let state = PoolState { work: VecDeque::new(), idle: 0, threads: Vec::new(), is_closed: false };
        Pool { state: Arc::new((Mutex::new(state), Condvar::new())), open: Arc::new(open), most, interrupts }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState<C>> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work on a thread of the pool. Work whose caller has given up is not begun, and a read is interrupted.
    async fn run<T: Send + 'static, E: From<LogError> + Send + 'static>(
        &self,
        path: Arc<Path>,
        work: impl FnOnce(&C) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (done, result) = oneshot::channel();
        let wanted = WantedGuard::default();
        let given_up = self.interrupts.then(|| wanted.0.clone());
        let run = move |connection: Result<&C, LogError>| {
            if !done.is_closed() {
                let work = || connection.map_err(E::from).and_then(work);
                let _ = done.send(match given_up {
                    Some(given_up) => progress::while_wanted(given_up, work),
                    None => work(),
                });
            }
        };
        let cannot = |why: String| E::from(LogError::CannotOpen { path: path.clone(), why });
        self.give(Box::new(run)).map_err(|error| cannot(format!("could not start a thread to read it ({error})")))?;
        result.await.unwrap_or_else(|_| Err(cannot("it has been closed".to_owned())))
    }

    fn give(&self, work: Work<C>) -> std::io::Result<()> {
        let mut state = self.lock();
        if state.is_closed {
            // The receiver learns of it by the end of its sender.
            return Ok(());
        }
        state.work.push_back(work);
        if state.idle < state.work.len() && state.threads.len() < self.most {
            let (shared, open) = (self.state.clone(), self.open.clone());
            let thread = std::thread::Builder::new()
                .name("event log reader".to_owned())
                .spawn(move || serve(&shared, open.as_ref()));
            match thread {
                Ok(thread) => state.threads.push(thread),
                Err(error) if state.threads.is_empty() => {
                    state.work.clear();
                    return Err(error);
                }
                // The others will come to it.
                Err(_) => {}
            }
        }
        drop(state);
        self.state.1.notify_one();
        Ok(())
    }

    /// Ends the threads. Reads are interrupted, since no caller is left; changes that have begun are done.
    fn close(&self) {
        let threads = {
            let mut state = self.lock();
            state.is_closed = true;
            state.work.clear();
            std::mem::take(&mut state.threads)
        };
        self.state.1.notify_all();
        for thread in threads {
            // One that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

fn serve<C>(shared: &(Mutex<PoolState<C>>, Condvar), open: &dyn Fn() -> Result<C, LogError>) {
    let mut connection: Option<C> = None;
    loop {
        let work = {
            let mut state = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                if state.is_closed {
                    return;
                }
                if let Some(work) = state.work.pop_front() {
                    break work;
                }
                state.idle += 1;
                state = shared.1.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        };
        // A file that could not be opened may be there the next time.
        let opened = match connection.take() {
            Some(open) => Ok(open),
            None => open(),
        };
        match opened {
            Ok(opened) => work(Ok(connection.insert(opened))),
            Err(error) => work(Err(error)),
        }
    }
}

/// A connection that changes owners and removes records.
pub(super) struct Control {
    pub(super) connection: Connection,
    presence: Mutex<FilePresence>,
}

/// The threads of a log.
pub(super) struct Readers {
    path: Arc<Path>,
    options: SqliteOptions,
    reads: Pool<LogFile>,
    tails: Pool<LogFile>,
    control: Pool<Control>,
}

impl Readers {
    pub(super) fn new(path: &Arc<Path>, options: &SqliteOptions) -> Readers {
        let beside = |options: &SqliteOptions| {
            let (path, timeout) = (path.clone(), options.lock_timeout);
            move || LogFile::open_beside(&path, timeout)
        };
        let (place, how) = (path.clone(), options.clone());
        let control = move || {
            let connection = for_writing(&place, &how)?;
            Ok(Control { connection, presence: Mutex::new(FilePresence::new(place.clone())) })
        };
        Readers {
            reads: Pool::new(READERS, true, beside(options)),
            tails: Pool::new(1, true, beside(options)),
            control: Pool::new(1, false, control),
            path: path.clone(),
            options: options.clone(),
        }
    }

    /// Reads for a query.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&LogFile) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        self.reads.run(self.path.clone(), read).await
    }

    /// Reads a page of a tail.
    pub(super) async fn page<T: Send + 'static>(
        &self,
        read: impl FnOnce(&LogFile) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        self.tails.run(self.path.clone(), read).await
    }

    /// Changes the file beside its writer.
    pub(super) async fn change<T: Send + 'static, E: From<LogError> + Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        let (path, timeout) = (self.path.clone(), self.options.lock_timeout);
        let run = move |control: &Control| {
            control.presence.lock().unwrap_or_else(PoisonError::into_inner).check()?;
            // It may wait for a writer, and must not wait for ever.
            let changed = progress::within(timeout.saturating_mul(2), || change(&control.connection));
            changed.unwrap_or_else(|error| Err(not_written(&path, &error, timeout).into()))
        };
        self.control.run(self.path.clone(), run).await
    }

    pub(super) fn close(&self) {
        self.reads.close();
        self.tails.close();
        self.control.close();
    }
}

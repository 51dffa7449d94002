//! The file operations of a run. A disk or a server of files may take any time to answer, so they run on the blocking pool:
//! the thread that a session shares with others goes on, and a limit or a cancellation ends the wait.
//!
//! The operations of one run take effect in the order in which they are asked for: reads side by side, a write by itself. A write
//! whose wait was ended keeps its place until it is over, so that nothing written later is overwritten by it.
//!
//! The memory of a run is counted on its thread. What an operation needs is therefore handed over and comes back; what it makes
//! is counted with [`lang::vm::take_over`].

use base::call::{BlockingPool, LocalFuture};
use eventlog::while_wanted;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, Semaphore};
use tokio::task::JoinHandle;

/// Operations of one run at a time, so that a run whose files do not answer leaves threads to the others.
const MOST_AT_ONCE: usize = 16;

/// Bytes that are read or written at a time: an operation on a large file ends between two parts.
pub(crate) const PART: usize = 4 << 20;

/// The operations of a run.
pub(crate) struct Disk {
    order: Arc<RwLock<()>>,
    places: Arc<Semaphore>,
}

impl Default for Disk {
    fn default() -> Self {
        Self { order: Arc::default(), places: Arc::new(Semaphore::new(MOST_AT_ONCE)) }
    }
}

impl Disk {
    /// Whether no write is asked for, so that a read that does not wait may be first.
    pub(crate) fn is_quiet(&self) -> bool {
        self.order.try_read().is_ok()
    }

    /// Returns the pool for work that keeps no order with the operations: reads of the event log, the state of loops.
    pub(crate) fn pool(&self) -> DiskPool {
        DiskPool { places: self.places.clone() }
    }

    /// Waits until the writes asked for before are over; for a write, all that was asked for before.
    pub(crate) async fn turn(&self, writes: bool) -> DiskTurn {
        let held = match writes {
            true => DiskHold::Write(Some(self.order.clone().write_owned().await)),
            false => DiskHold::Read { _guard: self.order.clone().read_owned().await },
        };
        DiskTurn { held, places: self.places.clone() }
    }
}

/// The threads that a run may keep waiting for the disk. Clones are the same pool.
#[derive(Clone)]
pub(crate) struct DiskPool {
    places: Arc<Semaphore>,
}

impl BlockingPool for DiskPool {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> LocalFuture<'static, io::Result<()>> {
        let places = self.places.clone();
        Box::pin(async move {
            let place = places.acquire_owned().await.map_err(io::Error::other)?;
            #[cfg(test)]
            let stall = stall::here();
            let given_up = CancelOnDrop::default();
            let is_given_up = given_up.0.clone();
            let mut step = Step(tokio::task::spawn_blocking(move || {
                #[cfg(test)]
                stall.wait();
                while_wanted(is_given_up, work);
                drop(place);
            }));
            (&mut step.0).await.map_err(io::Error::other)
        })
    }

    fn keep(&self, bytes: usize) {
        lang::vm::take_over(bytes);
    }
}

/// Says that nobody waits any more, when it is dropped: a read of the event log that takes long ends then.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The turn of one operation.
pub(crate) struct DiskTurn {
    held: DiskHold,
    places: Arc<Semaphore>,
}

enum DiskHold {
    /// Given back when the wait ends: a read that goes on changes nothing.
    Read { _guard: OwnedRwLockReadGuard<()> },
    /// Goes along with the work.
    Write(Option<OwnedRwLockWriteGuard<()>>),
}

impl DiskTurn {
    /// Does a step of the operation on the blocking pool. If the wait is ended, a step that has not begun never does.
    ///
    /// # Errors
    /// Fails like the work, and if no thread can be started.
    pub(crate) async fn run<S: Send + 'static, T: Send + 'static>(
        &mut self,
        mut state: S,
        work: impl FnOnce(&mut S) -> io::Result<T> + Send + 'static,
    ) -> io::Result<(S, T)> {
        let place = self.places.clone().acquire_owned().await.map_err(io::Error::other)?;
        let guard = match &mut self.held {
            DiskHold::Read { .. } => None,
            DiskHold::Write(guard) => guard.take(),
        };
        #[cfg(test)]
        let stall = stall::here();
        let mut step = Step(tokio::task::spawn_blocking(move || {
            #[cfg(test)]
            stall.wait();
            let done = work(&mut state);
            drop(place);
            (state, done, guard)
        }));
        let (state, done, guard) = (&mut step.0).await.map_err(io::Error::other)?;
        if let DiskHold::Write(held) = &mut self.held {
            *held = guard;
        }
        done.map(|made| (state, made))
    }
}

/// A step at work or waiting for a thread.
struct Step<T>(JoinHandle<T>);

impl<T> Drop for Step<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A disk that does not answer the runs of one thread.
#[cfg(test)]
pub(crate) mod stall {
    use crate::tokio_wait::LIMIT;
    use std::cell::RefCell;
    use std::sync::{Arc, Condvar, Mutex};

    #[derive(Default)]
    struct State {
        stalled: bool,
        /// Steps that still pass.
        passing: usize,
        /// Steps that wait for the disk.
        waiting: usize,
        /// Steps that were asked for and have not been let through.
        open: usize,
        /// The most that were open at once.
        most_open: usize,
    }

    type Shared = Arc<(Mutex<State>, Condvar)>;

    #[derive(Clone, Default)]
    pub(super) struct Stall(Option<Shared>);

    thread_local! {
        static HERE: RefCell<Stall> = RefCell::default();
    }

    /// While it is there, no step of a run of this thread begins.
    pub(crate) struct Stalled(Shared);

    impl Stalled {
        pub(crate) fn new() -> Self {
            Self::after(0)
        }

        /// A disk that answers so many steps and then no more.
        pub(crate) fn after(passing: usize) -> Self {
            let all = Shared::default();
            *all.0.lock().unwrap() = State { stalled: true, passing, ..State::default() };
            HERE.set(Stall(Some(all.clone())));
            Self(all)
        }

        /// Waits until so many steps wait for the disk at once.
        pub(crate) fn until_waiting(&self, count: usize) {
            let state = self.0.0.lock().unwrap();
            let state = self.0.1.wait_timeout_while(state, LIMIT, |state| state.waiting < count).unwrap().0;
            assert!(state.waiting >= count, "{} of {count} steps wait for the disk", state.waiting);
        }

        /// Returns the function that tells how many steps were open at once at most.
        pub(super) fn most_open(&self) -> impl Fn() -> usize + Send + use<> {
            let all = self.0.clone();
            move || all.0.lock().unwrap().most_open
        }
    }

    impl Drop for Stalled {
        fn drop(&mut self) {
            HERE.take();
            self.0.0.lock().unwrap().stalled = false;
            self.0.1.notify_all();
        }
    }

    pub(super) fn here() -> Stall {
        let here = HERE.with_borrow(Clone::clone);
        if let Some(all) = &here.0 {
            let mut state = all.0.lock().unwrap();
            state.open += 1;
            state.most_open = state.most_open.max(state.open);
        }
        here
    }

    impl Stall {
        pub(super) fn wait(self) {
            if let Some(all) = self.0 {
                let mut state = all.0.lock().unwrap();
                if state.passing > 0 {
                    state.passing -= 1;
                    state.open -= 1;
                    return;
                }
                state.waiting += 1;
                all.1.notify_all();
                state = all.1.wait_while(state, |state| state.stalled).unwrap();
                state.waiting -= 1;
                state.open -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;

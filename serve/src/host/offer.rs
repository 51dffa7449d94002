//! [`Offer`]: a session that is to be opened, and that whichever worker comes first opens.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::HostError;
use super::worker::Open;

/// A session that is to be opened, once.
pub(super) struct Offer(Mutex<Option<(Open, Arc<AtomicUsize>)>>);

impl Offer {
    /// It counts as a session of the worker with this load until another one takes it.
    pub(super) fn new(open: Open, load: &Arc<AtomicUsize>) -> Arc<Offer> {
        load.fetch_add(1, Ordering::Relaxed);
        Arc::new(Offer(Mutex::new(Some((open, load.clone())))))
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Option<(Open, Arc<AtomicUsize>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no worker has come for it yet.
    pub(super) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// The worker with this load takes it, unless another one has.
    pub(super) fn take(&self, load: &Arc<AtomicUsize>) -> Option<Open> {
        let (open, counted) = self.lock().take()?;
        if !Arc::ptr_eq(&counted, load) {
            counted.fetch_sub(1, Ordering::Relaxed);
            load.fetch_add(1, Ordering::Relaxed);
        }
        Some(open)
    }

    /// Nobody waits for it any more: it is over, unless a worker has it.
    pub(super) fn withdraw(&self) {
        let Some((open, counted)) = self.lock().take() else { return };
        counted.fetch_sub(1, Ordering::Relaxed);
        let id = open.mailbox.id().clone();
        open.mailbox.over(HostError::Closed(id));
    }
}

/// Since when a worker has not come for what it was offered.
#[derive(Default)]
pub(super) struct Offers(Mutex<VecDeque<Instant>>);

impl Offers {
    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is offered one more.
    pub(super) fn add(&self) {
        self.lock().push_back(Instant::now());
    }

    /// It came for the oldest.
    pub(super) fn came(&self) {
        self.lock().pop_front();
    }

    /// Whether it has not come for one in this time.
    pub(super) fn is_late(&self, late: Duration) -> bool {
        self.lock().front().is_some_and(|since| since.elapsed() >= late)
    }
}

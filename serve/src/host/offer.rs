//! [`SessionOffer`]: a session to open, which the first free worker takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::HostError;
use super::worker::SessionOpening;

/// A session to open, taken once.
pub(super) struct SessionOffer(Mutex<Option<(SessionOpening, Arc<AtomicUsize>)>>);

impl SessionOffer {
    /// Creates an offer. It counts as a session of the worker with this load until another worker takes it.
    pub(super) fn new(open: SessionOpening, load: &Arc<AtomicUsize>) -> Arc<SessionOffer> {
        load.fetch_add(1, Ordering::Relaxed);
        Arc::new(SessionOffer(Mutex::new(Some((open, load.clone())))))
    }

    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, Option<(SessionOpening, Arc<AtomicUsize>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether no worker has taken it yet.
    pub(super) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// Takes the session for the worker with this load, unless another one has it.
    pub(super) fn take(&self, load: &Arc<AtomicUsize>) -> Option<SessionOpening> {
        let (open, counted) = self.lock().take()?;
        if !Arc::ptr_eq(&counted, load) {
            counted.fetch_sub(1, Ordering::Relaxed);
            load.fetch_add(1, Ordering::Relaxed);
        }
        Some(open)
    }

    /// Withdraws the session, which is then over, unless a worker has it.
    pub(super) fn withdraw(&self) {
        let Some((open, counted)) = self.lock().take() else { return };
        counted.fetch_sub(1, Ordering::Relaxed);
        let id = open.mailbox.id().clone();
        open.mailbox.over(HostError::Closed(id));
    }
}

/// The times of the offers that a worker has not yet taken.
#[derive(Default)]
pub(super) struct OfferTimes(Mutex<VecDeque<Instant>>);

impl OfferTimes {
    /// Locks the state. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an offer.
    pub(super) fn add(&self) {
        self.lock().push_back(Instant::now());
    }

    /// Removes the oldest offer, which the worker has reached.
    pub(super) fn came(&self) {
        self.lock().pop_front();
    }

    /// Returns whether an offer has been waiting for at least `late`.
    pub(super) fn is_late(&self, late: Duration) -> bool {
        self.lock().front().is_some_and(|since| since.elapsed() >= late)
    }
}

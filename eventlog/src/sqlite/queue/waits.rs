//! Futures of what becomes of records, and of room for more.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use crate::log::{AppendError, Batch, Written};
use crate::{LogError, NewRecord, RecordPosition};

use super::{BatchSlot, PositionSlot, ReplySlot, WriteQueue};

/// A future that is ready once everything up to a ticket is durable.
pub(in crate::sqlite) struct DurabilityWait {
    shared: Arc<WriteQueue>,
    upto: u64,
    waiter: u64,
    /// Number of failed attempts when the wait began.
    failures: Option<u64>,
    /// Whether it waits for all records, so that it reports what was lost before.
    is_for_all: bool,
}

impl DurabilityWait {
    pub(in crate::sqlite) fn new(shared: Arc<WriteQueue>, upto: u64) -> DurabilityWait {
        let (upto, waiter, is_for_all) = {
            let mut state = shared.lock();
            state.last_waiter += 1;
            let is_for_all = upto > state.appended;
            let upto = if is_for_all { state.all() } else { upto };
            (upto, state.last_waiter, is_for_all)
        };
        DurabilityWait { shared, upto, waiter, failures: None, is_for_all }
    }
}

impl Future for DurabilityWait {
    type Output = Result<(), LogError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.shared.lock();
        let failures = *this.failures.get_or_insert(state.failures);
        if let Some(verdict) = state.verdict(this.upto, failures) {
            let unreported = if this.is_for_all { state.unreported.take() } else { None };
            return Poll::Ready(match unreported {
                Some((count, why)) => Err(LogError::Lost { count, why: Box::new(why) }),
                None => verdict,
            });
        }
        this.shared.urge(&mut state);
        state.waiting.insert((this.upto, this.waiter), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for DurabilityWait {
    fn drop(&mut self) {
        self.shared.lock().waiting.remove(&(self.upto, self.waiter));
    }
}

/// A future that is ready once a reply is there.
pub(in crate::sqlite) struct ReplyWait<T> {
    reply: ReplySlot<T>,
    /// Wakes when the ticket is settled, or when an attempt failed.
    durable: DurabilityWait,
}

impl ReplyWait<Result<RecordPosition, LogError>> {
    /// Appends the record at once, whether or not the future is awaited.
    pub(in crate::sqlite) fn emit(shared: Arc<WriteQueue>, record: NewRecord) -> Self {
        let reply = PositionSlot::default();
        let ticket = shared.append(record, Some(reply.clone()));
        ReplyWait { reply, durable: DurabilityWait::new(shared, ticket) }
    }
}

impl ReplyWait<Result<Written, AppendError>> {
    /// Appends the batch at once, whether or not the future is awaited. Returns its ticket, too.
    pub(in crate::sqlite) fn append(shared: Arc<WriteQueue>, batch: Batch) -> Result<(u64, Self), AppendError> {
        let reply = BatchSlot::default();
        let ticket = shared.append_batch(batch, reply.clone())?;
        Ok((ticket, ReplyWait { reply, durable: DurabilityWait::new(shared, ticket) }))
    }
}

impl<T, E: From<LogError>> Future for ReplyWait<Result<T, E>> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.durable.shared.lock();
        if let Some(result) = this.reply.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Poll::Ready(result);
        }
        if let (true, Some(why)) = (state.dead, &state.ended) {
            return Poll::Ready(Err(state.as_lost(why).into()));
        }
        this.durable.shared.urge(&mut state);
        state.waiting.insert((this.durable.upto, this.durable.waiter), cx.waker().clone());
        Poll::Pending
    }
}

/// A future that is ready once the queue has room for more, or nothing can be written.
pub(in crate::sqlite) struct RoomWait {
    shared: Arc<WriteQueue>,
    waiter: u64,
}

impl RoomWait {
    /// Returns a wait for room; `None` if there is some.
    pub(in crate::sqlite) fn new(shared: &Arc<WriteQueue>) -> Option<RoomWait> {
        let mut state = shared.lock();
        state.is_behind().then(|| {
            state.last_waiter += 1;
            RoomWait { shared: shared.clone(), waiter: state.last_waiter }
        })
    }
}

impl Future for RoomWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        if !state.is_behind() {
            return Poll::Ready(());
        }
        state.roomless.insert(self.waiter, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for RoomWait {
    fn drop(&mut self) {
        self.shared.lock().roomless.remove(&self.waiter);
    }
}

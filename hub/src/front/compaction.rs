//! Compaction: a checkpoint of the broker's state from time to time, and the removal of the batches that it replaces.
//!
//! A checkpoint is written in parts while the hub works on. Once its end is stored, the batches before the *previous*
//! checkpoint are removed, so that subscriptions can resume after a restart for as long as one interval. A hub that is
//! killed at any point loses nothing: without its end, a checkpoint only repeats what is stored before it, and a removal
//! that was interrupted is repeated by the next start.

use std::sync::{Arc, Weak};
use std::time::Duration;

use base::failures::{FailedOperation, report};

use crate::broker::CheckpointCursor;
use crate::broker::change::{ChangeBatch, CheckpointEnd, CheckpointPart};
use crate::store::{Durability, Store, StoreError, StoreFuture, TrimmableStore};

use super::{Hub, HubInner, TICK};

/// Time until the next attempt after a checkpoint failed.
const PAUSE: Duration = Duration::from_secs(60);

/// The state of a hub's store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Size of the store, in bytes.
    pub bytes: u64,
    /// Number of checkpoints since the process began.
    pub checkpoints: u64,
    /// Time of the last checkpoint, in milliseconds since 1970-01-01 UTC; `None` if the store has none.
    pub last_checkpoint_ms: Option<u64>,
    /// Approximate size of the last checkpoint, in bytes.
    pub checkpoint_bytes: u64,
    /// Number of batches that were removed since the process began.
    pub removed: u64,
}

/// The checkpoints of a store.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Positions of the first parts of the last two complete checkpoints.
    previous: Option<u64>,
    last: Option<u64>,
    /// Size of all batches when the last complete checkpoint began.
    begun_bytes: u64,
    /// Size of all batches when the present checkpoint began, and the size of its parts.
    present: (u64, u64),
    /// Position before which batches are still to be removed.
    to_remove: Option<u64>,
    stats: StoreStats,
}

impl Checkpoints {
    /// Notes a part of a checkpoint, after `written` bytes of batches.
    fn note(&mut self, part: &CheckpointPart, bytes: u64, written: u64) {
        if part.begins {
            self.present = (written.saturating_sub(bytes), 0);
        }
        self.present.1 += bytes;
        let Some(CheckpointEnd { begun_at, .. }) = part.end else { return };
        self.previous = self.last.replace(begun_at);
        self.begun_bytes = self.present.0;
        self.to_remove = self.previous;
        self.stats.last_checkpoint_ms = Some(part.at_ms);
        self.stats.checkpoint_bytes = self.present.1;
    }

    /// Returns whether a checkpoint is due. A store with much state waits until as much is written again.
    fn is_due(&self, written: u64, compact_bytes: u64) -> bool {
        written.saturating_sub(self.begun_bytes) >= compact_bytes.saturating_add(self.stats.checkpoint_bytes * 2)
    }
}

/// Reads the batches of a store, and what they say about its checkpoints.
#[derive(Debug, Default)]
pub(super) struct CheckpointReader {
    checkpoints: Checkpoints,
    written: u64,
    /// Whether the store begins with its first batch.
    is_whole: Option<bool>,
    /// Number of the last change at the end of the first complete checkpoint.
    complete_from: Option<u64>,
}

impl CheckpointReader {
    /// Takes the next batch.
    pub(super) fn take(&mut self, store: &dyn Store, batch: &ChangeBatch) {
        self.is_whole.get_or_insert_with(|| batch.is_first());
        let written = store.trimmable().map_or(0, TrimmableStore::written_bytes);
        if let Some(part) = &batch.checkpoint {
            self.checkpoints.note(part, written - self.written, written);
            if part.end.is_some() {
                self.complete_from.get_or_insert(part.last_number);
            }
        }
        self.written = written;
    }

    /// Returns the checkpoints, and the number of the change up to which events are missing.
    ///
    /// # Errors
    /// Fails if batches are missing that no checkpoint replaces.
    pub(super) fn finish(self) -> Result<(Checkpoints, u64), StoreError> {
        let missing = match (self.is_whole, self.complete_from) {
            (None | Some(true), _) => 0,
            (Some(false), Some(number)) => number,
            (Some(false), None) => return Err(StoreError::Incomplete),
        };
        Ok((self.checkpoints, missing))
    }
}

impl Hub {
    /// Returns the state of the store; `None` if it keeps nothing, or cannot be compacted.
    #[must_use]
    pub fn store_stats(&self) -> Option<StoreStats> {
        let bytes = self.0.store.trimmable()?.size();
        Some(StoreStats { bytes, ..self.lock().checkpoints.stats })
    }

    /// Writes a checkpoint now, and removes the batches before the previous one.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub async fn compact(&self) -> Result<(), StoreError> {
        let weak = Arc::downgrade(&self.0);
        checkpoint(&weak).await?;
        remove(&weak).await
    }

    /// Appends a part of a checkpoint at its place between the changes. Returns a future that is ready once it is stored.
    fn append_part(&self, cursor: &mut CheckpointCursor) -> Option<StoreFuture<u64>> {
        let mut state = self.lock();
        let now_ms = self.0.time.now_ms();
        let batch = state.broker.checkpoint_part(cursor, now_ms);
        let part = batch.checkpoint.clone().unwrap_or_default();
        let before = self.written();
        let durability = self.0.store.append(batch);
        let written = self.written();
        state.checkpoints.note(&part, written - before, written);
        match durability {
            Durability::Done => None,
            Durability::Pending(number) => Some(self.0.store.stored(number)),
        }
    }

    fn written(&self) -> u64 {
        self.0.store.trimmable().map_or(0, TrimmableStore::written_bytes)
    }
}

/// Compacts the store whenever it is due, until the hub is dropped.
pub(super) async fn run(hub: Weak<HubInner>) {
    let mut compact_bytes = u64::MAX;
    if let Some(inner) = hub.upgrade() {
        let hub = Hub(inner);
        if hub.0.store.trimmable().is_none() {
            return;
        }
        compact_bytes = hub.lock().broker.options().compact_bytes;
    }
    loop {
        let Some(inner) = hub.upgrade() else { return };
        let (is_due, to_remove, is_failed) = {
            let (written, hub) = (Hub(inner.clone()).written(), Hub(inner));
            let state = hub.lock();
            let is_due = state.checkpoints.is_due(written, compact_bytes);
            (is_due, state.checkpoints.to_remove.is_some(), state.failed.is_some())
        };
        if is_failed {
            return;
        }
        // No reference to the hub is held while this waits.
        let result = match (is_due, to_remove) {
            (true, _) => checkpoint(&hub).await,
            (false, true) => remove(&hub).await,
            (false, false) => Ok(()),
        };
        let pause = match result {
            Ok(()) if is_due => Duration::ZERO,
            Ok(()) => TICK,
            Err(error) => {
                let message = format_args!("could not compact the hub's store: {error}");
                report(FailedOperation::Write, "hub store compaction", message);
                PAUSE
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Writes a checkpoint. Ends early if the hub is dropped.
async fn checkpoint(weak: &Weak<HubInner>) -> Result<(), StoreError> {
    let mut cursor = CheckpointCursor::default();
    let Some(begun) = begin(weak, &mut cursor) else { return Ok(()) };
    let begun_at = begun.await?;
    while !cursor.is_saved() {
        let Some(inner) = weak.upgrade() else { return Ok(()) };
        // Each part waits for the last one, so that the changes of the hub need not wait for a whole checkpoint.
        let stored = Hub(inner).append_part(&mut cursor);
        if let Some(stored) = stored {
            stored.await?;
        }
    }
    let Some(end) = end(weak, &cursor, begun_at) else { return Ok(()) };
    let (part, bytes, written, stored) = end;
    stored.await?;
    let Some(inner) = weak.upgrade() else { return Ok(()) };
    let hub = Hub(inner);
    let mut state = hub.lock();
    state.checkpoints.note(&part, bytes, written);
    state.checkpoints.stats.checkpoints += 1;
    Ok(())
}

/// Appends the first part of a checkpoint, whose position must be known.
fn begin(weak: &Weak<HubInner>, cursor: &mut CheckpointCursor) -> Option<StoreFuture<u64>> {
    let hub = Hub(weak.upgrade()?);
    let mut state = hub.lock();
    let batch = state.broker.checkpoint_part(cursor, hub.0.time.now_ms());
    let part = batch.checkpoint.clone().unwrap_or_default();
    let begun = hub.0.store.trimmable()?.place(batch);
    let written = hub.written();
    state.checkpoints.note(&part, 0, written);
    Some(begun)
}

/// Appends the end of a checkpoint, which counts only once it is stored.
#[allow(clippy::type_complexity)]
fn end(
    weak: &Weak<HubInner>,
    cursor: &CheckpointCursor,
    begun_at: u64,
) -> Option<(CheckpointPart, u64, u64, StoreFuture<u64>)> {
    let hub = Hub(weak.upgrade()?);
    let state = hub.lock();
    let batch = state.broker.checkpoint_end(cursor, begun_at, hub.0.time.now_ms());
    let part = batch.checkpoint.clone().unwrap_or_default();
    let before = hub.written();
    let stored = hub.0.store.trimmable()?.place(batch);
    let written = hub.written();
    Some((part, written - before, written, stored))
}

/// Removes the batches that nothing needs.
async fn remove(weak: &Weak<HubInner>) -> Result<(), StoreError> {
    let removed = {
        let Some(inner) = weak.upgrade() else { return Ok(()) };
        let hub = Hub(inner);
        let Some(before) = hub.lock().checkpoints.to_remove else { return Ok(()) };
        let Some(store) = hub.0.store.trimmable() else { return Ok(()) };
        store.trim(before)
    };
    let removed = removed.await?;
    let Some(inner) = weak.upgrade() else { return Ok(()) };
    let hub = Hub(inner);
    let mut state = hub.lock();
    state.checkpoints.to_remove = None;
    state.checkpoints.stats.removed += removed;
    Ok(())
}

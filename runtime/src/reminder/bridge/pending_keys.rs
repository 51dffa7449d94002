//! [`PendingKeys`]: the dedupe keys that are pending in a session's transcript, for the code that accepts reminders on
//! another thread.

use std::collections::HashMap;
use std::sync::Arc;

use crate::reminder::Reminder;
use crate::reminder::lifecycle::LifecycleRecord;
use crate::transcript::Transcript;

/// The pending reminders of a session that have a key. Updated from the records of the lifecycle, each of which names
/// the reminder it creates or ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PendingKeys {
    /// The key of each reminder.
    keys: HashMap<Arc<str>, Arc<str>>,
    /// Number of pending reminders by key.
    counts: HashMap<Arc<str>, usize>,
}

impl PendingKeys {
    /// Returns the pending keys of a transcript.
    pub(crate) fn of(transcript: &Transcript) -> PendingKeys {
        let mut keys = PendingKeys::default();
        transcript.pending().for_each(|pending| keys.enter(&pending.reminder));
        keys
    }

    /// Returns the number of pending reminders with this key.
    pub(crate) fn count(&self, key: &str) -> usize {
        self.counts.get(key).copied().unwrap_or_default()
    }

    /// Adds a reminder that is pending or about to be.
    pub(crate) fn enter(&mut self, reminder: &Reminder) {
        let Some(key) = &reminder.dedupe_key else { return };
        if self.keys.insert(reminder.id.clone(), key.clone()).is_none() {
            *self.counts.entry(key.clone()).or_default() += 1;
        }
    }

    fn leave(&mut self, id: &str) {
        let Some(key) = self.keys.remove(id) else { return };
        if let Some(count) = self.counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
    }

    /// Applies a record.
    pub(crate) fn follow(&mut self, record: &LifecycleRecord) {
        use LifecycleRecord as R;
        match record {
            R::Injected(reminder) | R::Inherited(reminder) | R::Forked(reminder) => self.enter(reminder),
            R::Deduped(deduped) => deduped.replaced_ids.iter().for_each(|id| self.leave(id)),
            R::Expired { reminder_id: id, .. }
            | R::Discarded { reminder_id: id, .. }
            | R::Dropped { reminder_id: Some(id), .. } => self.leave(id),
            R::Dropped { reminder_id: None, .. }
            | R::Audited(_)
            | R::Fired { .. }
            | R::Deferred(_)
            | R::Refreshed { .. }
            | R::ConditionFailed { .. }
            | R::Judged(_)
            | R::ProviderEvaluated { .. }
            | R::Passed(_)
            | R::Void
            | R::SlotRejected(_)
            | R::Answered(_)
            | R::Resumed(_) => {}
        }
    }
}

//! The keys of a session's pending reminders, kept up to date from the records of the lifecycle: each names the reminder
//! that it creates or ends.

use crate::lifecycle::LifecycleRecord;
use crate::reminder::bridge::PendingKeys;
use crate::transcript::Transcript;

impl PendingKeys {
    /// Returns the pending keys of a transcript.
    pub(crate) fn of(transcript: &Transcript) -> PendingKeys {
        let mut keys = PendingKeys::default();
        transcript.pending().for_each(|pending| keys.enter(&pending.reminder));
        keys
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

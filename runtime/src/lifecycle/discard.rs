//! Removal of a session's events, all or in part.

use std::sync::Arc;

use crate::transcript::{PendingReminder, Transcript};

use super::{DiscardReason, LifecycleRecord, remove};

/// Discards all pending reminders (the session is reset or closed).
pub fn discard(transcript: &mut Transcript, reason: DiscardReason) -> Vec<LifecycleRecord> {
    let all = transcript.pending_slots();
    remove(transcript, all, |pending: PendingReminder| discarded(&pending.reminder.id, reason))
}

/// Empties a transcript.
pub fn reset(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    let records = discard(transcript, DiscardReason::Reset);
    *transcript = Transcript::new(transcript.id().clone());
    records
}

/// Keeps the last `keep` messages and the events since the first of them.
pub fn trim(transcript: &mut Transcript, keep: usize) -> Vec<LifecycleRecord> {
    let gone = transcript.keep_last(keep);
    gone.iter().map(|reminder| discarded(&reminder.id, DiscardReason::Trim)).collect()
}

fn discarded(id: &Arc<str>, reason: DiscardReason) -> LifecycleRecord {
    LifecycleRecord::Discarded { reminder_id: id.clone(), reason }
}

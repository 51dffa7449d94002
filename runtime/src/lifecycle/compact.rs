//! Effect of compaction on reminders: TTL, then dedupe, then the filter by `preserve_on_compact`. The filter is a
//! separate step, because a custom compactor receives the reminders before it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::reminder::ExpireReason;
use crate::reminder::Reminder;
use crate::transcript::Transcript;

use super::ttl::{charge_carried, charge_each};
use super::{ChargePass, LifecycleRecord, Replacement, remove};

/// The finite reminders that a compaction charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionCharge {
    /// All reminders: a script's `transcript_compact`.
    All,
    /// Reminders that a prompt has carried since their last charge: the loop's own compaction.
    Carried,
}

/// The result of the first two steps.
#[derive(Debug, Clone, Default)]
pub struct CompactPass {
    /// The resulting records, in order.
    pub records: Vec<LifecycleRecord>,
    /// Number of expired reminders.
    pub expired: usize,
    /// Number of reminders replaced by a newer one.
    pub deduped: usize,
    /// The remaining reminders, oldest first, with the current `ttl_turns`.
    pub survivors: Vec<Arc<Reminder>>,
}

/// Applies TTL, then dedupe (the newest stays).
pub fn compact(transcript: &mut Transcript, charge: CompactionCharge) -> CompactPass {
    let passed = match charge {
        CompactionCharge::All => charge_each(transcript, ChargePass::Compaction(charge), |_| true),
        CompactionCharge::Carried => charge_carried(transcript, ChargePass::Compaction(charge)),
    };
    let mut pass = CompactPass { records: passed.records, expired: passed.expired, ..CompactPass::default() };
    dedupe(transcript, &mut pass);
    // The model may not know the bodies any more that it was shown before.
    transcript.forget_bodies();
    pass.survivors = transcript.pending().map(|pending| transcript.present(pending)).collect();
    pass
}

/// Removes the reminders that are not preserved.
pub fn preserve_only(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    let lost = transcript.slots_where(|pending| !pending.reminder.preserve_on_compact);
    remove(transcript, lost, |pending| LifecycleRecord::Expired {
        reminder_id: pending.reminder.id.clone(),
        reason: ExpireReason::Compaction,
        ttl_turns_before: None,
    })
}

/// Admission allows no duplicate key, but an import may contain some.
fn dedupe(transcript: &mut Transcript, pass: &mut CompactPass) {
    let mut newest: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    let mut older: Vec<(u32, Arc<str>)> = Vec::new();
    for slot in transcript.pending_slots().into_iter().rev() {
        let Some(reminder) = transcript.pending_at(slot).map(|pending| pending.reminder.clone()) else { continue };
        let Some(key) = &reminder.dedupe_key else { continue };
        if newest.contains_key(key) {
            older.push((slot, key.clone()));
        } else {
            newest.insert(key.clone(), reminder.id.clone());
        }
    }
    let mut groups: Vec<(Arc<str>, Vec<Arc<str>>)> = Vec::new();
    for (slot, key) in older.into_iter().rev() {
        let Some(gone) = transcript.take_slot(slot).map(|pending| pending.reminder.id.clone()) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, ids)) => ids.push(gone),
            None => groups.push((key, vec![gone])),
        }
    }
    for (dedupe_key, replaced_ids) in groups {
        pass.deduped += replaced_ids.len();
        let replacing_id = newest[&dedupe_key].clone();
        pass.records.push(LifecycleRecord::Deduped(Box::new(Replacement {
            replaced_ids,
            replacing_id,
            dedupe_key: Some(dedupe_key),
        })));
    }
    // No duplicate key is left, so the index is complete again.
    if pass.deduped > 0 {
        transcript.reindex();
    }
    transcript.settle();
}

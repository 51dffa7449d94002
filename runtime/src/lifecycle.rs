//! The life of a reminder as a pure state machine: input is a transcript, a command and a [`LifecycleContext`], output the
//! transcript and the resulting records. It uses no clock, no randomness and no log, so a run can be repeated exactly.
//!
//! ```text
//! admitted (injected | inherited | forked) → pending → fired any number of times → expired | deduped | dropped | discarded
//! ```
//! A pending reminder may wait for a prompt ([`select`]); one that a provider makes again is refreshed.
//!
//! Everything enters by [`admit`]. Counted from the records of one session,
//! `injected + inherited + forked = pending + deduped + expired + dropped + discarded` holds after every command.
use std::collections::HashSet;
use std::sync::Arc;

use base::ids::Ids;

use crate::reminder::policy::{self, PolicyRefusal};
use crate::reminder::slots::Rendered;
use crate::reminder::{Reminder, ReminderSource, ReminderSpec};
use crate::transcript::{PendingReminder, Transcript};

pub mod archive;
mod command;
mod compact;
mod discard;
mod forced;
pub mod import;
mod inherit;
mod log;
pub mod rebuild;
mod record;
mod select;
mod selector;
#[cfg(test)]
mod tests;
mod ttl;

pub use command::{LifecycleCommand, apply};
pub use compact::{CompactPass, CompactionCharge, compact, preserve_only};
pub use discard::{discard, reset, trim};
pub use forced::{ForcedUnshown, check_slots};
pub use inherit::{fork, inherit, propagation};
pub(crate) use log::{LifecycleBatch, RecordOwner, RepeatedBatch};
pub use record::{
    ChargePass, Deferral, DiscardReason, DropReason, Judgement, LifecycleKind, LifecycleRecord, Replacement,
    SlotRejection, UnusualAnswer,
};
pub use select::{
    ConditionVerdict, DEFERRALS_PER_STEP, SelectInput, SelectedReminder, Selection, needs_selection, select,
};
pub use selector::{Selector, clear};
pub use ttl::{PassResult, before_prompt, post_turn, post_turn_by_hand};

/// The time and place of a command.
#[derive(Clone, Copy)]
pub struct LifecycleContext<'a> {
    /// The session; for a bare transcript, its id.
    pub session_id: &'a Arc<str>,
    /// The current tool call.
    pub task_id: Option<&'a Arc<str>>,
    /// The current agent; `None` means the session.
    pub agent_id: Option<&'a Arc<str>>,
    /// The turn, 0 before the first.
    pub turn: u32,
    /// Milliseconds since 1970-01-01 UTC.
    pub now_ms: u64,
    /// Source of ids.
    pub ids: &'a dyn Ids,
}

/// The way by which a reminder enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderOrigin {
    /// A producer made it.
    Injected,
    /// It was inherited in a handoff from a parent session.
    Inherited,
    /// It was copied with a transcript: a fork, or one read from a dict.
    Forked,
}

/// A reminder was admitted.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The reminder.
    pub reminder: Arc<Reminder>,
    /// Ids of the pending reminders it replaced.
    pub replaced: Vec<Arc<str>>,
    /// The resulting records, in order.
    pub records: Vec<LifecycleRecord>,
}

/// Admits a reminder, the only way into a transcript: replaces those with the same key or identity, then appends.
pub fn admit(
    transcript: &mut Transcript,
    reminder: Arc<Reminder>,
    road: ReminderOrigin,
    at: &LifecycleContext<'_>,
) -> Admission {
    admit_as(transcript, at.ids.next_text(at.now_ms), reminder, road)
}

/// Admits a reminder like [`admit`], with a known event id.
pub(crate) fn admit_as(
    transcript: &mut Transcript,
    event_id: Arc<str>,
    reminder: Arc<Reminder>,
    road: ReminderOrigin,
) -> Admission {
    let replaced: Vec<Arc<str>> = replaced_by(transcript, &reminder, road)
        .into_iter()
        .filter_map(|slot| transcript.take_slot(slot))
        .map(|old| old.reminder.id.clone())
        .collect();
    let mut records = Vec::with_capacity(1 + usize::from(!replaced.is_empty()));
    if !replaced.is_empty() {
        records.push(LifecycleRecord::Deduped(Box::new(Replacement {
            replaced_ids: replaced.clone(),
            replacing_id: reminder.id.clone(),
            dedupe_key: reminder.dedupe_key.clone(),
        })));
    }
    transcript.push_pending(event_id, reminder.clone());
    transcript.settle();
    records.push(match road {
        ReminderOrigin::Injected => LifecycleRecord::Injected(reminder.clone()),
        ReminderOrigin::Inherited => LifecycleRecord::Inherited(reminder.clone()),
        ReminderOrigin::Forked => LifecycleRecord::Forked(reminder.clone()),
    });
    Admission { reminder, replaced, records }
}

/// Returns the slots that a reminder replaces: those with its key, and an older version of itself (inherited again, or
/// injected twice). Copies of a transcript are admitted unchanged: their duplicate keys remain until compaction.
fn replaced_by(transcript: &Transcript, reminder: &Reminder, road: ReminderOrigin) -> Vec<u32> {
    let key = reminder.dedupe_key.as_ref().filter(|_| road != ReminderOrigin::Forked);
    let mut slots = key.map(|key| transcript.slots_of_key(key)).unwrap_or_default();
    if let Some(same) = transcript.slot_of_id(&reminder.id).filter(|same| !slots.contains(same)) {
        slots.push(same);
        slots.sort_unstable();
    }
    slots
}

/// Creates a reminder from a spec and admits it. One that a provider makes again while it is pending stays, with its
/// id and place, and its turns start over.
pub fn inject(
    transcript: &mut Transcript,
    spec: ReminderSpec,
    source: ReminderSource,
    producer: Option<Arc<str>>,
    at: &LifecycleContext<'_>,
) -> Admission {
    if source == ReminderSource::StdlibProvider
        && let Some(slot) = slot_of_same(transcript, &spec, producer.as_ref())
        && let Some(reminder) = transcript.renew(slot)
    {
        let (reminder_id, ttl_turns) = (reminder.id.clone(), reminder.ttl_turns);
        let records = vec![LifecycleRecord::Refreshed { reminder_id, ttl_turns }];
        return Admission { reminder, replaced: Vec::new(), records };
    }
    let id = at.ids.next_text(at.now_ms);
    let reminder = Reminder { producer, ..spec.into_reminder(id, source, at.turn) };
    admit(transcript, Arc::new(reminder), ReminderOrigin::Injected, at)
}

/// Returns the slot of the pending reminder that a provider has made from an equal spec.
fn slot_of_same(transcript: &Transcript, spec: &ReminderSpec, producer: Option<&Arc<str>>) -> Option<u32> {
    let [slot] = transcript.slots_of_key(spec.dedupe_key.as_ref()?)[..] else { return None };
    let known = &transcript.pending_at(slot)?.reminder;
    let is_of_provider = known.source == ReminderSource::StdlibProvider && known.producer.as_ref() == producer;
    (is_of_provider && known.is_of_spec(spec)).then_some(slot)
}

/// Adds a reminder to the transcript for the record only.
pub fn audit(transcript: &mut Transcript, reminder: Arc<Reminder>, at: &LifecycleContext<'_>) -> LifecycleRecord {
    transcript.push_audited(at.ids.next_text(at.now_ms), reminder.clone());
    LifecycleRecord::Audited(reminder)
}

/// Drops reminders that no route can show, before a bare call.
pub fn drop_unrenderable(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    if transcript.unrenderable_count() == 0 {
        return Vec::new();
    }
    let bad = transcript.slots_where(|pending| !pending.reminder.is_renderable());
    remove(transcript, bad, |pending| LifecycleRecord::Dropped {
        reminder_id: Some(pending.reminder.id.clone()),
        reason: DropReason::Invalid,
        detail: Some("its body is empty or too long".into()),
    })
}

/// Drops the pending reminders that the policy of the process refuses. Returns the refusals with their records.
pub fn drop_forbidden(transcript: &mut Transcript) -> Vec<(PolicyRefusal, LifecycleRecord)> {
    let checked = transcript.pending_by_slot().filter_map(|(slot, pending)| {
        let refusal = policy::check_named(pending.reminder.clone()).err()?;
        Some((slot, pending.reminder.id.clone(), refusal))
    });
    let forbidden: Vec<(u32, Arc<str>, PolicyRefusal)> = checked.collect();
    for (slot, ..) in &forbidden {
        transcript.take_slot(*slot);
    }
    transcript.settle();
    let dropped = |(_, id, refusal): (u32, Arc<str>, PolicyRefusal)| {
        let detail = Some(refusal.0.clone());
        (refusal, LifecycleRecord::Dropped { reminder_id: Some(id), reason: DropReason::Policy, detail })
    };
    forbidden.into_iter().map(dropped).collect()
}

/// Records that the request with `rendered` is sent: `fired` for each reminder in it, `dropped` for those without a
/// slot. A prompt of the loop charges the reminders it carries, not those admitted after rendering; a bare call charges
/// none.
pub fn fire(
    transcript: &mut Transcript,
    rendered: &Rendered,
    charges: bool,
    at: &LifecycleContext<'_>,
) -> Vec<LifecycleRecord> {
    if charges {
        let left_out = left_out(transcript, rendered);
        transcript.prompt_built(&left_out);
        if transcript.counts_firings() {
            count_firings(transcript, rendered);
        }
        transcript.leave_out(&left_out);
        // The prompt does not show these either, but not for lack of room.
        rendered.dropped.iter().for_each(|id| transcript.forget_mark(id));
        let dropped: Vec<u32> = rendered.dropped.iter().filter_map(|id| transcript.slot_of_id(id)).collect();
        transcript.leave_out(&dropped);
    }
    let mut records = Vec::with_capacity(rendered.fired.len());
    for fired in &rendered.fired {
        records.push(LifecycleRecord::Fired {
            reminder_id: fired.id.clone(),
            turn_number: at.turn,
            rendered_role: fired.rendered_role,
            charges,
            choice: fired.choice.clone(),
        });
    }
    for id in &rendered.dropped {
        if let Some(pending) = transcript.slot_of_id(id).and_then(|slot| transcript.take_slot(slot)) {
            records.push(LifecycleRecord::Dropped {
                reminder_id: Some(pending.reminder.id.clone()),
                reason: DropReason::CapabilityMismatch,
                detail: None,
            });
        }
    }
    transcript.settle();
    records
}

/// Counts the reminders that a prompt carries, as far as each prompt changes what is counted of them.
fn count_firings(transcript: &mut Transcript, rendered: &Rendered) {
    let mut fired = rendered.fired.iter().peekable();
    let mut carried = Vec::with_capacity(rendered.fired.len());
    // Both lists are in the order of the slots, unless a reminder was removed after rendering.
    for (slot, PendingReminder { reminder, .. }) in transcript.pending_by_slot() {
        if let Some(fired) = fired.next_if(|fired| fired.id == reminder.id)
            && transcript.counts_firing(reminder)
        {
            carried.push((slot, &fired.choice));
        }
    }
    for fired in fired {
        if let Some(slot) = transcript.slot_of_id(&fired.id)
            && transcript.pending_at(slot).is_some_and(|pending| transcript.counts_firing(&pending.reminder))
        {
            carried.push((slot, &fired.choice));
        }
    }
    for (slot, choice) in carried {
        transcript.count_firing(slot, choice.as_deref());
    }
}

/// Returns the slots of reminders that the prompt does not carry, in order: they wait, or a handler added them between
/// rendering and sending.
fn left_out(transcript: &Transcript, rendered: &Rendered) -> Vec<u32> {
    let shown = || rendered.fired.iter().map(|fired| &fired.id).chain(&rendered.dropped);
    let mut left = shown().peekable();
    let fewest = transcript.pending_count().saturating_sub(rendered.fired.len() + rendered.dropped.len());
    let mut out = Vec::with_capacity(fewest);
    for (slot, pending) in transcript.pending_by_slot() {
        if left.next_if_eq(&&pending.reminder.id).is_none() {
            out.push(slot);
        }
    }
    if left.peek().is_none() {
        return out;
    }
    // Some have no slot in the request, or were removed since.
    let shown: HashSet<&Arc<str>> = shown().collect();
    let pending = transcript.pending_by_slot();
    pending.filter(|(_, pending)| !shown.contains(&pending.reminder.id)).map(|(slot, _)| slot).collect()
}

/// Records which reminders of the last prompt its turn has followed. A reminder that ended during the turn was in the
/// prompt all the same, so nothing is required to be pending, and nothing changes.
#[must_use]
pub fn judge(judgements: impl IntoIterator<Item = Judgement>) -> Vec<LifecycleRecord> {
    judgements.into_iter().map(|judgement| LifecycleRecord::Judged(Box::new(judgement))).collect()
}

/// Voids the last prompt: the model failed, no one saw the prompt, so it charges nothing.
pub fn void(transcript: &mut Transcript) -> Vec<LifecycleRecord> {
    transcript.prompt_void();
    vec![LifecycleRecord::Void]
}

/// Removes the events in the slots, with a record for each.
fn remove(
    transcript: &mut Transcript,
    slots: Vec<u32>,
    record: impl Fn(PendingReminder) -> LifecycleRecord,
) -> Vec<LifecycleRecord> {
    let records = slots.into_iter().filter_map(|slot| transcript.take_slot(slot)).map(record).collect();
    transcript.settle();
    records
}

//! The pending reminders of a transcript: insertion, lookup and removal by the lifecycle.

use std::sync::{Arc, LazyLock};

use imbl::Vector;

use crate::reminder::{Reminder, ReminderSource};

use super::account::DueNotes;
use super::index::PendingIndex;
use super::{EventDetail, PendingReminder, Transcript, TranscriptEvent};

/// The length of a UUID as text.
const ID_LENGTH: usize = 36;

/// The kind of a reminder's event, allocated once.
static KIND: LazyLock<Arc<str>> = LazyLock::new(|| TranscriptEvent::REMINDER.into());

impl Transcript {
    /// Returns the pending reminders with their accounts, oldest first.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &PendingReminder> {
        self.events().filter_map(|event| event.pending())
    }

    /// Returns the pending reminders with their slots, oldest first.
    pub(crate) fn pending_by_slot(&self) -> impl Iterator<Item = (u32, &PendingReminder)> {
        // There are fewer slots than numbers.
        self.events.iter().filter_map(|(slot, event)| Some((u32::try_from(slot).ok()?, event.pending()?)))
    }

    /// Returns the number of pending reminders.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.index.count
    }

    /// Returns the pending reminder with an id.
    #[must_use]
    pub fn find(&self, reminder_id: &str) -> Option<&PendingReminder> {
        self.slot_of_id(reminder_id).and_then(|slot| self.pending_at(slot))
    }

    /// Appends a pending reminder. The caller must have removed those with its key and id.
    pub(crate) fn push_pending(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let slot = self.events.next();
        let rising = self.rises(&reminder);
        let pending = PendingReminder::new(reminder, self.account.prompts);
        self.push_reminder(event_id, EventDetail::Pending(pending.clone()), rising);
        self.index.enter(slot, &pending, rising, &self.events);
        self.account.due.note(slot, pending.expires_at_prompt, &self.events);
        self.succeed_waiting(&pending.reminder);
    }

    /// Appends a reminder for the record only.
    pub(crate) fn push_audited(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let rising = self.rises(&reminder);
        self.push_reminder(event_id, EventDetail::Audited(reminder), rising);
    }

    /// Removes a pending reminder and leaves a hole. [`Transcript::settle`] must follow.
    pub(crate) fn take_slot(&mut self, slot: u32) -> Option<PendingReminder> {
        let pending = self.pending_at(slot)?.clone();
        self.events.remove(slot);
        self.index.remove(&pending);
        self.forget_removed(&pending);
        Some(pending)
    }

    /// Closes the holes if they outnumber the events, and forgets the oldest firings if there are too many.
    pub(crate) fn settle(&mut self) {
        self.forget_oldest_firings();
        if self.events.is_sparse() {
            let open_slot = (0..self.account.open_slot).filter(|slot| !self.events.is_hole(*slot)).count();
            let slots = self.events().cloned().collect();
            self.set_slots(slots, open_slot);
        }
    }

    /// Replaces all slots; none of the new ones is a hole. `open_slot` of them precede the first open prompt.
    pub(super) fn set_slots(&mut self, slots: Vector<Arc<TranscriptEvent>>, open_slot: usize) {
        self.events.replace(slots);
        self.account.open_slot = open_slot;
        self.reindex();
    }

    /// Returns all slots with a pending reminder, oldest first.
    pub(crate) fn pending_slots(&self) -> Vec<u32> {
        self.slots_where(|_| true)
    }

    /// Returns the slots of the pending reminders that match, oldest first. Visits all slots.
    pub(crate) fn slots_where(&self, meant: impl Fn(&PendingReminder) -> bool) -> Vec<u32> {
        self.events.pending_where(meant)
    }

    /// Returns the number of pending reminders that no route can show.
    pub(crate) fn unrenderable_count(&self) -> usize {
        self.index.unrenderable
    }

    /// Returns the pending reminder in a slot.
    pub(crate) fn pending_at(&self, slot: u32) -> Option<&PendingReminder> {
        self.events.pending_at(slot)
    }

    /// Returns the slots of the pending reminders with a key, oldest first: at most one, unless an import contained
    /// more.
    pub(crate) fn slots_of_key(&self, key: &str) -> Vec<u32> {
        let has_key = |pending: &PendingReminder| pending.reminder.dedupe_key.as_deref() == Some(key);
        if self.index.by_key.is_crowded {
            return self.slots_where(has_key);
        }
        let found = self.index.by_key.get(key);
        found.filter(|slot| self.pending_at(*slot).is_some_and(has_key)).into_iter().collect()
    }

    /// Returns the slot of the pending reminder with an id.
    pub(crate) fn slot_of_id(&self, id: &str) -> Option<u32> {
        let found = self.events.search_rising(id);
        let foreign = &self.index.by_foreign_id;
        if found.is_some() || foreign.is_empty() {
            return found;
        }
        let has_id = |pending: &PendingReminder| pending.reminder.id.as_ref() == id;
        if foreign.is_crowded {
            return self.slots_where(has_id).first().copied();
        }
        foreign.get(id).filter(|slot| self.pending_at(*slot).is_some_and(has_id))
    }

    /// Returns whether a lookup by key needs a scan.
    #[cfg(test)]
    pub(crate) fn is_crowded(&self) -> bool {
        self.index.by_key.is_crowded
    }

    /// Returns whether a reminder's id is larger than all such before it, as required by the binary search.
    fn rises(&mut self, reminder: &Reminder) -> bool {
        // A bridge or a parent draws ids from a stream of its own, and an import may contain any ids.
        let own = !matches!(reminder.source, ReminderSource::Bridge | ReminderSource::Inherited)
            && reminder.id.len() == ID_LENGTH;
        own && self.events.note_rising(&reminder.id)
    }

    fn push_reminder(&mut self, id: Arc<str>, detail: EventDetail, rising: bool) {
        let kind = KIND.clone();
        self.events.push(TranscriptEvent { id, kind, at_message: self.messages.len(), detail, rising });
    }

    /// Rebuilds the indexes from the slots.
    pub(crate) fn reindex(&mut self) {
        let (mut index, mut due) = (PendingIndex::default(), DueNotes::default());
        for (slot, event) in (0..).zip(self.events.all()) {
            if let Some(pending) = event.pending().filter(|_| !self.events.is_hole(slot as usize)) {
                index.enter(slot, pending, event.rising, &self.events);
                due.note(slot, pending.expires_at_prompt, &self.events);
            }
        }
        (self.index, self.account.due) = (index, due);
    }
}

//! The pending reminders of a transcript: insertion, lookup and removal by the lifecycle.

use std::sync::{Arc, LazyLock};

use imbl::Vector;

use crate::reminder::{Reminder, ReminderSource};

use super::index::KeyHash;
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

    /// Returns the number of pending reminders.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending
    }

    /// Returns the pending reminder with an id.
    #[must_use]
    pub fn find(&self, reminder_id: &str) -> Option<&PendingReminder> {
        self.slot_of_id(reminder_id).and_then(|slot| self.pending_at(slot))
    }

    /// Appends a pending reminder. The caller must have removed those with its key and id.
    pub(crate) fn push_pending(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let slot = self.next_slot();
        let rising = self.rises(&reminder);
        let pending = PendingReminder::new(reminder, self.prompts);
        self.push_reminder(event_id, EventDetail::Pending(pending.clone()), rising);
        self.enter(slot, &pending, rising);
    }

    /// Appends a reminder for the record only.
    pub(crate) fn push_audited(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let rising = self.rises(&reminder);
        self.push_reminder(event_id, EventDetail::Audited(reminder), rising);
    }

    /// Removes a pending reminder and leaves a hole. [`Transcript::settle`] must follow.
    pub(crate) fn take_slot(&mut self, slot: u32) -> Option<PendingReminder> {
        let pending = self.pending_at(slot)?.clone();
        if let Some(word) = self.gone.get_mut(slot as usize / 64) {
            *word |= 1 << (slot % 64);
        }
        self.holes += 1;
        self.pending -= 1;
        self.unrenderable = self.unrenderable.saturating_sub(usize::from(!pending.reminder.is_renderable()));
        Some(pending)
    }

    /// Closes the holes if they outnumber the events.
    pub(crate) fn settle(&mut self) {
        if self.holes * 2 > self.slots.len() {
            let open_slot = (0..self.open_slot).filter(|slot| !self.is_hole(*slot)).count();
            let slots = self.events().cloned().collect();
            self.set_slots(slots, open_slot);
        }
    }

    /// Replaces all slots; none of the new ones is a hole. `open_slot` of them precede the first open prompt.
    pub(super) fn set_slots(&mut self, slots: Vector<Arc<TranscriptEvent>>, open_slot: usize) {
        self.gone = std::iter::repeat_n(0, slots.len().div_ceil(64)).collect();
        (self.slots, self.open_slot, self.holes) = (slots, open_slot, 0);
        self.reindex();
    }

    /// Returns whether a slot is empty.
    pub(super) fn is_hole(&self, slot: usize) -> bool {
        self.gone.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Returns all slots with a pending reminder, oldest first.
    pub(crate) fn pending_slots(&self) -> Vec<u32> {
        self.slots_where(|_| true)
    }

    /// Returns the slots of the pending reminders that match, oldest first. Visits all slots.
    pub(crate) fn slots_where(&self, meant: impl Fn(&PendingReminder) -> bool) -> Vec<u32> {
        let mut found = Vec::new();
        let mut words = self.gone.iter();
        let mut word = 0;
        for (slot, event) in (0_u32..).zip(&self.slots) {
            if slot % 64 == 0 {
                word = words.next().copied().unwrap_or(0);
            }
            if word >> (slot % 64) & 1 == 0 && event.pending().is_some_and(&meant) {
                found.push(slot);
            }
        }
        found
    }

    /// Returns the number of pending reminders that no route can show.
    pub(crate) fn unrenderable_count(&self) -> usize {
        self.unrenderable
    }

    /// Returns the pending reminder in a slot.
    pub(crate) fn pending_at(&self, slot: u32) -> Option<&PendingReminder> {
        let event = self.slots.get(slot as usize)?;
        event.pending().filter(|_| !self.is_hole(slot as usize))
    }

    /// Returns the slots of the pending reminders with a key, oldest first: at most one, unless an import contained
    /// more.
    pub(crate) fn slots_of_key(&self, key: &str) -> Vec<u32> {
        let has_key = |pending: &PendingReminder| pending.reminder.dedupe_key.as_deref() == Some(key);
        if self.crowded {
            return self.slots_where(has_key);
        }
        let found = self.keys.get(&KeyHash::of(key)).copied();
        found.filter(|slot| self.pending_at(*slot).is_some_and(has_key)).into_iter().collect()
    }

    /// Returns the slot of the pending reminder with an id.
    pub(crate) fn slot_of_id(&self, id: &str) -> Option<u32> {
        let is_later = self.last_rising.as_deref().is_none_or(|last| last < id);
        let found = if is_later { None } else { self.search_rising(id) };
        if found.is_some() || self.foreign.is_empty() {
            return found;
        }
        let has_id = |pending: &PendingReminder| pending.reminder.id.as_ref() == id;
        if self.foreign_crowded {
            return self.slots_where(has_id).first().copied();
        }
        let slot = self.foreign.get(&KeyHash::of(id)).copied();
        slot.filter(|slot| self.pending_at(*slot).is_some_and(has_id))
    }

    /// Searches the rising ids, removed ones included, by binary search. Skips other events and ids from elsewhere.
    fn search_rising(&self, id: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.slots.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let probe = (middle..high).find_map(|slot| Some((slot, self.rising_id(slot)?)));
            match probe {
                None => high = middle,
                Some((slot, found)) => match found.cmp(id) {
                    std::cmp::Ordering::Equal => return self.pending_at(slot as u32).map(|_| slot as u32),
                    std::cmp::Ordering::Less => low = slot + 1,
                    std::cmp::Ordering::Greater => high = middle,
                },
            }
        }
        None
    }

    fn rising_id(&self, slot: usize) -> Option<&str> {
        let event = self.slots.get(slot)?;
        event.reminder().filter(|_| event.rising).map(|reminder| reminder.id.as_ref())
    }

    /// Returns whether a lookup by key needs a scan.
    #[cfg(test)]
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded
    }

    pub(super) fn next_slot(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether a reminder's id is larger than all such before it, as required by the binary search.
    fn rises(&mut self, reminder: &Reminder) -> bool {
        // A bridge or a parent draws ids from a stream of its own, and an import may contain any ids.
        let own = !matches!(reminder.source, ReminderSource::Bridge | ReminderSource::Inherited)
            && reminder.id.len() == ID_LENGTH;
        let rising = own && self.last_rising.as_ref().is_none_or(|last| *last < reminder.id);
        if rising {
            self.last_rising = Some(reminder.id.clone());
        }
        rising
    }

    fn push_reminder(&mut self, id: Arc<str>, detail: EventDetail, rising: bool) {
        let kind = KIND.clone();
        self.push_slot(TranscriptEvent { id, kind, at_message: self.messages.len(), detail, rising });
    }

    pub(super) fn push_slot(&mut self, event: TranscriptEvent) {
        if self.slots.len().is_multiple_of(64) {
            self.gone.push_back(0);
        }
        self.slots.push_back(Arc::new(event));
    }

    fn enter(&mut self, slot: u32, pending: &PendingReminder, rising: bool) {
        self.pending += 1;
        self.unrenderable += usize::from(!pending.reminder.is_renderable());
        if let Some(key) = &pending.reminder.dedupe_key {
            let other = self.keys.insert(KeyHash::of(key), slot);
            self.crowded |= other.is_some_and(|other| self.pending_at(other).is_some());
        }
        if !rising {
            let other = self.foreign.insert(KeyHash::of(&pending.reminder.id), slot);
            self.foreign_crowded |= other.is_some_and(|other| self.pending_at(other).is_some());
        }
        if let Some(expires) = pending.expires_at_prompt {
            self.note_due(expires, slot);
        }
    }

    /// Rebuilds the indexes from the slots.
    pub(crate) fn reindex(&mut self) {
        self.keys = super::KeyIndex::default();
        self.foreign = super::KeyIndex::default();
        self.forget_due();
        (self.pending, self.unrenderable) = (0, 0);
        (self.crowded, self.foreign_crowded) = (false, false);
        let slots = self.slots.clone();
        for (slot, event) in (0..).zip(&slots) {
            if let Some(pending) = event.pending().filter(|_| !self.is_hole(slot as usize)) {
                self.enter(slot, pending, event.rising);
            }
        }
    }
}

//! The pending reminders of a transcript: how the lifecycle puts them in, finds them and takes them out.

use std::sync::{Arc, LazyLock};

use crate::reminder::{Reminder, Source};

use super::index::KeyHash;
use super::{Detail, Event, Pending, Transcript};

/// The length of a UUID as text.
const ID_LENGTH: usize = 36;

/// The kind of a reminder's event, made once.
static KIND: LazyLock<Arc<str>> = LazyLock::new(|| Event::REMINDER.into());

impl Transcript {
    /// The pending reminders with their accounts, oldest first.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = &Pending> {
        self.events().filter_map(|event| event.pending())
    }

    /// How many reminders are pending.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending
    }

    /// The pending reminder with an id.
    #[must_use]
    pub fn find(&self, reminder_id: &str) -> Option<&Pending> {
        self.slot_of_id(reminder_id).and_then(|slot| self.pending_at(slot))
    }

    /// Appends a pending reminder. Whoever calls has removed those with its key and id.
    pub(crate) fn push_pending(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let slot = self.next_slot();
        let rising = self.rises(&reminder);
        let pending = Pending::new(reminder, self.prompts);
        self.push_slot(event_id, Detail::Pending(pending.clone()), rising);
        self.enter(slot, &pending, rising);
    }

    /// Appends a reminder for the record only.
    pub(crate) fn push_audited(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let rising = self.rises(&reminder);
        self.push_slot(event_id, Detail::Audited(reminder), rising);
    }

    /// Takes a pending reminder out and leaves a hole. [`Transcript::settle`] must follow before slots are used anew.
    pub(crate) fn take_slot(&mut self, slot: u32) -> Option<Pending> {
        let event = self.slots.get(slot as usize)?.clone()?;
        let pending = event.pending()?.clone();
        if let Some(key) = &pending.reminder.dedupe_key {
            let hash = KeyHash::of(key);
            if self.keys.get(&hash) == Some(&slot) {
                self.keys.remove(&hash);
            }
        }
        if !event.rising {
            let hash = KeyHash::of(&pending.reminder.id);
            if self.foreign.get(&hash) == Some(&slot) {
                self.foreign.remove(&hash);
            }
        }
        self.slots.set(slot as usize, event.rising.then(|| Arc::new(event.gone(&pending.reminder.id))));
        self.holes += 1;
        self.pending -= 1;
        Some(pending)
    }

    /// Closes the holes where they outnumber the events.
    pub(crate) fn settle(&mut self) {
        if self.holes * 2 > self.slots.len() {
            let is_left = |slot: &&Option<Arc<Event>>| slot.as_ref().is_some_and(|event| !event.is_gone());
            self.open_slot = self.slots.iter().take(self.open_slot).filter(is_left).count();
            self.slots = self.slots.iter().filter(is_left).cloned().collect();
            self.reindex();
        }
    }

    /// All slots with a pending reminder, oldest first.
    pub(crate) fn pending_slots(&self) -> Vec<u32> {
        self.slots_where(|_| true)
    }

    /// The slots of the pending reminders that are meant, oldest first. Looks at all.
    pub(crate) fn slots_where(&self, meant: impl Fn(&Pending) -> bool) -> Vec<u32> {
        let pending = |slot: &Option<Arc<Event>>| slot.as_ref().and_then(|event| event.pending()).is_some_and(&meant);
        (0..).zip(&self.slots).filter(|(_, slot)| pending(slot)).map(|(slot, _)| slot).collect()
    }

    /// The pending reminder in a slot.
    pub(crate) fn pending_at(&self, slot: u32) -> Option<&Pending> {
        self.slots.get(slot as usize)?.as_ref()?.pending()
    }

    /// The slots of the pending reminders with a key, oldest first: one at most, unless an import brought more.
    pub(crate) fn slots_of_key(&self, key: &str) -> Vec<u32> {
        let has_key = |pending: &Pending| pending.reminder.dedupe_key.as_deref() == Some(key);
        if self.crowded {
            return self.slots_where(has_key);
        }
        let found = self.keys.get(&KeyHash::of(key)).copied();
        found.filter(|slot| self.pending_at(*slot).is_some_and(has_key)).into_iter().collect()
    }

    /// The slot of the pending reminder with an id.
    pub(crate) fn slot_of_id(&self, id: &str) -> Option<u32> {
        let is_later = self.last_rising.as_deref().is_none_or(|last| last < id);
        let found = if is_later { None } else { self.search_rising(id) };
        if found.is_some() || self.foreign.is_empty() {
            return found;
        }
        let has_id = |pending: &Pending| pending.reminder.id.as_ref() == id;
        if self.foreign_crowded {
            return self.slots_where(has_id).first().copied();
        }
        let slot = self.foreign.get(&KeyHash::of(id)).copied();
        slot.filter(|slot| self.pending_at(*slot).is_some_and(has_id))
    }

    /// Binary search among the ids that rise. Other events and ids from elsewhere are stepped over; a hole remembers the id
    /// that stood there.
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
        let event = self.slots.get(slot)?.as_ref()?;
        event.reminder_id().filter(|_| event.rising).map(AsRef::as_ref)
    }

    /// Whether a look-up by key needs a scan.
    #[cfg(test)]
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded
    }

    fn next_slot(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Whether a reminder's id is larger than all such before it, so that a binary search may use it.
    fn rises(&mut self, reminder: &Reminder) -> bool {
        // A bridge or a parent draws ids from a stream of its own, an import brings what it likes.
        let own = !matches!(reminder.source, Source::Bridge | Source::Inherited) && reminder.id.len() == ID_LENGTH;
        let rising = own && self.last_rising.as_ref().is_none_or(|last| *last < reminder.id);
        if rising {
            self.last_rising = Some(reminder.id.clone());
        }
        rising
    }

    fn push_slot(&mut self, id: Arc<str>, detail: Detail, rising: bool) {
        let event = Event { id, kind: KIND.clone(), at_message: self.messages.len(), detail, rising };
        self.slots.push_back(Some(Arc::new(event)));
    }

    fn enter(&mut self, slot: u32, pending: &Pending, rising: bool) {
        self.pending += 1;
        if let Some(key) = &pending.reminder.dedupe_key {
            let other = self.keys.insert(KeyHash::of(key), slot);
            self.crowded |= other.is_some();
        }
        if !rising {
            let other = self.foreign.insert(KeyHash::of(&pending.reminder.id), slot);
            self.foreign_crowded |= other.is_some();
        }
        if let Some(expires) = pending.expires_at_prompt {
            self.note_due(expires, slot);
        }
    }

    /// Builds the indexes anew from the slots.
    pub(crate) fn reindex(&mut self) {
        self.keys = super::KeyIndex::default();
        self.foreign = super::KeyIndex::default();
        self.forget_due();
        self.pending = 0;
        self.holes = 0;
        (self.crowded, self.foreign_crowded) = (false, false);
        let slots = self.slots.clone();
        for (slot, event) in (0..).zip(&slots) {
            match event.as_ref().filter(|event| !event.is_gone()) {
                None => self.holes += 1,
                Some(event) => {
                    if let Some(pending) = event.pending() {
                        self.enter(slot, pending, event.rising);
                    }
                }
            }
        }
    }
}

//! The pending reminders of a transcript: how the lifecycle puts them in, finds them and takes them out.

use std::sync::Arc;

use imbl::Vector;

use crate::reminder::{Reminder, Source};

use super::index::KeyHash;
use super::{Detail, Event, Pending, Transcript};

/// The length of a UUID as text.
const ID_LENGTH: usize = 36;

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

    /// In how many more prompts a pending reminder appears; nothing for one that stays.
    #[must_use]
    pub fn ttl_left(&self, pending: &Pending) -> Option<u32> {
        pending.ttl_left(self.charged)
    }

    /// A pending reminder as it is now: with the present `ttl_turns`.
    #[must_use]
    pub fn present(&self, pending: &Pending) -> Arc<Reminder> {
        let ttl_turns = self.ttl_left(pending);
        if ttl_turns == pending.reminder.ttl_turns {
            return pending.reminder.clone();
        }
        Arc::new(Reminder { ttl_turns, ..pending.reminder.as_ref().clone() })
    }

    /// Prompts whose turns are over.
    #[must_use]
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Counts a prompt that charges what it carries.
    pub(crate) fn prompt_built(&mut self) {
        self.prompts += 1;
    }

    /// The prompt last counted was seen by nobody and is not counted any more. Whatever was admitted meanwhile moves along.
    pub(crate) fn prompt_void(&mut self) {
        self.prompts = self.prompts.saturating_sub(1).max(self.charged);
        for slot in self.pending_slots() {
            let Some(event) = self.slots.get(slot as usize).cloned().flatten() else { continue };
            let Some(pending) = event.pending().filter(|pending| pending.since_prompt > self.prompts) else { continue };
            let detail = Detail::Pending(Pending::new(pending.reminder.clone(), self.prompts));
            self.slots.set(slot as usize, Some(Arc::new(Event { detail, ..event.as_ref().clone() })));
        }
        self.reindex();
    }

    /// Charges all that was carried by prompts built so far. Gives the slots whose time is over, oldest first, each with
    /// what it had left before.
    pub(crate) fn charge_carried(&mut self) -> Vec<(u32, u32)> {
        let before = self.charged;
        self.charged = self.prompts;
        let mut over = Vec::new();
        while let Some(prompt) = self.due.get_min().map(|(prompt, _)| *prompt).filter(|prompt| *prompt <= self.charged)
        {
            for slot in self.due.remove(&prompt).unwrap_or_default() {
                let still = self.pending_at(slot).filter(|pending| pending.expires_at_prompt == Some(prompt));
                if let Some(left) = still.and_then(|pending| pending.ttl_left(before)) {
                    over.push((slot, left));
                }
            }
        }
        over.sort_unstable();
        over.dedup();
        over
    }

    /// Charges one pending reminder by hand, whatever carried it. Gives what is left.
    pub(crate) fn charge_slot(&mut self, slot: u32) -> Option<u32> {
        let event = self.slots.get(slot as usize).and_then(Option::as_ref)?.clone();
        let pending = event.pending()?;
        let left = pending.ttl_left(self.charged)?.saturating_sub(1);
        let since_prompt = pending.since_prompt.max(self.charged);
        let reminder = Arc::new(Reminder { ttl_turns: Some(left), ..pending.reminder.as_ref().clone() });
        let expires = since_prompt + u64::from(left);
        let detail = Detail::Pending(Pending { reminder, since_prompt, expires_at_prompt: Some(expires) });
        self.slots.set(slot as usize, Some(Arc::new(Event { detail, ..event.as_ref().clone() })));
        self.note_due(expires, slot);
        Some(left)
    }

    /// Appends a pending reminder. Whoever calls has removed those with its key.
    pub(crate) fn push_pending(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        let slot = self.next_slot();
        let pending = Pending::new(reminder, self.prompts);
        self.enter(slot, &pending);
        self.push_slot(event_id, Detail::Pending(pending));
    }

    /// Appends a reminder for the record only.
    pub(crate) fn push_audited(&mut self, event_id: Arc<str>, reminder: Arc<Reminder>) {
        self.push_slot(event_id, Detail::Audited(reminder));
    }

    /// Takes a pending reminder out and leaves a hole. [`Transcript::settle`] must follow before slots are used anew.
    pub(crate) fn take_slot(&mut self, slot: u32) -> Option<Pending> {
        let pending = self.pending_at(slot)?.clone();
        if let Some(key) = &pending.reminder.dedupe_key {
            let hash = KeyHash::of(key);
            if self.keys.get(&hash) == Some(&slot) {
                self.keys.remove(&hash);
            }
        }
        self.slots.set(slot as usize, None);
        self.holes += 1;
        self.pending -= 1;
        Some(pending)
    }

    /// Closes the holes where they outnumber the events.
    pub(crate) fn settle(&mut self) {
        if self.holes * 2 > self.slots.len() {
            self.slots = self.slots.iter().filter(|slot| slot.is_some()).cloned().collect();
            self.holes = 0;
            self.reindex();
        }
    }

    /// All slots with a pending reminder, oldest first.
    pub(crate) fn pending_slots(&self) -> Vec<u32> {
        let slots = self.slots.iter().enumerate();
        let with_pending = slots.filter(|(_, event)| event.as_ref().is_some_and(|event| event.pending().is_some()));
        with_pending.map(|(slot, _)| slot as u32).collect()
    }

    /// The pending reminder in a slot.
    pub(crate) fn pending_at(&self, slot: u32) -> Option<&Pending> {
        self.slots.get(slot as usize)?.as_ref()?.pending()
    }

    /// The slots of the pending reminders with a key, oldest first: one at most, unless an import brought more.
    pub(crate) fn slots_of_key(&self, key: &str) -> Vec<u32> {
        let has_key =
            |slot: &u32| self.pending_at(*slot).is_some_and(|p| p.reminder.dedupe_key.as_deref() == Some(key));
        if self.crowded {
            return self.pending_slots().into_iter().filter(has_key).collect();
        }
        self.keys.get(&KeyHash::of(key)).copied().filter(has_key).into_iter().collect()
    }

    /// The slot of the pending reminder with an id.
    pub(crate) fn slot_of_id(&self, id: &str) -> Option<u32> {
        let found = self.search_rising(id);
        if found.is_some() || self.foreign == 0 {
            return found;
        }
        self.pending_slots()
            .into_iter()
            .find(|slot| self.pending_at(*slot).is_some_and(|p| p.reminder.id.as_ref() == id))
    }

    /// Binary search among the ids that rise. Holes, other events and ids from elsewhere are stepped over.
    fn search_rising(&self, id: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.slots.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let probe = (middle..high).find_map(|slot| Some((slot, self.native_id(slot)?)));
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

    fn native_id(&self, slot: usize) -> Option<&str> {
        let event = self.slots.get(slot)?.as_ref()?;
        event.reminder().filter(|_| event.rising).map(|reminder| reminder.id.as_ref())
    }

    fn next_slot(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    fn push_slot(&mut self, id: Arc<str>, detail: Detail) {
        let mut event =
            Event { id, kind: Event::REMINDER.into(), at_message: self.messages.len(), detail, rising: false };
        if let Some(reminder) = event.reminder().cloned() {
            // A bridge or a parent draws ids from a stream of its own, an import brings what it likes.
            let own = !matches!(reminder.source, Source::Bridge | Source::Inherited) && reminder.id.len() == ID_LENGTH;
            event.rising = own && self.last_rising.as_ref().is_none_or(|last| *last < reminder.id);
            if event.rising {
                self.last_rising = Some(reminder.id.clone());
            } else {
                self.foreign += 1;
            }
        }
        self.slots.push_back(Some(Arc::new(event)));
    }

    fn enter(&mut self, slot: u32, pending: &Pending) {
        self.pending += 1;
        if let Some(key) = &pending.reminder.dedupe_key {
            let other = self.keys.insert(KeyHash::of(key), slot);
            self.crowded |= other.is_some();
        }
        if let Some(expires) = pending.expires_at_prompt {
            self.note_due(expires, slot);
        }
    }

    fn note_due(&mut self, prompt: u64, slot: u32) {
        match self.due.get_mut(&prompt) {
            Some(slots) => slots.push_back(slot),
            None => {
                self.due.insert(prompt, Vector::unit(slot));
            }
        }
    }

    /// Builds the indexes anew from the slots.
    pub(super) fn reindex(&mut self) {
        self.keys = super::KeyIndex::default();
        self.due = imbl::OrdMap::new();
        self.pending = 0;
        self.crowded = false;
        for slot in self.pending_slots() {
            if let Some(pending) = self.pending_at(slot).cloned() {
                self.enter(slot, &pending);
            }
        }
    }
}

//! [`EventSlots`]: the events of a transcript in their slots, and the holes between them.

use std::cmp::Ordering;
use std::sync::Arc;

use imbl::Vector;

use super::{PendingReminder, TranscriptEvent};

/// Events in order of arrival. A removed event stays in its slot as a hole until the holes are closed.
#[derive(Debug, Clone, Default)]
pub(super) struct EventSlots {
    slots: Vector<Arc<TranscriptEvent>>,
    /// Bit set of the slots that are holes: a word for 64 slots.
    gone: Vector<u64>,
    /// Number of these bits.
    holes: usize,
    /// The last reminder id that was appended in rising order. Events with such an id are `rising`.
    last_rising: Option<Arc<str>>,
}

impl EventSlots {
    /// Returns the number of slots, holes included.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slot of the next event.
    pub(super) fn next(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of events.
    pub(super) fn event_count(&self) -> usize {
        self.slots.len() - self.holes
    }

    /// Returns the events with their slots, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &Arc<TranscriptEvent>)> {
        let slots = (0..self.slots.len()).zip(&self.slots);
        slots.filter(|(slot, _)| self.holes == 0 || !self.is_hole(*slot))
    }

    /// Returns the event of a slot, even if it is a hole.
    pub(super) fn get(&self, slot: u32) -> Option<&Arc<TranscriptEvent>> {
        self.slots.get(slot as usize)
    }

    /// Returns the pending reminder in a slot.
    pub(super) fn pending_at(&self, slot: u32) -> Option<&PendingReminder> {
        let event = self.slots.get(slot as usize)?;
        event.pending().filter(|_| !self.is_hole(slot as usize))
    }

    /// Returns the slots of the pending reminders that match, oldest first. Visits all slots.
    pub(super) fn pending_where(&self, meant: impl Fn(&PendingReminder) -> bool) -> Vec<u32> {
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

    /// Returns whether a slot is empty.
    pub(super) fn is_hole(&self, slot: usize) -> bool {
        self.gone.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Returns whether the holes outnumber the events.
    pub(super) fn is_sparse(&self) -> bool {
        self.holes * 2 > self.slots.len()
    }

    /// Appends an event.
    pub(super) fn push(&mut self, event: TranscriptEvent) {
        if self.slots.len().is_multiple_of(64) {
            self.gone.push_back(0);
        }
        self.slots.push_back(Arc::new(event));
    }

    /// Replaces the event of a slot.
    pub(super) fn set(&mut self, slot: u32, event: TranscriptEvent) {
        self.slots.set(slot as usize, Arc::new(event));
    }

    /// Turns the event of a slot into a hole. It must not be one.
    pub(super) fn remove(&mut self, slot: u32) {
        if let Some(word) = self.gone.get_mut(slot as usize / 64) {
            *word |= 1 << (slot % 64);
        }
        self.holes += 1;
    }

    /// Replaces all slots; none of the new ones is a hole.
    pub(super) fn replace(&mut self, slots: Vector<Arc<TranscriptEvent>>) {
        self.gone = std::iter::repeat_n(0, slots.len().div_ceil(64)).collect();
        (self.slots, self.holes) = (slots, 0);
    }

    /// Returns whether an id is larger than all rising ones, and notes it as the last of them.
    pub(super) fn note_rising(&mut self, id: &Arc<str>) -> bool {
        let rising = self.last_rising.as_ref().is_none_or(|last| last < id);
        if rising {
            self.last_rising = Some(id.clone());
        }
        rising
    }

    /// Returns the slot of the pending reminder with a rising id, by binary search. The search skips other events and
    /// ids from elsewhere.
    pub(super) fn search_rising(&self, id: &str) -> Option<u32> {
        if self.last_rising.as_deref().is_none_or(|last| last < id) {
            return None;
        }
        let (mut low, mut high) = (0, self.slots.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let probe = (middle..high).find_map(|slot| Some((slot, self.rising_id(slot)?)));
            match probe {
                None => high = middle,
                Some((slot, found)) => match found.cmp(id) {
                    Ordering::Equal => return self.pending_at(slot as u32).map(|_| slot as u32),
                    Ordering::Less => low = slot + 1,
                    Ordering::Greater => high = middle,
                },
            }
        }
        None
    }

    fn rising_id(&self, slot: usize) -> Option<&str> {
        let event = self.slots.get(slot)?;
        event.reminder().filter(|_| event.rising).map(|reminder| reminder.id.as_ref())
    }

    /// Returns the events of all slots, holes included.
    pub(super) fn all(&self) -> &Vector<Arc<TranscriptEvent>> {
        &self.slots
    }
}

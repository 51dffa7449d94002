//! [`PendingIndex`]: counts the pending reminders and finds them by key, or by an id from elsewhere. Texts are hashed and
//! entries are `Copy`, so that a path copy of the persistent map touches no reference count.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

use super::PendingReminder;
use super::slots::EventSlots;

/// The hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    pub(super) fn of(key: &str) -> KeyHash {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        KeyHash(hasher.finish())
    }

    /// Returns a number below `count` derived from the hash.
    pub(super) fn bucket(self, count: u64) -> u64 {
        self.0 % count
    }

    /// Returns the hash as a number.
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// A hasher that passes a hash through unchanged.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Maps hashed text to a slot.
type HashIndex =
    imbl::GenericHashMap<KeyHash, u32, BuildHasherDefault<IdentityHasher>, imbl::shared_ptr::DefaultSharedPtr>;

/// Slots of pending reminders by a text. Entries of removed reminders stay until the holes are closed, so a lookup must
/// check that the slot is pending and has the text.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotIndex {
    slots: HashIndex,
    /// Whether two pending reminders share a text or a hash (an import may contain some). In that case a miss in the
    /// index proves nothing.
    pub(super) is_crowded: bool,
}

impl SlotIndex {
    /// Returns the slot last entered for a text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.slots.get(&KeyHash::of(text)).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    fn insert(&mut self, text: &str, slot: u32, slots: &EventSlots) {
        let other = self.slots.insert(KeyHash::of(text), slot);
        self.is_crowded |= other.is_some_and(|other| slots.pending_at(other).is_some());
    }
}

/// The pending reminders among the events of a transcript.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingIndex {
    /// Number of pending reminders.
    pub(super) count: usize,
    /// Number of them that no route can show.
    pub(super) unrenderable: usize,
    /// Number of them with rules.
    pub(super) ruled: usize,
    /// Number of these with conditions.
    pub(super) conditional: usize,
    /// Number of these that end after a number of firings.
    pub(super) limited: usize,
    /// Their slots by dedupe key.
    pub(super) by_key: SlotIndex,
    /// Slots of those with ids out of order, which came from elsewhere (bridge, parent, import), by id.
    pub(super) by_foreign_id: SlotIndex,
}

impl PendingIndex {
    /// Enters the pending reminder in a slot.
    pub(super) fn enter(&mut self, slot: u32, pending: &PendingReminder, rising: bool, slots: &EventSlots) {
        self.count += 1;
        self.unrenderable += usize::from(!pending.reminder.is_renderable());
        if let Some(rules) = &pending.reminder.rules {
            self.ruled += 1;
            self.conditional += usize::from(rules.has_conditions());
            self.limited += usize::from(rules.max_times.is_some());
        }
        if let Some(key) = &pending.reminder.dedupe_key {
            self.by_key.insert(key, slot, slots);
        }
        if !rising {
            self.by_foreign_id.insert(&pending.reminder.id, slot, slots);
        }
    }

    /// Uncounts a removed reminder.
    pub(super) fn remove(&mut self, pending: &PendingReminder) {
        self.count -= 1;
        self.unrenderable = self.unrenderable.saturating_sub(usize::from(!pending.reminder.is_renderable()));
        if let Some(rules) = &pending.reminder.rules {
            self.ruled -= 1;
            self.conditional -= usize::from(rules.has_conditions());
            self.limited -= usize::from(rules.max_times.is_some());
        }
    }
}

//! [`PendingKeys`]: the dedupe keys that are pending in a session's transcript, for the code that accepts reminders on
//! another thread.

use std::collections::HashMap;
use std::sync::Arc;

use crate::reminder::Reminder;

/// The pending reminders of a session that have a key. The session updates it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PendingKeys {
    /// The key of each reminder.
    keys: HashMap<Arc<str>, Arc<str>>,
    /// Number of pending reminders by key.
    counts: HashMap<Arc<str>, usize>,
}

impl PendingKeys {
    /// Returns the number of pending reminders with this key.
    pub(crate) fn count(&self, key: &str) -> usize {
        self.counts.get(key).copied().unwrap_or_default()
    }

    /// Adds a reminder that is pending or about to be.
    pub(crate) fn enter(&mut self, reminder: &Reminder) {
        let Some(key) = &reminder.dedupe_key else { return };
        if self.keys.insert(reminder.id.clone(), key.clone()).is_none() {
            *self.counts.entry(key.clone()).or_default() += 1;
        }
    }

    /// Removes a reminder that has ended.
    pub(crate) fn leave(&mut self, id: &str) {
        let Some(key) = self.keys.remove(id) else { return };
        if let Some(count) = self.counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
    }
}

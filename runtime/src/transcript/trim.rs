//! Cutting a transcript: the first or the last so many messages, with the events that belong to them.

use crate::reminder::Reminder;

use super::{Detail, Transcript};
use std::sync::Arc;

impl Transcript {
    /// Keeps the last `keep` messages, and of the events those that came after the first of them. Gives the pending reminders
    /// that went with the rest.
    pub(crate) fn keep_last(&mut self, keep: usize) -> Vec<Arc<Reminder>> {
        let cut = self.messages.len().saturating_sub(keep);
        if cut == 0 {
            return Vec::new();
        }
        self.messages = self.messages.split_off(cut);
        self.keep_events(|at_message| at_message > cut, |at_message| at_message - cut)
    }

    /// Keeps the first `keep` messages, and the events that came before the next.
    pub(crate) fn keep_first(&mut self, keep: usize) {
        if keep < self.messages.len() {
            self.messages.truncate(keep);
            self.keep_events(|at_message| at_message <= keep, |at_message| at_message);
        }
    }

    fn keep_events(&mut self, keep: impl Fn(usize) -> bool, place: impl Fn(usize) -> usize) -> Vec<Arc<Reminder>> {
        let mut gone = Vec::new();
        let mut kept = imbl::Vector::new();
        for event in self.slots.iter().flatten() {
            if keep(event.at_message) {
                let mut event = event.as_ref().clone();
                event.at_message = place(event.at_message);
                kept.push_back(Some(Arc::new(event)));
            } else if let Detail::Pending(pending) = &event.detail {
                gone.push(pending.reminder.clone());
            }
        }
        self.slots = kept;
        self.holes = 0;
        self.reindex();
        gone
    }
}

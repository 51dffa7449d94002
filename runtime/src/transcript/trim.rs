//! Cutting a transcript: the first or the last so many messages, with the events that belong to them.

use std::sync::Arc;

use crate::reminder::Reminder;

use super::{Event, Transcript};

impl Transcript {
    /// Keeps the last `keep` messages, and of the events those that came after the first of them. Gives the pending reminders
    /// that went with the rest.
    pub(crate) fn keep_last(&mut self, keep: usize) -> Vec<Arc<Reminder>> {
        let cut = self.messages.len().saturating_sub(keep);
        if cut == 0 {
            return Vec::new();
        }
        self.messages = self.messages.split_off(cut);
        self.place_events(|at_message| at_message.checked_sub(cut).filter(|place| *place > 0))
    }

    /// Keeps the first `keep` messages, and the events that came before the next.
    pub(crate) fn keep_first(&mut self, keep: usize) {
        if keep < self.messages.len() {
            self.messages.truncate(keep);
            self.place_events(|at_message| Some(at_message).filter(|place| *place <= keep));
        }
    }

    /// The first `cut` messages were replaced by `head` others: events keep their place among those that are left.
    pub(super) fn shift_events(&mut self, cut: usize, head: usize) {
        self.place_events(|at_message| Some(at_message.saturating_sub(cut) + head));
    }

    /// Gives each event the place among the messages that `place` says, or lets it go. Gives the pending reminders that went.
    fn place_events(&mut self, place: impl Fn(usize) -> Option<usize>) -> Vec<Arc<Reminder>> {
        let (mut gone, mut kept, mut open_slot) = (Vec::new(), imbl::Vector::new(), 0);
        let standing = self.slots.iter().enumerate().filter(|(slot, _)| !self.is_hole(*slot));
        for (slot, event) in standing {
            match place(event.at_message) {
                Some(at_message) => {
                    open_slot += usize::from(slot < self.open_slot);
                    let moved = || Arc::new(Event { at_message, ..event.as_ref().clone() });
                    kept.push_back(if at_message == event.at_message { event.clone() } else { moved() });
                }
                None => gone.extend(event.pending().map(|pending| pending.reminder.clone())),
            }
        }
        self.set_slots(kept, open_slot);
        gone
    }
}

//! Cutting a transcript: keeps or removes its first messages, with the events that belong to them.

use std::sync::Arc;

use crate::message::Role;
use crate::reminder::Reminder;

use super::{Transcript, TranscriptEvent};

impl Transcript {
    /// Keeps the last `keep` messages and the events after the first of them. Returns the pending reminders that were
    /// removed. Results whose calls were removed are removed with them, since no route accepts one alone.
    pub(crate) fn keep_last(&mut self, keep: usize) -> Vec<Arc<Reminder>> {
        let wanted = self.messages.len().saturating_sub(keep);
        let cut = wanted + if wanted == 0 { 0 } else { self.results_at(wanted) };
        if cut == 0 {
            return Vec::new();
        }
        self.set_messages(self.messages.skip(cut));
        self.place_events(|at_message| at_message.checked_sub(cut).filter(|place| *place > 0))
    }

    /// Keeps the first `keep` messages, and the events before the next. Calls whose results are cut off are removed
    /// too.
    pub(crate) fn keep_first(&mut self, keep: usize) {
        if keep < self.messages.len() {
            let keep = if self.results_at(keep) == 0 { keep } else { self.calls_before(keep) };
            self.set_messages(self.messages.take(keep));
            self.place_events(|at_message| Some(at_message).filter(|place| *place <= keep));
        }
    }

    /// Returns the number of consecutive tool results at a place.
    fn results_at(&self, place: usize) -> usize {
        self.messages.iter().skip(place).take_while(|message| message.role == Role::Tool).count()
    }

    /// Returns the place of the calls that the results at a place answer.
    fn calls_before(&self, place: usize) -> usize {
        let results = self.messages.iter().take(place).rev().take_while(|message| message.role == Role::Tool).count();
        (place - results).saturating_sub(1)
    }

    /// Shifts the events after the first `cut` messages were replaced by `head` others: events keep their place among
    /// the rest.
    pub(crate) fn shift_events(&mut self, cut: usize, head: usize) {
        self.place_events(|at_message| Some(at_message.saturating_sub(cut) + head));
    }

    /// Moves each event to the place among the messages that `place` returns, or removes it. Returns the removed
    /// pending reminders.
    fn place_events(&mut self, place: impl Fn(usize) -> Option<usize>) -> Vec<Arc<Reminder>> {
        let (mut gone, mut kept, mut open_slot) = (Vec::new(), imbl::Vector::new(), 0);
        for (slot, event) in self.events.iter() {
            match place(event.at_message) {
                Some(at_message) => {
                    open_slot += usize::from(slot < self.account.open_slot);
                    let moved = || Arc::new(TranscriptEvent { at_message, ..event.as_ref().clone() });
                    kept.push_back(if at_message == event.at_message { event.clone() } else { moved() });
                }
                None => gone.extend(event.pending().cloned()),
            }
        }
        self.set_slots(kept, open_slot);
        gone.iter().for_each(|pending| self.forget_removed(pending));
        self.forget_oldest_firings();
        gone.into_iter().map(|pending| pending.reminder).collect()
    }
}

//! The account of the pending reminders: the prompts that charge them, and when their turns are over. A TTL is kept as
//! the number of the prompt after which it is over, so a turn touches only expired reminders.

use std::sync::Arc;

use crate::reminder::Reminder;

use super::{EventDetail, PendingReminder, Transcript, TranscriptEvent};

impl Transcript {
    /// Returns the number of further prompts in which a pending reminder appears; `None` if it never expires.
    #[must_use]
    pub fn ttl_left(&self, pending: &PendingReminder) -> Option<u32> {
        pending.ttl_left(self.charged)
    }

    /// Returns the number of prompts after the open ones in which a pending reminder appears; `None` if it never expires.
    #[must_use]
    pub fn ttl_after_open_prompts(&self, pending: &PendingReminder) -> Option<u32> {
        pending.ttl_left(self.prompts)
    }

    /// Returns a pending reminder with the current `ttl_turns`.
    #[must_use]
    pub fn present(&self, pending: &PendingReminder) -> Arc<Reminder> {
        let ttl_turns = self.ttl_left(pending);
        if ttl_turns == pending.reminder.ttl_turns {
            return pending.reminder.clone();
        }
        Arc::new(Reminder { ttl_turns, ..pending.reminder.as_ref().clone() })
    }

    /// Returns the number of prompts whose turns are over.
    #[must_use]
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Returns whether a prompt was built whose turn is not over.
    pub(crate) fn has_open_prompts(&self) -> bool {
        self.prompts > self.charged
    }

    /// Counts a prompt that charges the reminders it carries: all but those in the slots `left_out`, sorted from the
    /// oldest.
    pub(crate) fn prompt_built(&mut self, left_out: &[u32]) {
        if !self.has_open_prompts() {
            self.open_slot = self.slots.len();
        }
        self.prompts += 1;
        if let Some(first) = left_out.first() {
            self.open_slot = self.open_slot.min(*first as usize);
        }
        for slot in left_out {
            let charged = self.charged;
            if let Some(moved) = self.pending_at(*slot).map(|pending| pending.counted_from(self.prompts, charged)) {
                self.set_account(*slot, moved);
            }
        }
    }

    /// Uncounts the last prompt, which no one saw. Accounts of reminders admitted meanwhile are shifted accordingly.
    pub(crate) fn prompt_void(&mut self) {
        if self.has_open_prompts() {
            self.uncount_prompts_after(self.prompts - 1);
        }
    }

    /// Uncounts the prompts that are not charged yet: they belong to another transcript.
    pub(crate) fn forget_open_prompts(&mut self) {
        if self.has_open_prompts() {
            self.uncount_prompts_after(self.charged);
        }
    }

    /// Uncounts all prompts after `prompts`. Only reminders admitted after an open prompt can be affected, so earlier
    /// slots are not visited.
    fn uncount_prompts_after(&mut self, prompts: u64) {
        self.prompts = prompts;
        for slot in self.open_slot as u32..self.next_slot() {
            let later = self.pending_at(slot).filter(|pending| pending.since_prompt > prompts);
            if let Some(moved) = later.map(|pending| pending.counted_from(prompts, self.charged)) {
                self.set_account(slot, moved);
            }
        }
    }

    /// Charges the reminders carried by the prompts built so far. Returns the slots of expired reminders, oldest first,
    /// each with the TTL it had before.
    pub(crate) fn charge_carried(&mut self) -> Vec<(u32, u32)> {
        let before = self.charged;
        self.charged = self.prompts;
        let mut over = Vec::new();
        while let Some(prompt) = self.due.get_min().map(|(prompt, _)| *prompt).filter(|prompt| *prompt <= self.charged)
        {
            let slots = self.due.remove(&prompt).unwrap_or_default();
            self.noted -= slots.len();
            for slot in slots {
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

    /// Charges one pending reminder manually, whether or not a prompt carried it.
    pub(crate) fn charge_slot(&mut self, slot: u32) {
        if let Some(charged) = self.pending_at(slot).map(PendingReminder::charged_once) {
            self.set_account(slot, charged);
        }
    }

    /// Replaces the account of the pending reminder in a slot.
    fn set_account(&mut self, slot: u32, pending: PendingReminder) {
        let Some(event) = self.slots.get(slot as usize) else { return };
        let expires = pending.expires_at_prompt;
        let (id, kind) = (event.id.clone(), event.kind.clone());
        let detail = EventDetail::Pending(pending);
        let event = TranscriptEvent { id, kind, at_message: event.at_message, detail, rising: event.rising };
        self.slots.set(slot as usize, Arc::new(event));
        if let Some(expires) = expires {
            self.note_due(expires, slot);
        }
    }

    /// Notes the prompt at which a slot is due. Earlier notes remain and are skipped later; once notes outnumber the
    /// slots, all are rebuilt.
    pub(super) fn note_due(&mut self, prompt: u64, slot: u32) {
        self.note(prompt, slot);
        if self.noted > 2 * self.slots.len() + 64 {
            self.forget_due();
            let due = |slot: u32| Some((self.pending_at(slot)?.expires_at_prompt?, slot));
            let all: Vec<_> = self.pending_slots().into_iter().filter_map(due).collect();
            all.into_iter().for_each(|(prompt, slot)| self.note(prompt, slot));
        }
    }

    fn note(&mut self, prompt: u64, slot: u32) {
        self.noted += 1;
        match self.due.get_mut(&prompt) {
            Some(slots) => slots.push_back(slot),
            None => {
                self.due.insert(prompt, imbl::Vector::unit(slot));
            }
        }
    }

    /// Returns the number of due notes.
    #[cfg(test)]
    pub(crate) fn notes_of_due(&self) -> usize {
        self.due.values().map(imbl::Vector::len).sum()
    }

    pub(super) fn forget_due(&mut self) {
        self.due = imbl::OrdMap::new();
        self.noted = 0;
    }
}

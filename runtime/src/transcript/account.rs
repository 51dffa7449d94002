//! The account of the pending reminders: the prompts that charge them, and when their turns are over. A TTL is kept as
//! the number of the prompt after which it is over, so a turn touches only expired reminders.

use std::sync::Arc;

use imbl::{OrdMap, Vector};

use crate::reminder::Reminder;

use super::slots::EventSlots;
use super::{EventDetail, PendingReminder, Transcript, TranscriptEvent};

/// The prompts of a transcript.
#[derive(Debug, Clone, Default)]
pub(super) struct PromptAccount {
    /// Number of charging prompts built so far.
    pub(super) prompts: u64,
    /// Number of prompts whose turns are over.
    pub(super) charged: u64,
    /// Number of slots when the first prompt of the unfinished turns was built.
    pub(super) open_slot: usize,
    /// Number of prompts built before the last compaction.
    pub(super) compacted: u64,
    pub(super) due: DueNotes,
}

impl PromptAccount {
    /// Returns whether a prompt was built whose turn is not over.
    fn is_open(&self) -> bool {
        self.prompts > self.charged
    }
}

/// Slots of finite reminders by the prompt after which they expire. Notes may be stale; the slot decides.
#[derive(Debug, Clone, Default)]
pub(super) struct DueNotes {
    by_prompt: OrdMap<u64, Vector<u32>>,
    /// Number of notes.
    count: usize,
}

impl DueNotes {
    /// Notes the prompt at which the reminder in a slot is due, if it ever is. Earlier notes remain and are skipped later; once notes outnumber the
    /// slots, all are rebuilt.
    pub(super) fn note(&mut self, slot: u32, expires_at_prompt: Option<u64>, slots: &EventSlots) {
        let Some(prompt) = expires_at_prompt else { return };
        self.push(prompt, slot);
        if self.count > 2 * slots.len() + 64 {
            *self = DueNotes::default();
            for slot in slots.pending_where(|_| true) {
                if let Some(prompt) = slots.pending_at(slot).and_then(|pending| pending.expires_at_prompt) {
                    self.push(prompt, slot);
                }
            }
        }
    }

    fn push(&mut self, prompt: u64, slot: u32) {
        self.count += 1;
        match self.by_prompt.get_mut(&prompt) {
            Some(slots) => slots.push_back(slot),
            None => {
                self.by_prompt.insert(prompt, Vector::unit(slot));
            }
        }
    }

    /// Removes the notes of the first prompt up to `charged` that has some, and returns them.
    fn take_first(&mut self, charged: u64) -> Option<(u64, Vector<u32>)> {
        let prompt = self.by_prompt.get_min().map(|(prompt, _)| *prompt).filter(|prompt| *prompt <= charged)?;
        let slots = self.by_prompt.remove(&prompt).unwrap_or_default();
        self.count -= slots.len();
        Some((prompt, slots))
    }
}

impl Transcript {
    /// Returns the number of further prompts in which a pending reminder appears; `None` if it never expires.
    #[must_use]
    pub fn ttl_left(&self, pending: &PendingReminder) -> Option<u32> {
        pending.ttl_left(self.account.charged)
    }

    /// Returns the number of prompts after the open ones in which a pending reminder appears; `None` if it never expires.
    #[must_use]
    pub fn ttl_after_open_prompts(&self, pending: &PendingReminder) -> Option<u32> {
        pending.ttl_left(self.account.prompts)
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
        self.account.charged
    }

    /// Returns whether a prompt was built whose turn is not over.
    pub(crate) fn has_open_prompts(&self) -> bool {
        self.account.is_open()
    }

    /// Counts a prompt that charges the reminders it carries: all but those in the slots `left_out`, sorted from the
    /// oldest. [`Transcript::leave_out`] must follow.
    pub(crate) fn prompt_built(&mut self, left_out: &[u32]) {
        if !self.has_open_prompts() {
            self.account.open_slot = self.events.len();
        }
        self.account.prompts += 1;
        self.begin_firings();
        if let Some(first) = left_out.first() {
            self.account.open_slot = self.account.open_slot.min(*first as usize);
        }
    }

    /// Takes the last counted prompt off the accounts of the reminders that it leaves out.
    pub(crate) fn leave_out(&mut self, left_out: &[u32]) {
        // Earlier prompts whose turns are not over have carried them.
        let before = self.account.prompts - 1;
        for slot in left_out {
            let is_moved = self.interrupt_run(*slot);
            let moved = self.pending_at(*slot).filter(|pending| is_moved || pending.expires_at_prompt.is_some());
            if let Some(moved) = moved.map(|pending| pending.counted_from(self.account.prompts, before)) {
                self.set_account(*slot, moved);
            }
        }
    }

    /// Uncounts the last prompt, which no one saw. Accounts of reminders admitted meanwhile are shifted accordingly.
    pub(crate) fn prompt_void(&mut self) {
        if self.has_open_prompts() {
            self.undo_firings();
            self.uncount_prompts_after(self.account.prompts - 1);
        }
    }

    /// Uncounts the prompts that are not charged yet: they belong to another transcript.
    pub(crate) fn forget_open_prompts(&mut self) {
        if self.has_open_prompts() {
            self.undo_firings();
            self.uncount_prompts_after(self.account.charged);
        }
    }

    /// Uncounts all prompts after `prompts`. Only reminders admitted after an open prompt can be affected, so earlier
    /// slots are not visited.
    fn uncount_prompts_after(&mut self, prompts: u64) {
        self.account.prompts = prompts;
        self.account.compacted = self.account.compacted.min(prompts);
        self.uncount_firings();
        for slot in self.account.open_slot as u32..self.events.next() {
            let later = self.pending_at(slot).filter(|pending| pending.since_prompt > prompts);
            if let Some(moved) = later.map(|pending| pending.counted_from(prompts, self.account.charged)) {
                self.set_account(slot, moved);
            }
        }
    }

    /// Charges the reminders carried by the prompts built so far. Returns the slots of expired reminders, oldest first,
    /// each with the TTL it had before.
    pub(crate) fn charge_carried(&mut self) -> Vec<(u32, u32)> {
        let before = self.account.charged;
        self.account.charged = self.account.prompts;
        let mut over = Vec::new();
        while let Some((prompt, slots)) = self.account.due.take_first(self.account.charged) {
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

    /// Starts the turns of the pending reminder in a slot over, as if it had just been admitted, and returns it.
    pub(crate) fn renew(&mut self, slot: u32) -> Option<Arc<Reminder>> {
        let pending = self.pending_at(slot)?.clone();
        let reminder = pending.reminder.clone();
        if reminder.ttl_turns.is_some() {
            self.end_run(&pending);
            self.set_account(slot, PendingReminder::new(reminder.clone(), self.account.prompts));
            // A void prompt visits the slots from here on, and must find this one.
            self.account.open_slot = self.account.open_slot.min(slot as usize);
        }
        Some(reminder)
    }

    /// Replaces the account of the pending reminder in a slot.
    fn set_account(&mut self, slot: u32, pending: PendingReminder) {
        let Some(event) = self.events.get(slot) else { return };
        let expires = pending.expires_at_prompt;
        let (id, kind) = (event.id.clone(), event.kind.clone());
        let detail = EventDetail::Pending(pending);
        let event = TranscriptEvent { id, kind, at_message: event.at_message, detail, rising: event.rising };
        self.events.set(slot, event);
        self.account.due.note(slot, expires, &self.events);
    }

    /// Returns the number of due notes.
    #[cfg(test)]
    pub(crate) fn notes_of_due(&self) -> usize {
        self.account.due.by_prompt.values().map(Vector::len).sum()
    }
}

//! [`Firings`]: how often prompts have carried the reminders of a key, so that a reminder that is injected anew under
//! its key goes on where the last one ended; by id for one without a key.
//!
//! A reminder with rules is counted by every prompt. One without rules is in all prompts while it is pending, except for
//! those that leave it out, so its *run* of prompts is counted when it ends: a prompt costs nothing for it.
//!
//! A [`WaitMark`] belongs to one reminder, not to its key: it is kept by id, and ends with the reminder.

use std::sync::Arc;

use crate::reminder::slots::BodyChoice;
use crate::reminder::{DeferReason, Reminder};

use super::index::KeyHash;
use super::{PendingReminder, Transcript};

mod stored;

pub use stored::{FiringsStep, StoredFirings};

/// The firings of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct KeyFirings {
    /// Number of prompts that carried it.
    pub times: u32,
    /// The first prompt that carried it; 0 if none has.
    pub first_prompt: u64,
    /// The last prompt that carried it; 0 if none has.
    pub last_prompt: u64,
    /// Hash of the body shown last; `None` if the context was compacted since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<u64>,
    /// Number of prompts in a row that had no room for it.
    pub deferrals: u32,
    /// The prompt up to which all firings are counted here. Those of a pending reminder without rules may follow.
    #[serde(skip)]
    counted: u64,
}

impl KeyFirings {
    /// Returns whether there is nothing to remember.
    fn is_empty(&self) -> bool {
        self.times == 0 && self.deferrals == 0
    }
}

/// The mark of a reminder that counts as waiting. The next prompt that shows it removes the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitMark {
    /// The last prompt left it out.
    Waits(DeferReason),
    /// No prompt has left it out, but the last ones had no room for the earlier reminder of its key.
    Succeeds,
}

impl WaitMark {
    /// Returns the reason why the last prompt left the reminder out.
    pub(crate) fn reason(self) -> Option<DeferReason> {
        if let WaitMark::Waits(reason) = self { Some(reason) } else { None }
    }
}

/// Keys are hashed fast and always alike, so that equal runs forget the same keys.
type ByText<T> = imbl::GenericHashMap<Arc<str>, T, foldhash::fast::FixedState, imbl::shared_ptr::DefaultSharedPtr>;

/// The firings of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Firings {
    by_key: ByText<KeyFirings>,
    /// The marks of pending reminders, by id.
    marks: ByText<WaitMark>,
    /// Number of prompts before the first of this transcript: those of the process that it was continued from.
    earlier_prompts: u64,
    /// Earlier values of the keys and marks that the last prompt changed, while its turn is not over.
    open: Vec<(Arc<str>, Option<KeyFirings>)>,
    open_marks: Vec<(Arc<str>, WaitMark)>,
}

/// Maximum number of keys. If there are more, those that fired longest ago are forgotten.
const MAX_KEYS: usize = 1024;

/// Returns the name under which a reminder is counted.
fn key(reminder: &Reminder) -> &Arc<str> {
    reminder.dedupe_key.as_ref().unwrap_or(&reminder.id)
}

/// Returns the key of a reminder whose prompts are counted when its run ends.
fn key_of_run(reminder: &Reminder) -> Option<&Arc<str>> {
    reminder.dedupe_key.as_ref().filter(|_| reminder.rules.is_none())
}

/// Returns the hash of a body.
#[must_use]
pub fn body_hash(body: &str) -> u64 {
    KeyHash::of(body).number()
}

impl Transcript {
    /// Returns whether a pending reminder has rules.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        self.index.ruled > 0
    }

    /// Returns whether a pending reminder has conditions.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.index.conditional > 0
    }

    /// Returns whether a pending reminder ends after a number of firings.
    pub(crate) fn has_limits(&self) -> bool {
        self.index.limited > 0
    }

    /// Returns the firings of a reminder with rules; none if its key never fired.
    #[must_use]
    pub fn firing(&self, reminder: &Reminder) -> KeyFirings {
        self.known_firing(key(reminder)).unwrap_or_default()
    }

    /// Returns the mark of a reminder that counts as waiting.
    pub(crate) fn wait_mark(&self, reminder: &Reminder) -> Option<WaitMark> {
        // Usually there is none.
        let marks = self.firings.as_ref().map(|firings| &firings.marks).filter(|marks| !marks.is_empty())?;
        marks.get(&reminder.id).copied()
    }

    /// Returns the number of the next prompt, from 1.
    #[must_use]
    pub fn next_prompt(&self) -> u64 {
        self.account.prompts + self.earlier_prompts() + 1
    }

    fn earlier_prompts(&self) -> u64 {
        self.firings.as_ref().map_or(0, |firings| firings.earlier_prompts)
    }

    fn firings_mut(&mut self) -> &mut Firings {
        Arc::make_mut(self.firings.get_or_insert_default())
    }

    fn known_firing(&self, key: &str) -> Option<KeyFirings> {
        self.firings.as_ref()?.by_key.get(key).copied()
    }

    /// Sets the firings of a key, which a void prompt sets back to `before`.
    fn set_firing(&mut self, key: &Arc<str>, firing: KeyFirings, before: Option<KeyFirings>) {
        let is_open = self.has_open_prompts();
        let firings = self.firings_mut();
        firings.by_key.insert(key.clone(), firing);
        if is_open {
            firings.open.push((key.clone(), before));
        }
    }

    /// Notes that a reminder waits for a reason.
    pub(crate) fn note_waiting(&mut self, reminder: &Reminder, reason: DeferReason) {
        self.firings_mut().marks.insert(reminder.id.clone(), WaitMark::Waits(reason));
    }

    /// Marks a reminder that is admitted while the earlier one of its key had no room.
    pub(super) fn succeed_waiting(&mut self, reminder: &Reminder) {
        let has_waited = self.firings.is_some() && self.firing(reminder).deferrals > 0;
        if has_waited {
            self.firings_mut().marks.insert(reminder.id.clone(), WaitMark::Succeeds);
        }
    }

    /// Begins the prompt that was counted last: its changes can be undone while its turn is not over.
    pub(super) fn begin_firings(&mut self) {
        if self.firings.as_ref().is_some_and(|firings| !firings.open.is_empty() || !firings.open_marks.is_empty()) {
            let firings = self.firings_mut();
            firings.open.clear();
            firings.open_marks.clear();
        }
    }

    /// Returns whether a prompt that carries reminders can change more than the length of runs.
    pub(crate) fn counts_firings(&self) -> bool {
        self.has_rules() || self.shares_keys() || self.firings.as_ref().is_some_and(|firings| !firings.marks.is_empty())
    }

    /// Returns whether pending reminders may share a key (an import may contain some). Each prompt counts all of them
    /// then, so that one prompt does not count twice for a key.
    fn shares_keys(&self) -> bool {
        self.index.by_key.is_crowded
    }

    /// Returns whether a prompt that carries a reminder changes what is counted.
    pub(crate) fn counts_firing(&self, reminder: &Reminder) -> bool {
        let is_counted = reminder.rules.is_some() || self.shares_keys() && reminder.dedupe_key.is_some();
        is_counted || self.wait_mark(reminder).is_some()
    }

    /// Counts a reminder that the last counted prompt carries and that [`Self::counts_firing`] says is counted.
    pub(crate) fn count_firing(&mut self, slot: u32, choice: Option<&BodyChoice>) {
        let Some(pending) = self.pending_at(slot).cloned() else { return };
        let reminder = &pending.reminder;
        let has_waited = self.wait_mark(reminder).is_some();
        if has_waited {
            let firings = self.firings_mut();
            let mark = firings.marks.remove(&reminder.id);
            firings.open_marks.extend(mark.map(|mark| (reminder.id.clone(), mark)));
        }
        let before = self.known_firing(key(reminder));
        let last = before.unwrap_or_default();
        let counted = match reminder.rules {
            None if self.shares_keys() => self.with_run(&pending, self.account.prompts).unwrap_or(last),
            None => last,
            Some(_) => self.with_prompt(last, reminder.chosen_body(choice)),
        };
        let firing = KeyFirings { deferrals: 0, ..counted };
        if firing != last {
            self.set_firing(key(reminder), firing, before);
        }
    }

    /// Returns the firings with the last counted prompt, which carried `body`.
    fn with_prompt(&self, last: KeyFirings, body: &str) -> KeyFirings {
        let prompt = self.next_prompt() - 1;
        // Of two reminders with one key, the first has counted it.
        if last.times > 0 && last.last_prompt == prompt {
            return last;
        }
        KeyFirings {
            times: last.times.saturating_add(1),
            first_prompt: if last.times == 0 { prompt } else { last.first_prompt },
            last_prompt: prompt,
            body: Some(body_hash(body)),
            deferrals: last.deferrals,
            counted: prompt,
        }
    }

    /// Returns the firings of a key with the run of its pending reminder up to a prompt; `None` if that adds nothing.
    fn with_run(&self, pending: &PendingReminder, up_to: u64) -> Option<KeyFirings> {
        let known = self.known_firing(key_of_run(&pending.reminder)?);
        self.run_after(known.unwrap_or_default(), pending, up_to)
    }

    fn run_after(&self, known: KeyFirings, pending: &PendingReminder, up_to: u64) -> Option<KeyFirings> {
        let earlier = self.earlier_prompts();
        let (from, to) = ((pending.since_prompt + earlier).max(known.counted), up_to + earlier);
        let length = to.checked_sub(from).filter(|length| *length > 0)?;
        // The model may not know a body any more that it was shown before a compaction.
        let is_known = up_to > self.account.compacted;
        Some(KeyFirings {
            times: known.times.saturating_add(u32::try_from(length).unwrap_or(u32::MAX)),
            first_prompt: if known.times == 0 { from + 1 } else { known.first_prompt },
            last_prompt: to,
            body: is_known.then(|| body_hash(&pending.reminder.body)),
            deferrals: known.deferrals,
            counted: to,
        })
    }

    /// Counts the run of a pending reminder that ends, or starts over, with the last prompt.
    pub(super) fn end_run(&mut self, pending: &PendingReminder) {
        let now = self.account.prompts;
        let (Some(key), Some(firing)) = (key_of_run(&pending.reminder), self.with_run(pending, now)) else { return };
        // If the last prompt is void, the ones before it have carried the reminder all the same.
        let before = match self.has_open_prompts() {
            true => self.with_run(pending, now.saturating_sub(1)).or_else(|| self.known_firing(key)),
            false => None,
        };
        self.set_firing(key, firing, before);
    }

    /// Counts the last counted prompt as one that leaves out the reminder in a slot. Returns whether the run of a
    /// reminder without a TTL must be counted from here on.
    pub(super) fn interrupt_run(&mut self, slot: u32) -> bool {
        let Some(pending) = self.pending_at(slot) else { return false };
        let reminder = &pending.reminder;
        let has_no_room = self.wait_mark(reminder) == Some(WaitMark::Waits(DeferReason::Budget));
        let is_run = key_of_run(reminder).is_some();
        if !has_no_room && !is_run {
            return false;
        }
        let known = self.known_firing(key(reminder));
        let run = self.with_run(pending, self.account.prompts - 1);
        let is_counted = has_no_room || known.is_some() || run.is_some();
        if is_counted {
            let last = run.or(known).unwrap_or_default();
            let counted = if is_run { self.next_prompt() - 1 } else { last.counted };
            let deferrals = last.deferrals.saturating_add(u32::from(has_no_room));
            let key = key(reminder).clone();
            self.set_firing(&key, KeyFirings { deferrals, counted, ..last }, known);
        }
        !is_counted
    }

    /// Undoes the changes of the last prompt, which no one saw.
    pub(super) fn undo_firings(&mut self) {
        if self.firings.as_ref().is_none_or(|firings| firings.open.is_empty() && firings.open_marks.is_empty()) {
            return;
        }
        let firings = self.firings_mut();
        let open = std::mem::take(&mut firings.open);
        undo(&mut firings.by_key, open);
        let marks = std::mem::take(&mut firings.open_marks);
        firings.marks.extend(marks);
    }

    /// Ensures that no key is counted beyond the prompts that are left after void ones.
    pub(super) fn uncount_firings(&mut self) {
        let last = self.next_prompt() - 1;
        if let Some(firings) = &self.firings
            && firings.by_key.values().any(|firing| firing.counted > last)
        {
            let capped = |(key, firing): (&Arc<str>, &KeyFirings)| {
                (key.clone(), KeyFirings { counted: firing.counted.min(last), ..*firing })
            };
            let by_key = firings.by_key.iter().map(capped).collect();
            self.firings_mut().by_key = by_key;
        }
    }

    /// Forgets the bodies shown: the context was compacted, so the model may not know them any more.
    pub(crate) fn forget_bodies(&mut self) {
        self.account.compacted = self.account.prompts;
        let Some(firings) = &self.firings else { return };
        if firings.by_key.values().all(|firing| firing.body.is_none()) {
            return;
        }
        let forgotten = |(key, firing): (&Arc<str>, &KeyFirings)| (key.clone(), KeyFirings { body: None, ..*firing });
        let by_key = firings.by_key.iter().map(forgotten).collect();
        let firings = self.firings_mut();
        firings.by_key = by_key;
        firings.open.iter_mut().filter_map(|(_, before)| before.as_mut()).for_each(|before| before.body = None);
    }

    /// Forgets a key: its reminder was cleared, so counting starts over.
    pub(crate) fn forget_firing(&mut self, key: &str) {
        if !self.firings.as_ref().is_some_and(|firings| firings.by_key.contains_key(key)) {
            return;
        }
        let counted = self.next_prompt() - 1;
        let has_another = self.shares_keys() && !self.slots_of_key(key).is_empty();
        let firings = self.firings_mut();
        firings.open.retain(|(known, _)| known.as_ref() != key);
        match firings.by_key.get_mut(key) {
            Some(firing) if has_another => *firing = KeyFirings { counted, ..KeyFirings::default() },
            _ => _ = firings.by_key.remove(key),
        }
    }

    /// Ends the counting of a removed reminder: counts its run, or forgets it if it has no key, since it never comes
    /// back.
    pub(super) fn forget_removed(&mut self, pending: &PendingReminder) {
        let reminder = &pending.reminder;
        self.end_run(pending);
        if self.firings.is_none() {
            return;
        }
        if reminder.dedupe_key.is_none() {
            self.forget_firing(&reminder.id);
        }
        self.forget_mark(&reminder.id);
    }

    /// Removes the mark of a reminder for good.
    pub(crate) fn forget_mark(&mut self, id: &str) {
        if let Some(firings) = self.firings.as_ref()
            && (firings.marks.contains_key(id) || !firings.open_marks.is_empty())
        {
            let firings = self.firings_mut();
            firings.marks.remove(id);
            firings.open_marks.retain(|(known, _)| known.as_ref() != id);
        }
    }

    /// Forgets the keys that fired longest ago, if there are too many. Those of pending reminders are still in use, so
    /// they go last.
    pub(super) fn forget_oldest_firings(&mut self) {
        let count = self.firings.as_ref().map_or(0, |firings| firings.by_key.len());
        let Some(mut over) = count.checked_sub(MAX_KEYS).filter(|over| *over > 0) else { return };
        let mut keys: Vec<(u64, Arc<str>)> = Vec::with_capacity(count);
        keys.extend(self.firings.iter().flat_map(|firings| &firings.by_key).map(|(k, f)| (f.last_prompt, k.clone())));
        keys.sort_unstable();
        let mut in_use = Vec::new();
        let mut gone = Vec::with_capacity(over);
        for (_, key) in keys {
            if gone.len() == over {
                break;
            }
            let is_used = !self.shares_keys() && !self.slots_of_key(&key).is_empty() || self.slot_of_id(&key).is_some();
            if is_used { in_use.push(key) } else { gone.push(key) }
        }
        over -= gone.len();
        gone.extend(in_use.into_iter().take(over));
        let firings = self.firings_mut();
        for key in gone {
            firings.by_key.remove(&key);
        }
    }
}

/// Restores what was known before a prompt.
fn undo(by_key: &mut ByText<KeyFirings>, open: Vec<(Arc<str>, Option<KeyFirings>)>) {
    for (key, before) in open.into_iter().rev() {
        match before {
            Some(before) => {
                by_key.insert(key, before);
            }
            None => {
                by_key.remove(&key);
            }
        }
    }
}

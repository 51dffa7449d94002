//! [`Firings`]: which prompts have carried the reminders with rules, and which reminders wait. Counted by key, so that a
//! reminder that is injected anew under its key goes on where the last one ended; by id for one without a key.
//!
//! Most transcripts have no such reminder, and nothing is kept then.

use std::sync::Arc;

use crate::reminder::Reminder;
use crate::reminder::lifecycle::{BodyChoice, DeferReason};

use super::Transcript;
use super::index::KeyHash;

/// The firings of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    /// The reason why the last prompt left it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<DeferReason>,
}

impl KeyFirings {
    /// Returns whether the last prompts have left it out.
    fn has_waited(&self) -> bool {
        self.deferrals > 0 || self.waits.is_some()
    }
}

/// Keys are hashed fast and always alike, so that equal runs forget the same keys.
type FiringsByKey =
    imbl::GenericHashMap<Arc<str>, KeyFirings, foldhash::fast::FixedState, imbl::shared_ptr::DefaultSharedPtr>;

/// The firings of a transcript by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Firings {
    by_key: FiringsByKey,
    /// Number of prompts before the first of this transcript: those of the process that it was continued from.
    earlier_prompts: u64,
    /// Changes by the last prompt whose turn is not over: what was known before.
    open: Vec<(Arc<str>, Option<KeyFirings>)>,
}

/// Firings as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredFirings {
    /// Number of prompts so far.
    pub prompts: u64,
    /// The firings by key.
    pub by_key: Vec<(Arc<str>, KeyFirings)>,
}

impl StoredFirings {
    /// Returns whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

/// Maximum number of keys. If there are more, the one that fired longest ago is forgotten.
const MAX_KEYS: usize = 1024;

/// Returns the name under which a reminder is counted.
fn key(reminder: &Reminder) -> &Arc<str> {
    reminder.dedupe_key.as_ref().unwrap_or(&reminder.id)
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

    /// Returns the firings of a reminder; none if it never fired.
    #[must_use]
    pub fn firing(&self, reminder: &Reminder) -> KeyFirings {
        self.known_firing(reminder).copied().unwrap_or_default()
    }

    /// Returns the number of the next prompt, from 1.
    #[must_use]
    pub fn next_prompt(&self) -> u64 {
        self.account.prompts + self.firings.as_ref().map_or(0, |firings| firings.earlier_prompts) + 1
    }

    /// Returns the firings as plain data, as of the last prompt whose turn is over.
    #[must_use]
    pub fn stored_firings(&self) -> StoredFirings {
        let Some(firings) = &self.firings else { return StoredFirings::default() };
        let mut by_key = firings.by_key.clone();
        if self.has_open_prompts() {
            undo(&mut by_key, firings.open.clone());
        }
        let prompts = self.account.charged + firings.earlier_prompts;
        let mut by_key: Vec<_> = by_key.into_iter().collect();
        by_key.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        StoredFirings { prompts, by_key }
    }

    /// Restores firings of another process.
    pub fn restore_firings(&mut self, stored: StoredFirings) {
        if !stored.is_empty() {
            let earlier_prompts = stored.prompts.saturating_sub(self.account.prompts);
            let by_key = stored.by_key.into_iter().collect();
            self.firings = Some(Arc::new(Firings { by_key, earlier_prompts, open: Vec::new() }));
        }
    }

    fn firings_mut(&mut self) -> &mut Firings {
        Arc::make_mut(self.firings.get_or_insert_default())
    }

    fn firing_mut(&mut self, key: &Arc<str>) -> Option<&mut KeyFirings> {
        Arc::make_mut(self.firings.as_mut()?).by_key.get_mut(key)
    }

    /// Adds the firings of a key that has none.
    fn add_firing(&mut self, key: &Arc<str>, firing: KeyFirings) {
        let firings = self.firings_mut();
        if firings.by_key.len() >= MAX_KEYS {
            let oldest = firings.by_key.iter().min_by_key(|(key, firing)| (firing.last_prompt, *key));
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                firings.by_key.remove(&oldest);
            }
        }
        firings.by_key.insert(key.clone(), firing);
    }

    /// Notes that a reminder waits. Returns whether it did not wait for this reason before.
    pub(crate) fn note_waiting(&mut self, reminder: &Reminder, reason: DeferReason) -> bool {
        let waits = Some(reason);
        match self.firing_mut(key(reminder)) {
            Some(firing) => std::mem::replace(&mut firing.waits, waits) != waits,
            None => {
                self.add_firing(key(reminder), KeyFirings { waits, ..KeyFirings::default() });
                true
            }
        }
    }

    /// Begins the prompt that the account counts next: its changes can be undone while its turn is not over.
    pub(crate) fn begin_firings(&mut self) {
        if self.firings.as_ref().is_some_and(|firings| !firings.open.is_empty()) {
            self.firings_mut().open.clear();
        }
    }

    /// Returns whether a prompt that carries a reminder changes what is counted: one without rules is only counted while
    /// it waits.
    pub(crate) fn counts_firing(&self, reminder: &Reminder) -> bool {
        reminder.rules.is_some() || self.known_firing(reminder).is_some_and(KeyFirings::has_waited)
    }

    fn known_firing(&self, reminder: &Reminder) -> Option<&KeyFirings> {
        self.firings.as_ref()?.by_key.get(key(reminder))
    }

    /// Counts a reminder that the last counted prompt carries and that [`Self::counts_firing`] says is counted.
    pub(crate) fn count_firing(&mut self, reminder: &Reminder, choice: Option<&BodyChoice>) {
        let prompt = self.next_prompt() - 1;
        let mut known = self.firing_mut(key(reminder));
        let before = known.as_deref().copied();
        let last = before.unwrap_or_default();
        // An import may contain two reminders with one key.
        if last.times > 0 && last.last_prompt == prompt {
            return;
        }
        let firing = match reminder.rules {
            None => KeyFirings { deferrals: 0, waits: None, ..last },
            Some(_) => KeyFirings {
                times: last.times.saturating_add(1),
                first_prompt: if last.times == 0 { prompt } else { last.first_prompt },
                last_prompt: prompt,
                body: Some(body_hash(reminder.chosen_body(choice))),
                deferrals: 0,
                waits: None,
            },
        };
        let is_empty = firing == KeyFirings::default();
        match &mut known {
            _ if is_empty => _ = self.firings_mut().by_key.remove(key(reminder)),
            Some(known) => **known = firing,
            None => self.add_firing(key(reminder), firing),
        }
        self.firings_mut().open.push((key(reminder).clone(), before));
    }

    /// Counts the last counted prompt as one without room for a reminder, if that is why it waits.
    pub(crate) fn count_deferral(&mut self, reminder: &Reminder) {
        let Some(firing) = self.firing_mut(key(reminder)) else { return };
        if firing.waits == Some(DeferReason::Budget) {
            let before = *firing;
            firing.deferrals = firing.deferrals.saturating_add(1);
            self.firings_mut().open.push((key(reminder).clone(), Some(before)));
        }
    }

    /// Undoes the changes of the last prompt, which no one saw.
    pub(super) fn undo_firings(&mut self) {
        if self.firings.as_ref().is_none_or(|firings| firings.open.is_empty()) {
            return;
        }
        let firings = self.firings_mut();
        let open = std::mem::take(&mut firings.open);
        undo(&mut firings.by_key, open);
    }

    /// Forgets the bodies shown: the context was compacted, so the model may not know them any more.
    pub(crate) fn forget_bodies(&mut self) {
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
        if self.firings.as_ref().is_some_and(|firings| firings.by_key.contains_key(key)) {
            let firings = self.firings_mut();
            firings.by_key.remove(key);
            firings.open.retain(|(known, _)| known.as_ref() != key);
        }
    }

    /// Forgets a removed reminder without a key, which never comes back.
    pub(super) fn forget_removed(&mut self, reminder: &Reminder) {
        if self.firings.is_some() && reminder.dedupe_key.is_none() {
            self.forget_firing(&reminder.id);
        }
    }

    /// Returns whether anything is counted.
    pub(crate) fn counts_firings(&self) -> bool {
        self.firings.is_some() || self.has_rules()
    }
}

/// Restores what was known before a prompt.
fn undo(by_key: &mut FiringsByKey, open: Vec<(Arc<str>, Option<KeyFirings>)>) {
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

//! Firings as plain data, for snapshots and for sessions that continue in another process.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::reminder::DeferReason;

use super::super::Transcript;
use super::{Firings, KeyFirings, MAX_KEYS, WaitMark, key, key_of_run, undo};

/// Firings as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredFirings {
    /// Number of prompts so far.
    pub prompts: u64,
    /// The firings by key, sorted.
    pub by_key: Vec<(Arc<str>, KeyFirings)>,
    /// The pending reminders that the last prompt left out, by id, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<(Arc<str>, DeferReason)>,
}

/// The difference between two versions of stored firings.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiringsStep {
    /// Number of prompts so far.
    pub prompts: u64,
    /// The firings of the keys that changed.
    pub by_key: Vec<(Arc<str>, KeyFirings)>,
    /// The keys that were forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Arc<str>>,
    /// All pending reminders that the last prompt left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<(Arc<str>, DeferReason)>,
}

impl StoredFirings {
    /// Returns whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty() && self.waiting.is_empty()
    }

    /// Returns the changes since an older version.
    #[must_use]
    pub fn changes_since(self, old: &StoredFirings) -> FiringsStep {
        let StoredFirings { prompts, by_key, waiting } = self;
        let find = |list: &[(Arc<str>, KeyFirings)], key: &Arc<str>| list.binary_search_by(|(known, _)| known.cmp(key));
        let is_gone = |(key, _): &&(Arc<str>, KeyFirings)| find(&by_key, key).is_err();
        let forgotten = old.by_key.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        let is_new = |(key, firing): &(Arc<str>, KeyFirings)| {
            find(&old.by_key, key).map_or(true, |place| old.by_key[place].1 != *firing)
        };
        FiringsStep { prompts, by_key: by_key.into_iter().filter(is_new).collect(), forgotten, waiting }
    }

    /// Applies changes.
    pub fn apply(&mut self, step: FiringsStep) {
        let FiringsStep { prompts, by_key, forgotten, waiting } = step;
        let mut known: BTreeMap<Arc<str>, KeyFirings> = std::mem::take(&mut self.by_key).into_iter().collect();
        known.extend(by_key);
        for key in forgotten {
            known.remove(&key);
        }
        *self = StoredFirings { prompts, by_key: known.into_iter().collect(), waiting };
    }
}

impl FiringsStep {
    /// Returns whether nothing changed and no reminder waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty() && self.forgotten.is_empty() && self.waiting.is_empty()
    }
}

impl Transcript {
    /// Returns the firings as plain data, as of the last prompt whose turn is over.
    #[must_use]
    pub fn stored_firings(&self) -> StoredFirings {
        let Firings { mut by_key, mut marks, earlier_prompts, open, open_marks } =
            self.firings.as_deref().cloned().unwrap_or_default();
        if self.has_open_prompts() {
            undo(&mut by_key, open);
            marks.extend(open_marks);
        }
        for pending in self.pending() {
            let Some(key) = key_of_run(&pending.reminder) else { continue };
            let known = by_key.get(key).copied().unwrap_or_default();
            if let Some(firing) = self.run_after(known, pending, self.account.charged) {
                by_key.insert(key.clone(), firing);
            }
        }
        let mut by_key: Vec<_> = by_key.into_iter().filter(|(_, firing)| !firing.is_empty()).collect();
        if by_key.len() > MAX_KEYS {
            // Those of pending reminders are still in use.
            let in_use: HashSet<&Arc<str>> = self.pending().map(|pending| key(&pending.reminder)).collect();
            by_key.sort_unstable_by_key(|(key, firing)| {
                (!in_use.contains(key), Reverse(firing.last_prompt), key.clone())
            });
            by_key.truncate(MAX_KEYS);
        }
        by_key.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (_, firing) in &mut by_key {
            firing.counted = 0;
        }
        let mut waiting: Vec<_> = marks.into_iter().filter_map(|(id, mark)| Some((id, mark.reason()?))).collect();
        waiting.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        StoredFirings { prompts: self.account.charged + earlier_prompts, by_key, waiting }
    }

    /// Restores firings of another process. The pending reminders are in the transcript already.
    pub fn restore_firings(&mut self, stored: StoredFirings) {
        if stored.is_empty() {
            return;
        }
        let StoredFirings { prompts, by_key, waiting } = stored;
        let earlier_prompts = prompts.saturating_sub(self.account.prompts);
        let counted = self.account.prompts + earlier_prompts;
        let by_key = by_key.into_iter().map(|(key, firing)| (key, KeyFirings { counted, ..firing })).collect();
        let marks = waiting.into_iter().map(|(id, reason)| (id, WaitMark::Waits(reason))).collect();
        let (open, open_marks) = (Vec::new(), Vec::new());
        self.firings = Some(Arc::new(Firings { by_key, marks, earlier_prompts, open, open_marks }));
        let pending: Vec<_> = self.pending().map(|pending| pending.reminder.clone()).collect();
        for reminder in pending.iter().filter(|reminder| self.wait_mark(reminder).is_none()).collect::<Vec<_>>() {
            self.succeed_waiting(reminder);
        }
        self.forget_oldest_firings();
    }
}

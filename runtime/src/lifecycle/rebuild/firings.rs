//! The firings of a session according to its records, for a session that continues in another process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::reminder::{DeferReason, ExpireReason};
use crate::transcript::{KeyFirings, StoredFirings, body_hash};

use super::super::ChargePass;
use super::{LifeEndReason, SessionLife};

/// An event that changes what is known of a key.
enum FiringEvent<'a> {
    /// A prompt carried it with a body.
    Carried { prompt: u64, body: &'a Arc<str> },
    /// It was cleared.
    Cleared,
}

impl SessionLife {
    /// Returns the firings of each key, and of the pending reminders without one, without those of the last `unseen`
    /// prompts, and the pending reminders that wait. How often one had no room in a budget is not known.
    #[must_use]
    pub fn firings(&self, unseen: usize) -> StoredFirings {
        let seen: Vec<u64> = self.prompts.iter().filter(|p| p.charges && !p.void).map(|p| p.cursor).collect();
        let prompts = seen.len().saturating_sub(unseen);
        let seen = &seen[..prompts];
        let mut events: Vec<(u64, &Arc<str>, FiringEvent<'_>)> = Vec::new();
        for life in &self.reminders {
            let reminder = &life.reminder;
            let key = match &reminder.dedupe_key {
                Some(key) => key,
                None if life.is_pending() && reminder.rules.is_some() => &reminder.id,
                None => continue,
            };
            for carried in life.carried.iter().filter(|carried| carried.charges && !carried.void) {
                // The record of a prompt comes after those of the reminders in it.
                let before = seen.partition_point(|cursor| *cursor < carried.cursor);
                if before < prompts {
                    let body = reminder.chosen_body(carried.choice.as_ref());
                    events.push((carried.cursor, key, FiringEvent::Carried { prompt: before as u64 + 1, body }));
                }
            }
            let cleared = LifeEndReason::Expired(ExpireReason::Cleared);
            if let Some(end) = life.end.as_ref().filter(|end| end.how == cleared) {
                events.push((end.cursor, key, FiringEvent::Cleared));
            }
        }
        events.sort_by_key(|(cursor, ..)| *cursor);
        let compactions = self.passes.iter().filter(|pass| matches!(pass.pass, ChargePass::Compaction(_)));
        let compacted_at = compactions.map(|pass| pass.cursor).max().unwrap_or(0);
        let mut by_key: BTreeMap<Arc<str>, (KeyFirings, Option<&Arc<str>>)> = BTreeMap::new();
        for (cursor, key, event) in events {
            match event {
                FiringEvent::Cleared => drop(by_key.remove(key)),
                FiringEvent::Carried { prompt, body } => {
                    let (firing, last_body) = by_key.entry(key.clone()).or_default();
                    if firing.times == 0 || firing.last_prompt != prompt {
                        firing.times = firing.times.saturating_add(1);
                    }
                    firing.first_prompt = if firing.first_prompt == 0 { prompt } else { firing.first_prompt };
                    (firing.last_prompt, *last_body) = (prompt, (cursor > compacted_at).then_some(body));
                }
            }
        }
        let hashed = by_key.into_iter().map(|(key, (mut firing, body))| {
            firing.body = body.map(|body| body_hash(body));
            (key, firing)
        });
        StoredFirings { prompts: prompts as u64, by_key: hashed.collect(), waiting: self.waiting() }
    }

    /// Returns the pending reminders that the last prompt left out, by id.
    fn waiting(&self) -> Vec<(Arc<str>, DeferReason)> {
        let pending = self.reminders.iter().filter(|life| life.is_pending());
        let waits = pending.filter_map(|life| {
            let wait = life.waits.last()?;
            let shown = life.carried.iter().rfind(|carried| carried.charges && !carried.void);
            let is_waiting = shown.is_none_or(|shown| shown.cursor < wait.cursor);
            is_waiting.then(|| (life.reminder.id.clone(), wait.reason))
        });
        waits.collect()
    }
}

//! Clearing by id, tag or key.

use std::sync::Arc;

use base::data::Data;
use base::words::nearest;

use crate::reminder::ExpireReason;
use crate::reminder::{Reminder, ReminderCode, ReminderError};
use crate::transcript::{PendingReminder, Transcript};

use super::{LifecycleRecord, remove};

/// A selection of pending reminders. A reminder must match all given criteria.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// By id.
    pub id: Option<Arc<str>>,
    /// By tag.
    pub tag: Option<Arc<str>>,
    /// By key.
    pub dedupe_key: Option<Arc<str>>,
}

impl Selector {
    /// The keys of a selector.
    pub const KEYS: &'static [&'static str] = &["id", "tag", "dedupe_key"];

    /// Reads a selector strictly; at least one key is required.
    pub fn from_data(data: &Data) -> Result<Selector, ReminderError> {
        let error = |field: &str, message: String| ReminderError::new(ReminderCode::Shape, field, message);
        let Some(entries) = data.as_dict() else {
            let message =
                format!("a selector must be a dict with `id`, `tag` or `dedupe_key`, got {}", data.type_name());
            return Err(error("", message).help("write `{tag: \"…\"}` to clear a group, `{dedupe_key: \"…\"}` for one"));
        };
        if let Some(unknown) = entries.keys().find(|key| !Self::KEYS.contains(&key.as_ref())) {
            return Err(error(unknown, format!("unknown selector `{unknown}`"))
                .suggest(nearest(unknown, Self::KEYS.iter().copied()))
                .or_help("select by `id`, `tag` or `dedupe_key`"));
        }
        let text = |key: &str| match data.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) => match text.trim() {
                "" => Err(error(key, format!("`{key}` of a selector is empty")).help("name what to clear, or omit it")),
                trimmed => Ok(Some(Arc::from(trimmed))),
            },
            other => Err(error(key, format!("`{key}` of a selector must be a string, got {}", other.type_name()))
                .help(format!("write `{key}: \"…\"`"))),
        };
        let selector = Selector { id: text("id")?, tag: text("tag")?, dedupe_key: text("dedupe_key")? };
        if selector == Selector::default() {
            return Err(error("", "a selector needs `id`, `tag` or `dedupe_key`".to_owned())
                .help("write `{tag: \"…\"}` to clear a group, `{dedupe_key: \"…\"}` for one"));
        }
        Ok(selector)
    }

    /// Returns whether a queued reminder matches.
    #[must_use]
    pub fn matches_queued(&self, reminder: &Reminder) -> bool {
        self.id.as_ref().is_none_or(|id| *id == reminder.id)
            && self.tag.as_ref().is_none_or(|tag| reminder.tags.contains(tag))
            && self.dedupe_key.as_ref().is_none_or(|key| reminder.dedupe_key.as_ref() == Some(key))
    }

    /// Returns whether a reminder matches.
    #[must_use]
    pub fn matches(&self, pending: &PendingReminder) -> bool {
        let reminder = &pending.reminder;
        self.id.as_ref().is_none_or(|id| *id == reminder.id)
            && self.tag.as_ref().is_none_or(|tag| pending.has_tag(tag))
            && self.dedupe_key.as_ref().is_none_or(|key| reminder.dedupe_key.as_ref() == Some(key))
    }
}

/// Removes the pending reminders that match a selector. An id or a key is looked up; only a tag alone needs a scan.
pub fn clear(transcript: &mut Transcript, selector: &Selector) -> Vec<LifecycleRecord> {
    let mut meant = match (&selector.id, &selector.dedupe_key) {
        (Some(id), _) => transcript.slot_of_id(id).into_iter().collect(),
        (None, Some(key)) => transcript.slots_of_key(key),
        (None, None) => transcript.slots_where(|pending| selector.matches(pending)),
    };
    meant.retain(|slot| transcript.pending_at(*slot).is_some_and(|pending| selector.matches(pending)));
    let keys = cleared_keys(transcript, selector, &meant);
    let records = remove(transcript, meant, |pending| LifecycleRecord::Expired {
        reminder_id: pending.reminder.id.clone(),
        reason: ExpireReason::Cleared,
        ttl_turns_before: None,
    });
    // The removal has counted their last prompts.
    keys.iter().for_each(|key| transcript.forget_firing(key));
    records
}

/// Returns the keys whose counts start over: those of the cleared reminders, and a selected key even if its reminder
/// has ended already.
fn cleared_keys(transcript: &Transcript, selector: &Selector, meant: &[u32]) -> Vec<Arc<str>> {
    match selector {
        Selector { id: None, tag: None, dedupe_key: Some(key) } => vec![key.clone()],
        _ => meant.iter().filter_map(|slot| transcript.pending_at(*slot)?.reminder.dedupe_key.clone()).collect(),
    }
}

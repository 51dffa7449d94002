//! Reminder events on the wire, one frame for each: the RFC's update for a client that asked for these updates, and for any other
//! an update that the protocol knows and that changes nothing, with the event in `_meta.harn.reminder`.

use std::sync::Arc;

use runtime::reminder::Reminder;
use serde_json::{Map, Value, json};

use super::{Frame, session_update};
use crate::host::ReminderEvent;
use crate::wire::{self, Wire};

/// The update that carries an event to a client that did not ask. All of its fields are optional, and one that is absent changes
/// nothing. Another update of the session might never come, and several events would have to share it.
pub(super) const NO_CHANGE: &str = "session_info_update";

/// What has become of a reminder, in the words of the wire.
pub(super) struct Told {
    /// `_meta.harn.reminder.event`.
    word: &'static str,
    /// The kind of the RFC's update.
    update: &'static str,
    /// The RFC's fields.
    fields: Map<String, Value>,
    /// What the RFC has no field for.
    more: Map<String, Value>,
}

/// Puts an event into the words of the wire.
pub(super) fn told(event: &ReminderEvent) -> Told {
    let (mut fields, mut more) = (Map::new(), Map::new());
    match event {
        ReminderEvent::Emitted { reminder, provider_id, turn } => {
            emitted(reminder, provider_id.as_ref(), &mut fields);
            lifecycle(reminder, &mut more);
            more.insert("turn".to_owned(), (*turn).into());
            Told { word: "emitted", update: "reminder_emitted", fields, more }
        }
        ReminderEvent::Deduped { reminder_id, dedupe_key, dropped_ids } => {
            put(&mut fields, "id", reminder_id.as_ref().into());
            put(&mut fields, "dedupe_key", dedupe_key.as_ref().into());
            let dropped: Vec<&str> = dropped_ids.iter().map(AsRef::as_ref).collect();
            fields.insert("droppedReminderIds".to_owned(), dropped.into());
            Told { word: "deduped", update: "reminder_deduped", fields, more }
        }
        ReminderEvent::Expired { reminder_id, reason, turn } => {
            put(&mut fields, "id", reminder_id.as_ref().into());
            fields.insert("phase".to_owned(), wire::expiry_to(Wire::Acp, *reason).into());
            if let Some(turn) = turn {
                fields.insert("expiredAtTurn".to_owned(), (*turn).into());
            }
            Told { word: "expired", update: "reminder_expired", fields, more }
        }
    }
}

/// Builds the frame for an event. No field is written twice: what the RFC's update has a field for is left out of its `_meta`.
pub(super) fn frame(session_id: &str, told: Told, wants_update: bool) -> Frame {
    let Told { word, update, fields, more } = told;
    let mut meta = Map::from_iter([("event".to_owned(), word.into())]);
    let kind = if wants_update { update } else { NO_CHANGE };
    let mut out = Map::from_iter([("sessionUpdate".to_owned(), kind.into())]);
    if wants_update { &mut out } else { &mut meta }.extend(fields);
    meta.extend(more);
    out.insert("_meta".to_owned(), json!({"harn": {"reminder": meta}}));
    session_update(session_id, &out.into())
}

fn emitted(reminder: &Reminder, provider_id: Option<&Arc<str>>, fields: &mut Map<String, Value>) {
    put(fields, "id", reminder.id.as_ref().into());
    put(fields, "body", reminder.body.as_ref().into());
    if !reminder.tags.is_empty() {
        put(fields, "tags", reminder.tags.iter().map(AsRef::as_ref).collect::<Vec<&str>>().into());
    }
    if let Some(key) = &reminder.dedupe_key {
        put(fields, "dedupe_key", key.as_ref().into());
    }
    put(fields, "source", wire::source_to(Wire::Acp, reminder.source).into());
    if let Some(id) = provider_id {
        fields.insert("providerId".to_owned(), id.as_ref().into());
    }
    put(fields, "fired_at_turn", reminder.fired_at_turn.into());
}

/// What the RFC's update leaves out of the record.
fn lifecycle(reminder: &Reminder, more: &mut Map<String, Value>) {
    if let Some(ttl) = reminder.ttl_turns {
        put(more, "ttl_turns", ttl.into());
    }
    put(more, "preserve_on_compact", reminder.preserve_on_compact.into());
    put(more, "propagate", reminder.propagate.as_str().into());
    put(more, "role_hint", reminder.role_hint.as_str().into());
    if let Some(id) = &reminder.originating_agent_id {
        put(more, "originating_agent_id", id.as_ref().into());
    }
}

/// Puts a field of the record under its name on this wire.
fn put(fields: &mut Map<String, Value>, inside: &str, value: Value) {
    fields.insert(wire::field_to(Wire::Acp, inside).unwrap_or(inside).to_owned(), value);
}

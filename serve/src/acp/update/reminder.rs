//! What the client is told of reminders: the RFC's three updates, and the same as notifications of our own, which no client
//! that does not know them minds.

use std::sync::Arc;

use runtime::reminder::Reminder;
use serde_json::{Map, Value, json};

use super::{Frame, session_update};
use crate::host::ReminderEvent;
use crate::wire::{self, Wire};

/// What has become of a reminder, in the words of the wire.
pub(super) struct Told {
    /// The last word of its update, of its notification and of `_meta.harn.reminder.event`.
    word: &'static str,
    update: &'static str,
    notification: &'static str,
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
            let (update, notification) = ("reminder_emitted", "_session/reminder_emitted");
            Told { word: "emitted", update, notification, fields, more }
        }
        ReminderEvent::Deduped { reminder_id, dedupe_key, dropped_ids } => {
            put(&mut fields, "id", reminder_id.as_ref().into());
            put(&mut fields, "dedupe_key", dedupe_key.as_ref().into());
            let dropped: Vec<&str> = dropped_ids.iter().map(AsRef::as_ref).collect();
            fields.insert("droppedReminderIds".to_owned(), dropped.into());
            let (update, notification) = ("reminder_deduped", "_session/reminder_deduped");
            Told { word: "deduped", update, notification, fields, more }
        }
        ReminderEvent::Expired { reminder_id, reason, turn } => {
            put(&mut fields, "id", reminder_id.as_ref().into());
            fields.insert("phase".to_owned(), wire::expiry_to(Wire::Acp, *reason).into());
            if let Some(turn) = turn {
                fields.insert("expiredAtTurn".to_owned(), (*turn).into());
            }
            let (update, notification) = ("reminder_expired", "_session/reminder_expired");
            Told { word: "expired", update, notification, fields, more }
        }
    }
}

impl Told {
    /// As it stands in `_meta.harn.reminder`: everything.
    pub(super) fn describe(&self) -> Value {
        let mut all = Map::new();
        all.insert("event".to_owned(), self.word.into());
        all.extend(self.fields.clone());
        all.extend(self.more.clone());
        all.into()
    }
}

/// The notification for everybody, and the update for who wants it.
pub(super) fn frames(session_id: &str, told: &Told, wants_update: bool) -> Vec<Frame> {
    let meta = json!({"harn": {"reminder": told.describe()}});
    let with_meta = |first: &str, value: Value| {
        let mut out = Map::new();
        out.insert(first.to_owned(), value);
        out.extend(told.fields.clone());
        out.insert("_meta".to_owned(), meta.clone());
        Value::from(out)
    };
    let mut frames = Vec::with_capacity(2);
    if wants_update {
        frames.push(session_update(session_id, &with_meta("sessionUpdate", told.update.into())));
    }
    frames.push(Frame { method: told.notification, params: with_meta("sessionId", session_id.into()) });
    frames
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

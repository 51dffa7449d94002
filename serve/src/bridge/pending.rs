//! [`PendingInjections`]: a session's queue, as hosts see it.

use runtime::reminder::Surface;
use runtime::reminder::bridge::{Injection, InjectionPayload, Queue};
use serde::Serialize;
use serde_json::{Map, Value};

/// The response to `session/pending_injections`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingInjections {
    /// The number of pending injections.
    pub pending_count: usize,
    /// The pending injections, first in first out.
    pub injections: Vec<Value>,
}

impl PendingInjections {
    /// Returns the pending injections of a queue.
    #[must_use]
    pub fn of(queue: &Queue) -> PendingInjections {
        PendingInjections::rows(queue.pending())
    }

    /// Returns pending injections from their items.
    pub fn rows<'a>(items: impl IntoIterator<Item = &'a Injection>) -> PendingInjections {
        let injections: Vec<_> = items.into_iter().map(row).collect();
        PendingInjections { pending_count: injections.len(), injections }
    }
}

/// Returns the row of an item, in the guide's order: its kind and id first. Fields that are not set are null.
fn row(item: &Injection) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    let mode = item.mode.as_str().into();
    match &item.payload {
        InjectionPayload::Reminder(reminder) => {
            put("kind", "reminder".into());
            let [id, rest @ ..] = Injection::ROW.map(|field| reminder.written(field, Surface::Acp));
            put(id.0, Value::from(&id.1));
            put("mode", mode);
            for (name, value) in rest {
                put(name, Value::from(&value));
            }
        }
        InjectionPayload::Message(message) => {
            put("kind", "user_message".into());
            put("injectionId", item.id.as_ref().into());
            put("mode", mode);
            put("content", Value::from(&message.content.to_data()));
        }
    }
    fields.into()
}

#[cfg(test)]
mod tests {
    use base::data::Data;
    use base::ids::IdStream;
    use runtime::reminder::bridge::{DeliveryMode, MessagePayload};
    use runtime::reminder::{ReminderSpec, RoleHint};
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_the_guides_in_its_order() {
        let shared = Queue::shared(IdStream::new(1, "queue"));
        let mut queue = shared.lock().unwrap();
        let spec = ReminderSpec {
            tags: vec!["workspace".into()],
            dedupe_key: Some("deps".into()),
            ttl_turns: Some(2),
            role_hint: RoleHint::Developer,
            ..ReminderSpec::new("Dependencies changed.")
        };
        let full = queue.push_reminder(spec, DeliveryMode::FinishStep, 1).unwrap().id;
        let said = MessagePayload::from_data(&Data::from_json(r#"{"content": "Stop."}"#).unwrap()).unwrap();
        let message = queue.push_message(said.message, DeliveryMode::InterruptImmediate, 1).unwrap().id;
        let bare = queue.push_reminder(ReminderSpec::new("b"), DeliveryMode::AuditOnly, 1).unwrap().id;

        let pending = PendingInjections::of(&queue);
        let written = serde_json::to_value(&pending).unwrap();
        let expected = json!({"pendingCount": 3, "injections": [
            {"kind": "reminder", "reminderId": full.as_ref(), "mode": "finish_step", "body": "Dependencies changed.",
             "tags": ["workspace"], "dedupeKey": "deps", "ttlTurns": 2, "roleHint": "developer", "source": "host"},
            {"kind": "user_message", "injectionId": message.as_ref(), "mode": "interrupt_immediate", "content": "Stop."},
            {"kind": "reminder", "reminderId": bare.as_ref(), "mode": "audit_only", "body": "b", "tags": [],
             "dedupeKey": null, "ttlTurns": null, "roleHint": "system", "source": "host"},
        ]});
        assert_eq!(written, expected);
        assert_eq!(written.to_string(), expected.to_string(), "the order of the keys too");
        // A script's view of the same queue, with script names for sources.
        let mut inside: Vec<Value> =
            queue.pending().map(|injection| (&injection.to_data(Surface::Script)).into()).collect();
        for row in inside.iter_mut().filter(|row| row["source"] == "bridge") {
            row["source"] = "host".into();
        }
        assert_eq!(json!(inside), expected["injections"]);
    }
}

//! [`PendingInjections`]: what a host sees of a session's queue.

use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::bridge::{Injection, Mode, Payload, Queue};
use runtime::reminder::{RoleHint, Source};
use serde::{Deserialize, Serialize};

/// The answer to `session/pending_injections`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingInjections {
    /// How many wait.
    pub pending_count: usize,
    /// What waits, first in first.
    pub injections: Vec<PendingRow>,
}

/// One that waits. The guide spells these rows in camelCase, and their words as they are inside,
/// but for the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PendingRow {
    /// A reminder.
    Reminder {
        /// The id by which it can be revoked.
        reminder_id: Arc<str>,
        /// When it is delivered.
        mode: Mode,
        /// Its text.
        body: Arc<str>,
        /// Its tags.
        tags: Vec<Arc<str>>,
        /// Its dedupe key; null where it has none.
        dedupe_key: Option<Arc<str>>,
        /// In how many prompts it will appear; null where it has no end.
        ttl_turns: Option<u32>,
        /// The slot it would like.
        role_hint: RoleHint,
        /// Who made it, in the word that updates use.
        #[serde(with = "source_word")]
        source: Source,
    },
    /// A message of the user.
    UserMessage {
        /// The id by which it can be revoked.
        injection_id: Arc<str>,
        /// When it is delivered.
        mode: Mode,
        /// Text or blocks.
        content: Data,
    },
}

/// A source as clients read it everywhere else.
mod source_word {
    use runtime::reminder::Source;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::wire::{Wire, source_from, source_to};

    // The signature that serde calls.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(source: &Source, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(source_to(Wire::Acp, *source))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Source, D::Error> {
        let word = String::deserialize(from)?;
        source_from(Wire::Acp, &word).ok_or_else(|| D::Error::custom(format!("unknown source `{word}`")))
    }
}

impl PendingInjections {
    /// What waits in a queue.
    #[must_use]
    pub fn of(queue: &Queue) -> PendingInjections {
        PendingInjections::rows(queue.pending())
    }

    /// What waits, by its items.
    pub fn rows<'a>(items: impl IntoIterator<Item = &'a Injection>) -> PendingInjections {
        let injections: Vec<_> = items.into_iter().map(PendingRow::from).collect();
        PendingInjections { pending_count: injections.len(), injections }
    }
}

impl From<&Injection> for PendingRow {
    fn from(injection: &Injection) -> PendingRow {
        let (id, mode) = (injection.id.clone(), injection.mode);
        match &injection.payload {
            Payload::Reminder(reminder) => PendingRow::Reminder {
                reminder_id: id,
                mode,
                body: reminder.body.clone(),
                tags: reminder.tags.clone(),
                dedupe_key: reminder.dedupe_key.clone(),
                ttl_turns: reminder.ttl_turns,
                role_hint: reminder.role_hint,
                source: reminder.source,
            },
            Payload::Message(message) => {
                PendingRow::UserMessage { injection_id: id, mode, content: message.content.to_data() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use runtime::ids::IdStream;
    use runtime::reminder::ReminderSpec;
    use runtime::reminder::bridge::MessagePayload;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn rows_are_the_guides_in_order_and_are_read_again() {
        let shared = Queue::shared(IdStream::new(1, "queue"));
        let mut queue = shared.lock().unwrap();
        let spec = ReminderSpec {
            tags: vec!["workspace".into()],
            dedupe_key: Some("deps".into()),
            ttl_turns: Some(2),
            role_hint: RoleHint::Developer,
            ..ReminderSpec::new("Dependencies changed.")
        };
        let full = queue.push_reminder(spec, Mode::FinishStep, 1).unwrap().id;
        let said = MessagePayload::from_data(&Data::from_json(r#"{"content": "Stop."}"#).unwrap()).unwrap();
        let message = queue.push_message(said.message, Mode::InterruptImmediate, 1).unwrap().id;
        let bare = queue.push_reminder(ReminderSpec::new("b"), Mode::AuditOnly, 1).unwrap().id;

        let pending = PendingInjections::of(&queue);
        let told = serde_json::to_value(&pending).unwrap();
        let expected = json!({"pendingCount": 3, "injections": [
            {"kind": "reminder", "reminderId": full.as_ref(), "mode": "finish_step", "body": "Dependencies changed.",
             "tags": ["workspace"], "dedupeKey": "deps", "ttlTurns": 2, "roleHint": "developer", "source": "host"},
            {"kind": "user_message", "injectionId": message.as_ref(), "mode": "interrupt_immediate", "content": "Stop."},
            {"kind": "reminder", "reminderId": bare.as_ref(), "mode": "audit_only", "body": "b", "tags": [],
             "dedupeKey": null, "ttlTurns": null, "roleHint": "system", "source": "host"},
        ]});
        assert_eq!(told, expected);
        assert_eq!(serde_json::from_value::<PendingInjections>(told).unwrap(), pending);
        // What a script sees of the same queue, which has the words of scripts for sources.
        let mut inside: Vec<Value> = queue.pending().map(|injection| (&injection.to_data()).into()).collect();
        for row in inside.iter_mut().filter(|row| row["source"] == "bridge") {
            row["source"] = "host".into();
        }
        assert_eq!(json!(inside), expected["injections"]);
    }
}

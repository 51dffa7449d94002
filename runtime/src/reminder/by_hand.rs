//! A reminder's event as a script writes it: a whole event as a transcript gives it is read leniently, one written by hand must
//! have a body and no key that says nothing.

use std::sync::Arc;

use crate::data::{Data, Entries};

use super::misnomer::unknown_key;
use super::{Reminder, ReminderCode, ReminderError, ReminderSpec};

/// What a bare one may say.
const BARE: &[&str] = &ReminderSpec::keys_and::<12>(&["id", "source", "fired_at_turn", "originating_agent_id", "kind"]);

/// What stands beside a slot `reminder`; `content` where it was meant as a message.
const BESIDE: &[&str] =
    &["reminder", "id", "kind", "role", "visibility", "text", "content", "blocks", "metadata", "delivery"];

impl Reminder {
    /// Reads a reminder's event, `{kind: "system_reminder", …}`. One that has an id, and whose `reminder` has one, comes from a
    /// transcript and is read as it is. In any other an unknown key, or a missing `body`, is an error; values that do not fit
    /// fall back as in [`Reminder::from_data_lenient`], which asks `fresh_id` where there is no id.
    pub fn from_event(event: &Data, fresh_id: impl FnOnce() -> Arc<str>) -> Result<Reminder, ReminderError> {
        let slot = event.get("reminder");
        let whole = event.get("id").as_str().is_some() && slot.get("id").as_str().is_some();
        if let Some(error) = Self::faults_by_hand(event).into_iter().next().filter(|_| !whole) {
            return Err(error);
        }
        Ok(Self::from_data_lenient(event, fresh_id))
    }

    /// All that is wrong with an event that was written by hand: its unknown keys, or else that it has no body.
    #[must_use]
    pub fn faults_by_hand(event: &Data) -> Vec<ReminderError> {
        let slot = event.get("reminder");
        let has_slot = slot.as_dict().is_some();
        let mut faults = unknown(event, if has_slot { BESIDE } else { BARE });
        if has_slot {
            faults.extend(unknown(slot, BARE).into_iter().map(|error| error.under("reminder")));
        }
        let body = if has_slot { slot.get("body") } else { event.get("body") };
        if faults.is_empty() && body.is_nil() {
            let missing = ReminderError::new(ReminderCode::Shape, "body", "a reminder needs a `body`");
            let missing = missing.help("write {kind: \"system_reminder\", body: \"what the model should know\"}");
            faults.push(if has_slot { missing.under("reminder") } else { missing });
        }
        faults
    }
}

fn unknown(data: &Data, known: &[&str]) -> Vec<ReminderError> {
    let keys = data.as_dict().into_iter().flat_map(Entries::keys);
    keys.filter(|key| !known.contains(&key.as_ref()))
        .map(|key| match ReminderSpec::KEYS.contains(&key.as_ref()) {
            true => {
                ReminderError::new(ReminderCode::Shape, key.as_ref(), format!("`{key}` stands beside the reminder"))
                    .help("write it inside `reminder`")
            }
            false => unknown_key(ReminderCode::Shape, key, known),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Reminder, ReminderError> {
        Reminder::from_event(&Data::from_json(json).unwrap(), || "fresh".into())
    }

    #[test]
    fn one_written_by_hand_has_no_unknown_key_and_a_body() {
        for (json, field, suggestion) in [
            (r#"{"kind":"system_reminder","body":"x","ttl_turn":2}"#, "ttl_turn", Some("ttl_turns")),
            (r#"{"kind":"system_reminder","text":"x"}"#, "text", Some("body")),
            (r#"{"kind":"system_reminder"}"#, "body", None),
            (r#"{"kind":"system_reminder","reminder":{"bodi":"x"}}"#, "reminder.bodi", Some("body")),
            (r#"{"kind":"system_reminder","reminder":{}}"#, "reminder.body", None),
            (r#"{"kind":"system_reminder","reminder":{"body":"x"},"ttl_turns":2}"#, "ttl_turns", None),
            (
                r#"{"kind":"system_reminder","id":"e","reminder":{"body":"x","ttl":2}}"#,
                "reminder.ttl",
                Some("ttl_turns"),
            ),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.field.as_str(), error.suggestion.as_deref()), (field, suggestion), "{json}");
            assert_eq!((error.code, error.help.is_some()), (ReminderCode::Shape, true), "{json}");
        }
        let full = r#"{"kind":"system_reminder","id":"r1","body":"x","source":"hook","fired_at_turn":1,
            "originating_agent_id":"a","ttl_turns":2,"tags":[],"dedupe_key":"k","propagate":"all","role_hint":"system",
            "preserve_on_compact":true}"#;
        assert_eq!(read(full).unwrap().id.as_ref(), "r1");
    }

    #[test]
    fn a_whole_event_is_read_as_it_is() {
        let event = r#"{"kind":"system_reminder","id":"e1","later":1,"reminder":{"id":"r1","later":2}}"#;
        assert_eq!(read(event).unwrap().id.as_ref(), "r1");
    }
}

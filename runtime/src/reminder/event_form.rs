//! A reminder event as a script writes it: a whole event taken from a transcript is read leniently; one written
//! manually must have a body, or content if it has the form of a message, and no key without effect.

use std::sync::Arc;

use base::data::{Data, Entries};

use crate::message::Content;

use super::codec::names_and;
use super::misnomer::unknown_key;
use super::{Reminder, ReminderCode, ReminderError, ReminderField, ReminderSpec};

/// Allowed keys of a bare event.
const BARE: &[&str] = &names_and::<22>(
    &ReminderField::SPEC,
    &names_and::<8>(&ReminderField::OF_RUNTIME, &["kind", "when", "until", "expect"]),
);

/// Allowed keys in the form of a message; its content is the body.
const AS_MESSAGE: &[&str] =
    &names_and::<21>(&ReminderField::SPEC, &names_and::<7>(&ReminderField::OF_RUNTIME, &["kind", "role", "content"]));

/// Allowed keys next to a slot `reminder`; `content` if it was meant as a message.
const BESIDE: &[&str] =
    &["reminder", "id", "kind", "role", "visibility", "text", "content", "blocks", "metadata", "delivery"];

impl Reminder {
    /// Reads a reminder event, `{kind: "system_reminder", …}`. One with an id whose `reminder` has an id comes from a
    /// transcript and is read unchanged. In any other an unknown key, or a missing `body`, is an error; values that do
    /// not fit fall back as in [`Reminder::from_data_lenient`], which calls `fresh_id` if the id is missing.
    pub fn from_event(event: &Data, fresh_id: impl FnOnce() -> Arc<str>) -> Result<Reminder, ReminderError> {
        let slot = event.get("reminder");
        let whole = event.get("id").as_str().is_some() && slot.get("id").as_str().is_some();
        if whole {
            return Ok(Self::from_data_lenient(event, fresh_id));
        }
        if let Some(error) = Self::faults_by_hand(event).into_iter().next() {
            return Err(error);
        }
        if slot.as_dict().is_none() && Self::has_message_form(event) {
            check_message_form(event)?;
        }
        Ok(Self::from_data_lenient(event, fresh_id))
    }

    /// Returns all mistakes in a manually written event: its unknown keys, or else its missing body.
    #[must_use]
    pub fn faults_by_hand(event: &Data) -> Vec<ReminderError> {
        let slot = event.get("reminder");
        let has_slot = slot.as_dict().is_some();
        let as_message = !has_slot && Self::has_message_form(event);
        let known = if has_slot {
            BESIDE
        } else if as_message {
            AS_MESSAGE
        } else {
            BARE
        };
        let mut faults = unknown(event, known);
        if has_slot {
            faults.extend(unknown(slot, BARE).into_iter().map(|error| error.under("reminder")));
        }
        let body = match has_slot {
            true => slot.get("body"),
            false if as_message => event.get("content"),
            false => event.get("body"),
        };
        if faults.is_empty() && body.is_nil() {
            let missing = ReminderError::new(ReminderCode::Shape, "body", "missing `body` of a reminder");
            let missing = missing.help("write `{kind: \"system_reminder\", body: \"what the model should know\"}`");
            faults.push(if has_slot { missing.under("reminder") } else { missing });
        }
        faults
    }
}

/// Rejects values of a message that would be lost: a reminder has no text of an assistant or a tool.
fn check_message_form(event: &Data) -> Result<(), ReminderError> {
    let wrong = |field: &str, message: String| ReminderError::new(ReminderCode::Shape, field, message);
    if let Err(error) = Content::from_data(event.get("content")) {
        return Err(wrong("content", error.to_string()).help("write the text of the reminder"));
    }
    match event.get("role").as_str() {
        None if event.get("role").is_nil() => Ok(()),
        Some("system" | "developer" | "user") => Ok(()),
        _ => Err(wrong("role", "the `role` of a reminder must be system, developer or user".to_owned())
            .help("omit `role`, or use `role_hint`")),
    }
}

fn unknown(data: &Data, known: &[&str]) -> Vec<ReminderError> {
    let keys = data.as_dict().into_iter().flat_map(Entries::keys);
    keys.filter(|key| !known.contains(&key.as_ref()))
        .map(|key| match ReminderSpec::KEYS.contains(&key.as_ref()) {
            true => ReminderError::new(
                ReminderCode::Shape,
                key.as_ref(),
                format!(
                    "`{key}` is next to the reminder \
                    instead of inside it"
                ),
            )
            .help("move it inside `reminder`"),
            false => unknown_key(ReminderCode::Shape, key, known),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminder::RoleHint;

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
    fn one_in_the_form_of_a_message_is_read_by_its_content_and_role() {
        for (json, body, hint) in [
            (r#"{"kind":"system_reminder","role":"user","content":"x","ttl_turns":2}"#, "x", RoleHint::UserBlock),
            (r#"{"kind":"system_reminder","role":"developer","content":"x"}"#, "x", RoleHint::Developer),
            (r#"{"kind":"system_reminder","content":[{"type":"text","text":"x"}]}"#, "x", RoleHint::System),
            (r#"{"kind":"system_reminder","role":"user","role_hint":"system","content":"x"}"#, "x", RoleHint::System),
        ] {
            let read = read(json).unwrap();
            assert_eq!((read.body.as_ref(), read.role_hint), (body, hint), "{json}");
        }
        for (json, field) in [
            (r#"{"kind":"system_reminder","role":"assistant","content":"x"}"#, "role"),
            (r#"{"kind":"system_reminder","role":1,"content":"x"}"#, "role"),
            (r#"{"kind":"system_reminder","role":"user","content":7}"#, "content"),
            (r#"{"kind":"system_reminder","content":"x","ttl_turn":2}"#, "ttl_turn"),
            (r#"{"kind":"system_reminder","content":"x","body":"y"}"#, "content"),
            (r#"{"kind":"system_reminder","role":"user","body":"y"}"#, "role"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.field.as_str(), error.help.is_some()), (field, true), "{json}");
        }
    }

    #[test]
    fn a_whole_event_is_read_as_it_is() {
        let event = r#"{"kind":"system_reminder","id":"e1","later":1,"reminder":{"id":"r1","later":2}}"#;
        assert_eq!(read(event).unwrap().id.as_ref(), "r1");
    }
}

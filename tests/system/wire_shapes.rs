//! The JSON blocks of the guide go through the types of core and wires and come out with nothing lost.

use crate::harn::root;
use base::data::Data;
use base::ids::{IdStream, SharedIds};
use runtime::reminder::bridge::{DeliveryMode, Queue};
use runtime::reminder::{Propagate, ReminderField, ReminderSource, RoleHint, Surface};
use runtime::transcript::{Transcript, TranscriptEvent};
use serde_json::{Value, json};
use serve::bridge::{PendingInjections, RemindNotification};
use std::fs;

/// A block of the guide, as text and as it is read.
fn block(name: &str) -> (String, Value) {
    let text = fs::read_to_string(root().join("tests/guide/json").join(name)).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

fn ids() -> SharedIds {
    SharedIds::new(IdStream::new(1, "wire shapes"))
}

#[test]
fn the_event_envelope_comes_out_as_it_went_in() {
    let (text, value) = block("01-event-envelope.json");
    let event = TranscriptEvent::from_data(&Data::from_json(&text).unwrap(), &ids(), 0);
    assert_eq!(Value::from(&event.to_data(0)), value);
    let reminder = event.pending().expect("it is pending").reminder.clone();
    assert_eq!((event.id.as_ref(), reminder.id.as_ref()), ("0190abcd-...", "0190abcd-..."));
    assert_eq!(reminder.body.as_ref(), "Approaching context window cap.");
    assert_eq!((reminder.ttl_turns, reminder.fired_at_turn, reminder.preserve_on_compact), (Some(3), 4, true));
    assert_eq!(
        (reminder.role_hint, reminder.propagate, reminder.source),
        (RoleHint::Developer, Propagate::Session, ReminderSource::StdlibProvider)
    );
}

#[test]
fn the_ids_of_event_and_reminder_are_two() {
    let (_, mut value) = block("01-event-envelope.json");
    for slot in ["reminder", "metadata"] {
        value[slot]["id"] = "another".into();
    }
    let event = TranscriptEvent::from_data(&Data::from(value.clone()), &ids(), 0);
    assert_eq!((event.id.as_ref(), event.reminder().unwrap().id.as_ref()), ("0190abcd-...", "another"));
    assert_eq!(Value::from(&event.to_data(0)), value);
}

#[test]
fn the_metadata_of_the_envelope_mirrors_the_reminder_as_it_stands_now() {
    let (text, value) = block("01-event-envelope.json");
    assert_eq!(value["metadata"], value["reminder"], "in the guide");
    let event = TranscriptEvent::from_data(&Data::from_json(&text).unwrap(), &ids(), 0);
    // After two prompts one turn is left, and both tell so.
    let later = Value::from(&event.to_data(2));
    assert_eq!((&later["reminder"]["ttl_turns"], &later["metadata"]), (&json!(1), &later["reminder"]));
    // The slot is what counts where the two differ.
    let mut other = value;
    other["metadata"]["body"] = "something else".into();
    let event = TranscriptEvent::from_data(&Data::from(other), &ids(), 0).to_data(0);
    assert_eq!(event.at("metadata.body").as_str(), Some("Approaching context window cap."));
}

#[test]
fn the_envelope_survives_a_transcript() {
    let (_, value) = block("01-event-envelope.json");
    let whole = json!({"_type": "transcript", "id": "t", "messages": [], "events": [value]});
    let transcript = Transcript::from_data(&Data::from(whole), &ids(), 0).unwrap();
    assert_eq!(Value::from(transcript.to_data().get("events")), json!([value]));
    assert_eq!(Value::from(transcript.to_data().get("messages")), json!([]), "a reminder is no message");
}

#[test]
fn both_reminders_of_a_host_come_out_with_every_field() {
    let first = ("06-session-remind.json", DeliveryMode::InterruptImmediate, json!({"propagate": "session"}));
    let second = ("14-idle-workspace.json", DeliveryMode::FinishStep, json!({"role_hint": "system"}));
    for (name, mode, said_besides) in [first, second] {
        let (text, mut expected) = block(name);
        let remind = RemindNotification::from_json(&text).unwrap();
        assert_eq!((remind.payload.mode, remind.session_id.as_ref()), (mode, None), "{name}");
        // Defaults are written out; else it is the same message.
        let params = expected["params"].as_object_mut().unwrap();
        params.insert("preserve_on_compact".to_owned(), false.into());
        params.extend(said_besides.as_object().unwrap().clone());
        assert_eq!(Value::from(&remind.to_data(Surface::Script)), expected, "{name}");
    }
    let (text, _) = block("06-session-remind.json");
    let meta = RemindNotification::from_json(&text).unwrap().payload.meta;
    assert_eq!(Value::from(&meta), json!({"harn": {"origin": "file-watcher"}}));
}

#[test]
fn camel_case_says_the_same() {
    for name in ["06-session-remind.json", "14-idle-workspace.json"] {
        let remind = RemindNotification::from_json(&block(name).0).unwrap();
        let camel = remind.to_data(Surface::Acp);
        let keys: Vec<_> = camel.get("params").as_dict().unwrap().keys().cloned().collect();
        assert!(keys.iter().any(|key| key.as_ref() == "dedupeKey") && keys.iter().all(|key| !key[1..].contains('_')));
        let is_known = |key: &str| matches!(key, "_meta" | "mode") || ReminderField::named(key, Surface::Acp).is_some();
        assert!(keys.iter().all(|key| is_known(key)), "{keys:?}");
        assert_eq!(RemindNotification::from_json(&camel.to_json()), Ok(remind), "{name}");
    }
}

#[test]
fn a_queued_reminder_of_the_guide_is_shown_to_hosts() {
    let queue = Queue::shared(IdStream::new(1, "queue"));
    let mut queue = queue.lock().unwrap();
    let mut expected = Vec::new();
    for name in ["06-session-remind.json", "14-idle-workspace.json"] {
        let (text, value) = block(name);
        let remind = RemindNotification::from_json(&text).unwrap().payload;
        let id = queue.push_reminder(remind.spec, remind.mode, 1).unwrap().id;
        let given = &value["params"];
        expected.push(json!({
            "kind": "reminder", "reminderId": id.as_ref(), "mode": given["mode"], "body": given["body"],
            "tags": given["tags"], "dedupeKey": given["dedupe_key"], "ttlTurns": given["ttl_turns"],
            "roleHint": "system", "source": "host",
        }));
    }
    let shown = serde_json::to_value(PendingInjections::of(&queue)).unwrap();
    assert_eq!(shown, json!({"pendingCount": 2, "injections": expected}));
}

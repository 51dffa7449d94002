//! Reminders as peers write them.

use std::borrow::Cow;
use std::sync::Arc;

use base::data::Data;
use base::words::snake_case;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::codec::ReminderChange;
use runtime::reminder::{Propagate, Reminder, ReminderError, ReminderField, Surface};

/// The key of metadata that reminders travel under.
pub(crate) const KEY: &str = "harn.reminder";

/// A peer's report about a reminder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReminderReport {
    /// The change.
    pub(crate) change: ReminderChange,
    /// The task whose session has it.
    pub(crate) task_id: Option<Arc<str>>,
    /// The reminder, by its names inside.
    pub(crate) reminder: Data,
    /// A dict, or nil.
    pub(crate) metadata: Data,
}

/// A notification of a stream; nothing for one that is not of reminders.
pub(crate) fn of_notification(method: &str, params: &Data) -> Option<ReminderReport> {
    let change = change_of(method.strip_prefix("tasks/")?)?;
    let reminder = if params.get("reminder").is_nil() { params } else { params.get("reminder") };
    // Entries without a field of the draft are kept beside it.
    let (beside, metadata) = split(params.get("metadata"), KEY);
    let all = beside.as_dict().into_iter().flatten().filter(|(key, _)| reminder.get(key).is_nil());
    let reminder = all.fold(reminder.clone(), |all, (key, value)| all.with(key.clone(), value.clone()));
    Some(ReminderReport {
        change,
        task_id: params.get("taskId").as_shared_str(),
        reminder: inward(&reminder),
        metadata,
    })
}

/// Reads a report in the metadata of another event.
pub(crate) fn of_metadata(metadata: &Data, task_id: &Arc<str>) -> Option<ReminderReport> {
    let said = if metadata.get(KEY).is_nil() { metadata.at(KEY) } else { metadata.get(KEY) };
    said.as_dict()?;
    let (event, said) = split(said, "event");
    let change = change_of(event.as_str().unwrap_or("emitted"))?;
    let (metadata, said) = split(&said, "metadata");
    let reminder = if said.get("reminder").is_nil() { &said } else { said.get("reminder") };
    Some(ReminderReport { change, task_id: Some(task_id.clone()), reminder: inward(reminder), metadata })
}

/// An entry of a dict, and the rest of it.
fn split(dict: &Data, key: &str) -> (Data, Data) {
    let rest = dict.as_dict().into_iter().flatten().filter(|(other, _)| other.as_ref() != key);
    let rest = Data::dict(rest.map(|(key, value)| (key.clone(), value.clone())));
    (dict.get(key).clone(), rest)
}

/// Reads what happened: `reminderEmitted`, `reminder_emitted` and `emitted` say the same.
fn change_of(word: &str) -> Option<ReminderChange> {
    let word = word.to_ascii_lowercase().replace('_', "");
    word.strip_prefix("reminder").unwrap_or(&word).parse().ok()
}

/// Returns an event of a peer with names in snake_case. It may hold more than the fields of a reminder.
pub(crate) fn inward(event: &Data) -> Data {
    renamed(event, |key| snake_case(key))
}

/// Returns a reminder of a script by its names on the wire.
fn outward(spec: &Data) -> Data {
    renamed(spec, |key| match ReminderField::named(key, Surface::A2a) {
        Some(field) => field.name(Surface::A2a).into(),
        None if key == "session_id" => "sessionId".into(),
        None => key.into(),
    })
}

/// Returns a dict with other names. Nil values are left out.
fn renamed<'d>(dict: &'d Data, name: impl Fn(&'d str) -> Cow<'d, str>) -> Data {
    let entries = dict.as_dict().into_iter().flatten().filter(|(_, value)| !value.is_nil());
    Data::dict(entries.map(|(key, value)| (Arc::<str>::from(&*name(key)), value.clone())))
}

/// A reminder that a script wrote, read strictly, as the wire has it. `more` goes with it.
///
/// # Errors
/// Returns the problem with the specification.
pub(crate) fn to_wire(spec: &Data, more: &[(&'static str, Data)]) -> Result<Data, ReminderError> {
    RemindPayload::from_data(spec)?;
    let mut wire = outward(spec);
    for (key, value) in more.iter().filter(|(_, value)| !value.is_nil()) {
        wire.set(*key, value.clone());
    }
    Ok(wire)
}

/// Returns the reminders that a sub-task inherits from a session: those with `propagate: "all"` and without conditions.
pub(crate) fn inherited(handed: &[Arc<Reminder>]) -> Vec<Data> {
    // A condition exists only in this process.
    let is_free = |reminder: &Reminder| reminder.rules.as_ref().is_none_or(|rules| !rules.has_conditions());
    let goes = handed.iter().filter(|reminder| reminder.propagate == Propagate::All && is_free(reminder));
    goes.map(|reminder| Data::dict_of_present(inherited_fields().map(|field| of_inherited(reminder, field)))).collect()
}

/// The fields of a reminder that a sub-task inherits: its turn and its first session mean nothing
/// to a peer.
fn inherited_fields() -> impl Iterator<Item = ReminderField> {
    [ReminderField::Id].into_iter().chain(ReminderField::SPEC).chain([ReminderField::Source])
}

/// Returns a field as the wire has it, in the words of scripts. What is not preserved on compaction needs no word.
fn of_inherited(reminder: &Reminder, field: ReminderField) -> (&'static str, Data) {
    let value = match field {
        ReminderField::PreserveOnCompact if !reminder.preserve_on_compact => Data::Nil,
        _ => reminder.value(field),
    };
    (field.name(Surface::A2a), value)
}

/// Metadata with reminders beside what is in it. One is an object, several are a list.
pub(crate) fn attach(metadata: Data, mut reminders: Vec<Data>) -> Data {
    let said = match reminders.len() {
        0 => return metadata,
        1 => reminders.swap_remove(0),
        _ => Data::list(reminders),
    };
    if metadata.is_nil() { Data::dict([(KEY, said)]) } else { metadata.with(KEY, said) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Data {
        Data::from_json(text).unwrap()
    }

    #[test]
    fn a_notification_and_metadata_say_the_same() {
        let params = r#"{"taskId": "t", "reminder": {"id": "r", "body": "b", "dedupeKey": "k", "firedAtTurn": 5}, "metadata": {}}"#;
        let report = of_notification("tasks/reminderEmitted", &json(params)).unwrap();
        assert_eq!((report.change, report.reminder.get("dedupe_key").as_str()), (ReminderChange::Emitted, Some("k")));
        for metadata in [
            r#"{"harn.reminder": {"event": "reminder_emitted", "id": "r", "body": "b", "dedupeKey": "k", "firedAtTurn": 5}}"#,
            r#"{"harn": {"reminder": {"event": "emitted", "reminder": {"id": "r", "body": "b", "dedupeKey": "k", "firedAtTurn": 5}}}}"#,
        ] {
            let other = of_metadata(&json(metadata), &"t".into()).unwrap();
            assert_eq!(
                (other.change, &other.reminder, &other.task_id),
                (report.change, &report.reminder, &report.task_id)
            );
        }
        let params =
            r#"{"taskId": "t", "reminder": {"id": "r"}, "metadata": {"a": 1, "harn.reminder": {"ttlTurns": 2}}}"#;
        let report = of_notification("tasks/reminderExpired", &json(params)).unwrap();
        assert_eq!((report.reminder, report.metadata), (json(r#"{"id": "r", "ttl_turns": 2}"#), json(r#"{"a": 1}"#)));
        assert_eq!(of_notification("tasks/other", &json("{}")), None);
        assert_eq!(of_metadata(&json(r#"{"harn.plan": []}"#), &"t".into()), None);
    }

    #[test]
    fn names_go_there_and_back() {
        let inside = json(r#"{"dedupe_key": "k", "preserve_on_compact": true, "body": "b", "_meta": {}}"#);
        let wire = outward(&inside);
        assert_eq!(wire, json(r#"{"dedupeKey": "k", "preserveOnCompact": true, "body": "b", "_meta": {}}"#));
        assert_eq!((inward(&wire), outward(&wire)), (inside, wire.clone()));
    }

    #[test]
    fn a_spec_is_read_before_it_is_sent() {
        let spec = json(r#"{"body": "b", "ttl_turns": 2, "role_hint": "system", "mode": "finish_step"}"#);
        let wire = to_wire(&spec, &[("id", "r1".into()), ("source", Data::Nil)]).unwrap();
        assert_eq!(
            wire,
            json(r#"{"body": "b", "ttlTurns": 2, "roleHint": "system", "mode": "finish_step", "id": "r1"}"#)
        );
        assert_eq!(
            to_wire(&json(r#"{"body": "b", "ttl_turn": 2}"#), &[]).unwrap_err().suggestion.as_deref(),
            Some("ttl_turns")
        );
    }

    #[test]
    fn reminders_stand_beside_other_metadata() {
        let one = attach(json(r#"{"a": 1}"#), vec![json(r#"{"body": "b"}"#)]);
        assert_eq!(one, json(r#"{"a": 1, "harn.reminder": {"body": "b"}}"#));
        assert_eq!(attach(Data::Nil, vec![json("1"), json("2")]), json(r#"{"harn.reminder": [1, 2]}"#));
        assert_eq!(attach(Data::Nil, Vec::new()), Data::Nil);
    }

    #[test]
    fn each_field_goes_there_and_back() {
        use runtime::reminder::{FramedBody, ModelBodies, Priority, Refresh, ReminderRules, ReminderSource, RoleHint};

        let full = Reminder {
            id: "r1".into(),
            body: "b".into(),
            tags: vec!["a".into()],
            dedupe_key: Some("k".into()),
            ttl_turns: Some(3),
            preserve_on_compact: true,
            propagate: Propagate::All,
            role_hint: RoleHint::UserBlock,
            source: ReminderSource::Inherited,
            fired_at_turn: 4,
            originating_agent_id: Some("root".into()),
            producer: Some("guard".into()),
            rules: Some(Arc::new(ReminderRules {
                priority: Priority::High,
                cooldown_turns: Some(1),
                every: Some(2),
                max_times: Some(3),
                escalate: vec!["louder".into()],
                refresh: Refresh::OnChange,
                bodies: ModelBodies::from(vec![("claude-*".into(), "for Claude".into())]),
                when: None,
                until: None,
                expect: None,
            })),
            framed: FramedBody::default(),
        };
        // As a server reports it: every field by its name on the wire.
        let reminder = Data::dict(ReminderField::ALL.iter().map(|field| full.written(*field, Surface::A2a)));
        let params = Data::dict([("taskId", Data::from("t")), ("reminder", reminder)]);
        let report = of_notification("tasks/reminderEmitted", &params).unwrap();
        for field in ReminderField::ALL {
            let name = match field {
                // The event of a peer keeps the name of the wire.
                ReminderField::Producer => "provider_id",
                field => field.name(Surface::Script),
            };
            assert_eq!(*report.reminder.get(name), full.value(*field), "{field:?}");
        }
        // As a client sends it.
        let spec = Data::dict(ReminderField::SPEC.map(|field| full.written(field, Surface::Script)));
        let wire = to_wire(&spec, &[]).unwrap();
        let handed = inherited(&[Arc::new(full.clone())]);
        for field in ReminderField::SPEC {
            assert_eq!(*wire.get(field.name(Surface::A2a)), full.value(field), "{field:?}");
            assert_eq!(*handed[0].get(field.name(Surface::A2a)), full.value(field), "{field:?}");
        }
        assert_eq!((handed[0].get("id").as_str(), handed[0].get("source").as_str()), (Some("r1"), Some("inherited")));
        let but = ["firedAtTurn", "originatingAgentId", "providerId"];
        assert!(but.iter().all(|name| handed[0].get(name).is_nil()), "{handed:?}");
    }
}

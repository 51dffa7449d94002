//! Reminders as peers write them.

use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::{Propagate, Reminder, ReminderError};

/// The key of metadata that reminders travel under.
pub(crate) const KEY: &str = "harn.reminder";

/// A peer's report about a reminder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReminderReport {
    /// `emitted`, `deduped` or `expired`.
    pub(crate) what: Arc<str>,
    /// The task whose session has it.
    pub(crate) task_id: Option<Arc<str>>,
    /// The reminder, by its names inside.
    pub(crate) reminder: Data,
    /// A dict, or nil.
    pub(crate) metadata: Data,
}

/// A notification of a stream; nothing for one that is not of reminders.
pub(crate) fn of_notification(method: &str, params: &Data) -> Option<ReminderReport> {
    let what = what_of(method.strip_prefix("tasks/")?)?;
    let reminder = if params.get("reminder").is_nil() { params } else { params.get("reminder") };
    // Entries without a field of the draft are kept beside it.
    let (beside, metadata) = split(params.get("metadata"), KEY);
    let all = beside.as_dict().into_iter().flatten().filter(|(key, _)| reminder.get(key).is_nil());
    let reminder = all.fold(reminder.clone(), |all, (key, value)| all.with(key.clone(), value.clone()));
    Some(ReminderReport { what, task_id: params.get("taskId").as_shared_str(), reminder: inward(&reminder), metadata })
}

/// Reads a report in the metadata of another event.
pub(crate) fn of_metadata(metadata: &Data, task_id: &Arc<str>) -> Option<ReminderReport> {
    let said = if metadata.get(KEY).is_nil() { metadata.at(KEY) } else { metadata.get(KEY) };
    said.as_dict()?;
    let (event, said) = split(said, "event");
    let what = what_of(event.as_str().unwrap_or("emitted"))?;
    let (metadata, said) = split(&said, "metadata");
    let reminder = if said.get("reminder").is_nil() { &said } else { said.get("reminder") };
    Some(ReminderReport { what, task_id: Some(task_id.clone()), reminder: inward(reminder), metadata })
}

/// An entry of a dict, and the rest of it.
fn split(dict: &Data, key: &str) -> (Data, Data) {
    let rest = dict.as_dict().into_iter().flatten().filter(|(other, _)| other.as_ref() != key);
    let rest = Data::dict(rest.map(|(key, value)| (key.clone(), value.clone())));
    (dict.get(key).clone(), rest)
}

/// `reminderEmitted`, `reminder_emitted` and `emitted` say the same.
fn what_of(word: &str) -> Option<Arc<str>> {
    let word = word.to_ascii_lowercase().replace('_', "");
    let word = word.strip_prefix("reminder").unwrap_or(&word);
    ["emitted", "deduped", "expired"].into_iter().find(|known| *known == word).map(Arc::from)
}

/// Renames the keys to their internal names.
fn inward(reminder: &Data) -> Data {
    renamed(reminder, |key| {
        let mut name = String::with_capacity(key.len() + 2);
        for c in key.chars() {
            if c.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    })
}

/// Renames the keys to their names on the wire.
fn outward(spec: &Data) -> Data {
    renamed(spec, |key| {
        // What begins with a line is a name of its own, such as `_meta`.
        if key.starts_with('_') {
            return key.to_owned();
        }
        let mut name = String::with_capacity(key.len());
        let mut is_head = false;
        for c in key.chars() {
            match c {
                '_' => is_head = true,
                c if is_head => {
                    name.push(c.to_ascii_uppercase());
                    is_head = false;
                }
                c => name.push(c),
            }
        }
        name
    })
}

/// A dict with other names; what is nil says nothing.
fn renamed(dict: &Data, name: impl Fn(&str) -> String) -> Data {
    let entries = dict.as_dict().into_iter().flatten().filter(|(_, value)| !value.is_nil());
    Data::dict(entries.map(|(key, value)| (name(key), value.clone())))
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

/// Returns the reminders that a sub-task inherits from a session: those with `propagate: "all"`.
pub(crate) fn inherited(handed: &[Arc<Reminder>]) -> Vec<Data> {
    let goes = handed.iter().filter(|reminder| reminder.propagate == Propagate::All);
    let wire = |reminder: &Arc<Reminder>| {
        let data = reminder.to_data(reminder.ttl_turns);
        let kept = data.as_dict().into_iter().flatten().filter(|(key, value)| match key.as_ref() {
            "fired_at_turn" | "originating_agent_id" => false,
            "preserve_on_compact" => value.truthy(),
            _ => true,
        });
        outward(&Data::dict(kept.map(|(key, value)| (key.clone(), value.clone()))))
    };
    goes.map(wire).collect()
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
        let told = of_notification("tasks/reminderEmitted", &json(params)).unwrap();
        assert_eq!((&*told.what, told.reminder.get("dedupe_key").as_str()), ("emitted", Some("k")));
        for metadata in [
            r#"{"harn.reminder": {"event": "reminder_emitted", "id": "r", "body": "b", "dedupeKey": "k", "firedAtTurn": 5}}"#,
            r#"{"harn": {"reminder": {"event": "emitted", "reminder": {"id": "r", "body": "b", "dedupeKey": "k", "firedAtTurn": 5}}}}"#,
        ] {
            let other = of_metadata(&json(metadata), &"t".into()).unwrap();
            assert_eq!((&other.what, &other.reminder, &other.task_id), (&told.what, &told.reminder, &told.task_id));
        }
        let params =
            r#"{"taskId": "t", "reminder": {"id": "r"}, "metadata": {"a": 1, "harn.reminder": {"ttlTurns": 2}}}"#;
        let told = of_notification("tasks/reminderExpired", &json(params)).unwrap();
        assert_eq!((told.reminder, told.metadata), (json(r#"{"id": "r", "ttl_turns": 2}"#), json(r#"{"a": 1}"#)));
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
}

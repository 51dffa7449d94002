//! Reading `reminder_propagation` if a caller passes the list itself: accepted unchanged, but checked.

use std::sync::Arc;

use base::data::{Data, Entries};

use super::codec::{ReminderField as Field, Surface, names_and};
use super::limits::{MAX_ID, fault_of_name};
use super::spec::FieldValues;
use super::{Reminder, ReminderCode, ReminderError, ReminderSource, ReminderSpec};

/// Keys of a record: those of a spec, and those set by the runtime.
const KEYS: &[&str] = &names_and::<21>(&Field::SPEC, &names_and::<7>(&Field::OF_RUNTIME, &["when", "until", "expect"]));

impl Reminder {
    /// The keys of an inherited reminder.
    pub const HANDED_KEYS: &'static [&'static str] = KEYS;

    /// Reads the list of reminders that a child inherits. An entry without an id gets a new one; an entry without an
    /// originating agent gets `origin`. Errors are `HARN-RMD-002`, with the path of the field (`0.body`).
    pub fn list_from_handed(
        data: &Data,
        origin: Option<&Arc<str>>,
        fresh_id: impl Fn() -> Arc<str>,
    ) -> Result<Vec<Arc<Reminder>>, ReminderError> {
        let Some(items) = data.as_list() else {
            let message = format!("expected a list of reminders, got {}", data.type_name());
            return Err(bad("", message));
        };
        let read = |(index, item): (usize, &Data)| {
            let reminder = handed(item, origin, &fresh_id).map_err(|error| error.under(&index.to_string()))?;
            Ok(Arc::new(reminder))
        };
        items.iter().enumerate().map(read).collect()
    }
}

fn handed(data: &Data, origin: Option<&Arc<str>>, fresh_id: &dyn Fn() -> Arc<str>) -> Result<Reminder, ReminderError> {
    let Some(entries) = data.as_dict() else {
        return Err(bad("", format!("a reminder must be a dict with a `body`, got {}", data.type_name())));
    };
    if let Some(unknown) = entries.keys().find(|key| !KEYS.contains(&key.as_ref())) {
        let near = base::words::nearest(unknown, KEYS.iter().copied());
        return Err(bad(unknown, format!("unknown field `{unknown}` of an inherited reminder")).suggest(near));
    }
    let spec =
        ReminderSpec::from_known(entries).map_err(|error| ReminderError { code: ReminderCode::Bridge, ..error })?;
    if !entries.field(Field::Source).is_none_or(Data::is_nil) {
        let word = text(entries, Field::Source)?.unwrap_or_default();
        word.parse::<ReminderSource>().map_err(|e| bad("source", e.to_string()).suggest(e.suggestion))?;
    }
    let turn = match entries.field(Field::FiredAtTurn).filter(|turn| !turn.is_nil()) {
        None => 0,
        Some(turn) => turn
            .as_int()
            .and_then(|turn| u32::try_from(turn).ok())
            .ok_or_else(|| bad("fired_at_turn", "`fired_at_turn` must be a turn number of at least 0"))?,
    };
    let id = text(entries, Field::Id)?.unwrap_or_else(fresh_id);
    let originating_agent_id = text(entries, Field::OriginatingAgentId)?.or_else(|| origin.cloned());
    Ok(Reminder { originating_agent_id, ..spec.into_reminder(id, ReminderSource::Inherited, turn) })
}

fn text(entries: &Entries, field: Field) -> Result<Option<Arc<str>>, ReminderError> {
    let (value, field) = (entries.field(field), field.name(Surface::Script));
    match value {
        None | Some(Data::Nil) => Ok(None),
        Some(Data::Str(text)) => match (text.trim(), fault_of_name(text.trim(), MAX_ID)) {
            ("", _) => Err(bad(field, format!("`{field}` is empty"))),
            (name, None) => Ok(Some(name.into())),
            (_, Some(fault)) => Err(bad(field, format!("`{field}` {fault}"))),
        },
        Some(other) => Err(bad(field, format!("`{field}` must be a string, got {}", other.type_name()))),
    }
}

fn bad(field: &str, message: impl Into<String>) -> ReminderError {
    ReminderError::new(ReminderCode::Bridge, field, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminder::Propagate;

    fn read(json: &str) -> Result<Vec<Arc<Reminder>>, ReminderError> {
        Reminder::list_from_handed(&Data::from_json(json).unwrap(), Some(&"parent".into()), || "fresh".into())
    }

    #[test]
    fn a_list_is_taken_as_given() {
        let list = read(
            r#"[{"id":"r1","body":"x","propagate":"all","source":"inherited","originating_agent_id":"root","ttl_turns":2},
                {"body":"y","source":"hook","fired_at_turn":3}]"#,
        );
        let list = list.unwrap();
        assert_eq!((list[0].id.as_ref(), list[0].propagate, list[0].ttl_turns), ("r1", Propagate::All, Some(2)));
        assert_eq!(list[0].originating_agent_id.as_deref(), Some("root"));
        assert_eq!(
            (list[1].id.as_ref(), list[1].source, list[1].fired_at_turn),
            ("fresh", ReminderSource::Inherited, 3)
        );
        assert_eq!(list[1].originating_agent_id.as_deref(), Some("parent"));
    }

    #[test]
    fn every_fault_is_002_and_names_its_field() {
        for (json, field) in [
            (r#"{"body":"x"}"#, ""),
            (r#"[{"body":"x"},7]"#, "1"),
            (r#"[{"body":"x"},{"body":" "}]"#, "1.body"),
            (r#"[{"body":"x","tags":["a",1]}]"#, "0.tags.1"),
            (r#"[{"body":"x","propagate":"sesion"}]"#, "0.propagate"),
            (r#"[{"body":"x","propogate":"all"}]"#, "0.propogate"),
            (r#"[{"body":"x","source":"nowhere"}]"#, "0.source"),
            (r#"[{"body":"x","id":7}]"#, "0.id"),
            (r#"[{"body":"x","id":"a\nb"}]"#, "0.id"),
            (r#"[{"body":"x","dedupe_key":"a\u0000b"}]"#, "0.dedupe_key"),
            (r#"[{"body":"x","fired_at_turn":-1}]"#, "0.fired_at_turn"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (ReminderCode::Bridge, field), "{json}");
        }
    }
}

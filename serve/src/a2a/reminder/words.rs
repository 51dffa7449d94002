//! What has become of a reminder, in the words of the wire.

use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::Reminder;

use super::Reminded;
use crate::host::ReminderEvent;
use crate::wire::{self, Wire};

/// The key of metadata under which reminders stand.
pub(super) const KEY: &str = "harn.reminder";

/// What has become of a reminder, in the words of the wire.
pub(super) struct Words {
    /// The word of the status' metadata.
    pub(super) event: &'static str,
    /// The method of the notification.
    pub(super) method: &'static str,
    /// The draft's `reminder`.
    pub(super) reminder: Data,
    /// What the draft has no field for, a dict or nil.
    more: Data,
    /// What its peer said of it, a dict or nil.
    metadata: Data,
}

type Fields = Vec<(&'static str, Data)>;

impl Words {
    pub(super) fn of(reminded: &Reminded) -> Words {
        let echo = reminded.echo.as_ref();
        let metadata = echo.map_or(Data::Nil, |echo| echo.metadata.clone());
        let (event, method, fields, more) = match &reminded.event {
            ReminderEvent::Emitted { reminder, provider_id, turn } => {
                let source = echo.and_then(|echo| echo.source.as_ref());
                let more = lifecycle(reminder, provider_id.as_ref(), *turn);
                ("emitted", "tasks/reminderEmitted", emitted(reminder, source), more)
            }
            ReminderEvent::Deduped { reminder_id, dedupe_key, dropped_ids } => {
                let dropped: Data = dropped_ids.iter().map(Data::from).collect();
                let fields = vec![
                    (name("id"), Data::from(reminder_id)),
                    (name("dedupe_key"), dedupe_key.into()),
                    ("droppedReminderIds", dropped),
                ];
                ("deduped", "tasks/reminderDeduped", fields, Vec::new())
            }
            ReminderEvent::Expired { reminder_id, reason, turn } => {
                let fields = vec![
                    (name("id"), Data::from(reminder_id)),
                    ("phase", wire::expiry_to(Wire::A2a, *reason).into()),
                    ("expiredAtTurn", turn.map_or(Data::Nil, Data::from)),
                ];
                ("expired", "tasks/reminderExpired", fields, Vec::new())
            }
        };
        let more = if more.is_empty() { Data::Nil } else { Data::dict_of_present(more) };
        Words { event, method, reminder: Data::dict_of_present(fields), more, metadata }
    }

    /// The parameters of the notification. Metadata holds what the peer said, and what the draft has no field for.
    pub(super) fn params(&self, task_id: &Arc<str>) -> Data {
        let mut metadata = if self.metadata.is_nil() { Data::empty_dict() } else { self.metadata.clone() };
        if !self.more.is_nil() {
            metadata.set(KEY, self.more.clone());
        }
        Data::dict([("taskId", Data::from(task_id)), ("reminder", self.reminder.clone()), ("metadata", metadata)])
    }

    /// The metadata of a status: all of it in one.
    pub(super) fn status_metadata(&self) -> Data {
        let mut all = Data::dict([("event", Data::from(self.event))]);
        for part in [&self.reminder, &self.more] {
            for (key, value) in part.as_dict().into_iter().flatten() {
                all.set(key.clone(), value.clone());
            }
        }
        if !self.metadata.is_nil() {
            all.set("metadata", self.metadata.clone());
        }
        Data::dict([(KEY, all)])
    }
}

/// The draft's fields of a reminder. Its source is what its peer called it, where one put it in.
fn emitted(reminder: &Reminder, source: Option<&Arc<str>>) -> Fields {
    let tags = if reminder.tags.is_empty() { Data::Nil } else { reminder.tags.iter().map(Data::from).collect() };
    let source = source.map_or_else(|| wire::source_to(Wire::A2a, reminder.source).into(), Data::from);
    vec![
        (name("id"), Data::from(&reminder.id)),
        (name("body"), (&reminder.body).into()),
        (name("tags"), tags),
        (name("dedupe_key"), reminder.dedupe_key.as_ref().into()),
        (name("source"), source),
        (name("fired_at_turn"), reminder.fired_at_turn.into()),
    ]
}

/// What the draft's notification leaves out of the record.
fn lifecycle(reminder: &Reminder, provider_id: Option<&Arc<str>>, turn: u32) -> Fields {
    vec![
        ("providerId", Data::from(provider_id)),
        (name("ttl_turns"), reminder.ttl_turns.into()),
        (name("preserve_on_compact"), reminder.preserve_on_compact.into()),
        (name("propagate"), reminder.propagate.as_str().into()),
        (name("role_hint"), reminder.role_hint.as_str().into()),
        (name("originating_agent_id"), reminder.originating_agent_id.as_ref().into()),
        ("turn", turn.into()),
    ]
}

fn name(inside: &'static str) -> &'static str {
    wire::field_to(Wire::A2a, inside).unwrap_or(inside)
}

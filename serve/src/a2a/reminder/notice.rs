//! [`ReminderNotice`]: a reminder event in the words of the wire format.

use std::sync::Arc;

use base::data::Data;
use runtime::reminder::codec::ReminderChange;
use runtime::reminder::{ReminderField, Surface};

use super::PeerReminderEvent;
use crate::wire::ReminderUpdate;

/// The metadata key of reminders.
pub(super) const KEY: &str = "harn.reminder";

/// A reminder event in the words of the wire format.
pub(super) struct ReminderNotice {
    /// The kind of event.
    change: ReminderChange,
    /// The draft's `reminder`.
    reminder: Data,
    /// The fields that the draft lacks: a dict, or nil.
    more: Data,
    /// The peer's own metadata: a dict, or nil.
    metadata: Data,
}

impl ReminderNotice {
    pub(super) fn of(reminded: &PeerReminderEvent) -> ReminderNotice {
        let ReminderUpdate { change, mut fields, more } = ReminderUpdate::of(&reminded.event, Surface::A2a);
        let echo = reminded.echo.as_ref();
        // If a peer injected the reminder, the source is the one that the peer named.
        if let Some(source) = echo.and_then(|echo| echo.source.as_ref()) {
            let own = fields.iter_mut().find(|(name, _)| *name == ReminderField::Source.name(Surface::A2a));
            own.into_iter().for_each(|(_, value)| *value = source.into());
        }
        let more = if more.is_empty() { Data::Nil } else { Data::dict(more) };
        let metadata = echo.map_or(Data::Nil, |echo| echo.metadata.clone());
        ReminderNotice { change, reminder: Data::dict(fields), more, metadata }
    }

    /// Returns the method of the notification.
    pub(super) fn method(&self) -> &'static str {
        match self.change {
            ReminderChange::Emitted => "tasks/reminderEmitted",
            ReminderChange::Deduped => "tasks/reminderDeduped",
            ReminderChange::Expired => "tasks/reminderExpired",
            ReminderChange::Heeded => "tasks/reminderHeeded",
            ReminderChange::Ignored => "tasks/reminderIgnored",
        }
    }

    /// Returns the parameters of the notification. The metadata has the peer's own data, and the fields that the draft
    /// lacks.
    pub(super) fn params(&self, task_id: &Arc<str>) -> Data {
        let mut metadata = if self.metadata.is_nil() { Data::empty_dict() } else { self.metadata.clone() };
        if !self.more.is_nil() {
            metadata.set(KEY, self.more.clone());
        }
        Data::dict([("taskId", Data::from(task_id)), ("reminder", self.reminder.clone()), ("metadata", metadata)])
    }

    /// Returns the metadata of a status, with all fields in one dict. `is_nested` adds it as `harn: {reminder: …}`.
    pub(super) fn status_metadata(&self, is_nested: bool) -> Data {
        let mut all = Data::dict([("event", Data::from(self.change.as_str()))]);
        for part in [&self.reminder, &self.more] {
            for (key, value) in part.as_dict().into_iter().flatten() {
                all.set(key.clone(), value.clone());
            }
        }
        if !self.metadata.is_nil() {
            all.set("metadata", self.metadata.clone());
        }
        let harn = if is_nested { Data::dict([("reminder", all.clone())]) } else { Data::Nil };
        Data::dict_of_present([(KEY, all), ("harn", harn)])
    }
}

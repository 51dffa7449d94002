//! The stored form of injections.

use std::sync::Arc;

use base::data::Data;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::{ReminderField, Surface};

use super::injections::TaskInjection;
use super::{PeerEcho, PeerReminder};
use crate::bridge::RemindNotification;

impl TaskInjection {
    /// Converts the injection to its stored form: the reminder in the peer's format, and the response to the peer.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let PeerReminder { id, payload, echo } = &self.incoming;
        let bare = RemindPayload { meta: Data::Nil, ..payload.clone() };
        let mut reminder = RemindNotification { session_id: None, payload: bare }.to_params(Surface::A2a);
        for (field, text) in [(ReminderField::Id, id), (ReminderField::Source, &echo.source)] {
            if let Some(text) = text {
                reminder.set(field.key(Surface::A2a).clone(), Data::from(text));
            }
        }
        Data::dict_of_present([
            ("id", Data::from(&self.id)),
            ("reminder", reminder),
            ("metadata", echo.metadata.clone()),
            ("deduped_count", self.deduped_count.into()),
            ("at_ms", Data::Int(i64::try_from(self.at_ms).unwrap_or(i64::MAX))),
        ])
    }

    /// Reads the stored form; returns `None` if it is something else.
    pub(super) fn from_data(data: &Data) -> Option<TaskInjection> {
        let incoming = PeerReminder::read(data.get("reminder"), data.get("metadata")).ok()?;
        let id: Arc<str> = data.get("id").as_shared_str()?;
        let deduped_count = usize::try_from(data.get("deduped_count").as_int()?).ok()?;
        let at_ms = u64::try_from(data.get("at_ms").as_int()?).ok()?;
        Some(TaskInjection { id, incoming, deduped_count, displaced: Vec::new(), at_ms })
    }

    /// Returns the peer's own data.
    #[must_use]
    pub fn echo(&self) -> &PeerEcho {
        &self.incoming.echo
    }
}

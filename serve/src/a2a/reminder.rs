//! What those who follow a task are told of its reminders: the draft's notifications where they are asked for, else what the
//! protocol allows everybody: metadata of a status.
//!
//! - [`Reminded`]: what has become of a reminder, with what a peer said of it.
//! - [`Spelling`]: which of the two a stream gets, as it goes.
//! - `notice`: the names and words of the wire.

mod notice;
mod spelling;

use crate::host::ReminderEvent;

use super::injection::{Echo, Injections};

pub use spelling::{Spelled, Spelling};

/// What has become of a reminder.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminded {
    /// What.
    pub event: ReminderEvent,
    /// What the peer said of it that put it in, where one did.
    pub echo: Option<Echo>,
}

impl Reminded {
    /// What has become of a reminder of a task that these were put into.
    #[must_use]
    pub fn of(event: ReminderEvent, known: &Injections) -> Reminded {
        let id = match &event {
            ReminderEvent::Emitted { reminder, .. } => &reminder.id,
            ReminderEvent::Deduped { reminder_id, .. } | ReminderEvent::Expired { reminder_id, .. } => reminder_id,
        };
        let echo = known.echo(id);
        Reminded { event, echo }
    }
}

#[cfg(test)]
mod tests;

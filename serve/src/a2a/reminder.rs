//! Reports on reminders to a task's subscribers: the draft's notifications if the client asks for them, otherwise
//! status metadata, which the parser of every client knows.
//!
//! - [`PeerReminderEvent`]: a reminder event with the peer's own data.
//! - [`ReminderFormat`]: the format of the reports on one stream.
//! - `notice`: the names and words of the wire format.

mod format;
mod notice;

use crate::host::ReminderEvent;

use super::injection::{PeerEcho, TaskInjections};

pub use format::{ReminderFormat, ReminderReport};

/// A reminder event, for subscribers.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerReminderEvent {
    /// The event.
    pub event: ReminderEvent,
    /// The peer's own data, if a peer injected the reminder.
    pub echo: Option<PeerEcho>,
}

impl PeerReminderEvent {
    /// Combines an event with the data from the task's injections.
    #[must_use]
    pub fn of(event: ReminderEvent, known: &TaskInjections) -> PeerReminderEvent {
        let id = match &event {
            ReminderEvent::Emitted { reminder, .. } => &reminder.id,
            ReminderEvent::Deduped { reminder_id, .. }
            | ReminderEvent::Expired { reminder_id, .. }
            | ReminderEvent::Judged { reminder_id, .. } => reminder_id,
        };
        let echo = known.echo(id);
        PeerReminderEvent { event, echo }
    }
}

#[cfg(test)]
mod tests;

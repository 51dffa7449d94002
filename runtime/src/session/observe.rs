//! [`ReminderObserver`]: observes a session's reminders as typed values.

use std::rc::Rc;
use std::sync::Arc;

use crate::lifecycle::LifecycleRecord;
use crate::reminder::ExpireReason;

use super::Session;

/// An event of a session's reminder.
#[derive(Debug, Clone, Copy)]
pub enum ReminderSeen<'a> {
    /// An event in the transcript.
    Lifecycle {
        /// The record of the event.
        record: &'a LifecycleRecord,
        /// The turn in which it happened; 0 before the first.
        turn: u32,
    },
    /// A queued reminder ended with its session, before a loop took it.
    Unread {
        /// The reminder.
        reminder_id: &'a Arc<str>,
        /// The reason.
        reason: ExpireReason,
    },
}

/// An observer of a session's reminders, notified after each event is in the log. It must not change the session.
pub trait ReminderObserver {
    /// Called for each event.
    fn on_reminder(&self, session: &Session, seen: ReminderSeen<'_>);
}

impl Session {
    /// Sets the observer of the reminders; `None` removes it.
    pub fn observe(&self, observer: Option<Rc<dyn ReminderObserver>>) {
        *self.observer.borrow_mut() = observer;
    }

    /// Shows written records to the observer. Records of a copy do not concern the copied session.
    pub(super) fn show_records(&self, records: &[LifecycleRecord], turn: u32) {
        let Some(observer) = self.observer.borrow().clone() else { return };
        if self.with(|state| state.is_copy) {
            return;
        }
        for record in records {
            observer.on_reminder(self, ReminderSeen::Lifecycle { record, turn });
        }
    }

    /// Shows that a queued reminder ended with the session.
    pub(super) fn show_unread(&self, reminder_id: &Arc<str>, reason: ExpireReason) {
        let observer = self.observer.borrow().clone();
        if let Some(observer) = observer {
            observer.on_reminder(self, ReminderSeen::Unread { reminder_id, reason });
        }
    }
}

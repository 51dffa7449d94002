//! [`Method`]: the operations on a session's queue.

/// An operation on a session's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Injects a reminder.
    InjectReminder,
    /// Injects a reminder, by the method's older name; the session may be omitted if only one is open.
    Remind,
    /// Injects a message of the user.
    Inject,
    /// Lists pending injections.
    PendingInjections,
    /// Revokes a pending injection.
    RevokeReminder,
    /// Clears reminders, queued and delivered.
    ClearReminders,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 6] = [
        Method::InjectReminder,
        Method::Remind,
        Method::Inject,
        Method::PendingInjections,
        Method::RevokeReminder,
        Method::ClearReminders,
    ];

    /// Returns whether it injects something.
    #[must_use]
    pub fn injects(self) -> bool {
        matches!(self, Method::InjectReminder | Method::Remind | Method::Inject)
    }

    /// Returns the method's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::InjectReminder => "session/inject_reminder",
            Method::Remind => "session/remind",
            Method::Inject => "session/inject",
            Method::PendingInjections => "session/pending_injections",
            Method::RevokeReminder => "session/revoke_reminder",
            Method::ClearReminders => "session/clear_reminders",
        }
    }

    /// Returns the method with a name; some clients put a `_` before the names of extension methods.
    #[must_use]
    pub fn of(name: &str) -> Option<Method> {
        let name = name.strip_prefix('_').unwrap_or(name);
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

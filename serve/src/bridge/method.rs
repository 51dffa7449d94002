//! [`Method`]: what a host may do to the queue of a session.

/// What a host may do to the queue of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Puts a reminder in.
    InjectReminder,
    /// The same under its older name; the only open session need not be named.
    Remind,
    /// Puts a message of the user in.
    Inject,
    /// Lists what waits.
    PendingInjections,
    /// Takes back what waits.
    RevokeReminder,
    /// Clears reminders, queued and delivered.
    ClearReminders,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [
        Method::InjectReminder,
        Method::Remind,
        Method::Inject,
        Method::PendingInjections,
        Method::RevokeReminder,
        Method::ClearReminders,
    ];

    /// Whether it puts something in.
    #[must_use]
    pub fn injects(self) -> bool {
        matches!(self, Method::InjectReminder | Method::Remind | Method::Inject)
    }

    /// Its name.
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

    /// The method of a name; some clients put a `_` before what they do not know.
    #[must_use]
    pub fn of(name: &str) -> Option<Method> {
        let name = name.strip_prefix('_').unwrap_or(name);
        Method::ALL.into_iter().find(|method| method.name() == name)
    }
}

//! [`BridgeMethod`]: the operations on a session's queue.

/// An operation on a session's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeMethod {
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

impl BridgeMethod {
    /// All methods.
    pub const ALL: [BridgeMethod; 6] = [
        BridgeMethod::InjectReminder,
        BridgeMethod::Remind,
        BridgeMethod::Inject,
        BridgeMethod::PendingInjections,
        BridgeMethod::RevokeReminder,
        BridgeMethod::ClearReminders,
    ];

    /// Returns whether it injects something.
    #[must_use]
    pub fn injects(self) -> bool {
        matches!(self, BridgeMethod::InjectReminder | BridgeMethod::Remind | BridgeMethod::Inject)
    }

    /// Returns the method's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BridgeMethod::InjectReminder => "session/inject_reminder",
            BridgeMethod::Remind => "session/remind",
            BridgeMethod::Inject => "session/inject",
            BridgeMethod::PendingInjections => "session/pending_injections",
            BridgeMethod::RevokeReminder => "session/revoke_reminder",
            BridgeMethod::ClearReminders => "session/clear_reminders",
        }
    }

    /// Returns the method with a name; some clients put a `_` before the names of extension methods.
    #[must_use]
    pub fn of(name: &str) -> Option<BridgeMethod> {
        let name = name.strip_prefix('_').unwrap_or(name);
        BridgeMethod::ALL.into_iter().find(|method| method.name() == name)
    }
}

//! [`ActionError`]: a refusal of an action.

use eventlog::LogError;
use runtime::reminder::Surface;

use super::ChannelScope;
use crate::bridge::{self, BridgeError};
use crate::host::HostError;
use crate::store::StoreError;

/// A refusal of an action. Nothing was done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ActionError {
    /// A field of the action is invalid.
    #[error("{message}")]
    Invalid {
        /// The field; empty for the whole body.
        field: String,
        /// The problem.
        message: String,
    },
    /// The action names another channel than that of the secret.
    #[error("the action names another channel")]
    OtherChannel,
    /// The channel lacks the right.
    #[error("the channel may not do this: it needs the right `{0}`")]
    Scope(ChannelScope),
    /// A script asks for a right that only an enrolled channel can have.
    #[error("a script gets the right `{0}` only by the secret of an enrolled channel")]
    NotOwnScope(ChannelScope),
    /// The channel is closed.
    #[error("the channel is closed")]
    Disconnected,
    /// The limit of connections is reached.
    #[error("too many connections: {0} are open, which is the limit")]
    TooManyConnections(usize),
    /// The channel has used the id for another action.
    #[error("the channel has used this `actionId` for another action")]
    Reused,
    /// The channel has sent too many actions.
    #[error("too many actions; try again later")]
    RateLimited,
    /// No permission question has this id.
    #[error("unknown permission request")]
    UnknownRequest,
    /// The session refuses.
    #[error(transparent)]
    Host(HostError),
    /// The injection is refused.
    #[error("{}", .0.on(Surface::Acp))]
    Injection(BridgeError),
    /// The log cannot be read or written.
    #[error("{}", .0.client_message())]
    Log(LogError),
}

impl ActionError {
    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> ActionError {
        ActionError::Invalid { field: field.to_owned(), message: message.into() }
    }

    pub(crate) fn unknown_key(key: &str, near: Option<&str>) -> ActionError {
        let shown: String = key.chars().take(80).collect();
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        ActionError::invalid(&shown, format!("unknown key `{shown}`{near}"))
    }

    /// Returns the word for responses and records.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            ActionError::Invalid { .. } => "invalid",
            ActionError::OtherChannel => "other_channel",
            ActionError::Scope(_) | ActionError::NotOwnScope(_) => "scope",
            ActionError::Disconnected => "disconnected",
            ActionError::TooManyConnections(_) => "too_many_connections",
            ActionError::Reused => "action_id_reused",
            ActionError::RateLimited => "rate_limited",
            ActionError::UnknownRequest => "unknown_request",
            ActionError::Host(error) | ActionError::Injection(BridgeError::Host(error)) => of_host(error),
            ActionError::Injection(BridgeError::Queue(error)) => bridge::reason(error),
            ActionError::Injection(BridgeError::Log(_)) | ActionError::Log(_) => "log",
            ActionError::Injection(_) => "invalid_injection",
        }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        status_of(self.reason())
    }
}

/// Returns the HTTP status of a refusal by its reason. The log has the reasons of earlier refusals.
pub(crate) fn status_of(reason: &str) -> u16 {
    match reason {
        "invalid" | "invalid_injection" => 400,
        "revoked" => 401,
        "other_channel" | "scope" | "policy" => 403,
        "unknown_session" | "unknown_request" | "unknown_reminder" => 404,
        "action_id_reused" | "already_delivered" | "busy" | "closed" | "disconnected" | "exists" | "not_asking"
        | "open_elsewhere" => 409,
        "rate_limited" | "too_many_account_sessions" => 429,
        "log" | "queue_full" | "stopping" | "too_many_connections" | "too_many_sessions" => 503,
        _ => 500,
    }
}

fn of_host(error: &HostError) -> &'static str {
    match error {
        HostError::UnknownSession(_) | HostError::Store(StoreError::Unknown(_)) => "unknown_session",
        HostError::Exists(_) => "exists",
        HostError::Busy(_) => "busy",
        HostError::NotAsking(_) => "not_asking",
        HostError::Closed(_) => "closed",
        HostError::Broken { .. } => "broken",
        HostError::Full(_) => "too_many_sessions",
        HostError::AccountFull(_) => "too_many_account_sessions",
        HostError::Stopping => "stopping",
        HostError::Store(StoreError::Cursor(_) | StoreError::PageToken(_)) => "invalid",
        HostError::Store(StoreError::Elsewhere(_)) => "open_elsewhere",
        HostError::Store(StoreError::Log(_)) => "log",
        HostError::Store(_) => "storage",
        HostError::Failed(_) => "script_failed",
    }
}

impl From<HostError> for ActionError {
    fn from(error: HostError) -> ActionError {
        ActionError::Host(error)
    }
}

impl From<BridgeError> for ActionError {
    fn from(error: BridgeError) -> ActionError {
        match error {
            BridgeError::Host(error) => ActionError::Host(error),
            error => ActionError::Injection(error),
        }
    }
}

impl From<LogError> for ActionError {
    fn from(error: LogError) -> ActionError {
        ActionError::Log(error)
    }
}

//! [`BridgeError`]: an error in a host's message.

use std::fmt;

use base::data::{Data, DataError};
use eventlog::LogError;
use runtime::reminder::bridge::QueueError;
use runtime::reminder::{ReminderError, ReminderField, Surface};
use stdlib::AgentCode;

use crate::host::HostError;

/// An error in a host's message.
#[derive(Debug, Clone, PartialEq)]
pub enum BridgeError {
    /// Invalid JSON.
    Json(DataError),
    /// Not a JSON-RPC message.
    Envelope {
        /// The invalid field.
        field: &'static str,
        /// The problem with the field.
        message: String,
    },
    /// A different method.
    Method {
        /// The name of the method.
        got: String,
        /// The name that was probably meant.
        suggestion: Option<&'static str>,
    },
    /// The parameters are not a valid reminder.
    Reminder(ReminderError),
    /// No open session matches.
    Host(HostError),
    /// The queue refused it.
    Queue(QueueError),
    /// Data that was accepted cannot be stored.
    Log(LogError),
}

impl BridgeError {
    /// Returns the diagnostic code of a queue error.
    #[must_use]
    pub fn of_queue(error: &QueueError) -> AgentCode {
        match error {
            QueueError::Unknown(_) => AgentCode::UnknownReminder,
            QueueError::Full(_)
            | QueueError::LogBehind
            | QueueError::Closed
            | QueueError::Refused(_)
            | QueueError::AlreadyDelivered(_) => AgentCode::Queue,
        }
    }

    /// Returns the JSON-RPC code.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            BridgeError::Json(_) => -32700,
            BridgeError::Envelope { .. } => -32600,
            BridgeError::Method { .. } => -32601,
            BridgeError::Reminder(_) | BridgeError::Queue(QueueError::Refused(_)) => -32602,
            BridgeError::Host(_) | BridgeError::Queue(QueueError::Unknown(_) | QueueError::Closed) => -32002,
            BridgeError::Queue(QueueError::Full(_) | QueueError::LogBehind) => -32000,
            BridgeError::Queue(QueueError::AlreadyDelivered(_)) => -32010,
            BridgeError::Log(_) => -32603,
        }
    }

    /// Returns the `error` object of a response. For a reminder, `data` has the diagnostic code and the field.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let data = match self {
            BridgeError::Json(_) => Data::Nil,
            BridgeError::Envelope { field, .. } => Data::dict([("field", Data::from(*field))]),
            BridgeError::Method { suggestion, .. } => match suggestion {
                Some(word) => Data::dict([("suggestion", Data::from(*word))]),
                None => Data::Nil,
            },
            BridgeError::Reminder(error) => Data::dict_of_present([
                ("code", Data::from(error.code.as_str())),
                ("field", error.field.as_str().into()),
                ("message", error.message.as_str().into()),
                ("suggestion", error.suggestion.as_deref().map_or(Data::Nil, Data::from)),
            ]),
            BridgeError::Host(_) => Data::dict([("field", Data::from("sessionId"))]),
            BridgeError::Queue(error) => Data::dict([
                ("code", Data::from(Self::of_queue(error).code().as_str())),
                ("reason", reason(error).into()),
            ]),
            BridgeError::Log(error) => Data::dict([("code", Data::from(error.code().as_str()))]),
        };
        Data::dict_of_present([("code", Data::from(self.code())), ("message", self.to_string().into()), ("data", data)])
    }
}

/// Returns a word for a queue error, for programs.
#[must_use]
pub fn reason(error: &QueueError) -> &'static str {
    match error {
        QueueError::Full(_) | QueueError::LogBehind => "queue_full",
        QueueError::Closed => "closed",
        QueueError::Refused(_) => "policy",
        QueueError::AlreadyDelivered(_) => "already_delivered",
        QueueError::Unknown(_) => "unknown_reminder",
    }
}

/// Returns the suggestion in the format of a protocol: field names differ there, other words do not.
#[must_use]
pub fn suggestion(error: &ReminderError, surface: Surface) -> Option<&str> {
    let word = error.suggestion.as_deref()?;
    Some(name_on(surface, word))
}

/// Returns the message of an error in the words of a protocol: fields in backticks have its names, unless the host wrote
/// another one.
#[must_use]
pub fn message_on(error: &ReminderError, surface: Surface) -> String {
    let written = error.field.rsplit('.').next().unwrap_or_default();
    let parts = error.message.split('`').enumerate();
    let words = parts.map(|(place, part)| match place % 2 == 1 && part != written {
        true => name_on(surface, part),
        false => part,
    });
    words.collect::<Vec<_>>().join("`")
}

/// Returns a protocol's name for a parameter, given its name in scripts; any other word stays as it is.
pub(super) fn name_on(surface: Surface, name: &str) -> &str {
    match ReminderField::named(name, Surface::Script) {
        Some(field) => field.name(surface),
        None if name == "session_id" && surface != Surface::Script => "sessionId",
        None => name,
    }
}

impl BridgeError {
    /// Returns the error in the words of a protocol.
    #[must_use]
    pub fn on(&self, surface: Surface) -> String {
        match self {
            BridgeError::Reminder(error) => {
                let near =
                    suggestion(error, surface).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("{}: {}{near}", error.code, message_on(error, surface))
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BridgeError::Json(error) => error.fmt(f),
            BridgeError::Envelope { field, message } => write!(f, "`{field}` of a JSON-RPC message {message}"),
            BridgeError::Method { got, suggestion: None } => write!(f, "unknown method {got:?}"),
            BridgeError::Method { got, suggestion: Some(word) } => {
                write!(f, "unknown method {got:?}; did you mean {word:?}?")
            }
            BridgeError::Reminder(error) => error.fmt(f),
            BridgeError::Host(error) => error.fmt(f),
            BridgeError::Queue(error) => error.fmt(f),
            BridgeError::Log(error) => write!(
                f,
                "the item was not accepted, because it cannot be written to the \
                event log: {}",
                error.client_message()
            ),
        }
    }
}

impl std::error::Error for BridgeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BridgeError::Json(error) => Some(error),
            BridgeError::Reminder(error) => Some(error),
            BridgeError::Host(error) => Some(error),
            BridgeError::Queue(error) => Some(error),
            BridgeError::Log(error) => Some(error),
            BridgeError::Envelope { .. } | BridgeError::Method { .. } => None,
        }
    }
}

impl From<ReminderError> for BridgeError {
    fn from(error: ReminderError) -> BridgeError {
        BridgeError::Reminder(error)
    }
}

impl From<DataError> for BridgeError {
    fn from(error: DataError) -> BridgeError {
        BridgeError::Json(error)
    }
}

impl From<HostError> for BridgeError {
    fn from(error: HostError) -> BridgeError {
        BridgeError::Host(error)
    }
}

impl From<QueueError> for BridgeError {
    fn from(error: QueueError) -> BridgeError {
        BridgeError::Queue(error)
    }
}

//! [`BridgeError`]: what is wrong with a message of a host.

use std::fmt;

use runtime::data::{Data, DataError};
use runtime::reminder::ReminderError;

/// What is wrong with a message of a host.
#[derive(Debug, Clone, PartialEq)]
pub enum BridgeError {
    /// It is no JSON.
    Json(DataError),
    /// It is no JSON-RPC message: the field at fault, and how.
    Envelope {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// It names another method.
    Method {
        /// What it names.
        got: String,
        /// What it probably means.
        suggestion: Option<&'static str>,
    },
    /// Its parameters are no reminder.
    Reminder(ReminderError),
}

impl BridgeError {
    /// The code of JSON-RPC.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            BridgeError::Json(_) => -32700,
            BridgeError::Envelope { .. } => -32600,
            BridgeError::Method { .. } => -32601,
            BridgeError::Reminder(_) => -32602,
        }
    }

    /// The `error` object of an answer. That of a reminder tells its diagnostic code and field under `data`.
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
        };
        Data::dict_of_present([("code", Data::from(self.code())), ("message", self.to_string().into()), ("data", data)])
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
        }
    }
}

impl std::error::Error for BridgeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BridgeError::Json(error) => Some(error),
            BridgeError::Reminder(error) => Some(error),
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

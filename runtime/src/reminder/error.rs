//! Errors of a reminder. An error carries code, field path, message and help but no span: code that knows the source
//! finds the span from the field path.

use std::any::Any;

use base::call::{CallError, CallErrorKind};
use base::codes::CodeRef;

use super::ReminderCode;

/// An error in a reminder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ReminderError {
    /// The code.
    pub code: ReminderCode,
    /// Dotted path of the invalid field within the input (`reminder.tags.0`); empty means the whole.
    pub field: String,
    /// One terse phrase.
    pub message: String,
    /// The probable word.
    pub suggestion: Option<String>,
    /// Suggested replacement.
    pub help: Option<String>,
}

impl ReminderError {
    /// Creates an error at a field.
    pub fn new(code: ReminderCode, field: impl Into<String>, message: impl Into<String>) -> ReminderError {
        ReminderError { code, field: field.into(), message: message.into(), suggestion: None, help: None }
    }

    /// Sets the suggested replacement.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> ReminderError {
        self.help = Some(help.into());
        self
    }

    /// Sets the suggested replacement, unless there is a suggestion already.
    #[must_use]
    pub fn or_help(mut self, help: impl Into<String>) -> ReminderError {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    /// Suggests the probable word, if one is near.
    #[must_use]
    pub fn suggest(mut self, word: Option<&str>) -> ReminderError {
        if let Some(word) = word {
            self.suggestion = Some(word.to_owned());
            self.help.get_or_insert_with(|| format!("did you mean `{word}`?"));
        }
        self
    }

    /// Returns the error with its field path inside of a larger value.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> ReminderError {
        if !prefix.is_empty() {
            self.field = if self.field.is_empty() { prefix.to_owned() } else { format!("{prefix}.{}", self.field) };
        }
        self
    }

    /// Converts the error to a provider's: 006 with the inner reason.
    #[must_use]
    pub fn of_provider(mut self, provider: &str) -> ReminderError {
        if self.code != ReminderCode::Provider {
            self.message = format!("reminder provider `{provider}` returned a malformed reminder: {}", self.message);
            self.code = ReminderCode::Provider;
        }
        self
    }
}

impl CallError for ReminderError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        Some(self.code.into())
    }
}

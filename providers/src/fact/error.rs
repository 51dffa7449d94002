//! Errors of facts and their stores.

use std::any::Any;

use base::call::{CallError, CallErrorKind};
use base::codes::CodeRef;
use base::words::nearest;

use super::FactCode;

/// An invalid fact, or a failure of its store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct FactError {
    /// The code.
    pub code: FactCode,
    /// The dotted path of the invalid field (`evidence.0.kind`); empty means the whole.
    pub field: String,
    /// One sentence.
    pub message: String,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
    /// The way to fix it.
    pub help: Option<String>,
}

impl FactError {
    pub(crate) fn new(code: FactCode, field: impl Into<String>, message: impl Into<String>) -> FactError {
        FactError { code, field: field.into(), message: message.into(), suggestion: None, help: None }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> FactError {
        self.help = Some(help.into());
        self
    }

    /// A word that is none of `known`.
    pub(crate) fn unknown(code: FactCode, field: &str, what: &str, got: &str, known: &[&'static str]) -> FactError {
        let error = FactError::new(code, field, format!("unknown {what} `{got}`"));
        match nearest(got, known.iter().copied()) {
            Some(near) => {
                FactError { suggestion: Some(near.to_owned()), ..error }.help(format!("did you mean `{near}`?"))
            }
            None => error.help(format!("use one of {}", known.join(", "))),
        }
    }

    /// A value of the wrong type.
    pub(crate) fn wrong(field: &str, expected: &str, got: &base::data::Data) -> FactError {
        FactError::new(FactCode::Shape, field, format!("`{field}` must be {expected}, got {}", got.type_name()))
    }
}

impl CallError for FactError {
    fn kind(&self) -> CallErrorKind {
        if self.code == FactCode::Store { CallErrorKind::Io } else { CallErrorKind::Invalid }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        Some(self.code.into())
    }
}

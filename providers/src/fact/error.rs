//! What can be wrong with a fact or its store.

use std::any::Any;
use std::fmt;

use runtime::seam::{Fault, Sort};
use runtime::words::nearest;

/// The codes of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactCode {
    /// A key, a type or a text that does not fit.
    Shape,
    /// An unknown kind of fact or evidence.
    Kind,
    /// A confidence that is no number from 0 to 1.
    Confidence,
    /// A namespace that is none or leads out of its root.
    Namespace,
    /// A selector that selects nothing in particular.
    Selector,
    /// A store that cannot be read or written.
    Store,
    /// A line of a store that is no record.
    Line,
    /// More than is kept.
    TooLarge,
}

impl FactCode {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            FactCode::Shape => "HARN-FACT-001",
            FactCode::Kind => "HARN-FACT-002",
            FactCode::Confidence => "HARN-FACT-003",
            FactCode::Namespace => "HARN-FACT-004",
            FactCode::Selector => "HARN-FACT-005",
            FactCode::Store => "HARN-FACT-006",
            FactCode::Line => "HARN-FACT-007",
            FactCode::TooLarge => "HARN-FACT-008",
        }
    }
}

impl fmt::Display for FactCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is wrong with a fact or its store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct FactError {
    /// The code.
    pub code: FactCode,
    /// The dotted path of the field at fault (`evidence.0.kind`); empty means the whole.
    pub field: String,
    /// One sentence.
    pub message: String,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
    /// What to write instead.
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
        let error = FactError::new(code, field, format!("there is no {what} `{got}`"));
        match nearest(got, known.iter().copied()) {
            Some(near) => {
                FactError { suggestion: Some(near.to_owned()), ..error }.help(format!("did you mean `{near}`?"))
            }
            None => error.help(format!("use one of {}", known.join(", "))),
        }
    }

    /// A value of the wrong type.
    pub(crate) fn wrong(field: &str, expected: &str, got: &runtime::data::Data) -> FactError {
        FactError::new(FactCode::Shape, field, format!("`{field}` must be {expected}, got {}", got.type_name()))
    }
}

impl Fault for FactError {
    fn sort(&self) -> Sort {
        if self.code == FactCode::Store { Sort::Io } else { Sort::Invalid }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<&'static str> {
        Some(self.code.as_str())
    }
}

//! Errors of an engine.

use crate::convert::ConversionError;
use std::fmt::{self, Display, Formatter};
use stdlib::{Diagnostic, draw};

/// The error of a script or a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The script has errors; nothing of it ran.
    Check(Vec<Diagnostic>),
    /// The script raised an error, exceeded a limit, or ignored the failure of an agent loop.
    Runtime(Vec<Diagnostic>),
    /// The script called `exit` with this code.
    Exit(i32),
    /// A value has another type than the program asked for.
    Conversion(ConversionError),
    /// The function is not bound.
    UnknownFunction(String),
    /// The name cannot be bound: it is a keyword, a builtin, or not an identifier.
    InvalidName(String),
}

impl Error {
    /// The diagnostics of the script, the first one first; empty for errors of other kinds.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Check(found) | Self::Runtime(found) => found,
            _ => &[],
        }
    }

    /// The code of the first diagnostic, for instance `HARN-RUN-001`.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        self.diagnostics().first().map(|found| found.code.as_str())
    }

    /// Renders the error for people, diagnostics with the lines of the source that they are about.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        match self.diagnostics() {
            [] => format!("error: {self}\n"),
            found => found.iter().map(|diagnostic| draw(diagnostic, color)).collect(),
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(found) | Self::Runtime(found) => match found.split_first() {
                None => f.write_str("the script failed"),
                Some((first, rest)) => {
                    write!(f, "{}: {}", first.code, first.message)?;
                    match rest.len() {
                        0 => Ok(()),
                        more => write!(f, " (and {more} more)"),
                    }
                }
            },
            Self::Exit(code) => write!(f, "the script called `exit({code})`"),
            Self::Conversion(error) => error.fmt(f),
            Self::UnknownFunction(name) => write!(f, "unknown function `{name}`"),
            Self::InvalidName(name) => {
                write!(f, "`{name}` cannot be bound: it must be an identifier that is not a keyword or a builtin")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Conversion(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConversionError> for Error {
    fn from(error: ConversionError) -> Self {
        Self::Conversion(error)
    }
}

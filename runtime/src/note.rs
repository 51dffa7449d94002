//! [`Note`]: a diagnostic that must not end the work (a provider that threw, a hint the route cannot honour). The core
//! collects it; whoever drives the loop shows it, and the loop's result lists it.

use std::rc::Rc;
use std::sync::Arc;

use crate::codes::CodeRef;
use crate::data::Data;
use crate::seam::Fault;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Something was not done.
    Error,
    /// Something was done, but perhaps not as meant.
    Warning,
    /// For the record.
    Info,
}

impl Severity {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A diagnostic that must not end the work.
#[derive(Debug, Clone)]
pub struct Note {
    /// The diagnostic code, where there is one.
    pub code: Option<CodeRef>,
    /// How bad it is.
    pub severity: Severity,
    /// One whole sentence or phrase.
    pub message: String,
    /// Who it is about: the id of a provider, the pattern of a hook, a route.
    pub about: Option<Arc<str>>,
    /// What was thrown; from it `stdlib` gets span and stack.
    pub fault: Option<Rc<dyn Fault>>,
}

impl Note {
    /// A note about something that was thrown.
    pub fn of_fault(about: impl Into<Arc<str>>, fault: Rc<dyn Fault>) -> Note {
        let (code, said) = (fault.code(), fault.to_string());
        // The code has a field of its own.
        let message =
            code.and_then(|code| said.strip_prefix(code.as_str())?.strip_prefix(": ")).unwrap_or(&said).to_owned();
        Note { code, severity: Severity::Error, message, about: Some(about.into()), fault: Some(fault) }
    }

    /// As a dict for the loop's result.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("code", self.code.map(CodeRef::as_str).into()),
            ("severity", self.severity.as_str().into()),
            ("message", Data::from(self.message.as_str())),
            ("about", self.about.clone().into()),
        ])
    }
}

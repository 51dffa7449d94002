//! Errors of facts as raises, notes and rows of the catalogue.

use base::codes::Severity;

use crate::catalogue::from_core;
use lang::vm::Raise;
use providers::fact::{FactCode, FactError, Oddity};
use runtime::note::Note;

/// An error of facts.
pub(crate) fn of_fact(error: &FactError) -> Box<Raise> {
    let mut raise = Raise::error(from_core(error.code), error.message.clone()).field("field", error.field.as_str());
    if let Some(suggestion) = &error.suggestion {
        raise = raise.field("suggestion", suggestion.as_str());
    }
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

/// Returns a note about lines of a store that were skipped or cut off.
pub(crate) fn oddity(oddity: &Oddity) -> Note {
    let code = Some(FactCode::Line.into());
    Note { code, severity: Severity::Warning, message: oddity.to_string(), about: None, fault: None }
}

//! A provider's answer that is partly valid.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use base::call::{CallError, CallErrorKind, Outcome, call_error};
use base::codes::CodeRef;

use crate::hooks::verdict::ProviderEffects;
use crate::reminder::{ReminderError, ReminderSpec};

/// The failure of a provider that returned malformed reminders. The valid ones are admitted all the same, unless
/// reminders are strict.
#[derive(Debug)]
pub struct Malformed {
    /// The valid reminders.
    pub good: Vec<ReminderSpec>,
    /// The error of the first malformed reminder.
    pub first: Rc<dyn CallError>,
    /// The errors of the others.
    pub rest: Vec<Rc<dyn CallError>>,
}

impl Malformed {
    /// Returns the provider's reminders if all are valid. `blame` converts an error to the diagnostic for the
    /// provider's author.
    ///
    /// # Errors
    /// Returns [`Malformed`] with the valid ones.
    pub fn sift(
        id: &str,
        effects: ProviderEffects,
        blame: impl Fn(&ReminderError) -> Rc<dyn CallError>,
    ) -> Outcome<Vec<ReminderSpec>> {
        let mut thrown = effects.malformed.into_iter().map(|error| blame(&error.of_provider(id)));
        match thrown.next() {
            None => Ok(effects.specs),
            Some(first) => Err(call_error(Malformed { good: effects.specs, first, rest: thrown.collect() })),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.first, f)
    }
}

impl CallError for Malformed {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        self.first.code()
    }
}

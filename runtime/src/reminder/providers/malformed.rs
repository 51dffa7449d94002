//! A provider's answer that is good in part.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::codes::CodeRef;
use crate::hooks::verdict::Effects;
use crate::reminder::{ReminderError, ReminderSpec};
use crate::seam::{Fault, Outcome, Sort, fault};

/// The failure of a provider that returned malformed reminders. The valid ones are admitted all the same, unless
/// reminders are strict.
#[derive(Debug)]
pub struct Malformed {
    /// The good ones.
    pub good: Vec<ReminderSpec>,
    /// The error of the first malformed reminder.
    pub first: Rc<dyn Fault>,
    /// The errors of the others.
    pub rest: Vec<Rc<dyn Fault>>,
}

impl Malformed {
    /// Returns the provider's reminders if all are valid. `blame` converts an error to the diagnostic for the
    /// provider's author.
    ///
    /// # Errors
    /// Returns [`Malformed`] with the valid ones.
    pub fn sift(
        id: &str,
        effects: Effects,
        blame: impl Fn(&ReminderError) -> Rc<dyn Fault>,
    ) -> Outcome<Vec<ReminderSpec>> {
        let mut thrown = effects.malformed.into_iter().map(|error| blame(&error.of_provider(id)));
        match thrown.next() {
            None => Ok(effects.specs),
            Some(first) => Err(fault(Malformed { good: effects.specs, first, rest: thrown.collect() })),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.first, f)
    }
}

impl Fault for Malformed {
    fn sort(&self) -> Sort {
        Sort::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        self.first.code()
    }
}

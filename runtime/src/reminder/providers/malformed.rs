//! A provider's answer that is good in part.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::codes::CodeRef;
use crate::hooks::verdict::Effects;
use crate::reminder::{ReminderError, ReminderSpec};
use crate::seam::{Fault, Outcome, Sort, fault};

/// What a provider fails with where some of its reminders are malformed. The good ones are admitted all the same, unless
/// reminders are strict.
#[derive(Debug)]
pub struct Malformed {
    /// The good ones.
    pub good: Vec<ReminderSpec>,
    /// What is wrong with the first that is not.
    pub first: Rc<dyn Fault>,
    /// What is wrong with the others.
    pub rest: Vec<Rc<dyn Fault>>,
}

impl Malformed {
    /// What a provider answers: its reminders where all of them are good. `blame` makes of an error what its author is told.
    ///
    /// # Errors
    /// [`Malformed`], with the good ones.
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

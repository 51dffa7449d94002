//! A provider's answer that is good in part.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::reminder::ReminderSpec;
use crate::seam::{Fault, Sort};

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

    fn code(&self) -> Option<&'static str> {
        self.first.code()
    }
}

//! [`Mode`]: the permission policy of a session's tools.

use std::sync::{Arc, Mutex, PoisonError};

use base::words::words;

words! {
    /// The permission policy of a session's tools.
    pub enum Mode {
        /// Tools that need a permission ask for it.
        Ask = "ask",
        /// Tools run without a permission.
        Auto = "auto",
        /// Tools that would change something are refused.
        Plan = "plan",
    }
}

impl Mode {
    /// Returns the name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Ask => "Ask",
            Mode::Auto => "Auto",
            Mode::Plan => "Plan",
        }
    }

    /// Returns the description, one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Mode::Ask => "Asks before a tool changes files or runs a command",
            Mode::Auto => "Runs every tool without asking",
            Mode::Plan => "Reads and plans; tools that change something are refused",
        }
    }

    /// Returns the mode of a session. A mode that a script defines itself counts as [`Mode::Ask`].
    #[must_use]
    pub fn of(mode: &Mutex<Arc<str>>) -> Mode {
        mode.lock().unwrap_or_else(PoisonError::into_inner).parse().unwrap_or(Mode::Ask)
    }
}

//! [`Mode`]: how freely a session's tools run.

use std::sync::{Arc, Mutex, PoisonError};

use runtime::words::words;

words! {
    /// How freely a session's tools run.
    pub enum Mode {
        /// Tools that need a permission ask for it.
        Ask = "ask",
        /// Nothing is asked.
        Auto = "auto",
        /// Nothing is changed: tools that would are refused.
        Plan = "plan",
    }
}

impl Mode {
    /// What a person calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Ask => "Ask",
            Mode::Auto => "Auto",
            Mode::Plan => "Plan",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Mode::Ask => "Asks before a tool changes files or runs a command",
            Mode::Auto => "Runs every tool without asking",
            Mode::Plan => "Reads and plans; tools that change something are refused",
        }
    }

    /// The mode that a session is in. One that a script has made up itself asks.
    #[must_use]
    pub fn of(mode: &Mutex<Arc<str>>) -> Mode {
        mode.lock().unwrap_or_else(PoisonError::into_inner).parse().unwrap_or(Mode::Ask)
    }
}

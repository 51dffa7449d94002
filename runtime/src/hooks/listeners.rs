//! [`Listeners`]: everybody who is told of an event, handlers first, then reminder providers.

use std::rc::Rc;

use crate::data::Data;
use crate::reminder::providers::{self, ReminderProvider};
use crate::seam::{Outcome, Turn};

use super::{Decision, HookEvent, Hooks, fire};

/// Everybody who is told of an event.
#[derive(Clone, Copy)]
pub struct Listeners<'a> {
    /// The handlers.
    pub hooks: &'a Hooks,
    /// The providers that are on.
    pub providers: &'a [Rc<dyn ReminderProvider>],
    /// Their configuration by id.
    pub config: &'a Data,
    /// Whether a failing provider or a malformed reminder is a failure.
    pub strict: bool,
}

impl Listeners<'_> {
    /// Tells handlers, then, unless one of them blocked it, providers.
    pub async fn emit(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<Decision> {
        let decision = fire::fire(self.hooks, turn, event, self.strict).await?;
        if !matches!(decision, Decision::Block { .. }) {
            self.evaluate(turn, event).await?;
        }
        Ok(decision)
    }

    /// Tells providers only.
    pub async fn evaluate(&self, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<()> {
        providers::fire(self.providers, turn, event, self.config, self.strict).await?;
        Ok(())
    }
}

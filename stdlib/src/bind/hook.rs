//! Handlers.

use super::ScriptFn;
use crate::payload::payload;
use base::call::{Answer, CallError, Outcome};
use runtime::hooks::{Hook, HookEvent, Verdict};
use runtime::reminder::ReminderError;
use runtime::seam::Turn;
use std::rc::Rc;

/// A handler written in the language.
pub(crate) struct ScriptHook {
    pub(crate) function: ScriptFn,
    /// The name in notes: the event or the pattern it was registered for.
    pub(crate) name: String,
}

impl Hook for ScriptHook {
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        let payload = payload(event, turn.session.id());
        let kind = event.kind();
        self.function
            .call(turn, vec![payload], move |value| Ok(Verdict::from_data(kind, &self.function.reminders_in(&value)?)))
    }

    fn malformed(&self, error: &ReminderError) -> Rc<dyn CallError> {
        self.function.blame(error)
    }

    fn unusable(&self, why: &str) -> Rc<dyn CallError> {
        self.function.unusable(why)
    }

    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        self.function.late(&format!("the handler of `{}`", self.name), ms)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

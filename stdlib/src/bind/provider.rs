//! Reminder providers.

use super::ScriptFn;
use super::payload::payload;
use crate::convert::to_value;
use crate::values::TranscriptValue;
use lang::value::Value;
use runtime::data::Data;
use runtime::hooks::verdict::read_effects;
use runtime::hooks::{EventSet, HookEvent};
use runtime::reminder::ReminderSpec;
use runtime::reminder::providers::{Malformed, ReminderProvider};
use runtime::seam::{Answer, CallError, Outcome, Turn};
use std::rc::Rc;

/// A provider written in the language.
pub(crate) struct ScriptProvider {
    pub(crate) id: String,
    pub(crate) events: EventSet,
    pub(crate) evaluate: ScriptFn,
}

impl ReminderProvider for ScriptProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn subscribes_to(&self) -> EventSet {
        self.events
    }

    fn evaluate<'a>(
        &'a self,
        turn: Turn<'a>,
        event: &'a HookEvent<'a>,
        config: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        let id = turn.session.id();
        let ctx = Value::record([
            ("event", Value::str(event.kind().pascal())),
            ("session", TranscriptValue::value(turn.session.transcript())),
            ("session_id", Value::str(id)),
            ("payload", payload(event, id)),
            ("options", to_value(&turn.scope.options)),
            ("config", to_value(config)),
        ]);
        self.evaluate.call(turn, vec![ctx], |value| {
            Malformed::sift(&self.id, read_effects(&self.evaluate.reminders_in(&value)?), |error| {
                self.evaluate.blame(error)
            })
        })
    }

    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        self.evaluate.late(&format!("the reminder provider `{}`", self.id), ms)
    }
}

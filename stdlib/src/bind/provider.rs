//! Reminder providers.

use super::ScriptFn;
use crate::convert::{TranscriptValue, to_value};
use crate::payload::payload;
use base::call::{Answer, CallError, Outcome};
use base::data::Data;
use lang::diagnostic::nearest;
use lang::value::{Value, article};
use runtime::events::EventSet;
use runtime::hooks::HookEvent;
use runtime::hooks::verdict::read_effects;
use runtime::reminder::{ReminderCode, ReminderError, ReminderSpec};
use runtime::reminder_providers::{Malformed, ReminderProvider};
use runtime::seam::Turn;
use std::rc::Rc;

/// A provider written in the language.
pub(crate) struct ScriptProvider {
    pub(crate) id: String,
    pub(crate) events: EventSet,
    pub(crate) evaluate: ScriptFn,
    /// The keys of its configuration with their defaults, if it lists them.
    pub(crate) defaults: Option<Data>,
}

/// Checks a configuration against the keys that a provider lists, and the types of their defaults. A default of nil allows any
/// value.
///
/// # Errors
/// Returns the error at the first key that is unknown or has a value of another type.
pub(crate) fn check_config(id: &str, defaults: &Data, config: &Data) -> Result<(), ReminderError> {
    let known = defaults.as_dict();
    for (key, value) in config.as_dict().into_iter().flatten() {
        let error = |message| ReminderError::new(ReminderCode::Shape, format!("{id}.{key}"), message);
        let Some(default) = known.and_then(|known| known.get(key)) else {
            let names = || known.into_iter().flatten().map(|(name, _)| name.as_ref());
            let listed = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(error(format!("unknown key `{key}` in the configuration of `{id}`"))
                .suggest(nearest(key, names()))
                .or_help(format!("its keys are {listed}")));
        };
        let fits = value.is_nil()
            || default.is_nil()
            || value.type_name() == default.type_name()
            || matches!((value, default), (Data::Int(_), Data::Float(_)));
        if !fits {
            let (wanted, given) = (article(default.type_name()), value.type_name());
            return Err(error(format!("`{key}` in the configuration of `{id}` must be {wanted}, got {given}")));
        }
    }
    Ok(())
}

impl ScriptProvider {
    /// Returns the configuration as the provider sees it: what is not given has its default.
    fn configuration(&self, given: &Data) -> Value {
        let Some(defaults) = self.defaults.as_ref().and_then(Data::as_dict) else { return to_value(given) };
        let value = |key: &str, default: &Data| match given.get(key) {
            Data::Nil => default.clone(),
            value => value.clone(),
        };
        let entries = defaults.iter().map(|(key, default)| (key.clone(), value(key, default)));
        to_value(&Data::dict(entries.collect::<Vec<_>>()))
    }
}

impl ReminderProvider for ScriptProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn subscribes_to(&self) -> EventSet {
        self.events
    }

    fn check_config(&self, config: &Data) -> Result<(), ReminderError> {
        self.defaults.as_ref().map_or(Ok(()), |defaults| check_config(&self.id, defaults, config))
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
            ("config", self.configuration(config)),
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

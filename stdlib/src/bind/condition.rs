//! Conditions of reminders: the functions that scripts give as `when`, `until` and `expect`.

use super::ScriptFn;
use crate::convert::{TranscriptValue, key, to_data_naming, to_value};
use crate::payload::tool_row;
use crate::world::World;
use base::call::{Answer, CallError, Outcome};
use base::clock::Clock;
use base::data::Data;
use base::ids::Ids;
use lang::value::{Dict, Value};
use lang::vm::{Context, Function, Isolate, Raise};
use runtime::conditions::{ConditionFacts, Conditions, TurnFacts};
use runtime::reminder::condition::condition_name;
use runtime::reminder::{ReminderCode, ReminderError};
use runtime::seam::Turn;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The conditions of a run by name. One is forgotten once nothing holds its name any more: no reminder and no record of
/// a log in memory.
#[derive(Default)]
pub(crate) struct ScriptConditions {
    by_name: RefCell<HashMap<Arc<str>, Rc<ScriptFn>>>,
    /// Number of them at which forgotten ones are looked for.
    crowded: Cell<usize>,
}

/// Number of conditions below which none is looked for.
const FEW: usize = 64;

impl ScriptConditions {
    fn add(&self, name: Arc<str>, function: ScriptFn) {
        let mut by_name = self.by_name.borrow_mut();
        if by_name.len() >= self.crowded.get().max(FEW) {
            by_name.retain(|name, _| Arc::strong_count(name) > 1);
            self.crowded.set(by_name.len() * 2);
        }
        by_name.insert(name, Rc::new(function));
    }

    pub(crate) fn clear(&self) {
        // Dropped after the borrow has ended, because a function may hold anything.
        drop(self.by_name.take());
    }
}

impl Conditions for ScriptConditions {
    fn evaluate<'a>(
        &'a self,
        name: &'a str,
        turn: Turn<'a>,
        facts: ConditionFacts<'a>,
    ) -> Option<Answer<'a, Outcome<bool>>> {
        let function = self.by_name.borrow().get(name)?.clone();
        let state = Value::record(fields(turn, &facts));
        let read = |function: &ScriptFn, value: Value| match value {
            Value::Bool(holds) => Ok(holds),
            other => {
                let message = format!("a condition of a reminder must return a bool, got {}", other.type_name());
                let error = ReminderError::new(ReminderCode::Shape, "", message).help("return `true` or `false`");
                Err(function.blame(&error))
            }
        };
        Some(ScriptFn::call_shared(function, turn, [state], read))
    }

    fn follows<'a>(
        &'a self,
        name: &'a str,
        turn: Turn<'a>,
        facts: TurnFacts<'a>,
    ) -> Option<Answer<'a, Outcome<Option<bool>>>> {
        let function = self.by_name.borrow().get(name)?.clone();
        let calls = facts.tool_calls.iter().map(|call| {
            Value::record([
                ("name", Value::str(&call.name)),
                ("args", to_value(&call.arguments)),
                ("tool_call_id", Value::str(&call.id)),
            ])
        });
        let results = facts.tool_results.rows().iter().map(tool_row);
        let of_turn = [("tool_calls", Value::list(calls.collect())), ("tool_results", Value::list(results.collect()))];
        let all = fields(turn, &facts.facts).into_iter().chain(of_turn);
        let turn_value = Value::dict(all.map(|(name, value)| (key(name), value)).collect::<Dict>());
        let read = |function: &ScriptFn, value: Value| match value {
            Value::Bool(follows) => Ok(Some(follows)),
            Value::Nil => Ok(None),
            other => {
                let found = other.type_name();
                let message = format!("the `expect` of a reminder must return a bool or nil, got {found}");
                let error = ReminderError::new(ReminderCode::Shape, "", message);
                Err(function.blame(&error.help("return `nil` if the turn does not show it either way")))
            }
        };
        Some(ScriptFn::call_shared(function, turn, [turn_value], read))
    }

    fn late(&self, name: &str, ms: u64) -> Rc<dyn CallError> {
        match self.by_name.borrow().get(name) {
            Some(function) => function.late("a condition of a reminder", ms),
            None => base::call::call_error(runtime::timeout::TimedOut { ms }),
        }
    }
}

/// Returns the conditions of a run.
pub(crate) fn conditions_of(world: &World) -> Rc<ScriptConditions> {
    world.part(ScriptConditions::default)
}

/// Returns what conditions and expectations see of a turn.
fn fields(turn: Turn<'_>, facts: &ConditionFacts<'_>) -> [(&'static str, Value); 10] {
    let count = |count: u64| Value::from(usize::try_from(count).unwrap_or(usize::MAX));
    [
        ("session", TranscriptValue::value(turn.session.transcript())),
        ("session_id", Value::str(turn.session.id())),
        ("reminder_id", Value::str(&facts.reminder.id)),
        ("times", Value::Int(facts.times.into())),
        ("turn", Value::Int(turn.number.into())),
        ("iteration", Value::Int(facts.iteration.into())),
        ("task", Value::str(facts.task)),
        ("text", Value::str(facts.text)),
        ("context_tokens", count(facts.context_tokens)),
        ("context_window", facts.context_window.map_or(Value::Nil, count)),
    ]
}

/// Converts a value that may contain reminders to data: a function under `when`, `until` or `expect` becomes the name of a
/// condition of the run.
///
/// # Errors
/// Fails if the value contains anything else that is not data.
pub(crate) fn to_reminder_data(
    value: &Value,
    isolate: &Rc<Isolate>,
    context: &Rc<Context>,
) -> Result<Data, Box<Raise>> {
    let Some(world) = isolate.host().as_any().downcast_ref::<World>() else { return to_data_naming(value, None) };
    let name = |value: &Value| {
        let function = ScriptFn::from(Function::new(isolate, context, value.clone())?);
        let id = world.random.ids.next_text(world.clock.now_ms());
        let name: Arc<str> = condition_name(&id).into();
        conditions_of(world).add(name.clone(), function);
        Some(name)
    };
    to_data_naming(value, Some(&name))
}

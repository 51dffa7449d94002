//! Custom compactors.

use super::ScriptFn;
use crate::convert::{TranscriptValue, to_value};
use crate::fault::Thrown;
use base::call::{Answer, CallError, Outcome};
use lang::value::Value;
use lang::value::article;
use lang::vm::{Raise, RunCode};
use runtime::lifecycle::archive::Summary;
use runtime::message::{Message, Role};
use runtime::reminder::Reminder;
use runtime::seam::{Compactor, Turn};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// A compactor written in the language.
pub(crate) struct ScriptCompactor {
    pub(crate) function: ScriptFn,
}

impl ScriptCompactor {
    /// Its arguments: the messages to be archived, and the reminders that survived.
    pub(crate) fn args(messages: &[Arc<Message>], pending: &[Arc<Reminder>]) -> Vec<Value> {
        vec![
            Value::list(messages.iter().map(|m| to_value(&m.to_data())).collect()),
            Value::list(pending.iter().map(|r| to_value(&r.to_data(r.ttl_turns))).collect()),
        ]
    }

    /// Reads a compactor's result: a string that is not blank, `{summary}`, or a transcript.
    pub(crate) fn read(value: &Value) -> Result<Summary, Box<Raise>> {
        if let Some(t) = value.as_host::<TranscriptValue>() {
            let messages: Vec<Arc<Message>> = t.transcript.messages().iter().cloned().collect();
            return match orphan(&messages) {
                None => Ok(Summary::Messages(messages)),
                Some(id) => Err(Raise::error(
                    RunCode::Value,
                    format!("a compactor's transcript has a result for the tool call `{id}`, but not the call"),
                )
                .help("keep the assistant message with the call, or remove its result")),
            };
        }
        let text = match value {
            Value::Str(s) => s.as_str(),
            Value::Dict(d) => match (d.dict.get_str("summary").and_then(Value::as_str), d.dict.len()) {
                (Some(text), 1) => text,
                _ => return Err(unusable(value)),
            },
            other => return Err(unusable(other)),
        };
        if text.trim().is_empty() {
            return Err(Raise::error(
                RunCode::Value,
                "a compactor's summary must not be blank, because it replaces messages",
            ));
        }
        Ok(Summary::Text(Arc::from(text)))
    }
}

/// A result of a tool without the call that it answers: no model takes that.
fn orphan(messages: &[Arc<Message>]) -> Option<&str> {
    let mut asked = HashSet::new();
    messages.iter().find_map(|message| {
        asked.extend(message.tool_calls.iter().map(|call| call.id.as_ref()));
        let answered = message.tool_call_id.as_deref().unwrap_or("");
        (message.role == Role::Tool && !asked.contains(answered)).then_some(answered)
    })
}

fn unusable(value: &Value) -> Box<Raise> {
    Raise::error(
        RunCode::Type,
        format!("a compactor must return a string, {{summary}} or a transcript, not {}", article(value.type_name())),
    )
}

impl Compactor for ScriptCompactor {
    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        self.function.late("the compactor", ms)
    }

    fn compact<'a>(
        &'a self,
        turn: Turn<'a>,
        messages: &'a [Arc<Message>],
        pending: &'a [Arc<Reminder>],
    ) -> Answer<'a, Outcome<Summary>> {
        self.function.call(turn, Self::args(messages, pending), |value| Self::read(&value).map_err(Thrown::fault))
    }
}

//! Custom compactors.

use super::ScriptFn;
use crate::convert::to_value;
use crate::fault::Thrown;
use crate::values::TranscriptValue;
use lang::value::Value;
use lang::value::article;
use lang::vm::{Raise, codes};
use runtime::message::Message;
use runtime::reminder::Reminder;
use runtime::seam::{Answer, Compactor, Outcome, Summary, Turn};
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

    /// What it may give: a string, `{summary}`, or a transcript.
    pub(crate) fn read(value: &Value) -> Result<Summary, Box<Raise>> {
        if let Some(t) = value.as_host::<TranscriptValue>() {
            return Ok(Summary::Messages(t.transcript.messages().iter().cloned().collect()));
        }
        match value {
            Value::Str(s) => Ok(Summary::Text(Arc::from(s.as_str()))),
            Value::Dict(d) => match d.dict.get_str("summary").and_then(Value::as_str) {
                Some(text) => Ok(Summary::Text(Arc::from(text))),
                None => Err(unusable(value)),
            },
            other => Err(unusable(other)),
        }
    }
}

fn unusable(value: &Value) -> Box<Raise> {
    Raise::error(
        codes::TYPE,
        format!("a compactor gives a string, {{summary}} or a transcript, not {}", article(value.type_name())),
    )
}

impl Compactor for ScriptCompactor {
    fn compact<'a>(
        &'a self,
        turn: Turn<'a>,
        messages: &'a [Arc<Message>],
        pending: &'a [Arc<Reminder>],
    ) -> Answer<'a, Outcome<Summary>> {
        self.function.call(turn, Self::args(messages, pending), |value| Self::read(&value).map_err(Thrown::fault))
    }
}

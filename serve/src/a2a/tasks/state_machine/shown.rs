//! Converts session events to changes of the task.

use std::sync::Arc;

use a2a::{Message, Part, TaskState};
use base::data::Data;
use runtime::message::ToolCall;

use super::super::agent_message;
use super::{TaskEffect, TaskStateMachine};
use crate::host::{PlanEntry, SessionEvent};

impl TaskStateMachine {
    /// Handles a session event. Questions and the caller's messages are ignored: the end of the prompt brings the
    /// former, and the latter are already known.
    pub(in crate::a2a::tasks) fn show(&mut self, event: SessionEvent, now: u64) -> Vec<TaskEffect> {
        if self.is_over() {
            return Vec::new();
        }
        // A message cannot hold these.
        self.may_be_message &= !matches!(
            event,
            SessionEvent::Artifact { .. }
                | SessionEvent::Status { .. }
                | SessionEvent::Title(_)
                | SessionEvent::Plan(_)
                | SessionEvent::Mode(_)
        );
        match event {
            SessionEvent::Text { message_id, text } => self.answer_text(&message_id, &text),
            SessionEvent::Data { message_id, data } => self.answer_data(&message_id, data),
            SessionEvent::Artifact { made, .. } => self.make(made),
            SessionEvent::Status { text, partial, .. } => self.says_of_it(&text, &partial, now),
            SessionEvent::Title(title) => self.beside("harn.title", title.into()),
            SessionEvent::Plan(entries) => self.beside("harn.plan", entries.iter().map(entry).collect()),
            SessionEvent::Mode(mode) => self.beside("harn.mode", mode.into()),
            SessionEvent::ToolCall { call, .. } => vec![self.hint("harn.tool_call", tool_call(&call))],
            SessionEvent::ToolEnded { id, ok, .. } => {
                let status = if ok { "completed" } else { "failed" };
                vec![self.hint("harn.tool_call", Data::dict([("id", Data::from(id)), ("status", status.into())]))]
            }
            SessionEvent::Usage { call, .. } => {
                self.usage.add(call);
                Vec::new()
            }
            SessionEvent::ToolBegan { .. }
            | SessionEvent::Thought { .. }
            | SessionEvent::Question { .. }
            | SessionEvent::UserMessage { .. }
            | SessionEvent::Remind(_)
            | SessionEvent::Log(_)
            | SessionEvent::Reminder(_) => Vec::new(),
        }
    }

    /// Reports the agent's progress. While the caller is asked something, the status message stays.
    fn says_of_it(&mut self, text: &str, partial: &Data, now: u64) -> Vec<TaskEffect> {
        let (message, metadata) = of_partial(text, partial);
        match self.state() {
            TaskState::InputRequired => {
                let message = Arc::new(self.of_task(message));
                self.push(message)
            }
            state => self.stand(state, Some(message), metadata, now),
        }
    }

    /// Sets an entry of the task's metadata.
    fn beside(&mut self, key: &'static str, value: Data) -> Vec<TaskEffect> {
        self.describe(&Data::dict([(key, value.clone())]));
        vec![self.hint(key, value)]
    }
}

/// Returns the message and the metadata for a partial result.
fn of_partial(text: &str, partial: &Data) -> (Message, Data) {
    let Some(given) = partial.as_dict() else { return (agent_message::sentence(text), Data::Nil) };
    let data = given.get("data").filter(|data| !data.is_nil()).cloned();
    let parts = std::iter::once(Part::text(text)).chain(data.map(Part::data));
    let beside = given.iter().filter(|(key, value)| key.as_ref() != "data" && !value.is_nil());
    let beside = Data::dict(beside.map(|(key, value)| (key.clone(), value.clone())));
    (agent_message::says(parts.collect()), Data::dict([("harn.partial", beside)]))
}

fn entry(entry: &PlanEntry) -> Data {
    Data::dict([
        ("content", Data::from(&entry.content)),
        ("priority", entry.priority.as_str().into()),
        ("status", entry.status.as_str().into()),
    ])
}

fn tool_call(call: &ToolCall) -> Data {
    Data::dict([
        ("id", Data::from(&call.id)),
        ("name", (&call.name).into()),
        ("arguments", call.arguments.clone()),
        ("status", "pending".into()),
    ])
}

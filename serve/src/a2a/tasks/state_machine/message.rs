//! A message in place of a task. The task exists all the same and is kept like any other: a caller that loses the
//! response sends the same message again, to this process or the next.

use std::sync::Arc;

use a2a::{Message, Role, Task, TaskState};
use base::data::Data;

use super::super::ANSWER;
use super::TaskStateMachine;

/// The key in the task's metadata for the id of the message in its place.
const MESSAGE_ID: &str = "harn.message_id";

/// Metadata keys of a task's end that the message has too.
const BESIDE: [&str; 2] = ["harn.diagnostics", "harn.usage"];

impl TaskStateMachine {
    /// Turns the ended task into a message. A task without an answer stays a task.
    pub(super) fn become_message(&mut self, metadata: &mut Data) {
        if let Some(message_id) = self.answer.id() {
            metadata.set(MESSAGE_ID, message_id.into());
        }
    }
}

/// Returns the caller's metadata for a new task, without the key that marks a message.
pub(in crate::a2a::tasks) fn as_a_caller_says(metadata: &Data) -> Data {
    match metadata.as_dict() {
        Some(entries) if !metadata.get(MESSAGE_ID).is_nil() => {
            let own = entries.iter().filter(|(key, _)| key.as_ref() != MESSAGE_ID);
            Data::dict(own.map(|(key, value)| (key.clone(), value.clone())))
        }
        _ => metadata.clone(),
    }
}

/// Returns the message in place of a task, if the task became one.
pub(in crate::a2a::tasks) fn message_of(task: &Task) -> Option<Message> {
    if task.status.state != TaskState::Completed || task.status.message.is_some() {
        return None;
    }
    let message_id: Arc<str> = task.metadata.get(MESSAGE_ID).as_str()?.into();
    let answer = task.artifacts.iter().find(|artifact| &*artifact.artifact_id == ANSWER)?;
    let mut message = Message::new(Role::Agent, message_id, answer.parts.clone());
    message.context_id = Some(task.context_id.clone());
    for key in BESIDE {
        let value = task.metadata.get(key);
        if !value.is_nil() {
            message.metadata.set(key, value.clone());
        }
    }
    Some(message)
}

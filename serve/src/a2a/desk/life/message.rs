//! A message in place of a task. The task is there all the same: what its caller loses on the way is asked for again by the same
//! message, in this process or the next, so what it came to is kept like that of any other.

use std::sync::Arc;

use a2a::{Message, Role, Task, TaskState};
use runtime::data::Data;

use super::super::ANSWER;
use super::Life;

/// Where the task's metadata has the id of the message that its caller gets in place of it.
const MESSAGE_ID: &str = "harn.message_id";

/// What is said of the end of a task in the message too.
const BESIDE: [&str; 2] = ["harn.diagnostics", "harn.usage"];

impl Life {
    /// It is over with nothing but an answer; one that has none stays a task.
    pub(super) fn become_message(&mut self, metadata: &mut Data) {
        if let Some(message_id) = self.answer.id() {
            metadata.set(MESSAGE_ID, message_id.into());
        }
    }
}

/// The metadata of a task that begins: what its caller says, but not that it has come to a message.
pub(in crate::a2a::desk) fn as_a_caller_says(metadata: &Data) -> Data {
    match metadata.as_dict() {
        Some(entries) if !metadata.get(MESSAGE_ID).is_nil() => {
            let own = entries.iter().filter(|(key, _)| key.as_ref() != MESSAGE_ID);
            Data::dict(own.map(|(key, value)| (key.clone(), value.clone())))
        }
        _ => metadata.clone(),
    }
}

/// The message in place of a task that has come to one.
pub(in crate::a2a::desk) fn message_of(task: &Task) -> Option<Message> {
    if task.status.state != TaskState::Completed || task.status.message.is_some() {
        return None;
    }
    let message_id: Arc<str> = task.metadata.get(MESSAGE_ID).as_str()?.into();
    let answer = task.artifacts.iter().find(|artifact| &*artifact.artifact_id == ANSWER)?;
    let mut message = Message::new(Role::Agent, message_id, answer.parts.clone());
    message.context_id = Some(task.context_id.clone());
    for key in BESIDE {
        let told = task.metadata.get(key);
        if !told.is_nil() {
            message.metadata.set(key, told.clone());
        }
    }
    Some(message)
}

//! The memory that tasks, results and events take, approximately: their limits in bytes are limits of the process, and a
//! small message takes several times its size on the wire.
//!
//! The estimate depends on the contents only, so that a replay repeats it.

use std::mem::size_of;

use prost_types::value::Kind;
use prost_types::{Struct, Value};

use crate::proto::a2a::{AgentCard, Artifact, Message, Part, Task, TaskStatus, file_part, part};
use crate::proto::agenthub::agent_event::Payload;
use crate::proto::agenthub::{AgentEvent, AgentEventMetadata};

use super::change::KeptOperation;
use super::task::{Assignment, Rejection, TaskEntry};

/// Memory of the indexes of a task, without its id: its places in the map and in the ordered sets.
const TASK_INDEXES: usize = 160;
/// The number of elements for which a node of an ordered map has room, and of those that it has on average.
const NODE: (usize, usize) = (11, 8);

/// Returns the memory that an allocation takes, with the overhead of the allocator.
pub(super) fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => (bytes + 8).next_multiple_of(16).max(32),
    }
}

/// A value that owns allocations.
pub(super) trait HeapUse {
    /// Returns the memory of its allocations, without the value itself.
    fn heap(&self) -> usize;
}

impl HeapUse for str {
    fn heap(&self) -> usize {
        allocated(self.len())
    }
}

impl HeapUse for String {
    fn heap(&self) -> usize {
        self.as_str().heap()
    }
}

impl<T: HeapUse> HeapUse for Option<T> {
    fn heap(&self) -> usize {
        self.as_ref().map_or(0, HeapUse::heap)
    }
}

impl<T: HeapUse> HeapUse for Vec<T> {
    fn heap(&self) -> usize {
        allocated(self.len() * size_of::<T>()) + self.iter().map(HeapUse::heap).sum::<usize>()
    }
}

impl HeapUse for Struct {
    fn heap(&self) -> usize {
        let (most, usual) = NODE;
        let nodes = self.fields.len().div_ceil(usual);
        let node = allocated(most * (size_of::<String>() + size_of::<Value>()) + 2 * size_of::<usize>());
        nodes * node + self.fields.iter().map(|(key, value)| key.heap() + value.heap()).sum::<usize>()
    }
}

impl HeapUse for Value {
    fn heap(&self) -> usize {
        match &self.kind {
            Some(Kind::StringValue(text)) => text.heap(),
            Some(Kind::StructValue(fields)) => fields.heap(),
            Some(Kind::ListValue(list)) => list.values.heap(),
            Some(Kind::NullValue(_) | Kind::NumberValue(_) | Kind::BoolValue(_)) | None => 0,
        }
    }
}

impl HeapUse for Part {
    fn heap(&self) -> usize {
        let content = match &self.part {
            Some(part::Part::Text(text)) => text.heap(),
            Some(part::Part::File(file)) => {
                let content = match &file.file {
                    Some(file_part::File::FileWithUri(uri)) => uri.heap(),
                    Some(file_part::File::FileWithBytes(bytes)) => allocated(bytes.len()),
                    None => 0,
                };
                content + file.mime_type.heap() + file.name.heap()
            }
            Some(part::Part::Data(data)) => data.data.heap(),
            None => 0,
        };
        content + self.metadata.heap()
    }
}

impl HeapUse for Message {
    fn heap(&self) -> usize {
        let ids = self.message_id.heap() + self.context_id.heap() + self.task_id.heap();
        ids + self.content.heap() + self.metadata.heap() + self.extensions.heap()
    }
}

impl HeapUse for TaskStatus {
    fn heap(&self) -> usize {
        self.update.heap()
    }
}

impl HeapUse for Artifact {
    fn heap(&self) -> usize {
        let texts = self.artifact_id.heap() + self.name.heap() + self.description.heap();
        texts + self.parts.heap() + self.metadata.heap() + self.extensions.heap()
    }
}

impl HeapUse for Task {
    fn heap(&self) -> usize {
        let ids = self.id.heap() + self.context_id.heap();
        ids + self.status.heap() + self.artifacts.heap() + self.history.heap() + self.metadata.heap()
    }
}

impl HeapUse for AgentCard {
    fn heap(&self) -> usize {
        // Its texts are most of it.
        prost::Message::encoded_len(self) * 2
    }
}

impl HeapUse for AgentEventMetadata {
    fn heap(&self) -> usize {
        let ids = self.from_agent_id.heap() + self.to_agent_id.heap() + self.event_type.heap();
        ids + self.subscriptions.heap()
    }
}

impl HeapUse for AgentEvent {
    fn heap(&self) -> usize {
        let content = match &self.payload {
            Some(Payload::Message(message)) => message.heap(),
            Some(Payload::Task(task)) => task.heap(),
            Some(Payload::StatusUpdate(update)) => {
                update.task_id.heap() + update.context_id.heap() + update.status.heap() + update.metadata.heap()
            }
            Some(Payload::ArtifactUpdate(update)) => {
                update.task_id.heap() + update.context_id.heap() + update.artifact.heap() + update.metadata.heap()
            }
            Some(Payload::AgentCard(card)) => {
                card.agent_id.heap() + card.agent_card.heap() + card.event_type.heap() + card.metadata.heap()
            }
            None => 0,
        };
        content + self.event_id.heap() + self.routing.heap() + self.trace_id.heap() + self.span_id.heap()
    }
}

impl HeapUse for KeptOperation {
    fn heap(&self) -> usize {
        self.operation_id.heap() + self.event_id.heap()
    }
}

impl HeapUse for Rejection {
    fn heap(&self) -> usize {
        self.agent_id.heap() + self.reason.heap()
    }
}

impl HeapUse for TaskEntry {
    fn heap(&self) -> usize {
        let assignment = match &self.assignment {
            Assignment::Inbox(name) | Assignment::Queue(name) => name.heap(),
            Assignment::Copies => 0,
        };
        let ids = self.event_id.heap() + self.trace.trace_id.heap() + self.trace.span_id.heap() + self.parent.heap();
        let claim = self.worker.heap() + self.last_worker.heap() + self.claim_operation.heap() + self.lease_id.heap();
        let task = allocated(2 * size_of::<usize>() + size_of::<Task>()) + self.task.heap();
        let lists = self.copies.heap() + self.rejections.heap() + self.operations.heap();
        assignment + ids + claim + task + lists + self.routing.heap() + self.resume_token.heap()
    }
}

/// Returns the memory of a task with its places in the indexes of the broker.
pub(super) fn of_task(entry: &TaskEntry) -> usize {
    allocated(size_of::<TaskEntry>()) + entry.heap() + 2 * entry.task.id.heap() + TASK_INDEXES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::payload;

    #[test]
    fn small_values_count_with_the_memory_around_them() {
        assert_eq!([0, 1, 24, 25, 100].map(allocated), [0, 32, 32, 48, 112]);
        let message = Message { message_id: "m".to_owned(), ..Message::default() };
        let one = Task { history: vec![message.clone()], ..Task::default() }.heap();
        let two = Task { history: vec![message.clone(), message], ..Task::default() }.heap();
        assert!(two - one >= size_of::<Message>() + 32, "{one} {two}");
        let nulls = Struct { fields: [("list".to_owned(), list(1_000))].into() };
        assert!(nulls.heap() >= 1_000 * size_of::<Value>(), "{}", nulls.heap());
        assert!(payload::metadata([("a", payload::string("b"))]).heap() >= size_of::<Value>());
    }

    fn list(length: usize) -> Value {
        let values = vec![Value { kind: Some(Kind::NullValue(0)) }; length];
        Value { kind: Some(Kind::ListValue(prost_types::ListValue { values })) }
    }
}

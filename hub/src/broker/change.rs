//! Changes of the broker's state, as the store keeps them. They are messages of Protocol Buffers, so that a later version
//! reads the changes of an earlier one. The numbers of the fields must not change.

use crate::proto::a2a::{AgentCard, Artifact, Message, Task, TaskStatus};
use crate::proto::agenthub::AgentEventMetadata;
use prost_types::Struct;

/// The changes of one command, which are written as a whole or not at all.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChangeBatch {
    /// The changes, in order.
    #[prost(message, repeated, tag = "1")]
    pub changes: Vec<Change>,
    /// The result to repeat, if the command had a `message_id`.
    #[prost(message, optional, tag = "2")]
    pub receipt: Option<KeptReceipt>,
    /// A part of a checkpoint, in place of changes.
    #[prost(message, optional, tag = "3")]
    pub checkpoint: Option<CheckpointPart>,
}

impl ChangeBatch {
    /// Returns whether no change precedes the batch.
    #[must_use]
    pub fn is_first(&self) -> bool {
        match (&self.checkpoint, self.changes.first()) {
            (Some(part), _) => part.last_number == 0,
            (None, first) => first.is_some_and(|change| change.number == 1),
        }
    }
}

/// The first result for a `message_id`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct KeptReceipt {
    /// Agent that sent the message.
    #[prost(string, tag = "1")]
    pub from_agent_id: String,
    /// Id of the message.
    #[prost(string, tag = "2")]
    pub message_id: String,
    /// Id of the event of the first result.
    #[prost(string, tag = "3")]
    pub event_id: String,
    /// Task of the message; empty if it has none.
    #[prost(string, tag = "4")]
    pub task_id: String,
    /// Time of the first result, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "5")]
    pub at_ms: u64,
    /// Fingerprint of the message; 0 if it is not known.
    #[prost(fixed64, tag = "6")]
    pub digest: u64,
}

/// One change of the state.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Change {
    /// Place in the sequence of all changes, from 1.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Id of the event that subscribers see.
    #[prost(string, tag = "2")]
    pub event_id: String,
    /// Time, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "3")]
    pub at_ms: u64,
    /// Origin and target.
    #[prost(message, optional, tag = "4")]
    pub routing: Option<AgentEventMetadata>,
    /// Trace of the command.
    #[prost(string, tag = "5")]
    pub trace_id: String,
    /// Span of the command.
    #[prost(string, tag = "6")]
    pub span_id: String,
    /// The content.
    #[prost(oneof = "ChangeKind", tags = "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22")]
    pub kind: Option<ChangeKind>,
}

/// The content of a change.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum ChangeKind {
    /// An agent was registered, or its registration was replaced.
    #[prost(message, tag = "10")]
    AgentRegistered(AgentRecord),
    /// An agent was removed.
    #[prost(message, tag = "11")]
    AgentUnregistered(AgentRecord),
    /// The health of an agent changed.
    #[prost(message, tag = "12")]
    HealthChanged(AgentRecord),
    /// A message without a task was published.
    #[prost(message, tag = "13")]
    MessagePublished(Message),
    /// A task was submitted.
    #[prost(message, tag = "14")]
    TaskSubmitted(SubmittedTask),
    /// A message was appended to a task.
    #[prost(message, tag = "15")]
    MessageAppended(Message),
    /// The status of a task changed.
    #[prost(message, tag = "16")]
    StatusChanged(ChangedStatus),
    /// An artifact was added, extended or replaced.
    #[prost(message, tag = "17")]
    ArtifactChanged(ChangedArtifact),
    /// A worker took a task.
    #[prost(message, tag = "18")]
    TaskClaimed(ClaimedBy),
    /// A lease was extended.
    #[prost(message, tag = "19")]
    LeaseRenewed(ClaimedBy),
    /// A task returned to its queue.
    #[prost(message, tag = "20")]
    TaskRequeued(RequeuedTask),
    /// An agent acknowledged a task, or it was delivered again.
    #[prost(message, tag = "21")]
    TaskAcknowledged(TaskIds),
    /// Finished tasks were dropped.
    #[prost(message, tag = "22")]
    TasksForgotten(TaskIds),
}

/// A registered agent.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AgentRecord {
    /// Id of the agent.
    #[prost(string, tag = "1")]
    pub agent_id: String,
    /// Its card.
    #[prost(message, optional, tag = "2")]
    pub card: Option<AgentCard>,
    /// Its tags: a broadcast with tags goes to the agents that have one of them.
    #[prost(string, repeated, tag = "3")]
    pub subscriptions: Vec<String>,
    /// Address to probe; empty if it is not probed.
    #[prost(string, tag = "4")]
    pub health_check_url: String,
    /// Whether it is a candidate for tasks.
    #[prost(bool, tag = "5")]
    pub healthy: bool,
    /// Time of the registration, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "6")]
    pub registered_ms: u64,
}

/// A new task, and where it goes: to an agent, to a queue, or, if both are empty, to its copies.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SubmittedTask {
    /// The task. Its first message is that of its status too.
    #[prost(message, optional, tag = "1")]
    pub task: Option<Task>,
    /// Agent that it is addressed to.
    #[prost(string, tag = "2")]
    pub target: String,
    /// Queue from which workers claim it.
    #[prost(string, tag = "3")]
    pub queue: String,
    /// Broadcast task of which it is a copy.
    #[prost(string, tag = "4")]
    pub parent: String,
    /// Deadline, in milliseconds since 1970-01-01 UTC; 0 means none.
    #[prost(uint64, tag = "5")]
    pub deadline_ms: u64,
    /// Maximum number of attempts.
    #[prost(uint32, tag = "6")]
    pub max_attempts: u32,
}

/// A new status.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChangedStatus {
    /// Id of the task.
    #[prost(string, tag = "1")]
    pub task_id: String,
    /// The status.
    #[prost(message, optional, tag = "2")]
    pub status: Option<TaskStatus>,
    /// Metadata of the update.
    #[prost(message, optional, tag = "3")]
    pub metadata: Option<Struct>,
    /// Resume token for a later attempt.
    #[prost(string, tag = "4")]
    pub resume_token: String,
    /// End of the lease; 0 means that the task has none.
    #[prost(uint64, tag = "5")]
    pub lease_until_ms: u64,
    /// Whether the task became a dead letter.
    #[prost(bool, tag = "6")]
    pub dead_letter: bool,
    /// Id of the request of the worker; empty if it has none.
    #[prost(string, tag = "7")]
    pub operation_id: String,
    /// Fingerprint of that request; 0 if it is not known.
    #[prost(fixed64, tag = "8")]
    pub operation_digest: u64,
}

/// A new state of an artifact.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChangedArtifact {
    /// Id of the task.
    #[prost(string, tag = "1")]
    pub task_id: String,
    /// The artifact, or the parts to append.
    #[prost(message, optional, tag = "2")]
    pub artifact: Option<Artifact>,
    /// Whether its parts are appended.
    #[prost(bool, tag = "3")]
    pub append: bool,
    /// Whether these are its last parts.
    #[prost(bool, tag = "4")]
    pub last_chunk: bool,
    /// Metadata of the update.
    #[prost(message, optional, tag = "5")]
    pub metadata: Option<Struct>,
    /// End of the lease; 0 means that the task has none.
    #[prost(uint64, tag = "6")]
    pub lease_until_ms: u64,
    /// Id of the request of the worker; empty if it has none.
    #[prost(string, tag = "7")]
    pub operation_id: String,
    /// Fingerprint of that request; 0 if it is not known.
    #[prost(fixed64, tag = "8")]
    pub operation_digest: u64,
}

/// The worker of a task.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClaimedBy {
    /// Id of the task.
    #[prost(string, tag = "1")]
    pub task_id: String,
    /// The worker.
    #[prost(string, tag = "2")]
    pub agent_id: String,
    /// Number of the attempt, from 1.
    #[prost(uint32, tag = "3")]
    pub attempt: u32,
    /// Id of the lease.
    #[prost(string, tag = "4")]
    pub lease_id: String,
    /// End of the lease; 0 means that it does not end by time.
    #[prost(uint64, tag = "5")]
    pub lease_until_ms: u64,
    /// Duration of the lease.
    #[prost(uint64, tag = "6")]
    pub lease_ms: u64,
    /// Id of the claim; empty if it has none.
    #[prost(string, tag = "7")]
    pub operation_id: String,
}

/// The return of a task to its queue.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RequeuedTask {
    /// Id of the task.
    #[prost(string, tag = "1")]
    pub task_id: String,
    /// Agent that had it.
    #[prost(string, tag = "2")]
    pub agent_id: String,
    /// Why it returned.
    #[prost(string, tag = "3")]
    pub reason: String,
    /// Whether the agent rejected it, so that it is not offered to this agent again.
    #[prost(bool, tag = "4")]
    pub rejected: bool,
    /// Id of the request that rejected it; empty if it has none.
    #[prost(string, tag = "5")]
    pub operation_id: String,
    /// Fingerprint of that request; 0 if it is not known.
    #[prost(fixed64, tag = "6")]
    pub operation_digest: u64,
}

/// Ids of tasks.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TaskIds {
    /// The ids.
    #[prost(string, repeated, tag = "1")]
    pub task_ids: Vec<String>,
    /// Whether the task was delivered again and is still not acknowledged.
    #[prost(bool, tag = "2")]
    pub redelivered: bool,
}

/// A part of a checkpoint: what the broker knows of some agents, results and tasks at its place in the sequence of
/// batches. The parts of a checkpoint together contain everything that was known when it began and still is; what came
/// later is in the changes between its parts.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckpointPart {
    /// Number of the last change before this part.
    #[prost(uint64, tag = "1")]
    pub last_number: u64,
    /// Time, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "2")]
    pub at_ms: u64,
    /// Whether a checkpoint begins here.
    #[prost(bool, tag = "3")]
    pub begins: bool,
    /// The end of the checkpoint.
    #[prost(message, optional, tag = "4")]
    pub end: Option<CheckpointEnd>,
    /// Registered agents.
    #[prost(message, repeated, tag = "5")]
    pub agents: Vec<AgentRecord>,
    /// Results to repeat.
    #[prost(message, repeated, tag = "6")]
    pub receipts: Vec<KeptReceipt>,
    /// Tasks.
    #[prost(message, repeated, tag = "7")]
    pub tasks: Vec<SavedTask>,
}

/// The end of a checkpoint.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckpointEnd {
    /// Position of its first part in the store.
    #[prost(uint64, tag = "1")]
    pub begun_at: u64,
    /// The shares of the priorities of each queue.
    #[prost(message, repeated, tag = "2")]
    pub queues: Vec<SavedShares>,
    /// Number of tasks in the checkpoint.
    #[prost(uint64, tag = "3")]
    pub tasks: u64,
}

/// The shares of the priorities of a queue: which of them is served next.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SavedShares {
    /// Agent whose inbox it is.
    #[prost(string, tag = "1")]
    pub target: String,
    /// Name of the queue.
    #[prost(string, tag = "2")]
    pub queue: String,
    /// The pass of each level, from low to critical.
    #[prost(uint64, repeated, tag = "3")]
    pub passes: Vec<u64>,
    /// The pass of the level that was served last.
    #[prost(uint64, tag = "4")]
    pub served: u64,
}

/// A task with the broker's own state.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SavedTask {
    /// Its place in the order of submission.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Id of the event of its submission.
    #[prost(string, tag = "2")]
    pub event_id: String,
    /// Time of its submission, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "3")]
    pub submitted_ms: u64,
    /// The task as it was submitted, with its present status, history and artifacts.
    #[prost(message, optional, tag = "4")]
    pub submitted: Option<SubmittedTask>,
    /// Origin and target of its first message.
    #[prost(message, optional, tag = "5")]
    pub routing: Option<AgentEventMetadata>,
    /// Trace of its first message.
    #[prost(string, tag = "6")]
    pub trace_id: String,
    /// Span of its first message.
    #[prost(string, tag = "7")]
    pub span_id: String,
    /// Copies of a broadcast task.
    #[prost(string, repeated, tag = "8")]
    pub copies: Vec<String>,
    /// Number of attempts.
    #[prost(uint32, tag = "9")]
    pub attempt: u32,
    /// The last claim; its agent may have lost the task.
    #[prost(message, optional, tag = "10")]
    pub claim: Option<ClaimedBy>,
    /// Whether that agent has the task.
    #[prost(bool, tag = "11")]
    pub held: bool,
    /// Resume token for a later attempt.
    #[prost(string, tag = "12")]
    pub resume_token: String,
    /// The agents that rejected it.
    #[prost(message, repeated, tag = "13")]
    pub rejections: Vec<SavedRejection>,
    /// Whether its agent has acknowledged it.
    #[prost(bool, tag = "14")]
    pub acknowledged: bool,
    /// Time of the last delivery.
    #[prost(uint64, tag = "15")]
    pub delivered_ms: u64,
    /// Whether every attempt was lost.
    #[prost(bool, tag = "16")]
    pub dead_letter: bool,
    /// Time at which it was finished.
    #[prost(uint64, tag = "17")]
    pub finished_ms: u64,
    /// Approximate size of the task.
    #[prost(uint64, tag = "18")]
    pub bytes: u64,
    /// Present priority in its queue, from 0 to 3.
    #[prost(uint32, tag = "19")]
    pub level: u32,
    /// Time since which it has that priority.
    #[prost(uint64, tag = "20")]
    pub since_ms: u64,
    /// Time of the last claim.
    #[prost(uint64, tag = "21")]
    pub claimed_ms: u64,
    /// Whether the requester has sent a message since the task began to wait for it.
    #[prost(bool, tag = "22")]
    pub answered: bool,
    /// The last requests of its workers.
    #[prost(message, repeated, tag = "23")]
    pub operations: Vec<KeptOperation>,
}

/// A request of a worker that was executed.
#[derive(Clone, PartialEq, prost::Message)]
pub struct KeptOperation {
    /// Id of the request.
    #[prost(string, tag = "1")]
    pub operation_id: String,
    /// Id of the event of its result.
    #[prost(string, tag = "2")]
    pub event_id: String,
    /// Fingerprint of the request; 0 if it is not known.
    #[prost(fixed64, tag = "3")]
    pub digest: u64,
}

/// An agent that rejected a task.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SavedRejection {
    /// Id of the agent.
    #[prost(string, tag = "1")]
    pub agent_id: String,
    /// The reason and the details.
    #[prost(string, tag = "2")]
    pub reason: String,
    /// Time, in milliseconds since 1970-01-01 UTC.
    #[prost(uint64, tag = "3")]
    pub at_ms: u64,
}

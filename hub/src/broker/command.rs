//! Commands, and their results.

use std::fmt;
use std::time::Duration;

use prost_types::Struct;

use crate::proto::a2a::{AgentCard, Artifact, Message, Task, TaskState};
use crate::proto::agenthub::{AgentEventMetadata, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use crate::proto::worker::RejectionReason;

use super::task::Assignment;

/// The identity that executes a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// An agent, which acts only as itself.
    Agent(String),
    /// The operator of a hub without tokens, who may act as any agent.
    Operator,
}

/// The trace that a command belongs to. Empty ids mean none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceIds {
    /// Id of the trace.
    pub trace_id: String,
    /// Id of the span.
    pub span_id: String,
}

/// Registers an agent, or replaces its registration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Register {
    /// Id of the agent.
    pub agent_id: String,
    /// Its card.
    pub card: AgentCard,
    /// Its tags, and the queues for which it is a candidate.
    pub subscriptions: Vec<String>,
    /// URL for health checks; empty if there are none.
    pub health_check_url: String,
}

/// Publishes a message. A message with an unknown task id submits the task; one with a known id is appended to it.
///
/// `metadata` of the message can contain `deadline` (RFC 3339), `queue` (the task is competitive) and `max_attempts`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Publish {
    /// The message.
    pub message: Message,
    /// Origin and target.
    pub routing: AgentEventMetadata,
    /// Whether a message without a task id submits a task, whose id and context the broker makes.
    pub submits: bool,
    /// Its trace.
    pub trace: TraceIds,
}

/// Changes the status of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpdateStatus {
    /// The new status.
    pub update: TaskStatusUpdateEvent,
    /// Origin.
    pub routing: AgentEventMetadata,
    /// Lease of the worker. Without it, the worker is identified by its id only.
    pub lease: Option<String>,
    /// Id of the request; one that is repeated is answered with the first result. Empty if it has none.
    pub operation: String,
    /// Its trace.
    pub trace: TraceIds,
}

/// Adds, extends or replaces an artifact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PutArtifact {
    /// The artifact.
    pub update: TaskArtifactUpdateEvent,
    /// Origin.
    pub routing: AgentEventMetadata,
    /// Lease of the worker. Without it, the worker is identified by its id only.
    pub lease: Option<String>,
    /// Id of the request; one that is repeated is answered with the first result. Empty if it has none.
    pub operation: String,
    /// Its trace.
    pub trace: TraceIds,
}

/// Stores the artifacts of a task and ends it, or interrupts it, as a whole or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finish {
    /// The worker.
    pub agent_id: String,
    /// Id of the task.
    pub task_id: String,
    /// Lease of the worker. Without it, the worker is identified by its id only.
    pub lease: Option<String>,
    /// The new state: completed, failed, or one that waits for the requester.
    pub state: TaskState,
    /// Message of the new status.
    pub update: Option<Message>,
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// Id of the request; one that is repeated changes nothing. Empty if it has none.
    pub operation: String,
    /// Its trace.
    pub trace: TraceIds,
}

/// Leases the next task of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// The worker.
    pub agent_id: String,
    /// The queue; empty for the tasks that are addressed to the worker.
    pub queue: String,
    /// Duration of the lease; `None` means that of the options.
    pub lease: Option<Duration>,
    /// Expected duration of the work. Tasks whose deadline is sooner are not leased.
    pub estimate: Option<Duration>,
    /// Id of the claim; one that is repeated returns the same task while the worker has it. Empty if it has none.
    pub operation: String,
}

impl Claim {
    /// Returns where the tasks to lease wait. A queue may have the name of an agent.
    pub(crate) fn assignment(&self) -> Assignment {
        if self.queue.is_empty() {
            Assignment::Inbox(self.agent_id.clone())
        } else {
            Assignment::Queue(self.queue.clone())
        }
    }
}

/// Extends a lease.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renew {
    /// The worker.
    pub agent_id: String,
    /// Id of the task.
    pub task_id: String,
    /// The lease.
    pub lease: Option<String>,
    /// New duration; `None` means that of the claim.
    pub duration: Option<Duration>,
}

/// Reports partial results and extends the lease.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The worker.
    pub agent_id: String,
    /// Id of the task.
    pub task_id: String,
    /// The lease.
    pub lease: Option<String>,
    /// Completed portion, from 0 to 1.
    pub portion: f64,
    /// Partial results.
    pub data: Option<Struct>,
    /// Resume token for a later attempt.
    pub resume_token: String,
    /// Id of the request; one that is repeated changes nothing. Empty if it has none.
    pub operation: String,
}

/// Rejects a task before work on it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The worker.
    pub agent_id: String,
    /// Id of the task.
    pub task_id: String,
    /// The lease; `None` if the task is addressed to the worker or was announced to it.
    pub lease: Option<String>,
    /// The reason.
    pub reason: RejectionReason,
    /// Details.
    pub text: String,
    /// Id of the request; one that is repeated changes nothing. Empty if it has none.
    pub operation: String,
}

/// A command of the broker.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Registers an agent.
    Register(Register),
    /// Removes an agent. The tasks that it holds return to their queues.
    Unregister {
        /// Id of the agent.
        agent_id: String,
    },
    /// Reports the result of a health check.
    ReportHealth {
        /// Id of the agent.
        agent_id: String,
        /// Whether the check succeeded.
        healthy: bool,
    },
    /// Publishes a message.
    Publish(Publish),
    /// Changes the status of a task.
    UpdateStatus(UpdateStatus),
    /// Changes an artifact.
    PutArtifact(PutArtifact),
    /// Ends a task with its artifacts.
    Finish(Finish),
    /// Leases a task.
    Claim(Claim),
    /// Extends a lease.
    Renew(Renew),
    /// Reports partial results.
    Progress(Progress),
    /// Rejects a task.
    Reject(Reject),
    /// Acknowledges a task that is addressed to an agent: it is not delivered again.
    Acknowledge {
        /// Id of the agent.
        agent_id: String,
        /// Id of the task.
        task_id: String,
    },
    /// Cancels a task.
    Cancel {
        /// Id of the task.
        task_id: String,
        /// The reason.
        reason: String,
    },
    /// Ends leases, deadlines and retention that are due. Every command does so first.
    Tick,
}

/// The result of a publication.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishReceipt {
    /// Id of the event.
    pub event_id: String,
    /// Id of the message; generated if the message had none.
    pub message_id: String,
    /// Id of the task; empty if the message has none.
    pub task_id: String,
}

/// A task that is leased to a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedTask {
    /// The task.
    pub task: Task,
    /// Its queue; empty if it was addressed to the worker.
    pub queue: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// Id of the lease.
    pub lease_id: String,
    /// End of the lease, in milliseconds since 1970-01-01 UTC.
    pub lease_until_ms: u64,
    /// Deadline, in milliseconds since 1970-01-01 UTC.
    pub deadline_ms: Option<u64>,
    /// Last resume token of an earlier attempt; empty if there is none.
    pub resume_token: String,
    /// Origin and target of the task.
    pub routing: AgentEventMetadata,
    /// Trace of the task.
    pub trace: TraceIds,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The command has no result.
    Done,
    /// Result of [`Command::Publish`], [`Command::UpdateStatus`] and [`Command::PutArtifact`].
    Published(PublishReceipt),
    /// Result of [`Command::Claim`]; `None` if no task waits.
    Claimed(Option<Box<ClaimedTask>>),
    /// End of the lease after [`Command::Renew`] or [`Command::Progress`], in milliseconds since 1970-01-01 UTC; 0 if it
    /// does not end by time.
    Renewed(u64),
    /// Result of [`Command::Cancel`], [`Command::Finish`] and [`Command::Reject`].
    Task(Box<Task>),
}

/// Selects a page of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListTasks {
    /// Only tasks that this agent submitted or works on; empty means all.
    pub agent_id: String,
    /// Only tasks of this context; empty means all.
    pub context_id: String,
    /// Only tasks in these states; empty means all.
    pub states: Vec<TaskState>,
    /// Number of tasks, at most 500; 0 means 50.
    pub page_size: i32,
    /// Token of the page; empty for the first.
    pub page_token: String,
}

/// A page of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks, the oldest first.
    pub tasks: Vec<Task>,
    /// Token of the next page; empty after the last.
    pub next_page_token: String,
}

/// A priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Weight 1.
    Low,
    /// Weight 2, the default.
    Medium,
    /// Weight 4.
    High,
    /// Weight 8.
    Critical,
}

impl Level {
    /// All priorities, from low to critical.
    pub const ALL: [Level; 4] = [Level::Low, Level::Medium, Level::High, Level::Critical];

    /// Returns the priority with a number of the wire; unknown numbers are medium.
    #[must_use]
    pub fn of(priority: i32) -> Level {
        match priority {
            1 => Level::Low,
            3 => Level::High,
            4 => Level::Critical,
            _ => Level::Medium,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
            Level::Critical => "critical",
        })
    }
}

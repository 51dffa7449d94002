//! [`TaskEntry`]: a task with the broker's own state, and the transitions between states.

use std::sync::Arc;

use crate::proto::a2a::{Task, TaskState};
use crate::proto::agenthub::AgentEventMetadata;

use super::Level;
use super::change::KeptOperation;
use super::command::TraceIds;
use super::error::BrokerError;
use super::fingerprint::is_same;

/// Maximum number of requests of workers that a task keeps: a request is repeated soon, or not at all.
const MOST_OPERATIONS: usize = 8;

/// The side that changes a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The agent that works on the task.
    Worker,
    /// The agent that submitted it.
    Requester,
    /// The broker: deadlines, lost workers, aggregation.
    Broker,
}

/// Returns whether a state is final.
#[must_use]
pub fn is_final(state: TaskState) -> bool {
    matches!(state, TaskState::Completed | TaskState::Failed | TaskState::Cancelled | TaskState::Rejected)
}

/// Returns whether a task in a state waits for its requester.
pub(crate) fn is_interrupted(state: TaskState) -> bool {
    matches!(state, TaskState::InputRequired | TaskState::AuthRequired)
}

/// Returns whether a side may change a state to another one. The return of a task to its queue is not a transition of
/// this table.
#[must_use]
pub fn is_allowed(from: TaskState, to: TaskState, actor: Actor) -> bool {
    use TaskState::{AuthRequired, Cancelled, Completed, Failed, InputRequired, Rejected, Submitted, Working};
    match actor {
        Actor::Requester => !is_final(from) && to == Cancelled,
        Actor::Worker => matches!(
            (from, to),
            (Submitted, Working | Rejected)
                | (Working, Working | Completed | Failed | Cancelled | InputRequired | AuthRequired)
                | (InputRequired | AuthRequired, Working | Failed | Cancelled)
        ),
        Actor::Broker => is_allowed(from, to, Actor::Worker) || (!is_final(from) && matches!(to, Failed | Cancelled)),
    }
}

/// Destination of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Assignment {
    /// To one agent.
    Inbox(String),
    /// To the first worker of a queue that claims it.
    Queue(String),
    /// To each of its copies.
    Copies,
}

impl Assignment {
    /// Returns the destination that a stored task names: an agent, a queue, or, if both are empty, its copies.
    pub(super) fn of(target: &str, queue: &str) -> Assignment {
        match (target, queue) {
            ("", "") => Assignment::Copies,
            ("", queue) => Assignment::Queue(queue.to_owned()),
            (target, _) => Assignment::Inbox(target.to_owned()),
        }
    }

    /// Returns the agent and the queue, of which at most one is not empty.
    pub(super) fn names(&self) -> (String, String) {
        match self {
            Assignment::Inbox(target) => (target.clone(), String::new()),
            Assignment::Queue(queue) => (String::new(), queue.clone()),
            Assignment::Copies => Default::default(),
        }
    }
}

/// An agent that rejected a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Id of the agent.
    pub agent_id: String,
    /// The reason and the details.
    pub reason: String,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A task with the broker's own state.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskEntry {
    /// Place in the order of submission.
    pub number: u64,
    /// Id of the event of its submission.
    pub event_id: String,
    /// Time of its submission.
    pub submitted_ms: u64,
    /// The task as agents see it, shared with the events that show it.
    pub task: Arc<Task>,
    /// Its destination.
    pub assignment: Assignment,
    /// Origin and target of its first message.
    pub routing: AgentEventMetadata,
    /// Trace of its first message.
    pub trace: TraceIds,
    /// Broadcast task of which it is a copy.
    pub parent: Option<String>,
    /// Copies of a broadcast task.
    pub copies: Vec<String>,
    /// Deadline, in milliseconds since 1970-01-01 UTC.
    pub deadline_ms: Option<u64>,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// Number of attempts so far.
    pub attempt: u32,
    /// Worker that has it now.
    pub worker: Option<String>,
    /// Worker that had it last.
    pub last_worker: String,
    /// Time of the last claim.
    pub claimed_ms: u64,
    /// Id of the last claim.
    pub claim_operation: String,
    /// Id of the last lease.
    pub lease_id: String,
    /// Duration of the lease; 0 if the worker has none.
    pub lease_ms: u64,
    /// End of the lease; `None` if it does not end by time.
    pub lease_until_ms: Option<u64>,
    /// Resume token for a later attempt.
    pub resume_token: String,
    /// Agents that rejected it.
    pub rejections: Vec<Rejection>,
    /// Whether the requester has sent a message since the task began to wait for it.
    pub answered: bool,
    /// The last requests of its workers, the oldest first.
    pub operations: Vec<KeptOperation>,
    /// Whether its agent has acknowledged it.
    pub acknowledged: bool,
    /// Time of the last delivery.
    pub delivered_ms: u64,
    /// Whether every attempt was lost.
    pub dead_letter: bool,
    /// Approximate size of the task.
    pub bytes: usize,
    /// Time at which it was finished.
    pub finished_ms: u64,
    /// Approximate memory of it, once it is finished.
    pub(super) finished_bytes: usize,
    /// Times in the broker's list of timers.
    pub(super) timers: [Option<u64>; 3],
}

impl TaskEntry {
    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.task.status.as_ref().map_or(TaskState::Unspecified, crate::proto::a2a::TaskStatus::state)
    }

    /// Returns whether the task is over or waits for its requester.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let state = self.state();
        is_final(state) || (is_interrupted(state) && !self.answered)
    }

    /// Returns the id of the event of a request that was executed before.
    ///
    /// # Errors
    /// Its id was used for another request.
    pub(super) fn done(&self, operation: &str, digest: u64) -> Result<Option<&str>, BrokerError> {
        let done = self.operations.iter().find(|done| !operation.is_empty() && done.operation_id == operation);
        match done {
            Some(done) if !is_same(done.digest, digest) => Err(BrokerError::used("request id", operation)),
            done => Ok(done.map(|done| done.event_id.as_str())),
        }
    }

    /// Keeps a request with its event.
    pub(super) fn keep_operation(&mut self, operation: &str, digest: u64, event_id: &str) {
        if operation.is_empty() {
            return;
        }
        if self.operations.len() >= MOST_OPERATIONS {
            self.operations.remove(0);
        }
        let (operation_id, event_id) = (operation.to_owned(), event_id.to_owned());
        self.operations.push(KeptOperation { operation_id, event_id, digest });
    }

    /// Frees the space that it does not need any more.
    pub(super) fn compact(&mut self) {
        // A copy of a list has no free space.
        self.task = Arc::new(Task::clone(&self.task));
        self.copies.shrink_to_fit();
        self.rejections.shrink_to_fit();
        self.operations.shrink_to_fit();
    }

    /// Returns the agent that submitted the task.
    #[must_use]
    pub fn requester(&self) -> &str {
        &self.routing.from_agent_id
    }

    /// Returns the priority.
    #[must_use]
    pub fn level(&self) -> Level {
        Level::of(self.routing.priority)
    }

    /// Returns the name of its queue, as it is shown.
    #[must_use]
    pub fn queue_name(&self) -> &str {
        match &self.assignment {
            Assignment::Inbox(name) | Assignment::Queue(name) => name,
            Assignment::Copies => "",
        }
    }

    /// Returns the lane that keeps the order of the messages of one sender in one context.
    pub(super) fn lane(&self) -> Arc<str> {
        if self.task.context_id.is_empty() {
            return format!("\u{1}{}", self.task.id).into();
        }
        format!("{}\u{0}{}", self.requester(), self.task.context_id).into()
    }

    /// Returns whether an agent takes part in the task.
    #[must_use]
    pub fn involves(&self, agent_id: &str) -> bool {
        self.requester() == agent_id
            || self.worker.as_deref() == Some(agent_id)
            || self.last_worker == agent_id
            || matches!(&self.assignment, Assignment::Inbox(target) if target == agent_id)
    }

    /// Returns the agent that works on the task or is to do so.
    #[must_use]
    pub fn worker_or_target(&self) -> Option<&str> {
        match (&self.worker, &self.assignment) {
            (Some(worker), _) => Some(worker),
            (None, Assignment::Inbox(target)) => Some(target),
            (None, _) if !self.last_worker.is_empty() => Some(&self.last_worker),
            _ => None,
        }
    }

    /// Returns the task with at most `length` messages of its history, the latest ones; 0 means all.
    #[must_use]
    pub fn with_history(&self, length: usize) -> Task {
        let skipped = if length == 0 { 0 } else { self.task.history.len().saturating_sub(length) };
        Task {
            id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: self.task.status.clone(),
            artifacts: self.task.artifacts.clone(),
            history: self.task.history[skipped..].to_vec(),
            metadata: self.task.metadata.clone(),
        }
    }
}

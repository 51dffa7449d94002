//! [`TaskStateMachine`]: a task from its beginning to its end, as a pure state machine. It neither waits nor writes nor
//! reports: the caller does that with the changes that it returns. After the end nothing changes the task.
//!
//! ```text
//! submitted ─ opened ─▶ working ◀─ answer ── input-required
//!     │                  │  └──── ask ──────────▲   │
//!     └──────── end ─────┴──────────────────────────┴──▶ completed, failed, canceled, rejected
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use a2a::{Message, Status, StatusUpdate, Task, TaskState};
use base::data::Data;
use runtime::usage::Usage;

use super::TaskChange;
use super::history::{push_bounded, weight_of, weight_of_parts};

mod answer;
mod artifacts;
mod asking;
mod end;
mod message;
mod shown;
#[cfg(test)]
mod tests;

use answer::AgentAnswer;
pub(super) use asking::{MessageOutcome, TaskQuestion, answered, is_repeat};
pub(in crate::a2a) use asking::{digest_of, question_of};
pub(super) use end::TaskEnd;
pub(super) use message::{as_a_caller_says, message_of};

/// A task from its beginning to its end.
pub(super) struct TaskStateMachine {
    /// The task without the part of the answer that came since the last read.
    task: Arc<Task>,
    answer: AgentAnswer,
    /// The size of the artifacts in bytes.
    made: usize,
    /// The size of the history in bytes.
    said: usize,
    usage: Usage,
    /// The questions to the caller; the first is the current one.
    asking: VecDeque<TaskQuestion>,
    /// The reply, for the code that asked.
    reply: Option<Message>,
    halt: Option<HaltReason>,
    /// The ids of injected messages that no loop has taken by the end.
    undelivered: Vec<Arc<str>>,
    /// Whether a message may take the task's place: the caller accepts one, and only an answer was produced so far.
    may_be_message: bool,
}

/// The reason why a task must stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HaltReason {
    /// Its caller cancelled it.
    Cancelled,
    /// The server stops.
    Stopping,
    /// Its deadline is reached.
    Deadline,
    /// Its artifacts exceed the size limit.
    TooMuch,
}

impl HaltReason {
    /// Returns the reason as the pipeline sees it.
    pub(super) fn reason(self) -> &'static str {
        match self {
            HaltReason::Cancelled => "the task was cancelled by its caller",
            HaltReason::Stopping => "the server is stopping",
            HaltReason::Deadline => "the deadline of the task has passed",
            HaltReason::TooMuch => "the output of the task exceeds the size limit",
        }
    }
}

/// An effect of an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TaskEffect {
    /// The task changed.
    Change(TaskChange),
    /// A status update to report that does not change the task itself.
    Hint(StatusUpdate),
    /// Details for the server's log that the caller does not get.
    Log(String),
}

impl TaskStateMachine {
    /// Creates the state of a new task.
    pub(super) fn new(task: Task) -> TaskStateMachine {
        let said = task.history.iter().map(|message| weight_of(message)).sum();
        let made = task.artifacts.iter().map(|artifact| weight_of_parts(&artifact.parts)).sum();
        TaskStateMachine {
            task: Arc::new(task),
            answer: AgentAnswer::default(),
            made,
            said,
            usage: Usage::default(),
            asking: VecDeque::new(),
            reply: None,
            halt: None,
            undelivered: Vec::new(),
            may_be_message: false,
        }
    }

    /// Creates the state of a task that was over when it was recorded.
    pub(super) fn restored(task: Arc<Task>) -> TaskStateMachine {
        let machine = TaskStateMachine::new((*task).clone());
        TaskStateMachine { task, ..machine }
    }

    /// Returns the task as it is now.
    pub(super) fn task(&mut self) -> Arc<Task> {
        self.keep_answer();
        self.task.clone()
    }

    /// Returns the task's state.
    pub(super) fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// Returns whether the task is over.
    pub(super) fn is_over(&self) -> bool {
        self.state().is_terminal()
    }

    /// Returns the approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        self.made + self.said + self.task.metadata.weight()
    }

    /// Records that the session is open. A task that runs again can be in any open state.
    pub(super) fn opened(&mut self, now: u64) -> Vec<TaskEffect> {
        match self.state() {
            TaskState::Working => Vec::new(),
            state if state.is_terminal() || self.asks() => Vec::new(),
            _ => self.stand(TaskState::Working, None, Data::Nil, now),
        }
    }

    /// Allows a message in place of the task.
    pub(super) fn allow_message(&mut self) {
        self.may_be_message = true;
    }

    /// Returns whether the task may still become a message.
    pub(super) fn may_be_message(&self) -> bool {
        self.may_be_message
    }

    /// Requests that the task stop. Returns whether this is the first request; the end reports the reason.
    pub(super) fn halt(&mut self, halt: HaltReason) -> bool {
        let is_first = self.halt.is_none() && !self.is_over();
        if is_first {
            self.halt = Some(halt);
        }
        is_first
    }

    /// Returns why the task must stop, if it must.
    pub(super) fn halted(&self) -> Option<HaltReason> {
        self.halt
    }

    /// Returns whether the caller has sent this message before.
    fn has_said(&self, message: &Message) -> bool {
        let by_caller = |known: &&Arc<Message>| known.role == a2a::Role::User;
        self.task.history.iter().filter(by_caller).any(|known| asking::is_same_message(known, message))
    }

    /// Records the ids of messages that were injected into the task and not delivered; its end reports them.
    pub(super) fn has_undelivered(&mut self, message_ids: Vec<Arc<str>>) {
        self.undelivered = message_ids;
    }

    /// Changes the status. The agent's last status message moves to the history.
    fn stand(&mut self, state: TaskState, message: Option<Message>, metadata: Data, now: u64) -> Vec<TaskEffect> {
        let mut out = self.retire();
        self.describe(&metadata);
        let message = message.map(|message| Arc::new(self.of_task(message)));
        let status = Status { state, message, at_ms: Some(now) };
        Arc::make_mut(&mut self.task).status = status;
        out.push(TaskEffect::Change(TaskChange::Status(self.update(metadata))));
        out
    }

    /// Moves the agent's last status message to the history.
    fn retire(&mut self) -> Vec<TaskEffect> {
        if self.task.status.message.is_none() {
            return Vec::new();
        }
        let message = Arc::make_mut(&mut self.task).status.message.take();
        message.map(|message| self.push(message)).into_iter().flatten().collect()
    }

    /// Appends a message to the history.
    fn push(&mut self, message: Arc<Message>) -> Vec<TaskEffect> {
        self.remember(message.clone());
        vec![TaskEffect::Change(TaskChange::Said(message))]
    }

    fn remember(&mut self, message: Arc<Message>) {
        push_bounded(&mut Arc::make_mut(&mut self.task).history, &mut self.said, message);
    }

    /// Returns a status update with this metadata.
    fn update(&self, metadata: Data) -> StatusUpdate {
        StatusUpdate {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: self.task.status.clone(),
            metadata,
        }
    }

    /// Returns a status update with one metadata entry, without the status message.
    fn hint(&self, key: &str, value: Data) -> TaskEffect {
        let mut update = self.update(Data::dict([(key, value)]));
        update.status.message = None;
        TaskEffect::Hint(update)
    }

    /// Adds entries to the task's metadata.
    fn describe(&mut self, metadata: &Data) {
        let Some(entries) = metadata.as_dict().filter(|entries| !entries.is_empty()) else { return };
        let task = Arc::make_mut(&mut self.task);
        for (key, value) in entries {
            task.metadata.set(key.clone(), value.clone());
        }
    }

    fn of_task(&self, message: Message) -> Message {
        Message { task_id: Some(self.task.id.clone()), context_id: Some(self.task.context_id.clone()), ..message }
    }
}

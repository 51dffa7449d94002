//! [`Life`]: a task from its beginning to its end. Nothing here waits, tells or writes: whoever holds it does that with the
//! changes that it gives. Once a task is over nothing changes it any more, whoever tries.
//!
//! ```text
//! submitted ─ opened ─▶ working ◀─ answer ── input-required
//!     │                  │  └──── ask ──────────▲   │
//!     └──────── end ─────┴──────────────────────────┴──▶ completed, failed, canceled, rejected
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use a2a::{Message, Status, StatusUpdate, Task, TaskState};
use runtime::data::Data;
use runtime::model::Usage;

use super::Change;
use super::said::{push_bounded, weight_of, weight_of_parts};

mod answer;
mod asking;
mod end;
mod made;
mod message;
mod shown;
#[cfg(test)]
mod tests;

use answer::Answer;
pub(in crate::a2a) use asking::question_of;
pub(super) use asking::{Asking, Reply, answered, is_repeat};
pub(super) use end::How;
pub(super) use message::{as_a_caller_says, message_of};

/// A task from its beginning to its end.
pub(super) struct Life {
    /// All of it but what has come of the answer since the last look.
    task: Arc<Task>,
    answer: Answer,
    /// The bytes of its artifacts.
    made: usize,
    /// The bytes of its history.
    said: usize,
    usage: Usage,
    /// What its caller is asked, the first of it now.
    asking: VecDeque<Asking>,
    /// What it was answered, for whoever asked.
    reply: Option<Message>,
    halt: Option<Halt>,
    /// Its caller takes a message in place of it, and nothing but an answer was shown so far.
    may_be_message: bool,
}

/// Why a task is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Its caller has cancelled it.
    Cancelled,
    /// The server ends.
    Stopping,
    /// Its deadline is reached.
    Deadline,
    /// It has made more than is kept.
    TooMuch,
}

impl Halt {
    /// What is told to the pipeline.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Halt::Cancelled => "the task was cancelled by its caller",
            Halt::Stopping => "the server is stopping",
            Halt::Deadline => "the deadline of the task has passed",
            Halt::TooMuch => "the output of the task exceeds the size limit",
        }
    }
}

/// What comes of something that happens.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Out {
    /// The task has changed.
    Change(Change),
    /// Nothing of the task has changed but what is told beside it.
    Hint(StatusUpdate),
    /// The log of the server gets details that the caller does not.
    Log(String),
}

impl Life {
    /// Of a task that begins.
    pub(super) fn new(task: Task) -> Life {
        let said = task.history.iter().map(|message| weight_of(message)).sum();
        let made = task.artifacts.iter().map(|artifact| weight_of_parts(&artifact.parts)).sum();
        Life {
            task: Arc::new(task),
            answer: Answer::default(),
            made,
            said,
            usage: Usage::default(),
            asking: VecDeque::new(),
            reply: None,
            halt: None,
            may_be_message: false,
        }
    }

    /// Of a task that was over when it was written down.
    pub(super) fn restored(task: Arc<Task>) -> Life {
        let life = Life::new((*task).clone());
        Life { task, ..life }
    }

    /// The task as it is now.
    pub(super) fn task(&mut self) -> Arc<Task> {
        self.keep_answer();
        self.task.clone()
    }

    /// How far it has come.
    pub(super) fn state(&self) -> TaskState {
        self.task.status.state
    }

    /// Whether nothing more becomes of it.
    pub(super) fn is_over(&self) -> bool {
        self.state().is_terminal()
    }

    /// Roughly the bytes that it takes.
    pub(super) fn weight(&self) -> usize {
        self.made + self.said + self.task.metadata.weight()
    }

    /// Its session is open. One that runs again stands wherever it was left.
    pub(super) fn opened(&mut self, now: u64) -> Vec<Out> {
        match self.state() {
            TaskState::Working => Vec::new(),
            state if state.is_terminal() || self.asks() => Vec::new(),
            _ => self.stand(TaskState::Working, None, Data::Nil, now),
        }
    }

    /// Its caller takes a message in place of it.
    pub(super) fn allow_message(&mut self) {
        self.may_be_message = true;
    }

    /// Whether it may still come to a message.
    pub(super) fn may_be_message(&self) -> bool {
        self.may_be_message
    }

    /// It is to stop: whether nobody has said so before. What comes of that is told by its end.
    pub(super) fn halt(&mut self, halt: Halt) -> bool {
        let is_first = self.halt.is_none() && !self.is_over();
        if is_first {
            self.halt = Some(halt);
        }
        is_first
    }

    /// Why it is to stop, if it is.
    pub(super) fn halted(&self) -> Option<Halt> {
        self.halt
    }

    /// The message of its caller with this id that has come already.
    pub(super) fn said_as(&self, message_id: &str) -> Option<&Arc<Message>> {
        let by_caller = |message: &&Arc<Message>| message.role == a2a::Role::User && &*message.message_id == message_id;
        self.task.history.iter().find(by_caller)
    }

    /// It stands so from now on. What the agent said of it before goes to the history.
    fn stand(&mut self, state: TaskState, message: Option<Message>, metadata: Data, now: u64) -> Vec<Out> {
        let mut out = self.retire();
        self.describe(&metadata);
        let message = message.map(|message| Arc::new(self.of_task(message)));
        let status = Status { state, message, at_ms: Some(now) };
        Arc::make_mut(&mut self.task).status = status;
        out.push(Out::Change(Change::Status(self.update(metadata))));
        out
    }

    /// What the agent said last of how the task stands goes to the history.
    fn retire(&mut self) -> Vec<Out> {
        if self.task.status.message.is_none() {
            return Vec::new();
        }
        let message = Arc::make_mut(&mut self.task).status.message.take();
        message.map(|message| self.push(message)).into_iter().flatten().collect()
    }

    /// One more message of the history.
    fn push(&mut self, message: Arc<Message>) -> Vec<Out> {
        self.remember(message.clone());
        vec![Out::Change(Change::Said(message))]
    }

    fn remember(&mut self, message: Arc<Message>) {
        push_bounded(&mut Arc::make_mut(&mut self.task).history, &mut self.said, message);
    }

    /// How it stands, with this beside it.
    fn update(&self, metadata: Data) -> StatusUpdate {
        StatusUpdate {
            task_id: self.task.id.clone(),
            context_id: self.task.context_id.clone(),
            status: self.task.status.clone(),
            metadata,
        }
    }

    /// Tells something beside how it stands, without saying again what was said of that.
    fn hint(&self, key: &str, value: Data) -> Out {
        let mut update = self.update(Data::dict([(key, value)]));
        update.status.message = None;
        Out::Hint(update)
    }

    /// The task's metadata has these too.
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

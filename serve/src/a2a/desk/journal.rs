//! [`Journal`]: where all that becomes of tasks is written down, so that they outlive the process.

use std::sync::Arc;

use a2a::{ArtifactUpdate, ListTasks, Message, Role, StatusUpdate, Task, TaskPage, Version};
use runtime::data::Data;
use runtime::event_log::{Settled, Ticket};

use super::said::{push_bounded, weight_of};
use crate::host::Waiting;
use crate::store::StoreError;

/// The id and the name of the artifact that the agent's text becomes.
pub const ANSWER: &str = "answer";

/// What has become of a task. Whoever takes all changes of a task in their order has the task.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It is there.
    Created {
        /// As it is at first: with the message that it begins with.
        task: Arc<Task>,
        /// The version that its caller spoke.
        version: Version,
        /// The session of the host that works on it; nothing where it was rejected.
        session_id: Option<Arc<str>>,
        /// How it was begun.
        begun: Begun,
    },
    /// Its history has one more message.
    Said(Arc<Message>),
    /// The same, and what it says was the answer so far, which begins anew with the next piece.
    Answered(Arc<Message>),
    /// It stands otherwise; `metadata` is what of the task's metadata has changed.
    Status(StatusUpdate),
    /// It has made something.
    Artifact(ArtifactUpdate),
    /// Something was put in for it, in whatever form whoever puts it in reads it back.
    Injected(Data),
}

/// How a task was begun, beyond its message: what running it again needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Begun {
    /// `context.metadata`: that of the request and that of the message, a dict or nil.
    pub metadata: Data,
    /// When it must be over, in milliseconds since 1970-01-01 UTC.
    pub deadline_ms: Option<u64>,
    /// Its session ends with it: it is not the one that its context keeps.
    pub is_alone: bool,
}

/// A task as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The task. One that is not over and not in memory is at work in another process.
    pub task: Arc<Task>,
    /// The session that worked on it.
    pub session_id: Option<Arc<str>>,
    /// How it was begun.
    pub begun: Begun,
    /// What was put in, in order, each as it was given.
    pub injected: Vec<Data>,
}

impl Restored {
    /// The task runs again: the answer begins anew, and what had come of it by then is said by the agent, unless it was already.
    /// What of that is new in the history.
    pub(in crate::a2a) fn begin_anew(&mut self, is_said: bool) -> Option<Arc<Message>> {
        let task = Arc::make_mut(&mut self.task);
        let place = task.artifacts.iter().position(|artifact| &*artifact.artifact_id == ANSWER)?;
        let parts = task.artifacts.remove(place).parts.clone();
        if is_said {
            return None;
        }
        let (task_id, context_id) = (Some(task.id.clone()), Some(task.context_id.clone()));
        let id = format!("msg_{}", uuid::Uuid::new_v4().simple());
        let said = Arc::new(Message { task_id, context_id, ..Message::new(Role::Agent, id, parts) });
        let mut bytes = task.history.iter().map(|message| weight_of(message)).sum();
        push_bounded(&mut task.history, &mut bytes, said.clone());
        Some(said)
    }
}

/// Where tasks are written down. Nothing of it waits but the futures that it gives, and [`Journal::left`].
pub trait Journal: Send + Sync {
    /// Writes down a change. Changes of one task come in their order, and nothing comes behind a terminal status. Pieces of
    /// the artifact [`ANSWER`] may come often: they are gathered before they are written.
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &Change) -> Ticket;

    /// Whether anything is kept at all, so that what is dear to write needs not be written for nobody.
    fn keeps(&self) -> bool {
        true
    }

    /// Ready once everything up to the ticket would survive the end of the process: waited for before a caller is told that a
    /// task is there, and that it is over.
    fn settled(&self, upto: Ticket) -> Settled;

    /// A task that is not in memory any more, or that another process has.
    fn find(&self, task_id: &str) -> Waiting<Result<Option<Restored>, StoreError>>;

    /// The task that began with the message of this id, whichever process has it.
    fn of_first(&self, _message_id: &str) -> Waiting<Result<Option<Arc<str>>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A page of all tasks; nothing where only those in memory are known.
    fn list(&self, asked: &ListTasks) -> Option<Waiting<Result<TaskPage, StoreError>>>;

    /// Asked once, before anything else, and waits for the disk: the tasks that processes left in the middle which are gone
    /// now. Those that ask their caller something, and where the pipeline is `resumable` all, are this process's from now on, and
    /// it is to run them again; the others have failed by that, and are not given.
    ///
    /// # Errors
    /// The log cannot be read or written.
    fn left(&self, resumable: bool) -> Result<Vec<Restored>, StoreError>;

    /// The process ends while it is at a task that is not over, and that `asks` something or not: whether the next one goes on
    /// with it. Nothing more is written of it then.
    fn leave(&self, task_id: &str, asks: bool) -> bool;
}

/// Keeps nothing.
pub struct Unkept;

impl Journal for Unkept {
    fn keeps(&self) -> bool {
        false
    }

    fn note(&self, _: &Arc<str>, _: u64, _: &Change) -> Ticket {
        Ticket::NONE
    }

    fn settled(&self, _: Ticket) -> Settled {
        Box::pin(std::future::ready(Ok(())))
    }

    fn find(&self, _: &str) -> Waiting<Result<Option<Restored>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn list(&self, _: &ListTasks) -> Option<Waiting<Result<TaskPage, StoreError>>> {
        None
    }

    fn left(&self, _: bool) -> Result<Vec<Restored>, StoreError> {
        Ok(Vec::new())
    }

    fn leave(&self, _: &str, _: bool) -> bool {
        false
    }
}

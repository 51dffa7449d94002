//! [`TaskJournal`]: stores all changes of tasks, so that they outlive the process.

use std::sync::Arc;

use a2a::{ArtifactUpdate, ListTasks, Message, Role, StatusUpdate, Task, TaskPage, Version};
use base::data::Data;
use eventlog::{DurableFuture, Ticket};

use super::history::{push_bounded, weight_of};
use crate::host::Waiting;
use crate::store::StoreError;

/// The id and the name of the artifact that the agent's text becomes.
pub const ANSWER: &str = "answer";

/// A change of a task. Applying all changes in order yields the task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    /// The task exists.
    Created {
        /// The task at first, with the message that began it.
        task: Arc<Task>,
        /// The protocol version of the caller.
        version: Version,
        /// The id of the host session that runs the task; `None` if it was rejected.
        session_id: Option<Arc<str>>,
        /// The conditions under which it began.
        begun: TaskOrigin,
    },
    /// A message was added to the history.
    Said(Arc<Message>),
    /// A message that was the answer so far was added to the history. The answer begins anew with the next piece.
    Answered(Arc<Message>),
    /// The status changed; `metadata` has the changed entries of the task's metadata.
    Status(StatusUpdate),
    /// An artifact was added or extended.
    Artifact(ArtifactUpdate),
    /// Something was injected, in the format of the code that injects it.
    Injected(Data),
}

/// The conditions under which a task began, beyond its message. They are needed to run it again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskOrigin {
    /// `context.metadata`: the merged metadata of the request and the message, a dict or nil.
    pub metadata: Data,
    /// The deadline, in milliseconds since 1970-01-01 UTC.
    pub deadline_ms: Option<u64>,
    /// Whether the session ends with the task and is not its context's own.
    pub is_alone: bool,
    /// The channel that began it, if the server has channels. It is not stored with the task.
    pub peer: Option<Arc<str>>,
}

/// Tells by the id of a task whether the caller sees it.
pub type TaskFilter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// A task restored from its records.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredTask {
    /// The task. If it is neither over nor in memory, another process runs it.
    pub task: Arc<Task>,
    /// The id of the session that ran the task.
    pub session_id: Option<Arc<str>>,
    /// The conditions under which it began.
    pub begun: TaskOrigin,
    /// The injections, in order and in their original format.
    pub injected: Vec<Data>,
    /// The place up to which it was read.
    pub position: TaskPosition,
}

/// The place up to which the records of a task were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPosition {
    /// The process that runs the task.
    pub process: Arc<str>,
    /// The cursor of the last record.
    pub cursor: u64,
}

impl RestoredTask {
    /// Prepares the task to run again. The answer begins anew; the answer so far becomes a message of the agent unless
    /// `is_said`. Returns that message if it is new in the history.
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

/// Storage for tasks. Only the returned futures and [`TaskJournal::left`] wait.
pub trait TaskJournal: Send + Sync {
    /// Records a change. Changes of one task arrive in order, and none follows a terminal status. Pieces of the
    /// artifact [`ANSWER`] may be frequent: they are gathered before they are written.
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &TaskChange) -> Ticket;

    /// Returns whether anything is kept, so that callers can skip expensive records that would be discarded.
    fn keeps(&self) -> bool {
        true
    }

    /// Waits until everything up to the ticket is durable. Called before the caller is told that a task exists or is
    /// over.
    fn settled(&self, upto: Ticket) -> DurableFuture;

    /// Finds a task that is not in memory, or that another process runs.
    fn find(&self, task_id: &str) -> Waiting<Result<Option<RestoredTask>, StoreError>>;

    /// Waits until a task that another process runs has changed its state since it was read, or until that process has
    /// ended.
    fn changed(&self, _task_id: &str, _since: &TaskPosition) -> Waiting<Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Finds the tasks, in any process, that may have begun with this message or a repeat of it: the ids are the same,
    /// and so is the content as far as it is known without reading the task. Oldest first.
    fn begun_by(&self, _first: &Message) -> Waiting<Result<Vec<Arc<str>>, StoreError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Returns a page of the tasks that the caller sees, or `None` if only the tasks in memory are known.
    fn list(&self, asked: &ListTasks, sees: TaskFilter) -> Option<Waiting<Result<TaskPage, StoreError>>>;

    /// Takes over the tasks that ended processes left unfinished. Called once, before anything else; blocks on the
    /// disk. Tasks that ask their caller something, and all tasks if the pipeline is `resumable`, are returned for
    /// this process to run again; the others fail.
    ///
    /// # Errors
    /// The log cannot be read or written.
    fn left(&self, resumable: bool) -> Result<Vec<RestoredTask>, StoreError>;

    /// Reports that the process ends while a task is open; `asks` is whether it waits for its caller. Returns whether
    /// the next process continues the task; if so, no more of it may be recorded.
    fn leave(&self, task_id: &str, asks: bool) -> bool;
}

/// A journal that keeps nothing.
pub struct NoJournal;

impl TaskJournal for NoJournal {
    fn keeps(&self) -> bool {
        false
    }

    fn note(&self, _: &Arc<str>, _: u64, _: &TaskChange) -> Ticket {
        Ticket::NONE
    }

    fn settled(&self, _: Ticket) -> DurableFuture {
        Box::pin(std::future::ready(Ok(())))
    }

    fn find(&self, _: &str) -> Waiting<Result<Option<RestoredTask>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn list(&self, _: &ListTasks, _: TaskFilter) -> Option<Waiting<Result<TaskPage, StoreError>>> {
        None
    }

    fn left(&self, _: bool) -> Result<Vec<RestoredTask>, StoreError> {
        Ok(Vec::new())
    }

    fn leave(&self, _: &str, _: bool) -> bool {
        false
    }
}

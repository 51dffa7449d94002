//! [`Journal`]: where all that becomes of tasks is written down, so that they outlive the process.

use std::sync::Arc;

use runtime::data::Data;
use runtime::event_log::{LogError, Settled, Ticket};
use stdlib::a2a::{ArtifactUpdate, ListTasks, Message, StatusUpdate, Task, TaskPage, Version};

use crate::host::Waiting;

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
    },
    /// Its history has one more message.
    Said(Arc<Message>),
    /// It stands otherwise; `metadata` is what of the task's metadata has changed.
    Status(StatusUpdate),
    /// It has made something.
    Artifact(ArtifactUpdate),
    /// Something was put in for it, in whatever form whoever puts it in reads it back.
    Injected(Data),
}

/// A task as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The task.
    pub task: Arc<Task>,
    /// The version that its caller spoke.
    pub version: Version,
    /// The session that worked on it.
    pub session_id: Option<Arc<str>>,
}

/// Where tasks are written down. Nothing of it waits but the futures that it gives.
pub trait Journal: Send + Sync {
    /// Writes down a change. Changes of one task come in their order, and nothing comes behind a terminal status.
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &Change) -> Ticket;

    /// Ready once everything up to the ticket would survive the end of the process: waited for before a caller is told that a
    /// task is there, and that it is over.
    fn settled(&self, upto: Ticket) -> Settled;

    /// A task that is not in memory any more.
    fn find(&self, task_id: &str) -> Waiting<Result<Option<Restored>, LogError>>;

    /// A page of all tasks; nothing where only those in memory are known.
    fn list(&self, asked: &ListTasks) -> Option<Waiting<Result<TaskPage, LogError>>>;
}

/// Keeps nothing.
pub struct Unkept;

impl Journal for Unkept {
    fn note(&self, _: &Arc<str>, _: u64, _: &Change) -> Ticket {
        Ticket::NONE
    }

    fn settled(&self, _: Ticket) -> Settled {
        Box::pin(std::future::ready(Ok(())))
    }

    fn find(&self, _: &str) -> Waiting<Result<Option<Restored>, LogError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn list(&self, _: &ListTasks) -> Option<Waiting<Result<TaskPage, LogError>>> {
        None
    }
}

//! [`Desk`]: all tasks of a served script.
//!
//! - [`Journal`]: where all that becomes of tasks is written down: each [`Change`], in order.

use std::sync::Arc;

use runtime::session::Inbox;
use stdlib::Diagnostic;
use stdlib::a2a::{ListTasks, SendMessage, Task, TaskPage, Version};

mod journal;

pub use journal::{ANSWER, Begun, Change, Journal, Restored, Unkept};

use super::Refusal;
use super::feed::Subscription;
use crate::host::Served;

/// How many tasks at once, and what is kept of those that are over.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tasks that are not over, at most; more are rejected.
    pub open: usize,
    /// Tasks that are over and held in memory, at most.
    pub finished: usize,
    /// The mode of new sessions.
    pub mode: Arc<str>,
}

/// Who asks, as far as it matters to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// The version that it speaks.
    pub version: Version,
}

/// All tasks of a served script. Clones are the same desk.
#[derive(Clone)]
pub struct Desk {}

impl Desk {
    /// Starts to serve a script.
    ///
    /// # Errors
    /// As [`crate::host::Host::start`], and a log that cannot be read.
    pub fn open(served: Served, settings: Settings) -> Result<Desk, Vec<Diagnostic>> {
        Desk::keeping(served, settings, Arc::new(Unkept), Vec::new())
    }

    /// Starts to serve a script, and writes down what becomes of its tasks. `restored` are those that are held in memory from
    /// the start; all of them are over.
    ///
    /// # Errors
    /// As [`crate::host::Host::start`].
    pub fn keeping(
        _served: Served,
        _settings: Settings,
        _journal: Arc<dyn Journal>,
        _restored: Vec<Restored>,
    ) -> Result<Desk, Vec<Diagnostic>> {
        todo!()
    }

    /// Takes a message: begins a task, or answers one that waits. Its id, and what is told of it from now on.
    ///
    /// # Errors
    /// What is refused. A task that is rejected is no error: it is a task.
    pub async fn send(&self, _request: SendMessage, _asker: Asker) -> Result<(Arc<str>, Subscription), Refusal> {
        todo!()
    }

    /// Follows a task from now on; it is told the task as it is first, and where that is over nothing more.
    ///
    /// # Errors
    /// There is none, or too many follow.
    pub async fn follow(&self, _task_id: &str) -> Result<Subscription, Refusal> {
        todo!()
    }

    /// Waits until the task is over or waits for its caller.
    ///
    /// # Errors
    /// There is none.
    pub async fn settled(&self, _task_id: &str) -> Result<Arc<Task>, Refusal> {
        todo!()
    }

    /// A task as it is now.
    ///
    /// # Errors
    /// There is none.
    pub async fn task(&self, _task_id: &str) -> Result<Arc<Task>, Refusal> {
        todo!()
    }

    /// The version that the task's caller spoke first.
    ///
    /// # Errors
    /// There is none.
    pub async fn spoken(&self, _task_id: &str) -> Result<Version, Refusal> {
        todo!()
    }

    /// A page of tasks.
    ///
    /// # Errors
    /// It is no page token, or the log cannot be read.
    pub async fn list(&self, _asked: ListTasks) -> Result<TaskPage, Refusal> {
        todo!()
    }

    /// Cancels a task, and waits until that is done.
    ///
    /// # Errors
    /// There is none, or it is over.
    pub async fn cancel(&self, _task_id: &str) -> Result<Arc<Task>, Refusal> {
        todo!()
    }

    /// What accepts reminders for a task. Where its session is only being opened, that is waited for.
    ///
    /// # Errors
    /// There is none, or it is over.
    pub async fn inbox(&self, _task_id: &str) -> Result<Inbox, Refusal> {
        todo!()
    }

    /// Cancels all tasks and waits for them, with two seconds of grace.
    pub async fn stop(&self) {
        todo!()
    }
}

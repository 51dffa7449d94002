//! [`Desk`]: all tasks of a served script.
//!
//! - [`Journal`]: where all that becomes of tasks is written down: each [`Change`], in order.

//! - `life`: a task as a state machine; `cell`: the same, shared by threads, written down and told of. `directory`: which there are.
//! - `incoming`: takes messages; `drive`: looks after a task until it is over; `sessions`: what its session shows.
//! - `heritage`: what a sub-task inherits.
//! - `media`: which media types messages may have.
//! - `list`, `deadline`, `say`: pages of tasks, by when one is to be done, what the agent says of one. `said`: how much of that is kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::{ListTasks, Message, SendMessage, ShapeError, Task, TaskPage, TaskState, Version};
use runtime::data::Data;
use runtime::reminder::bridge::QueueError;
use runtime::reminder::lifecycle::Selector;
use runtime::session::Inbox;
use stdlib::{Diagnostic, Replies};

mod cell;
mod deadline;
mod directory;
mod drive;
mod heritage;
mod incoming;
mod journal;
mod life;
mod list;
mod media;
mod said;
mod say;
mod sessions;
mod shared;
#[cfg(test)]
mod tests;

use cell::Cell;
use life::Halt;
use sessions::Sessions;
use shared::Shared;

pub use journal::{ANSWER, Begun, Change, Journal, Restored, Unkept};
pub(super) use life::question_of;
pub use media::InputModes;
pub(super) use said::{Page, push_bounded, weight_of};

use super::Refusal;
use super::context::Contexts;
use super::feed::Subscription;
use super::injection::Injections;
use super::store::TaskStore;
use crate::bridge::Cleared;
use crate::drain::Waits;
use crate::host::{Event, Host, HostError, ReminderEvent, Served};
use crate::metrics::{Counter, Exposition};
use crate::probe::Probed as _;
use crate::store::StoreError;

/// What tasks that are stopped may take, beyond their grace, before nobody waits for them any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a task is looked for that another process works on.
const ELSEWHERE: Duration = Duration::from_millis(500);

/// How many tasks at once, and what is kept of those that are over.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tasks that are not over, at most; more are rejected.
    pub open: usize,
    /// Tasks that are over and held in memory, at most.
    pub finished: usize,
    /// The mode of new sessions.
    pub mode: Arc<str>,
    /// Sessions of contexts that stay open without work, at most.
    pub idle_sessions: usize,
    /// Who rejects a task: the agent's name.
    pub agent_id: Arc<str>,
    /// The media types that messages may have.
    pub input_modes: InputModes,
    /// What callers get in response.
    pub replies: Replies,
}

impl Default for Settings {
    fn default() -> Settings {
        let mode = crate::host::Mode::Ask.as_str().into();
        Settings {
            open: 1_000,
            finished: 10_000,
            mode,
            idle_sessions: 1_000,
            agent_id: "agent".into(),
            input_modes: InputModes::default(),
            replies: Replies::default(),
        }
    }
}

/// Who asks, as far as it matters to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// The version that it speaks.
    pub version: Version,
    /// It waits for a response, and a message in place of a task says all that it asks for.
    pub takes_message: bool,
}

/// How busy a desk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    /// Tasks that are not over.
    pub(super) open: usize,
    /// Tasks that are not over, at most.
    pub(super) most: usize,
    /// Tasks started since the process started, those resumed from the log included.
    pub(super) started: u64,
    /// Whether no task starts any more.
    pub(super) is_stopping: bool,
}

impl Load {
    /// Whether a new task would be accepted now; if not, why.
    pub(super) fn readiness(self) -> Result<(), &'static str> {
        if self.is_stopping {
            Err("draining")
        } else if self.open >= self.most {
            Err("task limit reached")
        } else {
            Ok(())
        }
    }
}

/// The states of tasks that are not over, and their labels.
const OPEN_STATES: [(TaskState, &str); 4] = [
    (TaskState::Submitted, "submitted"),
    (TaskState::Working, "working"),
    (TaskState::InputRequired, "input_required"),
    (TaskState::AuthRequired, "auth_required"),
];

/// The states of tasks that are over, and their labels.
const ENDED_STATES: [(TaskState, &str); 4] = [
    (TaskState::Completed, "completed"),
    (TaskState::Failed, "failed"),
    (TaskState::Canceled, "canceled"),
    (TaskState::Rejected, "rejected"),
];

/// All tasks of a served script. Clones are the same desk.
#[derive(Clone)]
pub struct Desk(Arc<Shared>);

impl Desk {
    /// Starts to serve a script.
    ///
    /// # Errors
    /// As [`Desk::keeping`].
    pub fn open(served: Served, settings: Settings) -> Result<Desk, Vec<Diagnostic>> {
        let journal: Arc<dyn Journal> = match &served.log {
            Some(log) => Arc::new(TaskStore::new(log.clone()).map_err(|error| vec![diagnostic(&error)])?),
            None => Arc::new(Unkept),
        };
        Desk::keeping(served, settings, journal)
    }

    /// Starts to serve a script, and writes down what becomes of its tasks. Those that a process before has left in the middle run
    /// again where the script says that it may; this needs a runtime of tokio, and waits for the disk.
    ///
    /// # Errors
    /// As [`crate::host::Host::start`], and a log that cannot be read.
    pub fn keeping(served: Served, settings: Settings, journal: Arc<dyn Journal>) -> Result<Desk, Vec<Diagnostic>> {
        let sessions = Arc::<Sessions>::default();
        let host = Host::start(served, sessions.clone())?;
        let contexts = Contexts::new(host.clone(), settings.mode, settings.idle_sessions);
        let (agent_id, open, finished) = (settings.agent_id, settings.open, settings.finished);
        let (input_modes, replies) = (settings.input_modes, settings.replies);
        let directory = Mutex::default();
        let left = journal.left(host.is_resumable()).map_err(|error| vec![diagnostic(&error)])?;
        let desk = Desk(Arc::new(Shared {
            host,
            sessions,
            contexts,
            journal,
            agent_id,
            open,
            finished,
            input_modes,
            replies,
            directory,
            ended: Default::default(),
        }));
        for restored in left {
            desk.run_again(restored);
        }
        Ok(desk)
    }

    /// Takes a message: begins a task, or answers one that waits. Its id, and what is told of it from now on.
    ///
    /// # Errors
    /// What is refused. A task that is rejected is no error: it is a task.
    pub async fn send(&self, request: SendMessage, asker: Asker) -> Result<(Arc<str>, Subscription), Refusal> {
        self.take(request, asker).await
    }

    /// Follows a task from now on; it is told the task as it is first, and where that is over nothing more.
    ///
    /// # Errors
    /// There is none.
    pub async fn follow(&self, task_id: &str) -> Result<Subscription, Refusal> {
        Ok(self.cell(task_id).await?.follow())
    }

    /// Waits until the task is over or waits for its caller.
    ///
    /// # Errors
    /// There is none, or the server stops and leaves it to the next process.
    pub async fn settled(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        let mut cell = self.cell(task_id).await?;
        while cell.is_elsewhere() {
            tokio::time::sleep(ELSEWHERE).await;
            cell = self.cell(task_id).await?;
        }
        cell.settled().await
    }

    /// Whether callers get a message in place of a task where that says all of it.
    #[must_use]
    pub fn replies_with_messages(&self) -> bool {
        self.0.replies == Replies::Message
    }

    /// What a task comes to for a caller that takes a message in place of it, where that says all of it.
    #[must_use]
    pub fn message(&self, task: &Task, asker: Asker) -> Option<Message> {
        if asker.takes_message && self.replies_with_messages() { life::message_of(task) } else { None }
    }

    /// Follows a task from the moment when it cannot come to a message any more; or the message that it has come to.
    ///
    /// # Errors
    /// There is none, or the server stops and leaves it to the next process.
    pub async fn follow_or_message(
        &self,
        task_id: &str,
        asker: Asker,
    ) -> Result<Result<Subscription, Message>, Refusal> {
        let cell = self.cell(task_id).await?;
        let (task, followed) = cell.committed().await?;
        Ok(self.message(&task, asker).map_or(Ok(followed), Err))
    }

    /// A task as it is now.
    ///
    /// # Errors
    /// There is none.
    pub async fn task(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        Ok(self.cell(task_id).await?.task())
    }

    /// A page of tasks.
    ///
    /// # Errors
    /// It is no page token, or the log cannot be read.
    pub async fn list(&self, asked: ListTasks) -> Result<TaskPage, Refusal> {
        match self.0.journal.list(&asked) {
            Some(page) => page.await.map_err(unread),
            None => self.page(&asked),
        }
    }

    /// Cancels a task, and waits until that is done.
    ///
    /// # Errors
    /// There is none, it is over, or the server stops and leaves it to the next process.
    pub async fn cancel(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        let cell = self.cell(task_id).await?;
        cell.is_here()?;
        cell.halt(Halt::Cancelled)?;
        let task = cell.over().await?;
        match task.status.state {
            TaskState::Canceled => Ok(task),
            // It was faster.
            state => Err(Refusal::NotCancelable { task_id: task.id.clone(), state }),
        }
    }

    /// What accepts reminders for a task. Where its session is only being opened, that is waited for.
    ///
    /// # Errors
    /// There is none, or it is over.
    pub async fn inbox(&self, task_id: &str) -> Result<Inbox, Refusal> {
        self.reminders(task_id).await?.inbox().await
    }

    /// What is put into a task and taken out of it.
    ///
    /// # Errors
    /// There is none.
    pub async fn reminders(&self, task_id: &str) -> Result<TaskReminders, Refusal> {
        let cell = self.cell(task_id).await?;
        Ok(TaskReminders { cell, is_kept: self.0.journal.keeps() })
    }

    /// Ends all tasks and waits for them, with two seconds of grace. Nothing begins from now on. What the next process runs again
    /// has no end here: who waits for it is told that the server stops.
    pub async fn stop(&self) {
        let all = {
            let mut directory = self.0.directory();
            directory.is_stopping = true;
            directory.all()
        };
        for cell in &all {
            // Those that are over stay so.
            let _ = cell.halt(Halt::Stopping);
        }
        let over = async {
            for cell in &all {
                // One that is left to the next process is not at work here any more either.
                let _ = cell.over().await;
            }
        };
        let grace = Duration::from_millis(runtime::agent_loop::GRACE_MS);
        let _ = tokio::time::timeout(grace + PATIENCE, over).await;
        self.0.host.stop().await;
    }

    /// Counts an injection that was refused.
    pub(super) fn count_refusal(&self) {
        self.0.host.metrics().injections.refused.add();
    }

    /// Begins no task any more; those that are not over go on.
    pub(super) fn begin_drain(&self) {
        self.0.directory().is_stopping = true;
    }

    /// Returns what the end of the process waits for.
    pub(super) fn waits(&self) -> Waits {
        Waits { tasks: self.0.directory().open(), ..self.0.host.waits() }
    }

    /// Waits until all tasks are over, and what they have said is written down.
    pub(super) async fn idle(&self) {
        let all = self.0.directory().all();
        for cell in &all {
            let _ = cell.over().await;
        }
        self.0.host.idle().await;
    }

    /// Writes the metrics.
    pub(super) fn expose(&self, to: &mut Exposition) {
        let load = self.load();
        let help = "Tasks started, including those resumed from the log.";
        to.value("harn_a2a_tasks_started_total", "counter", help, load.started);
        to.value("harn_a2a_tasks_open", "gauge", "Tasks that are not over.", load.open);
        to.value("harn_a2a_tasks_open_limit", "gauge", "Limit of tasks that are not over.", load.most);
        let all = self.0.directory().all();
        let states: Vec<TaskState> = all.iter().map(|cell| cell.state()).collect();
        let open = OPEN_STATES.map(|(state, word)| (word, states.iter().filter(|is| **is == state).count() as u64));
        to.labelled("harn_a2a_tasks", "gauge", "Tasks that are not over, by state.", "state", open);
        let ended = ENDED_STATES.map(|(_, word)| word).into_iter().zip(self.0.ended.iter().map(Counter::get));
        to.labelled("harn_a2a_tasks_ended_total", "counter", "Tasks that are over, by state.", "state", ended);
        self.0.host.expose(to);
    }

    /// Returns how busy the server is.
    pub(super) fn load(&self) -> Load {
        let directory = self.0.directory();
        Load {
            open: directory.open(),
            most: self.0.open,
            started: directory.begun(),
            is_stopping: directory.is_stopping,
        }
    }

    /// A task, in memory or from where it is written down.
    async fn cell(&self, task_id: &str) -> Result<Arc<Cell>, Refusal> {
        if let Some(cell) = self.0.directory().find(task_id) {
            return Ok(cell);
        }
        let found = self.0.journal.find(task_id).await.map_err(unread)?;
        let found = found.ok_or_else(|| Refusal::UnknownTask(task_id.into()))?;
        // It is read again each time: what was forgotten is asked for seldom.
        Ok(Cell::restored(found, self.0.journal.clone()))
    }
}

/// The reminders of one task, looked up once for all that a request does to them.
pub struct TaskReminders {
    cell: Arc<Cell>,
    /// What is put in outlives the process.
    is_kept: bool,
}

impl TaskReminders {
    /// What was put into it, in any process, as far as it is known.
    #[must_use]
    pub fn injections(&self) -> &Injections {
        &self.cell.injections
    }

    /// What accepts them. Where the task's session is only being opened, that is waited for.
    ///
    /// # Errors
    /// The task is over, or another process works on it.
    pub async fn inbox(&self) -> Result<Inbox, Refusal> {
        self.cell.is_here()?;
        self.cell.inbox().await
    }

    /// Something was put in: it is written down with the task.
    ///
    /// # Errors
    /// It cannot be kept.
    pub async fn injected(&self, what: impl FnOnce() -> Data) -> Result<(), Refusal> {
        if !self.is_kept {
            return Ok(());
        }
        self.cell.injected(what());
        self.cell.kept().await.map_err(Refusal::Log)
    }

    /// Clears those that a selector means, as [`crate::host::Handle::clear_reminders`] does.
    ///
    /// # Errors
    /// The task is over, or its session refuses.
    pub fn clear(&self, selector: Selector) -> Result<(Vec<Arc<str>>, Cleared), Refusal> {
        let handle = self.cell.handle().ok_or_else(|| Refusal::Host(HostError::Closed(self.cell.id.clone())))?;
        handle.clear_reminders(selector).map_err(|error| match error {
            // As many such requests wait as may.
            HostError::Busy(_) => Refusal::Queue(QueueError::Full(crate::host::CLEARS)),
            error => Refusal::Host(error),
        })
    }

    /// Shows those who follow the task what became of a reminder that has not reached its transcript.
    pub fn show(&self, event: ReminderEvent) {
        self.cell.show(Event::Reminder(event));
    }
}

fn diagnostic(error: &StoreError) -> Diagnostic {
    Diagnostic::new(error.code(), error.to_string()).help(error.help())
}

fn unread(error: StoreError) -> Refusal {
    match error {
        StoreError::PageToken(_) => {
            let message = format!("{error}; {}", error.help());
            Refusal::Params(ShapeError { field: "pageToken".to_owned(), message, suggestion: None })
        }
        error => Refusal::Host(HostError::Store(error)),
    }
}

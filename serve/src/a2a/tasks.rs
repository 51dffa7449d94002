//! [`TaskManager`]: all tasks of a served script.
//!
//! - [`TaskJournal`]: stores each [`TaskChange`] of each task, in order.
//! - `state_machine`: the states of a task. `shared_task`: a task shared by threads, which stores and reports its changes.
//!   `directory`: the tasks in memory.
//! - `incoming`: accepts messages. `runner`: runs a task to its end. `sessions`: routes a session's events to its task.
//! - `inheritance`: reminders that a sub-task inherits.
//! - `media`: the media types that messages may have. [`TaskViewer`]: a caller that reaches only some tasks.
//! - `list`, `deadline`, `agent_message`: pages of tasks, deadlines, and the agent's messages. `history`: limits on a
//!   task's history.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::{ListTasks, Message, SendMessage, ShapeError, Task, TaskPage, TaskState, Version};
use base::data::Data;
use runtime::lifecycle::Selector;
use runtime::reminder::bridge::QueueError;
use runtime::session::Inbox;
use stdlib::{Diagnostic, Replies};

mod agent_message;
mod deadline;
mod directory;
mod history;
mod incoming;
mod inheritance;
mod journal;
mod list;
mod media;
mod runner;
mod sessions;
mod shared;
mod shared_task;
mod state_machine;
#[cfg(test)]
mod tests;
mod viewer;

use shared::ManagerState;
use shared_task::SharedTask;
use state_machine::HaltReason;

pub(crate) use history::PageBuilder;
pub(super) use history::{push_bounded, weight_of};
pub use journal::{ANSWER, NoJournal, RestoredTask, TaskChange, TaskFilter, TaskJournal, TaskOrigin, TaskPosition};
pub(crate) use list::{page_token, read_page_token};
pub use media::InputModes;
pub(crate) use sessions::SessionTasks;
pub(super) use state_machine::{digest_of, question_of};
pub(crate) use viewer::TaskViewer;

use super::Refusal;
use super::context::ContextPool;
use super::feed::Subscription;
use super::injection::TaskInjections;
use super::store::TaskStore;
use crate::bridge::ClearedCount;
use crate::drain::PendingWork;
use crate::host::{Host, HostError, ReminderEvent, Served, SessionEvent};
use crate::metrics::{Counter, Exposition};
use crate::probe::Probed as _;
use crate::store::StoreError;

/// The timeout for stopped tasks, beyond their grace period.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Limits on tasks, and defaults for their sessions.
#[derive(Debug, Clone)]
pub struct TaskSettings {
    /// The maximum number of tasks that are not over; more are rejected.
    pub open: usize,
    /// The maximum number of ended tasks in memory.
    pub finished: usize,
    /// The mode of new sessions.
    pub mode: Arc<str>,
    /// The maximum number of idle context sessions that stay open.
    pub idle_sessions: usize,
    /// The agent's name, used when it rejects a task.
    pub agent_id: Arc<str>,
    /// The media types that messages may have.
    pub input_modes: InputModes,
    /// The kind of response that callers get.
    pub replies: Replies,
    /// Whether clients of other protocols use the same sessions: a context can be the id of a session.
    pub shares_sessions: bool,
}

impl Default for TaskSettings {
    fn default() -> TaskSettings {
        let mode = crate::host::Mode::Ask.as_str().into();
        TaskSettings {
            open: 1_000,
            finished: 10_000,
            mode,
            idle_sessions: 1_000,
            agent_id: "agent".into(),
            input_modes: InputModes::default(),
            replies: Replies::default(),
            shares_sessions: false,
        }
    }
}

/// The parts of a caller that matter to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskCaller {
    /// The protocol version of the caller.
    pub version: Version,
    /// Whether the caller waits for a response and accepts a message in place of a task.
    pub takes_message: bool,
    /// Whether the caller chooses the ids of new tasks, as before version 0.3: a message to an unknown task begins it.
    pub names_tasks: bool,
}

/// The load of a task manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskLoad {
    /// The number of tasks that are not over.
    pub(super) open: usize,
    /// The maximum number of tasks that are not over.
    pub(super) most: usize,
    /// The number of tasks started since the process started, including those resumed from the log.
    pub(super) started: u64,
    /// Whether new tasks are refused.
    pub(super) is_stopping: bool,
}

impl TaskLoad {
    /// Returns whether a new task would be accepted now; the error says why not.
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

/// The states of open tasks, and their labels.
const OPEN_STATES: [(TaskState, &str); 4] = [
    (TaskState::Submitted, "submitted"),
    (TaskState::Working, "working"),
    (TaskState::InputRequired, "input_required"),
    (TaskState::AuthRequired, "auth_required"),
];

/// The states of ended tasks, and their labels.
const ENDED_STATES: [(TaskState, &str); 4] = [
    (TaskState::Completed, "completed"),
    (TaskState::Failed, "failed"),
    (TaskState::Canceled, "canceled"),
    (TaskState::Rejected, "rejected"),
];

/// All tasks of a served script, as a caller sees them. Clones share their state.
#[derive(Clone)]
pub struct TaskManager(Arc<ManagerState>, Option<Arc<dyn TaskViewer>>);

impl TaskManager {
    /// Starts to serve a script, and keeps its tasks in the script's log if it has one. Tasks that an ended process left
    /// unfinished run again if the script allows it. Requires a tokio runtime, and blocks on the disk.
    ///
    /// # Errors
    /// See [`crate::host::Host::start`]; also fails if the log cannot be read.
    pub fn open(served: Served, settings: TaskSettings) -> Result<TaskManager, Vec<Diagnostic>> {
        let sessions = Arc::<SessionTasks>::default();
        let host = Host::start(served, sessions.clone())?;
        let journal: Arc<dyn TaskJournal> = match host.store() {
            Some(store) => Arc::new(TaskStore::new(store.clone())),
            None => Arc::new(NoJournal),
        };
        TaskManager::on_host(host, sessions, settings, journal)
    }

    /// Runs tasks in the sessions of a host, which reports the events of its sessions to `sessions`, and records
    /// them in `journal`. See [`TaskManager::open`].
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) fn on_host(
        host: Host,
        sessions: Arc<SessionTasks>,
        settings: TaskSettings,
        journal: Arc<dyn TaskJournal>,
    ) -> Result<TaskManager, Vec<Diagnostic>> {
        let shares = settings.shares_sessions;
        let contexts = ContextPool::new(host.clone(), settings.mode, settings.idle_sessions, shares);
        let (agent_id, open, finished) = (settings.agent_id, settings.open, settings.finished);
        let (input_modes, replies) = (settings.input_modes, settings.replies);
        let directory = Mutex::default();
        let left = journal.left(host.is_resumable()).map_err(|error| vec![diagnostic(&error)])?;
        let state = Arc::new(ManagerState {
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
        });
        let manager = TaskManager(state, None);
        for restored in left {
            manager.run_again(restored);
        }
        Ok(manager)
    }

    /// Returns the tasks as a caller sees them.
    pub(crate) fn seen_by(&self, viewer: Arc<dyn TaskViewer>) -> TaskManager {
        TaskManager(self.0.clone(), Some(viewer))
    }

    /// Returns whether the caller reaches a task.
    fn sees(&self, task_id: &str) -> bool {
        self.1.as_ref().is_none_or(|viewer| viewer.sees(task_id))
    }

    /// Accepts a message: begins a task, or answers one that waits. Returns the task's id and a subscription to its
    /// updates.
    ///
    /// # Errors
    /// The message is refused. A rejected task is not an error.
    pub async fn send(&self, request: SendMessage, asker: TaskCaller) -> Result<(Arc<str>, Subscription), Refusal> {
        self.take(request, asker).await
    }

    /// Subscribes to a task. The task as it is now comes first; if it is over, nothing follows.
    ///
    /// # Errors
    /// The task is not found.
    pub async fn follow(&self, task_id: &str) -> Result<Subscription, Refusal> {
        Ok(self.shared_task(task_id).await?.follow())
    }

    /// Waits until the task is over or waits for its caller.
    ///
    /// # Errors
    /// The task is not found, or the server stops and leaves it to the next process.
    pub async fn settled(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        let mut shared_task = self.shared_task(task_id).await?;
        while let Some(since) = shared_task.elsewhere().filter(|_| !shared_task.state().is_interrupted()) {
            self.0.journal.changed(task_id, since).await.map_err(unread)?;
            shared_task = self.shared_task(task_id).await?;
        }
        shared_task.settled().await
    }

    /// Returns whether callers get a message in place of a task if the message is complete.
    #[must_use]
    pub fn replies_with_messages(&self) -> bool {
        self.0.replies == Replies::Message
    }

    /// Returns the message for a caller that accepts one in place of the task, if the message is complete.
    #[must_use]
    pub fn message(&self, task: &Task, asker: TaskCaller) -> Option<Message> {
        if asker.takes_message && self.replies_with_messages() { state_machine::message_of(task) } else { None }
    }

    /// Waits until it is decided whether the task becomes a message. Returns the message, or the subscription of the
    /// caller, `followed`, so that no earlier update is lost. One that was not read in time begins again with the task as
    /// it is.
    ///
    /// # Errors
    /// The task is not found, or the server stops and leaves it to the next process.
    pub async fn follow_or_message(
        &self,
        task_id: &str,
        followed: Subscription,
        asker: TaskCaller,
    ) -> Result<Result<Subscription, Message>, Refusal> {
        let shared_task = self.shared_task(task_id).await?;
        let (task, again) = shared_task.committed().await?;
        let followed = if followed.has_lagged() { again } else { followed };
        Ok(self.message(&task, asker).map_or(Ok(followed), Err))
    }

    /// Returns the task as it is now.
    ///
    /// # Errors
    /// The task is not found.
    pub async fn task(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        Ok(self.shared_task(task_id).await?.task())
    }

    /// Returns a page of tasks.
    ///
    /// # Errors
    /// The page token is invalid, or the log cannot be read.
    pub async fn list(&self, asked: ListTasks) -> Result<TaskPage, Refusal> {
        let caller = self.clone();
        match self.0.journal.list(&asked, Arc::new(move |task_id| caller.sees(task_id))) {
            Some(page) => page.await.map_err(unread),
            None => self.page(&asked),
        }
    }

    /// Cancels a task and waits for its end.
    ///
    /// # Errors
    /// The task is not found, it is over, or the server stops and leaves it to the next process.
    pub async fn cancel(&self, task_id: &str) -> Result<Arc<Task>, Refusal> {
        let shared_task = self.shared_task(task_id).await?;
        shared_task.is_here()?;
        shared_task.halt(HaltReason::Cancelled)?;
        let task = shared_task.over().await?;
        match task.status.state {
            TaskState::Canceled => Ok(task),
            // The task ended first.
            state => Err(Refusal::NotCancelable { task_id: task.id.clone(), state }),
        }
    }

    /// Returns the reminder inbox of a task. Waits while the task's session is opening.
    ///
    /// # Errors
    /// The task is not found, or it is over.
    pub async fn inbox(&self, task_id: &str) -> Result<Inbox, Refusal> {
        self.reminders(task_id).await?.inbox().await
    }

    /// Returns the reminders of a task.
    ///
    /// # Errors
    /// The task is not found.
    pub async fn reminders(&self, task_id: &str) -> Result<TaskReminders, Refusal> {
        let shared_task = self.shared_task(task_id).await?;
        Ok(TaskReminders { shared_task, is_kept: self.0.journal.keeps() })
    }

    /// Refuses new tasks, ends all tasks, and waits for them with a grace period of two seconds. Tasks that the next
    /// process runs again do not end here; clients that wait for them are told that the server stops.
    pub async fn stop(&self) {
        let all = {
            let mut directory = self.0.directory();
            directory.is_stopping = true;
            directory.all()
        };
        for shared_task in &all {
            // Tasks that are already over do not change.
            let _ = shared_task.halt(HaltReason::Stopping);
        }
        let over = async {
            for shared_task in &all {
                // A task left to the next process does not run here any more either.
                let _ = shared_task.over().await;
            }
        };
        let grace = Duration::from_millis(runtime::stop::GRACE_MS);
        let _ = tokio::time::timeout(grace + STOP_TIMEOUT, over).await;
        self.0.host.stop().await;
    }

    /// Counts an injection that was refused.
    pub(super) fn count_refusal(&self) {
        self.0.host.metrics().injections.refused.add();
    }

    /// Refuses new tasks; open ones go on.
    pub(crate) fn begin_drain(&self) {
        self.0.directory().is_stopping = true;
        self.0.host.begin_drain();
    }

    /// Returns the number of open tasks and other work that shutdown waits for.
    pub(crate) fn waits(&self) -> PendingWork {
        PendingWork { tasks: self.0.directory().open(), ..self.0.host.waits() }
    }

    /// Waits until all tasks are over and their records are durable.
    pub(crate) async fn idle(&self) {
        let all = self.0.directory().all();
        for shared_task in &all {
            let _ = shared_task.over().await;
        }
        self.0.host.idle().await;
    }

    /// Writes the metrics.
    pub(super) fn expose(&self, to: &mut Exposition) {
        let load = self.load();
        let help = "Tasks started, including those resumed from the log.";
        to.value("harn_a2a_tasks_started_total", "counter", help, load.started);
        to.value("harn_a2a_tasks_open", "gauge", "Unfinished tasks.", load.open);
        to.value("harn_a2a_tasks_open_limit", "gauge", "Limit on unfinished tasks.", load.most);
        let all = self.0.directory().all();
        let states: Vec<TaskState> = all.iter().map(|shared_task| shared_task.state()).collect();
        let open = OPEN_STATES.map(|(state, word)| (word, states.iter().filter(|is| **is == state).count() as u64));
        to.labelled("harn_a2a_tasks", "gauge", "Unfinished tasks, by state.", "state", open);
        let ended = ENDED_STATES.map(|(_, word)| word).into_iter().zip(self.0.ended.iter().map(Counter::get));
        to.labelled("harn_a2a_tasks_ended_total", "counter", "Finished tasks, by state.", "state", ended);
        self.0.host.expose(to);
    }

    /// Refuses what must be recorded while the event log cannot be written.
    ///
    /// # Errors
    /// The error of the log.
    pub(super) fn writes(&self) -> Result<(), HostError> {
        self.0.host.writes()
    }

    /// Returns the current load.
    pub(super) fn load(&self) -> TaskLoad {
        let directory = self.0.directory();
        TaskLoad {
            open: directory.open(),
            most: self.0.open,
            started: directory.begun(),
            is_stopping: directory.is_stopping,
        }
    }

    /// Returns a task from memory or from the journal.
    async fn shared_task(&self, task_id: &str) -> Result<Arc<SharedTask>, Refusal> {
        if !self.sees(task_id) {
            return Err(Refusal::UnknownTask(task_id.into()));
        }
        if let Some(shared_task) = self.0.directory().find(task_id) {
            return Ok(shared_task);
        }
        let found = self.0.journal.find(task_id).await.map_err(unread)?;
        let found = found.ok_or_else(|| Refusal::UnknownTask(task_id.into()))?;
        // Read again each time: evicted tasks are rarely requested.
        Ok(SharedTask::restored(found, self.0.journal.clone()))
    }
}

/// The reminders of one task, looked up once for a whole request.
pub struct TaskReminders {
    shared_task: Arc<SharedTask>,
    /// Whether injections outlive the process.
    is_kept: bool,
}

impl TaskReminders {
    /// Returns the known injections into the task, from any process.
    #[must_use]
    pub fn injections(&self) -> &TaskInjections {
        &self.shared_task.injections
    }

    /// Returns the inbox that accepts reminders. Waits while the task's session is opening.
    ///
    /// # Errors
    /// The task is over, or another process runs it.
    pub async fn inbox(&self) -> Result<Inbox, Refusal> {
        self.shared_task.is_here()?;
        self.shared_task.inbox().await
    }

    /// Records an injection with the task.
    ///
    /// # Errors
    /// The record cannot be stored.
    pub async fn injected(&self, what: impl FnOnce() -> Data) -> Result<(), Refusal> {
        if !self.is_kept {
            return Ok(());
        }
        self.shared_task.injected(what());
        self.shared_task.durable().await.map_err(Refusal::Log)
    }

    /// Clears the reminders that `selector` matches. See [`crate::host::SessionHandle::clear_reminders`].
    ///
    /// # Errors
    /// The task is over, or its session refuses.
    pub fn clear(&self, selector: Selector) -> Result<(Vec<Arc<str>>, ClearedCount), Refusal> {
        let handle =
            self.shared_task.handle().ok_or_else(|| Refusal::Host(HostError::Closed(self.shared_task.id.clone())))?;
        handle.clear_reminders(selector).map_err(|error| match error {
            // The maximum number of such requests is already waiting.
            HostError::Busy(_) => Refusal::Queue(QueueError::Full(crate::host::CLEARS)),
            error => Refusal::Host(error),
        })
    }

    /// Reports to subscribers a reminder event that has not reached the transcript.
    pub fn show(&self, event: ReminderEvent) {
        self.shared_task.show(SessionEvent::Reminder(event));
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

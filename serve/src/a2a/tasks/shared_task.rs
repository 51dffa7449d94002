//! [`SharedTask`]: a task shared by the server's thread and its session's thread. One lock orders its changes, which are
//! stored and then reported.

mod end;
mod permit;
mod reply;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::{Frame, Message, Task, TaskState, Version};
use base::data::Data;
use eventlog::{LogError, Ticket};
use runtime::session::Inbox;
use tokio::sync::Notify;

pub(super) use reply::Replier;

use super::state_machine::{HaltReason, TaskEffect, TaskQuestion, TaskStateMachine, is_repeat};
use super::{RestoredTask, TaskChange, TaskJournal, TaskOrigin, TaskPosition};
use crate::a2a::Refusal;
use crate::a2a::feed::{Feed, FeedUpdate, Subscription};
use crate::a2a::injection::{TaskInjections, of_metadata};
use crate::a2a::reminder::PeerReminderEvent;
use crate::clock::now_ms;
use crate::host::{HostError, SessionEvent, SessionHandle};
use crate::store::StoreError;

/// A task, shared by threads.
pub(super) struct SharedTask {
    pub(super) id: Arc<str>,
    pub(super) context_id: Arc<str>,
    /// The first message of the task.
    pub(super) first: Option<Arc<Message>>,
    /// The place up to which it was read, if another process runs it.
    elsewhere: Option<TaskPosition>,
    feed: Feed,
    /// The reminders injected into it.
    pub(super) injections: Arc<TaskInjections>,
    journal: Arc<dyn TaskJournal>,
    state: Mutex<SharedTaskState>,
    /// Notified when the session opens, or when the task waits for its caller, has a reply, must stop, or is over.
    changed: Notify,
    questions: AtomicU64,
}

struct SharedTaskState {
    machine: TaskStateMachine,
    /// When this ticket is durable, so are all changes of the task.
    last: Ticket,
    /// The task before its end, until the end is durable.
    before_end: Option<Arc<Task>>,
    /// The session's handle: `None` before the session opens and after the task ends.
    handle: Option<SessionHandle>,
    /// Whether its session was ever open, in this process or an earlier one.
    has_run: bool,
    /// Whether the server is stopping and the next process continues the task. It no longer changes here.
    is_left: bool,
}

impl SharedTask {
    /// Creates a shared task for a new task and records the task, which is not durable yet.
    pub(super) fn new(
        task: Task,
        version: Version,
        session_id: Option<Arc<str>>,
        begun: TaskOrigin,
        journal: Arc<dyn TaskJournal>,
    ) -> Arc<SharedTask> {
        let mut machine = TaskStateMachine::new(task);
        let task = machine.task();
        let created = TaskChange::Created { task: task.clone(), version, session_id, begun };
        let last = journal.note(&task.id, now_ms(), &created);
        SharedTask::of(&task, journal, SharedTaskState::new(machine, last))
    }

    /// Creates a shared task for a task that an ended process left unfinished and that runs again.
    pub(super) fn again(restored: RestoredTask, journal: Arc<dyn TaskJournal>) -> Arc<SharedTask> {
        let RestoredTask { task, injected, begun, .. } = restored;
        let mut machine = TaskStateMachine::new(Arc::unwrap_or_clone(task));
        machine.still_asks();
        let task = machine.task();
        let state = SharedTaskState::new(machine, Ticket::NONE);
        let shared_task = SharedTask::of(&task, journal, state);
        shared_task.injections.restore(&injected);
        if injected.is_empty() {
            // The process ended before the session was open. Unreadable reminders were refused when they arrived.
            shared_task.injections.hold(of_metadata(&begun.metadata).unwrap_or_default());
        }
        shared_task
    }

    /// Creates a shared task for a recorded task that does not change here: it is over, or another process runs it.
    pub(super) fn restored(restored: RestoredTask, journal: Arc<dyn TaskJournal>) -> Arc<SharedTask> {
        let RestoredTask { task, injected, position, .. } = restored;
        let machine = TaskStateMachine::restored(task.clone());
        let state = SharedTaskState::new(machine, Ticket::NONE);
        let mut shared_task = SharedTask::of(&task, journal, state);
        if let Some(shared_task) = Arc::get_mut(&mut shared_task) {
            shared_task.elsewhere = Some(position).filter(|_| !task.status.state.is_terminal());
        }
        shared_task.injections.restore(&injected);
        shared_task
    }

    /// Checks that this process runs the task.
    ///
    /// # Errors
    /// Another process runs it.
    pub(super) fn is_here(&self) -> Result<(), Refusal> {
        match self.elsewhere {
            Some(_) => Err(Refusal::Host(HostError::Store(StoreError::Elsewhere(self.id.clone())))),
            None => Ok(()),
        }
    }

    /// Returns the place up to which the task was read, if another process runs it.
    pub(super) fn elsewhere(&self) -> Option<&TaskPosition> {
        self.elsewhere.as_ref()
    }

    fn of(task: &Task, journal: Arc<dyn TaskJournal>, state: SharedTaskState) -> Arc<SharedTask> {
        Arc::new(SharedTask {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            first: task.history.first().cloned(),
            elsewhere: None,
            feed: Feed::default(),
            injections: Arc::default(),
            journal,
            state: Mutex::new(state),
            changed: Notify::new(),
            questions: AtomicU64::new(0),
        })
    }

    /// Locks the state. Code that holds this lock does not panic, and every operation leaves the state consistent.
    fn lock(&self) -> MutexGuard<'_, SharedTaskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the task as its caller may see it: the end appears only once it is durable.
    pub(super) fn task(&self) -> Arc<Task> {
        self.lock().task()
    }

    /// Returns the approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        self.lock().machine.weight() + self.injections.weight()
    }

    /// Returns whether the task began with this message or a repeat of it.
    pub(super) fn has_begun_by(&self, message: &Message) -> bool {
        self.first.as_ref().is_some_and(|first| first.message_id == message.message_id && is_repeat(first, message))
    }

    /// Returns whether the session was ever open; a rejected task has not run.
    pub(super) fn has_run(&self) -> bool {
        self.lock().has_run
    }

    /// Subscribes to the task; the task as it is now comes first.
    pub(super) fn follow(&self) -> Subscription {
        let is_over = |state: TaskState| self.elsewhere.is_some() || state.is_terminal();
        self.follow_in(&mut self.lock(), is_over)
    }

    fn follow_in(&self, state: &mut SharedTaskState, is_last: impl FnOnce(TaskState) -> bool) -> Subscription {
        let task = state.task();
        let is_last = is_last(task.status.state);
        self.feed.follow(Frame::Task(task), is_last)
    }

    /// Waits until all records of the task are durable.
    pub(super) async fn durable(&self) -> Result<(), LogError> {
        let last = self.lock().last;
        self.journal.settled(last).await
    }

    /// Waits until the task is over or waits for its caller.
    ///
    /// # Errors
    /// The task is left to the next process.
    pub(super) async fn settled(&self) -> Result<Arc<Task>, Refusal> {
        let task = self.look(|state| state.rests(|is| is.is_terminal() || is.is_interrupted())).await?;
        // A question that a client has seen is also there in the next process. A log that cannot be written delays no
        // client.
        let _ = self.durable().await;
        Ok(task)
    }

    /// Allows a message in place of the task. The task has not begun.
    pub(super) fn may_be_message(&self) {
        self.lock().machine.allow_message();
    }

    /// Waits until it is decided whether the task becomes a message. Returns the task and a subscription from that
    /// point on.
    ///
    /// # Errors
    /// The task is left to the next process.
    pub(super) async fn committed(&self) -> Result<(Arc<Task>, Subscription), Refusal> {
        let rests = |state: TaskState| state.is_terminal() || state.is_interrupted();
        let found = self.look(|state| {
            let is_task = !state.machine.may_be_message();
            state.rests(|is| is_task || rests(is)).map(|task| task.map(|task| (task, self.follow_in(state, rests))))
        });
        let committed = found.await?;
        // See `settled`: a question that a client has seen is also there in the next process.
        let _ = self.durable().await;
        Ok(committed)
    }

    /// Waits until the task is over.
    ///
    /// # Errors
    /// The task is left to the next process.
    pub(super) async fn over(&self) -> Result<Arc<Task>, Refusal> {
        self.look(|state| state.rests(TaskState::is_terminal)).await
    }

    /// Returns the inbox that accepts reminders, once the session is open.
    pub(super) async fn inbox(&self) -> Result<Inbox, Refusal> {
        let found = self.look(|state| match &state.handle {
            _ if state.is_left => Some(Err(LEFT)),
            _ if state.machine.is_over() => {
                Some(Err(Refusal::Over { task_id: self.id.clone(), state: state.machine.state() }))
            }
            Some(handle) => Some(Ok(handle.clone())),
            None => None,
        });
        found.await?.inbox().cloned().map_err(Refusal::Host)
    }

    /// Returns the handle of the session that runs the task, if any.
    pub(super) fn handle(&self) -> Option<SessionHandle> {
        self.lock().handle.clone()
    }

    async fn look<T>(&self, mut found: impl FnMut(&mut SharedTaskState) -> Option<T>) -> T {
        // Most callers need not wait, and a notification has a lock of its own.
        if let Some(found) = found(&mut self.lock()) {
            return found;
        }
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = found(&mut self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Applies a change to the task, then records and reports the result.
    fn change(&self, change: impl FnOnce(&mut TaskStateMachine, u64) -> Vec<TaskEffect>) {
        let mut state = self.lock();
        let now = now_ms();
        let was_open = state.machine.may_be_message();
        let out = if state.is_left { Vec::new() } else { change(&mut state.machine, now) };
        let is_task_now = was_open && !state.machine.may_be_message();
        let rests = state.machine.state().is_interrupted();
        let halts = state.machine.halted().is_some();
        self.put(&mut state, out, now).iter().for_each(|frame| self.tell(frame));
        drop(state);
        if rests || halts || is_task_now {
            self.changed.notify_waiters();
        }
    }

    /// Records the changes, and returns the frames to report.
    fn put(&self, state: &mut SharedTaskState, out: Vec<TaskEffect>, now: u64) -> Vec<Frame> {
        let mut frames = Vec::with_capacity(out.len());
        for out in out {
            let change = match out {
                TaskEffect::Hint(update) => {
                    frames.push(Frame::Status(update));
                    continue;
                }
                TaskEffect::Log(details) => {
                    tracing::warn!("task {}: {details}", self.id.escape_debug());
                    continue;
                }
                TaskEffect::Change(change) => change,
            };
            state.last = self.journal.note(&self.id, now, &change).max(state.last);
            match change {
                TaskChange::Status(update) => frames.push(Frame::Status(update)),
                TaskChange::Artifact(update) => frames.push(Frame::Artifact(update)),
                TaskChange::Created { .. }
                | TaskChange::Said(_)
                | TaskChange::Answered(_)
                | TaskChange::Injected(_) => {}
            }
        }
        frames
    }

    /// Reports a frame. A frame that says that the task waits for its caller ends the subscriptions.
    fn tell(&self, frame: &Frame) {
        let is_last = match frame {
            Frame::Status(update) => {
                let state = update.status.state;
                state.is_terminal() || state.is_interrupted() && update.status.message.is_some()
            }
            _ => false,
        };
        self.feed.tell(&FeedUpdate::Frame(frame.clone()), is_last);
    }

    /// Records that the session is open.
    pub(super) fn opened(&self, handle: &SessionHandle) {
        {
            let mut state = self.lock();
            state.handle = Some(handle.clone());
            state.has_run = true;
        }
        self.change(TaskStateMachine::opened);
        self.changed.notify_waiters();
    }

    /// Applies a session event.
    pub(super) fn show(&self, event: SessionEvent) {
        match event {
            SessionEvent::Reminder(event) => {
                let state = self.lock();
                if !state.is_left && !state.machine.is_over() && self.feed.is_followed() {
                    let reminded = PeerReminderEvent::of(event, &self.injections);
                    self.feed.tell(&FeedUpdate::Reminder(Arc::new(reminded)), false);
                }
            }
            event => self.change(|machine, now| machine.show(event, now)),
        }
    }

    /// Records an injection.
    pub(super) fn injected(&self, what: Data) {
        let mut state = self.lock();
        if !state.is_left && !state.machine.is_over() {
            self.put(&mut state, vec![TaskEffect::Change(TaskChange::Injected(what))], now_ms());
        }
    }

    /// Asks the caller a question from the script.
    pub(super) fn ask(&self, question: &Arc<str>) {
        self.change(|machine, now| machine.ask(TaskQuestion::Question(question.clone()), now));
    }

    /// Injects the reminders that came with the task's messages. They are in the queue when this returns, also if
    /// another call injects them at the same time.
    pub(super) async fn put_held(&self) {
        let Some(handle) = self.handle() else { return };
        let Ok(inbox) = handle.inbox() else { return };
        let (new, ended) = self.injections.put_held(inbox);
        for given in new {
            self.injected(given.to_data());
        }
        for event in ended {
            self.show(SessionEvent::Reminder(event));
        }
        // If the log cannot be written, the task reports that with its next status.
        let _ = inbox.durable().await;
    }

    /// Requests that the task stop.
    ///
    /// # Errors
    /// The task is over.
    pub(super) fn halt(&self, halt: HaltReason) -> Result<(), Refusal> {
        let mut state = self.lock();
        state.machine.halt(halt);
        if state.machine.is_over() {
            let (task_id, state) = (self.id.clone(), state.machine.state());
            return Err(Refusal::NotCancelable { task_id, state });
        }
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Returns the task's state.
    pub(super) fn state(&self) -> TaskState {
        self.lock().machine.state()
    }

    /// Returns whether the task waits for the answer to a question from the script.
    pub(super) fn asks(&self) -> bool {
        self.lock().machine.asks()
    }

    /// Returns whether the task must stop.
    pub(super) fn is_halted(&self) -> bool {
        self.lock().machine.halted().is_some()
    }

    /// Waits until the task must stop, and returns the reason.
    pub(super) async fn halted(&self) -> HaltReason {
        self.look(|state| state.machine.halted()).await
    }

    /// Waits for the reply to the task's question and takes it.
    pub(super) async fn replied(&self) -> Message {
        self.look(|state| state.machine.take_reply()).await
    }
}

/// The refusal for a task that is left to the next process.
const LEFT: Refusal = Refusal::Host(HostError::Stopping);

impl SharedTaskState {
    fn new(machine: TaskStateMachine, last: Ticket) -> SharedTaskState {
        let has_run = machine.state() != TaskState::Submitted;
        SharedTaskState { machine, last, before_end: None, handle: None, has_run, is_left: false }
    }

    /// Returns the task if its state satisfies `so`, or the refusal if the task is left to the next process.
    fn rests(&mut self, so: impl Fn(TaskState) -> bool) -> Option<Result<Arc<Task>, Refusal>> {
        if self.is_left {
            return Some(Err(LEFT));
        }
        let task = self.task();
        so(task.status.state).then_some(Ok(task))
    }

    fn task(&mut self) -> Arc<Task> {
        self.before_end.clone().unwrap_or_else(|| self.machine.task())
    }
}

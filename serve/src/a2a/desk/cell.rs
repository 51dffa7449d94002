//! [`Cell`]: a task, shared by the front's thread and its session's. What becomes of it is written down and told in the one
//! order that its lock gives.

mod end;
mod permit;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::{Frame, Message, Task, TaskState, Version};
use runtime::data::Data;
use runtime::event_log::{LogError, Ticket};
use runtime::session::Inbox;
use tokio::sync::Notify;

use super::life::{Asking, Halt, Life, Out, Reply};
use super::{Begun, Change, Journal, Restored};
use crate::a2a::Refusal;
use crate::a2a::clock::now_ms;
use crate::a2a::feed::{Feed, Subscription, Told};
use crate::a2a::injection::{Incoming, Injections, of_metadata};
use crate::a2a::reminder::Reminded;
use crate::host::{Event, Handle, HostError};
use crate::store::StoreError;

/// A task.
pub(super) struct Cell {
    pub(super) id: Arc<str>,
    pub(super) context_id: Arc<str>,
    /// The message that it began with.
    pub(super) first: Option<Arc<Message>>,
    is_elsewhere: bool,
    feed: Feed,
    /// What was put into it.
    pub(super) injections: Arc<Injections>,
    journal: Arc<dyn Journal>,
    state: Mutex<State>,
    /// Its session is open, it waits for its caller, has a reply, is to stop, or is over.
    changed: Notify,
    questions: AtomicU64,
}

struct State {
    life: Life,
    /// When this is durable, so is all of it.
    last: Ticket,
    /// The task as it was before its end, until that would survive the end of the process.
    before_end: Option<Arc<Task>>,
    /// Nothing before its session is open, and after its end.
    handle: Option<Handle>,
    /// Its session was open, in this process or one before.
    has_run: bool,
    /// The server stops, and the next process goes on with it. Nothing becomes of it here any more.
    is_left: bool,
}

impl Cell {
    /// A task that begins. It is written down, and not durable yet.
    pub(super) fn new(
        task: Task,
        version: Version,
        session_id: Option<Arc<str>>,
        begun: Begun,
        journal: Arc<dyn Journal>,
    ) -> Arc<Cell> {
        let mut life = Life::new(task);
        let task = life.task();
        let created = Change::Created { task: task.clone(), version, session_id, begun };
        let last = journal.note(&task.id, now_ms(), &created);
        Cell::of(&task, journal, State::new(life, last))
    }

    /// A task that a process before has left in the middle, and that runs again.
    pub(super) fn again(restored: Restored, journal: Arc<dyn Journal>) -> Arc<Cell> {
        let Restored { task, injected, begun, .. } = restored;
        let mut life = Life::new(Arc::unwrap_or_clone(task));
        life.still_asks();
        let task = life.task();
        let state = State::new(life, Ticket::NONE);
        let cell = Cell::of(&task, journal, state);
        cell.injections.restore(&injected);
        if injected.is_empty() {
            // The process ended before its session was open. What cannot be read was refused when it came.
            cell.injections.hold(of_metadata(&begun.metadata).unwrap_or_default());
        }
        cell
    }

    /// A task that was written down, and that nothing becomes of here: it is over, or another process has it.
    pub(super) fn restored(restored: Restored, journal: Arc<dyn Journal>) -> Arc<Cell> {
        let Restored { task, injected, .. } = restored;
        let (life, is_elsewhere) = (Life::restored(task.clone()), !task.status.state.is_terminal());
        let state = State::new(life, Ticket::NONE);
        let mut cell = Cell::of(&task, journal, state);
        if let Some(cell) = Arc::get_mut(&mut cell) {
            cell.is_elsewhere = is_elsewhere;
        }
        cell.injections.restore(&injected);
        cell
    }

    /// # Errors
    /// Another process works on it.
    pub(super) fn is_here(&self) -> Result<(), Refusal> {
        match self.is_elsewhere {
            true => Err(Refusal::Host(HostError::Store(StoreError::Elsewhere(self.id.clone())))),
            false => Ok(()),
        }
    }

    /// Whether another process works on it.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    fn of(task: &Task, journal: Arc<dyn Journal>, state: State) -> Arc<Cell> {
        Arc::new(Cell {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            first: task.history.first().cloned(),
            is_elsewhere: false,
            feed: Feed::default(),
            injections: Arc::default(),
            journal,
            state: Mutex::new(state),
            changed: Notify::new(),
            questions: AtomicU64::new(0),
        })
    }

    /// Nothing panics while it holds the lock, and no operation leaves it half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task as its caller may know it: its end only once that would survive.
    pub(super) fn task(&self) -> Arc<Task> {
        self.lock().task()
    }

    /// Roughly the bytes that it takes.
    pub(super) fn weight(&self) -> usize {
        self.lock().life.weight() + self.injections.weight()
    }

    /// Whether its session was ever open: what is rejected has not run.
    pub(super) fn has_run(&self) -> bool {
        self.lock().has_run
    }

    /// Follows it from now on; the task is told first.
    pub(super) fn follow(&self) -> Subscription {
        let is_over = |state: TaskState| self.is_elsewhere || state.is_terminal();
        self.follow_in(&mut self.lock(), is_over)
    }

    fn follow_in(&self, state: &mut State, is_last: impl FnOnce(TaskState) -> bool) -> Subscription {
        let task = state.task();
        let is_last = is_last(task.status.state);
        self.feed.follow(Frame::Task(task), is_last)
    }

    /// Ready once everything of it would survive the end of the process.
    pub(super) async fn kept(&self) -> Result<(), LogError> {
        let last = self.lock().last;
        self.journal.settled(last).await
    }

    /// Waits until it is over or waits for its caller.
    ///
    /// # Errors
    /// It is left to the next process.
    pub(super) async fn settled(&self) -> Result<Arc<Task>, Refusal> {
        let task = self.look(|state| state.rests(|is| is.is_terminal() || is.is_interrupted())).await?;
        // Who has been told of a question finds it in the next process too; a log that cannot be written holds nobody up.
        let _ = self.kept().await;
        Ok(task)
    }

    /// Its caller takes a message in place of it. It has not begun.
    pub(super) fn may_be_message(&self) {
        self.lock().life.allow_message();
    }

    /// Waits until it is sure whether it comes to a message: the task as it is then, and what is told of it from there.
    ///
    /// # Errors
    /// It is left to the next process.
    pub(super) async fn committed(&self) -> Result<(Arc<Task>, Subscription), Refusal> {
        let rests = |state: TaskState| state.is_terminal() || state.is_interrupted();
        let found = self.look(|state| {
            let is_task = !state.life.may_be_message();
            state.rests(|is| is_task || rests(is)).map(|task| task.map(|task| (task, self.follow_in(state, rests))))
        });
        let committed = found.await?;
        // As in `settled`: who has been told of a question finds it in the next process too.
        let _ = self.kept().await;
        Ok(committed)
    }

    /// Waits until it is over.
    ///
    /// # Errors
    /// It is left to the next process.
    pub(super) async fn over(&self) -> Result<Arc<Task>, Refusal> {
        self.look(|state| state.rests(TaskState::is_terminal)).await
    }

    /// What accepts reminders for it, once its session is open.
    pub(super) async fn inbox(&self) -> Result<Inbox, Refusal> {
        let found = self.look(|state| match &state.handle {
            _ if state.is_left => Some(Err(LEFT)),
            _ if state.life.is_over() => {
                Some(Err(Refusal::Over { task_id: self.id.clone(), state: state.life.state() }))
            }
            Some(handle) => Some(Ok(handle.clone())),
            None => None,
        });
        found.await?.inbox().cloned().map_err(Refusal::Host)
    }

    /// The session that works on it, where one does.
    pub(super) fn handle(&self) -> Option<Handle> {
        self.lock().handle.clone()
    }

    async fn look<T>(&self, mut found: impl FnMut(&mut State) -> Option<T>) -> T {
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

    /// Changes it: what comes of that is written down and told.
    fn change(&self, change: impl FnOnce(&mut Life, u64) -> Vec<Out>) {
        self.change_and(change, |_| ());
    }

    /// As [`Cell::change`], and looks at it before anything else becomes of it.
    fn change_and<T>(&self, change: impl FnOnce(&mut Life, u64) -> Vec<Out>, look: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let now = now_ms();
        let was_open = state.life.may_be_message();
        let out = if state.is_left { Vec::new() } else { change(&mut state.life, now) };
        let is_task_now = was_open && !state.life.may_be_message();
        let rests = state.life.state().is_interrupted();
        let halts = state.life.halted().is_some();
        self.put(&mut state, out, now).iter().for_each(|frame| self.tell(frame));
        let seen = look(&mut state);
        drop(state);
        if rests || halts || is_task_now {
            self.changed.notify_waiters();
        }
        seen
    }

    /// Writes down what has become of it, and gives what is told of that.
    fn put(&self, state: &mut State, out: Vec<Out>, now: u64) -> Vec<Frame> {
        let mut frames = Vec::with_capacity(out.len());
        for out in out {
            let change = match out {
                Out::Hint(update) => {
                    frames.push(Frame::Status(update));
                    continue;
                }
                Out::Log(details) => {
                    tracing::warn!("task {}: {details}", self.id.escape_debug());
                    continue;
                }
                Out::Change(change) => change,
            };
            state.last = self.journal.note(&self.id, now, &change).max(state.last);
            match change {
                Change::Status(update) => frames.push(Frame::Status(update)),
                Change::Artifact(update) => frames.push(Frame::Artifact(update)),
                Change::Created { .. } | Change::Said(_) | Change::Answered(_) | Change::Injected(_) => {}
            }
        }
        frames
    }

    /// Who follows a task that waits for its caller is told nothing more until then.
    fn tell(&self, frame: &Frame) {
        let is_last = match frame {
            Frame::Status(update) => {
                let state = update.status.state;
                state.is_terminal() || state.is_interrupted() && update.status.message.is_some()
            }
            _ => false,
        };
        self.feed.tell(&Told::Frame(frame.clone()), is_last);
    }

    /// Its session is open.
    pub(super) fn opened(&self, handle: &Handle) {
        {
            let mut state = self.lock();
            state.handle = Some(handle.clone());
            state.has_run = true;
        }
        self.change(Life::opened);
        self.changed.notify_waiters();
    }

    /// Its session shows something.
    pub(super) fn show(&self, event: Event) {
        match event {
            Event::Reminder(event) => {
                let state = self.lock();
                if !state.is_left && !state.life.is_over() && self.feed.is_followed() {
                    let reminded = Reminded::of(event, &self.injections);
                    self.feed.tell(&Told::Reminder(Arc::new(reminded)), false);
                }
            }
            event => self.change(|life, now| life.show(event, now)),
        }
    }

    /// Something was put in for it.
    pub(super) fn injected(&self, what: Data) {
        let mut state = self.lock();
        if !state.is_left && !state.life.is_over() {
            self.put(&mut state, vec![Out::Change(Change::Injected(what))], now_ms());
        }
    }

    /// The script asks.
    pub(super) fn ask(&self, question: &Arc<str>) {
        self.change(|life, now| life.ask(Asking::Question(question.clone()), now));
    }

    /// Puts in what came with its messages. The queue has it when this returns, whoever else does the same.
    pub(super) async fn put_held(&self) {
        let Some(handle) = self.handle() else { return };
        let Ok(inbox) = handle.inbox() else { return };
        let (new, ended) = self.injections.put_held(inbox);
        for given in new {
            self.injected(given.to_data());
        }
        for event in ended {
            self.show(Event::Reminder(event));
        }
        // Where the log cannot be written the task learns of it with its next status.
        let _ = inbox.durable().await;
    }

    /// Its caller says something; reminders that came with it are held until they are put in. What is told of it from now on:
    /// the task as it is then, and where it still waits for its caller nothing more.
    ///
    /// # Errors
    /// It is over, asks nothing, or is left to the next process.
    pub(super) fn reply(&self, message: &Message, reminders: Vec<Incoming>) -> Result<Subscription, Refusal> {
        self.is_here()?;
        // It stays so where it is left meanwhile: nobody reads what is said then.
        let mut refusal = Some(LEFT);
        let reply = |life: &mut Life, now| match life.reply(message, now) {
            Reply::Taken(out) => {
                self.injections.hold(reminders);
                refusal = None;
                out
            }
            Reply::Known => {
                refusal = None;
                Vec::new()
            }
            Reply::Other => {
                refusal = Some(Refusal::OtherMessage(message.message_id.clone()));
                Vec::new()
            }
            Reply::Unasked => {
                let (task_id, state) = (self.id.clone(), life.state());
                let over = Refusal::Over { task_id: task_id.clone(), state };
                refusal = Some(if life.is_over() { over } else { Refusal::Busy(task_id) });
                Vec::new()
            }
        };
        // What ends the streams of a task that asks on is told before this one is there.
        let rests = |state: TaskState| state.is_terminal() || state.is_interrupted();
        let follows = self.change_and(reply, |state| self.follow_in(state, rests));
        self.changed.notify_waiters();
        refusal.map_or(Ok(follows), Err)
    }

    /// It is to stop.
    ///
    /// # Errors
    /// It is over.
    pub(super) fn halt(&self, halt: Halt) -> Result<(), Refusal> {
        let mut state = self.lock();
        state.life.halt(halt);
        if state.life.is_over() {
            let (task_id, state) = (self.id.clone(), state.life.state());
            return Err(Refusal::NotCancelable { task_id, state });
        }
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Its state.
    pub(super) fn state(&self) -> TaskState {
        self.lock().life.state()
    }

    /// Whether it waits for the answer to a question of the script.
    pub(super) fn asks(&self) -> bool {
        self.lock().life.asks()
    }

    /// Whether it is to stop.
    pub(super) fn is_halted(&self) -> bool {
        self.lock().life.halted().is_some()
    }

    /// Ready once it is to stop: why.
    pub(super) async fn halted(&self) -> Halt {
        self.look(|state| state.life.halted()).await
    }

    /// Ready once it has a reply to its question, for the one who looks after it.
    pub(super) async fn replied(&self) -> Message {
        self.look(|state| state.life.take_reply()).await
    }
}

/// What is refused of a task that is left to the next process.
const LEFT: Refusal = Refusal::Host(HostError::Stopping);

impl State {
    fn new(life: Life, last: Ticket) -> State {
        let has_run = life.state() != TaskState::Submitted;
        State { life, last, before_end: None, handle: None, has_run, is_left: false }
    }

    /// The task, where it stands so that nobody needs to wait for it.
    fn rests(&mut self, so: impl Fn(TaskState) -> bool) -> Option<Result<Arc<Task>, Refusal>> {
        if self.is_left {
            return Some(Err(LEFT));
        }
        let task = self.task();
        so(task.status.state).then_some(Ok(task))
    }

    fn task(&mut self) -> Arc<Task> {
        self.before_end.clone().unwrap_or_else(|| self.life.task())
    }
}

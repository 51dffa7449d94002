//! A worker: its parts and its result.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::call::CallError;
use base::data::Data;
use tokio::sync::Notify;

use crate::agent_loop::snapshot::{Recipe, Suspension};
use crate::agent_loop::snapshot::{SnapshotStorage, WorkerMode};
use crate::agent_loop::{LoopOptions, LoopParts, LoopResult, LoopState, Parking};
use crate::reminder::Reminder;
use crate::scope::Scope;
use crate::session::Session;

use super::{WorkerError, WorkerStatus};

/// A worker.
pub struct Worker {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its task.
    pub task: Arc<str>,
    /// The way it was started.
    pub mode: WorkerMode,
    /// Session it works in.
    pub session: Rc<Session>,
    /// Parts that its loop calls.
    pub parts: LoopParts,
    /// Options of its loop.
    pub options: LoopOptions,
    /// Requests to suspend it.
    pub parking: Rc<Parking>,
    /// Reminders it inherited.
    pub handed: Vec<Arc<Reminder>>,
    /// Its description, for a snapshot.
    pub recipe: Recipe,
    /// Storage of its snapshots.
    pub(super) storage: SnapshotStorage,
    state: RefCell<WorkerState>,
    /// Wakes the tasks that wait for it to come to rest.
    rested: Notify,
}

/// A function that stops a worker for a given reason.
pub type Stopper = Rc<dyn Fn(&str)>;

/// The mutable state of a worker.
#[derive(Default)]
struct WorkerState {
    /// `None` before it has begun.
    status: Option<WorkerStatus>,
    /// Whether its state has been reported to all subscribers.
    at_rest: bool,
    /// Whether it was closed.
    closed: bool,
    work: CurrentWork,
    start: WorkStart,
    parked: ParkedState,
    snapshot: SnapshotPaths,
    end: WorkEnd,
}

/// The current work.
#[derive(Default)]
struct CurrentWork {
    scope: Option<Scope>,
    stopper: Option<Stopper>,
    /// Task after the initial one.
    next_task: Option<Arc<str>>,
}

/// The way it starts or goes on.
#[derive(Default)]
struct WorkStart {
    /// Whether it has begun before.
    begun: bool,
    /// Whether it is being resumed.
    resuming: bool,
    /// Whether it came from a snapshot, which is claimed.
    claimed: bool,
}

/// The state from which a suspended worker is resumed.
#[derive(Default)]
struct ParkedState {
    left: Option<Box<LoopState>>,
    suspension: Option<Suspension>,
}

/// The paths of its snapshots.
#[derive(Default)]
struct SnapshotPaths {
    /// Path of the last snapshot, even if it was resumed since.
    last: Option<Arc<str>>,
    /// Requested path of the next snapshot.
    next: Option<Arc<str>>,
}

/// The end of its last work.
#[derive(Default)]
struct WorkEnd {
    result: Option<Rc<LoopResult>>,
    error: Data,
    /// The error that an observer of its events threw.
    fault: Option<Rc<dyn CallError>>,
    /// Whether its failure was read.
    seen: bool,
}

impl Worker {
    /// Creates a worker that is about to begin, or that another process has suspended.
    #[must_use]
    pub fn new(made: WorkerIdentity, session: Rc<Session>, parts: LoopParts, options: LoopOptions) -> Rc<Worker> {
        let WorkerIdentity { id, name, mode, handed, recipe, storage } = made;
        let state = RefCell::default();
        let (task, parking) = (options.task.clone(), Rc::default());
        let rested = Notify::new();
        Rc::new(Worker {
            id,
            name,
            task,
            mode,
            session,
            parts,
            options,
            parking,
            handed,
            recipe,
            storage,
            state,
            rested,
        })
    }

    /// Returns its status.
    #[must_use]
    pub fn status(&self) -> WorkerStatus {
        self.state.borrow().status.unwrap_or(WorkerStatus::Running)
    }

    /// Sets its next state; `what` is the requested action, for the error if the transition is refused.
    pub fn turn_to(&self, next: WorkerStatus, what: &'static str) -> Result<(), WorkerError> {
        let status = self.status();
        if !status.may_become(next) {
            return Err(WorkerError::State { name: self.name.clone(), status, what });
        }
        let mut state = self.state.borrow_mut();
        state.status = Some(next);
        state.at_rest = false;
        Ok(())
    }

    /// Marks its work as dropped half way because the run ends; it counts as cancelled.
    pub fn abandon(&self) {
        if !self.is_at_rest() {
            self.become_for_certain(WorkerStatus::Cancelled);
            self.rest();
        }
    }

    /// Sets a state regardless of the previous one, because the loop has ended.
    pub(super) fn become_for_certain(&self, next: WorkerStatus) {
        let mut state = self.state.borrow_mut();
        state.status = Some(next);
        state.at_rest = false;
    }

    /// Marks its state as reported and wakes the tasks that wait for it.
    pub(super) fn rest(&self) {
        self.state.borrow_mut().at_rest = true;
        self.rested.notify_waiters();
    }

    /// Returns whether it is at rest: it has ended or is suspended, and all subscribers were notified.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state.borrow().at_rest
    }

    /// Waits until it is at rest.
    pub async fn stopped(&self) {
        loop {
            let rested = self.rested.notified();
            if self.is_at_rest() {
                return;
            }
            rested.await;
        }
    }

    /// Sets the scope of its work, until it ends or is suspended.
    pub fn set_scope(&self, scope: Scope) {
        self.state.borrow_mut().work.scope = Some(scope);
    }

    /// Returns the scope of its work; `None` before it has begun.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        self.state.borrow().work.scope.clone()
    }

    /// Sets the function that cancels the task its work runs in, and everything inside of it.
    pub fn set_stopper(&self, stopper: Stopper) {
        self.state.borrow_mut().work.stopper = Some(stopper);
    }

    /// Stops it if it is running.
    pub fn stop(&self, reason: &str) {
        let (scope, stopper) = {
            let state = self.state.borrow();
            (state.work.scope.clone(), state.work.stopper.clone())
        };
        match (stopper, scope) {
            (Some(stopper), _) => stopper(reason),
            (None, Some(scope)) => scope.cancel.cancel(reason),
            (None, None) => {}
        }
    }

    /// Begins to resume it. Returns false if that has already begun.
    pub(super) fn begin_resuming(&self) -> bool {
        !std::mem::replace(&mut self.state.borrow_mut().start.resuming, true)
    }

    /// Marks it as restored from a snapshot that is claimed already.
    pub(super) fn claim(&self) {
        let mut state = self.state.borrow_mut();
        (state.start.claimed, state.start.begun) = (true, true);
    }

    /// Returns whether its snapshot is claimed, the first time that it is resumed here.
    pub(super) fn has_claimed(&self) -> bool {
        std::mem::take(&mut self.state.borrow_mut().start.claimed)
    }

    /// Ends resuming, successful or not.
    pub(super) fn end_resuming(&self) {
        self.state.borrow_mut().start.resuming = false;
    }

    /// Sets the task to do after the current one.
    pub fn set_next_task(&self, task: Arc<str>) {
        self.state.borrow_mut().work.next_task = Some(task);
    }

    /// Takes the task to do now.
    pub(super) fn take_task(&self) -> Arc<str> {
        self.state.borrow_mut().work.next_task.take().unwrap_or_else(|| self.task.clone())
    }

    /// Returns the last result of its loop.
    #[must_use]
    pub fn result(&self) -> Option<Rc<LoopResult>> {
        self.state.borrow().end.result.clone()
    }

    /// Returns the failure: a dict with `category` and `message`, else nil.
    #[must_use]
    pub fn error(&self) -> Data {
        self.state.borrow().end.error.clone()
    }

    /// Takes the error thrown by an observer of its events.
    #[must_use]
    pub fn take_fault(&self) -> Option<Rc<dyn CallError>> {
        self.state.borrow_mut().end.fault.take()
    }

    /// Keeps an error for the task that waits for it.
    pub fn keep_fault(&self, fault: Rc<dyn CallError>) {
        self.state.borrow_mut().end.fault.get_or_insert(fault);
    }

    /// Returns its suspension.
    #[must_use]
    pub fn suspension(&self) -> Option<Suspension> {
        self.state.borrow().parked.suspension.clone()
    }

    /// Returns the path of its last snapshot, even if it was resumed since.
    #[must_use]
    pub fn snapshot_path(&self) -> Option<Arc<str>> {
        self.state.borrow().snapshot.last.clone()
    }

    /// Sets the path of its last snapshot.
    pub fn set_snapshot_path(&self, path: Option<Arc<str>>) {
        self.state.borrow_mut().snapshot.last = path;
    }

    /// Sets the path of its next snapshot.
    pub fn want_snapshot_at(&self, path: Arc<str>) {
        self.state.borrow_mut().snapshot.next = Some(path);
    }

    /// Takes the requested path of its next snapshot.
    pub(super) fn take_wanted_path(&self) -> Option<Arc<str>> {
        self.state.borrow_mut().snapshot.next.take()
    }

    /// Returns the state that its loop left.
    pub(super) fn left(&self) -> Option<LoopState> {
        self.state.borrow().parked.left.as_deref().cloned()
    }

    /// Returns whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.borrow().closed
    }

    /// Marks it as begun. Returns whether this is the first time.
    pub(super) fn begins(&self) -> bool {
        !std::mem::replace(&mut self.state.borrow_mut().start.begun, true)
    }

    /// Marks its failure as seen.
    pub fn see(&self) {
        self.state.borrow_mut().end.seen = true;
    }

    /// Returns its failure, unless it was seen.
    #[must_use]
    pub fn unseen_failure(&self) -> Option<Data> {
        let state = self.state.borrow();
        (state.status == Some(WorkerStatus::Failed) && !state.end.seen).then(|| state.end.error.clone())
    }

    /// Marks it as closed.
    pub fn close(&self) {
        self.state.borrow_mut().closed = true;
    }

    /// Takes the state that its loop left for going on.
    pub(super) fn take_left(&self) -> Option<Box<LoopState>> {
        self.state.borrow_mut().parked.left.take()
    }

    /// Ends the suspension.
    pub(super) fn unpark(&self) {
        self.state.borrow_mut().parked.suspension = None;
    }

    /// Changes the state that its loop left.
    pub(super) fn with_left(&self, change: impl FnOnce(&mut LoopState)) {
        if let Some(left) = &mut self.state.borrow_mut().parked.left {
            change(left);
        }
    }

    /// Suspends it with its suspension and the state that its loop left.
    pub(super) fn park(&self, left: Box<LoopState>, suspension: Suspension) {
        let mut state = self.state.borrow_mut();
        (state.parked.left, state.parked.suspension) = (Some(left), Some(suspension));
    }

    pub(super) fn settle(&self, result: Option<LoopResult>, error: Data) {
        let mut state = self.state.borrow_mut();
        state.end.seen = false;
        state.end.result = result.map(Rc::new).or_else(|| state.end.result.take());
        state.end.error = error;
    }

    /// Converts the worker to the dict that scripts see, without `transcript`, which they get as a separate value.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let state = self.state.borrow();
        let suspended = state.status == Some(WorkerStatus::Suspended);
        let messages = self.session.with(|session| session.transcript.messages().len());
        Data::dict_of_present([
            ("id", Data::from(&self.id)),
            ("name", (&self.name).into()),
            ("task", (&self.task).into()),
            ("status", state.status.unwrap_or(WorkerStatus::Running).as_str().into()),
            ("mode", self.mode.as_str().into()),
            ("session_id", self.session.id().into()),
            ("parent_id", self.session.with(|session| session.parent_id.clone()).into()),
            ("has_transcript", (messages > 0).into()),
            ("snapshot_path", state.snapshot.last.clone().filter(|_| suspended).into()),
            ("suspension", state.parked.suspension.as_ref().map_or(Data::Nil, Suspension::to_data)),
            ("result", state.end.result.as_ref().map_or(Data::Nil, |result| result.to_data())),
            ("error", state.end.error.clone()),
        ])
    }

    /// Returns the short form that events contain.
    #[must_use]
    pub fn brief(&self) -> Data {
        Data::dict([
            ("id", Data::from(&self.id)),
            ("name", (&self.name).into()),
            ("task", (&self.task).into()),
            ("status", self.status().as_str().into()),
        ])
    }
}

/// The identity of a worker.
pub struct WorkerIdentity {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The way it is started.
    pub mode: WorkerMode,
    /// Reminders it inherits.
    pub handed: Vec<Arc<Reminder>>,
    /// Its description.
    pub recipe: Recipe,
    /// Storage of its snapshots.
    pub storage: SnapshotStorage,
}

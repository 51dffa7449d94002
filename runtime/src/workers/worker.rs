//! A worker: what it is made of, and what it came to.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::agent_loop::{LoopOptions, LoopResult, LoopState, Parking, Parts};
use crate::data::Data;
use crate::reminder::Reminder;
use crate::seam::{Fault, Scope};
use crate::session::Session;

use super::{WorkerError, WorkerMode, WorkerStatus};

/// Why and when a worker was suspended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// Why.
    pub reason: Arc<str>,
    /// The last turn before it.
    pub suspended_at_turn: u32,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub suspended_at_ms: u64,
    /// Whether the model asked for it.
    pub by_itself: bool,
}

impl Suspension {
    /// As scripts see it.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict([
            ("reason", Data::from(&self.reason)),
            ("suspended_at_turn", self.suspended_at_turn.into()),
            ("suspended_at_ms", self.suspended_at_ms.into()),
            ("initiator", if self.by_itself { "self" } else { "operator" }.into()),
        ])
    }
}

/// A worker.
pub struct Worker {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its task.
    pub task: Arc<str>,
    /// How it was started.
    pub mode: WorkerMode,
    /// Where it works.
    pub session: Rc<Session>,
    /// What its loop calls.
    pub parts: Parts,
    /// What its loop is told.
    pub options: LoopOptions,
    /// Where wishes to suspend it are left.
    pub parking: Rc<Parking>,
    /// What it was handed.
    pub handed: Vec<Arc<Reminder>>,
    /// How it was described, for a snapshot.
    pub recipe: Recipe,
    state: RefCell<State>,
    /// Wakes those who wait for it to come to rest.
    rested: Notify,
}

/// What stops a worker, told why.
pub type Stopper = Rc<dyn Fn(&str)>;

/// What changes.
#[derive(Default)]
struct State {
    /// `None` before it has begun.
    status: Option<WorkerStatus>,
    /// Its state has been reported to all who are notified.
    at_rest: bool,
    /// Someone has closed it.
    closed: bool,
    work: Work,
    start: Start,
    parked: Parked,
    snapshot: SnapshotPaths,
    end: End,
}

/// The work at hand.
#[derive(Default)]
struct Work {
    scope: Option<Scope>,
    stopper: Option<Stopper>,
    /// The task after the one that it was made for.
    next_task: Option<Arc<str>>,
}

/// How it starts or goes on.
#[derive(Default)]
struct Start {
    /// It has begun before.
    begun: bool,
    /// It is being resumed.
    resuming: bool,
    /// It came from a snapshot, which is claimed.
    claimed: bool,
}

/// What a suspended worker is resumed from.
#[derive(Default)]
struct Parked {
    left: Option<Box<LoopState>>,
    suspension: Option<Suspension>,
}

/// Where its snapshots are.
#[derive(Default)]
struct SnapshotPaths {
    /// Where the last one is, or was before it was resumed.
    last: Option<Arc<str>>,
    /// Where the next one is wanted.
    next: Option<Arc<str>>,
}

/// How its work ended the last time.
#[derive(Default)]
struct End {
    result: Option<Rc<LoopResult>>,
    error: Data,
    /// What an observer of its events threw.
    fault: Option<Rc<dyn Fault>>,
    /// Its failure was read.
    seen: bool,
}

impl Worker {
    /// A worker that is about to begin, or that another process has suspended.
    #[must_use]
    pub fn new(made: Made, session: Rc<Session>, parts: Parts, options: LoopOptions) -> Rc<Worker> {
        let Made { id, name, mode, handed, recipe } = made;
        let state = RefCell::default();
        let (task, parking) = (options.task.clone(), Rc::default());
        let rested = Notify::new();
        Rc::new(Worker { id, name, task, mode, session, parts, options, parking, handed, recipe, state, rested })
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> WorkerStatus {
        self.state.borrow().status.unwrap_or(WorkerStatus::Running)
    }

    /// Its next state; `what` was asked of it, where that is refused.
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

    /// Its work was dropped half way (the run ends): it counts as cancelled.
    pub fn abandon(&self) {
        if !self.is_at_rest() {
            self.become_for_certain(WorkerStatus::Cancelled);
            self.rest();
        }
    }

    /// A state that follows whatever was before: the loop has ended so.
    pub(super) fn become_for_certain(&self, next: WorkerStatus) {
        let mut state = self.state.borrow_mut();
        state.status = Some(next);
        state.at_rest = false;
    }

    /// Everybody has been told of its state: those who wait for it go on.
    pub(super) fn rest(&self) {
        self.state.borrow_mut().at_rest = true;
        self.rested.notify_waiters();
    }

    /// Whether it does nothing: it has ended or is suspended, and everybody knows.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state.borrow().at_rest
    }

    /// Waits until it does nothing any more.
    pub async fn stopped(&self) {
        loop {
            let rested = self.rested.notified();
            if self.is_at_rest() {
                return;
            }
            rested.await;
        }
    }

    /// What surrounds its work, for as long as it goes on this time.
    pub fn set_scope(&self, scope: Scope) {
        self.state.borrow_mut().work.scope = Some(scope);
    }

    /// What surrounds its work; nothing before it has begun.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        self.state.borrow().work.scope.clone()
    }

    /// Where its work is a task of its own: what cancels that task, and with it whatever runs inside it.
    pub fn set_stopper(&self, stopper: Stopper) {
        self.state.borrow_mut().work.stopper = Some(stopper);
    }

    /// Stops it, where it runs.
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

    /// Begins to resume it: false where somebody else has begun that.
    pub(super) fn begin_resuming(&self) -> bool {
        !std::mem::replace(&mut self.state.borrow_mut().start.resuming, true)
    }

    /// It came from a snapshot, which is claimed already.
    pub(super) fn claim(&self) {
        let mut state = self.state.borrow_mut();
        (state.start.claimed, state.start.begun) = (true, true);
    }

    /// Whether its snapshot is claimed, the first time that it is resumed here.
    pub(super) fn has_claimed(&self) -> bool {
        std::mem::take(&mut self.state.borrow_mut().start.claimed)
    }

    /// It goes on, or resuming it has failed.
    pub(super) fn end_resuming(&self) {
        self.state.borrow_mut().start.resuming = false;
    }

    /// What it is to do next, once it has done its task.
    pub fn set_next_task(&self, task: Arc<str>) {
        self.state.borrow_mut().work.next_task = Some(task);
    }

    /// What it is to do now.
    pub(super) fn take_task(&self) -> Arc<str> {
        self.state.borrow_mut().work.next_task.take().unwrap_or_else(|| self.task.clone())
    }

    /// What its loop came to, the last time.
    #[must_use]
    pub fn result(&self) -> Option<Rc<LoopResult>> {
        self.state.borrow().end.result.clone()
    }

    /// What failed: a dict with `category` and `message`, else nil.
    #[must_use]
    pub fn error(&self) -> Data {
        self.state.borrow().end.error.clone()
    }

    /// What was thrown while it was told of, once: an observer of its events that wanted more than to observe.
    #[must_use]
    pub fn take_fault(&self) -> Option<Rc<dyn Fault>> {
        self.state.borrow_mut().end.fault.take()
    }

    /// Keeps what was thrown for whoever waits for it.
    pub fn keep_fault(&self, fault: Rc<dyn Fault>) {
        self.state.borrow_mut().end.fault.get_or_insert(fault);
    }

    /// Why it is suspended.
    #[must_use]
    pub fn suspension(&self) -> Option<Suspension> {
        self.state.borrow().parked.suspension.clone()
    }

    /// Where its last snapshot is, or was before it was resumed.
    #[must_use]
    pub fn snapshot_path(&self) -> Option<Arc<str>> {
        self.state.borrow().snapshot.last.clone()
    }

    /// Where its last snapshot is.
    pub fn set_snapshot_path(&self, path: Option<Arc<str>>) {
        self.state.borrow_mut().snapshot.last = path;
    }

    /// Where its next snapshot is to be.
    pub fn want_snapshot_at(&self, path: Arc<str>) {
        self.state.borrow_mut().snapshot.next = Some(path);
    }

    /// Where somebody wants its next snapshot to be.
    pub(super) fn take_wanted_path(&self) -> Option<Arc<str>> {
        self.state.borrow_mut().snapshot.next.take()
    }

    /// What its loop left.
    pub(super) fn left(&self) -> Option<LoopState> {
        self.state.borrow().parked.left.as_deref().cloned()
    }

    /// Whether somebody has closed it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.borrow().closed
    }

    /// It begins; whether for the first time.
    pub(super) fn begins(&self) -> bool {
        !std::mem::replace(&mut self.state.borrow_mut().start.begun, true)
    }

    /// Somebody has learnt of its failure.
    pub fn see(&self) {
        self.state.borrow_mut().end.seen = true;
    }

    /// Its failure, where nobody has learnt of it.
    #[must_use]
    pub fn unseen_failure(&self) -> Option<Data> {
        let state = self.state.borrow();
        (state.status == Some(WorkerStatus::Failed) && !state.end.seen).then(|| state.end.error.clone())
    }

    /// Notes that somebody has closed it.
    pub fn close(&self) {
        self.state.borrow_mut().closed = true;
    }

    /// What its loop left for going on, once.
    pub(super) fn take_left(&self) -> Option<Box<LoopState>> {
        self.state.borrow_mut().parked.left.take()
    }

    /// It goes on: the suspension is over.
    pub(super) fn unpark(&self) {
        self.state.borrow_mut().parked.suspension = None;
    }

    /// Changes what its loop left.
    pub(super) fn with_left(&self, change: impl FnOnce(&mut LoopState)) {
        if let Some(left) = &mut self.state.borrow_mut().parked.left {
            change(left);
        }
    }

    /// It is suspended: why, and what its loop left.
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

    /// As scripts see it, without `transcript`, which they get as a value of its own.
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

    /// How events name it.
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

/// Who a worker is.
pub struct Made {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// How it is started.
    pub mode: WorkerMode,
    /// What it inherits.
    pub handed: Vec<Arc<Reminder>>,
    /// How it was described.
    pub recipe: Recipe,
}

/// How a worker was described, as far as a file can say it.
#[derive(Debug, Clone, Default)]
pub struct Recipe {
    /// The options that are data.
    pub options: Data,
    /// The names of those that are not.
    pub needs: Vec<Arc<str>>,
    /// Where its snapshots go when nobody says where; nothing means nowhere.
    pub folder: Option<Arc<str>>,
}

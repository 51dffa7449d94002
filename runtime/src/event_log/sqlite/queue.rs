//! Records on their way to the writer, and the tasks that wait for them.
//!
//! The queue is bounded. While the file can be written, a caller that appends too fast waits for room. While it cannot,
//! no caller waits forever: records that do not fit are counted as lost, the log ends there, and every caller that
//! waits for durability gets the error.
//!
//! A caller that holds a lock of its own must not wait while it appends: it reserves [`Room`] first. A host's thread
//! serves many sessions and may not even wait for that. It has a separate margin, and is refused if that is full too.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::event_log::room::RoomStore;
use crate::event_log::{LogError, NewRecord, Place, Room};

/// Records that may wait for the writer.
pub(super) const MOST_RECORDS: usize = 8192;
/// Bytes that may wait for the writer, roughly.
const MOST_BYTES: usize = 64 << 20;
/// Records that may wait beyond those, if hosts put them in.
pub(super) const HOST_RECORDS: usize = 8192;
/// Bytes that may wait beyond those, if hosts put them in.
const HOST_BYTES: usize = 16 << 20;
/// Records of one transaction.
pub(super) const BATCH: usize = 512;
/// Pause of the writer between two attempts that no caller requested.
const REST: Duration = Duration::from_secs(1);
/// Interval at which the writer checks for records of other processes, while a reader waits.
const LOOK: Duration = Duration::from_millis(20);

/// A record on its way.
pub(super) struct Item {
    pub(super) record: NewRecord,
    pub(super) ticket: u64,
    /// Slot for its place, if an emitter waits for it.
    pub(super) reply: Option<Reply>,
    weight: usize,
}

/// Slot for the place of a record.
pub(super) type Reply = Arc<Mutex<Option<Result<Place, LogError>>>>;

/// Puts an answer where it is waited for.
pub(super) fn answer(reply: &Reply, result: Result<Place, LogError>) {
    *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
}

/// State shared by the writer and the appending threads.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// There is something to do for the writer.
    work: Condvar,
    /// The writer has done something.
    progress: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Item>,
    queued: usize,
    /// Records that room is set aside for.
    reserved: usize,
    /// Bytes that are set aside for them.
    reserved_bytes: usize,
    /// Tickets given out.
    appended: u64,
    /// The ticket of the last record that was taken into the queue.
    kept: u64,
    /// Tickets that are settled: written, or reported to the one who emitted.
    settled: u64,
    /// Attempts that failed.
    failures: u64,
    /// Why what is unwritten could not be written; nothing once it was.
    failing: Option<LogError>,
    /// Why nothing will be written any more.
    ended: Option<LogError>,
    /// The writer has ended.
    dead: bool,
    /// Wakers of tasks that wait for a ticket or a failure.
    waiting: BTreeMap<(u64, u64), Waker>,
    /// Wakers of tasks that wait for records.
    watching: BTreeMap<u64, Waker>,
    last_waiter: u64,
    /// Threads that are blocked on `progress`.
    blocked: usize,
    /// Set when a caller waits for durability: the writer must not pause.
    urged: bool,
    /// The writer sleeps.
    idle: bool,
    closing: bool,
    /// Written records, to be freed by the threads that made them: memory is counted by thread.
    spent: Vec<Item>,
}

impl State {
    /// Returns the result for a ticket, for a caller that has seen `failures` failed attempts before; `None` while it
    /// is undecided.
    fn verdict(&self, upto: u64, failures: u64) -> Option<Result<(), LogError>> {
        if self.settled >= upto {
            return Some(Ok(()));
        }
        let hopeless = self.dead || self.settled >= self.kept;
        match (&self.ended, &self.failing) {
            (Some(why), _) if hopeless => Some(Err(self.as_lost(why))),
            (ended, Some(error)) if self.failures > failures => {
                Some(Err(ended.as_ref().map_or_else(|| error.clone(), |why| self.as_lost(why))))
            }
            _ => None,
        }
    }

    fn as_lost(&self, why: &LogError) -> LogError {
        let count = self.appended - self.settled;
        LogError::Lost { count, why: Box::new(why.clone()) }
    }

    fn is_full(&self, weight: usize) -> bool {
        !self.has_room(1, weight, MOST_RECORDS, MOST_BYTES)
    }

    /// Whether so much fits. Something fits into an empty queue, however large it is.
    fn has_room(&self, records: usize, bytes: usize, most_records: usize, most_bytes: usize) -> bool {
        let waiting = self.queue.len() + self.reserved;
        waiting == 0
            || (waiting.saturating_add(records) <= most_records
                && (self.queued + self.reserved_bytes).saturating_add(bytes) <= most_bytes)
    }

    /// Whether the writer is at work, so that room may still come.
    fn may_write(&self) -> bool {
        self.ended.is_none() && self.failing.is_none()
    }

    /// Nothing will be written any more.
    fn die(&mut self, why: LogError) {
        self.dead = true;
        let why = self.ended.get_or_insert(why).clone();
        let lost = self.as_lost(&why);
        self.queued = 0;
        for item in std::mem::take(&mut self.queue) {
            if let Some(reply) = &item.reply {
                answer(reply, Err(lost.clone()));
            }
        }
    }

    fn wake_all(&mut self) -> Vec<Waker> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        waiting.chain(std::mem::take(&mut self.watching).into_values()).collect()
    }
}

/// The writer's next action.
pub(super) enum Step {
    /// It writes what it was given.
    Write,
    /// It looks whether another process has written.
    Look,
    /// It ends; nothing is left, or nothing can be done about it.
    End,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a record and returns its ticket. Blocks while the queue is full and the file can be written.
    pub(super) fn append(&self, record: NewRecord, reply: Option<Reply>) -> u64 {
        let weight = record.weight();
        let mut state = self.lock();
        while state.may_write() && state.is_full(weight) {
            state = self.block(state);
        }
        self.take(state, record, weight, reply)
    }

    /// Takes a record into room that was set aside; its ticket. Never blocks: what was not set aside goes beyond the bound.
    pub(super) fn append_in(&self, room: &mut Room, record: NewRecord) -> u64 {
        let weight = record.weight();
        let (records, bytes) = (room.records.min(1), room.bytes.min(weight));
        (room.records, room.bytes) = (room.records - records, room.bytes - bytes);
        let mut state = self.lock();
        (state.reserved, state.reserved_bytes) = (state.reserved - records, state.reserved_bytes - bytes);
        self.take(state, record, weight, None)
    }

    /// Sets room aside. Blocks while there is none and the file can be written.
    pub(super) fn reserve(self: &Arc<Self>, records: usize, bytes: usize) -> Room {
        let mut state = self.lock();
        while state.may_write() && !state.has_room(records, bytes, MOST_RECORDS, MOST_BYTES) {
            state = self.block(state);
        }
        self.set_aside(state, records, bytes)
    }

    /// Sets room aside for a host, which does not wait for it.
    pub(super) fn reserve_now(self: &Arc<Self>, records: usize, bytes: usize) -> Option<Room> {
        let state = self.lock();
        let fits = state.has_room(records, bytes, MOST_RECORDS + HOST_RECORDS, MOST_BYTES + HOST_BYTES);
        // A file that cannot be written answers by the ticket, not by a lack of room.
        (fits || !state.may_write()).then(|| self.set_aside(state, records, bytes))
    }

    /// Whether so much could be set aside without a wait.
    #[cfg(test)]
    pub(super) fn would_take(&self, records: usize, bytes: usize) -> bool {
        let state = self.lock();
        state.queue.len() + state.reserved + records <= MOST_RECORDS && state.queued + bytes <= MOST_BYTES
    }

    fn set_aside(self: &Arc<Self>, mut state: MutexGuard<'_, State>, records: usize, bytes: usize) -> Room {
        if !state.may_write() {
            return Room::default();
        }
        state.reserved += records;
        state.reserved_bytes += bytes;
        drop(state);
        Room::new(self.clone(), records, bytes)
    }

    fn take(&self, mut state: MutexGuard<'_, State>, record: NewRecord, weight: usize, reply: Option<Reply>) -> u64 {
        state.appended += 1;
        let ticket = state.appended;
        if state.ended.is_none() && weight > NewRecord::MOST {
            state.ended = Some(LogError::TooLarge { bytes: weight, most: NewRecord::MOST });
        }
        if state.ended.is_none() && state.is_full(weight) {
            state.ended = state.failing.clone();
        }
        if let Some(why) = &state.ended {
            let why = state.as_lost(why);
            if let Some(reply) = reply {
                answer(&reply, Err(why));
            }
            return ticket;
        }
        state.kept = ticket;
        state.queued += weight;
        state.queue.push_back(Item { record, ticket, reply, weight });
        let spent = std::mem::take(&mut state.spent);
        if std::mem::take(&mut state.idle) {
            self.work.notify_one();
        }
        drop(state);
        drop(spent);
        ticket
    }

    fn block<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.blocked += 1;
        state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.blocked -= 1;
        state
    }

    /// Returns how many records are not settled, and how many may wait for the writer.
    pub(super) fn backlog(&self) -> (u64, u64) {
        let state = self.lock();
        (state.appended - state.settled, (MOST_RECORDS + HOST_RECORDS) as u64)
    }

    /// Blocks until everything that was appended so far is written.
    pub(super) fn flush(&self) -> Result<(), LogError> {
        let mut state = self.lock();
        let (upto, failures) = (state.appended, state.failures);
        loop {
            if let Some(verdict) = state.verdict(upto, failures) {
                return verdict;
            }
            self.urge(&mut state);
            state = self.block(state);
        }
    }

    fn urge(&self, state: &mut State) {
        if state.failing.is_some() && !state.urged {
            state.urged = true;
            self.work.notify_one();
        }
    }

    /// Closes the queue. The writer writes the rest and gives up at the next failure.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        state.urged = true;
        self.work.notify_one();
    }

    /// Returns the writer's next action. `pending` holds the items not yet written; new ones are appended to it.
    pub(super) fn next_step(&self, pending: &mut Vec<Item>) -> Step {
        let mut state = self.lock();
        let start = Instant::now();
        loop {
            if state.dead || (state.closing && state.failing.is_some() && !state.urged) {
                return Step::End;
            }
            let rests = state.failing.is_some() && !state.urged && start.elapsed() < REST;
            let has_work = !pending.is_empty() || !state.queue.is_empty();
            if has_work && !rests {
                state.urged = false;
                self.fill(&mut state, pending);
                return Step::Write;
            }
            if state.closing {
                return Step::End;
            }
            if state.failing.is_none() && !state.watching.is_empty() && start.elapsed() >= LOOK {
                return Step::Look;
            }
            let time = if state.failing.is_some() || state.watching.is_empty() { REST } else { LOOK };
            state.idle = state.failing.is_none();
            state = self.work.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
            state.idle = false;
        }
    }

    fn fill(&self, state: &mut State, pending: &mut Vec<Item>) {
        let count = BATCH.saturating_sub(pending.len()).min(state.queue.len());
        let taken = pending.len();
        pending.extend(state.queue.drain(..count));
        state.queued -= pending[taken..].iter().map(|item| item.weight).sum::<usize>();
        if state.blocked > 0 {
            self.progress.notify_all();
        }
    }

    /// A batch is in the file; its records go back to be freed.
    pub(super) fn written(&self, batch: &mut Vec<Item>, upto: u64) {
        let (woken, old) = {
            let mut state = self.lock();
            state.settled = upto;
            state.failing = None;
            // No caller may append any more, so spent items must not pile up.
            let old = std::mem::replace(&mut state.spent, std::mem::take(batch));
            if state.blocked > 0 {
                self.progress.notify_all();
            }
            let later = state.waiting.split_off(&(upto + 1, 0));
            let woken = std::mem::replace(&mut state.waiting, later).into_values();
            (woken.chain(std::mem::take(&mut state.watching).into_values()).collect::<Vec<_>>(), old)
        };
        woken.into_iter().for_each(Waker::wake);
        drop(old);
    }

    /// A batch could not be written. `settled` is how far tickets are settled all the same.
    pub(super) fn failed(&self, error: LogError, settled: Option<u64>) {
        let woken = {
            let mut state = self.lock();
            state.failures += 1;
            state.urged = false;
            if let Some(upto) = settled {
                state.settled = upto;
            }
            if error.is_final() {
                state.die(error.clone());
            }
            state.failing = settled.is_none().then_some(error);
            self.progress.notify_all();
            state.wake_all()
        };
        woken.into_iter().for_each(Waker::wake);
    }

    /// Records that the writer has ended, for whatever reason, and releases all waiters.
    pub(super) fn ended(&self, why: LogError) {
        let woken = {
            let mut state = self.lock();
            let why = state.failing.clone().unwrap_or(why);
            state.die(why);
            self.progress.notify_all();
            state.wake_all()
        };
        woken.into_iter().for_each(Waker::wake);
    }

    /// Another process has written.
    pub(super) fn news(&self) {
        let woken = std::mem::take(&mut self.lock().watching);
        woken.into_values().for_each(Waker::wake);
    }

    /// Returns a new waiter number.
    pub(super) fn waiter(&self) -> u64 {
        let mut state = self.lock();
        state.last_waiter += 1;
        state.last_waiter
    }

    /// Registers a waker for new records.
    pub(super) fn watch(&self, waiter: u64, waker: &Waker) {
        let mut state = self.lock();
        let is_first = state.watching.is_empty();
        state.watching.insert(waiter, waker.clone());
        if is_first && std::mem::take(&mut state.idle) {
            // It must look at the file from now on.
            self.work.notify_one();
        }
    }

    /// Whether nothing has come since [`Shared::watch`]. If so, this waker is woken.
    pub(super) fn watches_still(&self, waiter: u64, waker: &Waker) -> bool {
        let mut state = self.lock();
        let watched = state.watching.get_mut(&waiter);
        watched.map(|watched| watched.clone_from(waker)).is_some()
    }

    pub(super) fn unwatch(&self, waiter: u64) {
        self.lock().watching.remove(&waiter);
    }
}

impl RoomStore for Shared {
    fn free(&self, records: usize, bytes: usize) {
        let mut state = self.lock();
        state.reserved -= records;
        state.reserved_bytes -= bytes;
        if state.blocked > 0 {
            self.progress.notify_all();
        }
    }
}

/// Ready once everything up to a ticket is durable.
pub(super) struct Durable {
    shared: Arc<Shared>,
    upto: u64,
    waiter: u64,
    /// Number of failed attempts when the wait began.
    failures: Option<u64>,
}

impl Durable {
    pub(super) fn new(shared: Arc<Shared>, upto: u64) -> Durable {
        let (upto, waiter) = {
            let mut state = shared.lock();
            state.last_waiter += 1;
            (upto.min(state.appended), state.last_waiter)
        };
        Durable { shared, upto, waiter, failures: None }
    }
}

impl Future for Durable {
    type Output = Result<(), LogError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.shared.lock();
        let failures = *this.failures.get_or_insert(state.failures);
        if let Some(verdict) = state.verdict(this.upto, failures) {
            return Poll::Ready(verdict);
        }
        this.shared.urge(&mut state);
        state.waiting.insert((this.upto, this.waiter), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        self.shared.lock().waiting.remove(&(self.upto, self.waiter));
    }
}

/// Ready once a record has its place.
pub(super) struct Emitted {
    reply: Reply,
    /// Wakes when the ticket is settled, or when an attempt failed.
    durable: Durable,
}

impl Emitted {
    /// Appends the record at once; whether anybody waits for it changes nothing.
    pub(super) fn new(shared: Arc<Shared>, record: NewRecord) -> Emitted {
        let reply = Reply::default();
        let ticket = shared.append(record, Some(reply.clone()));
        Emitted { reply, durable: Durable::new(shared, ticket) }
    }
}

impl Future for Emitted {
    type Output = Result<Place, LogError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.durable.shared.lock();
        if let Some(result) = this.reply.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Poll::Ready(result);
        }
        if let (true, Some(why)) = (state.dead, &state.ended) {
            return Poll::Ready(Err(state.as_lost(why)));
        }
        this.durable.shared.urge(&mut state);
        state.waiting.insert((this.durable.upto, this.durable.waiter), cx.waker().clone());
        Poll::Pending
    }
}

//! Records on their way to the writer, and the tasks that wait for them.
//!
//! Appending never waits. The queue is bounded, and a full one is an answer:
//!
//! - A batch is refused once [`MOST_RECORDS`] wait.
//! - A host reserves a [`LogReservation`] before it takes a lock. It has a margin above that, and is refused if it is full too.
//! - Records of a run cannot be refused. Its driver does not go on while the queue is full ([`RoomWait`]), so a run adds no
//!   more than what it writes between two of its turns.
//!
//! Records beyond all limits are lost: they are counted, and callers that wait for their durability get the error. While
//! the file cannot be written, no caller waits for room, and records are lost from the first limit on. The log works again
//! once the file can be written.
//!
//! - `waits`: futures of what becomes of records, and of room.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use super::commit::Placed;
use base::failures::{FailedOperation, report};
use tokio::sync::oneshot;

use crate::log::{AppendError, Batch, Written};
use crate::reservation::ReservationStore;
use crate::{LogError, LogReservation, NewRecord, RecordPosition};

mod waits;

pub(super) use waits::{DurabilityWait, ReplyWait, RoomWait};

/// Maximum number of records that wait for the writer.
pub(super) const MOST_RECORDS: usize = 8192;
/// Approximate maximum size of the records that wait for the writer, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// Additional records that may be queued if hosts inject them.
pub(super) const HOST_RECORDS: usize = 8192;
/// Additional bytes that may be queued if hosts inject them.
const HOST_BYTES: usize = 16 << 20;
/// Number of records that wait for the writer beyond which all others are lost.
pub(super) const ALL_RECORDS: usize = 8 * MOST_RECORDS;
/// Size of waiting records beyond which all others are lost, in bytes.
const ALL_BYTES: usize = 4 * MOST_BYTES;
/// Maximum number of records of one transaction.
pub(super) const BATCH: usize = 512;
/// Maximum number of gaps that a log remembers.
const MOST_LOST: usize = 64;
/// Pause of the writer between two attempts that no caller requested.
const REST: Duration = Duration::from_secs(1);
/// Interval at which the writer checks for records of other processes, while a reader waits.
const LOOK: Duration = Duration::from_millis(20);

/// An item on its way to the writer.
pub(super) struct QueuedItem {
    pub(super) content: QueuedContent,
    pub(super) ticket: u64,
    weight: usize,
}

/// Content that is written as a whole or not at all.
pub(super) enum QueuedContent {
    /// A record, and the slot for its place if an emitter waits for it.
    Record(NewRecord, Option<PositionSlot>),
    /// The records of a batch, and the slot for their places.
    Batch(Box<Batch>, BatchSlot),
    /// No record, and the slot for the place of the last one before it.
    Mark(PositionSlot),
}

/// A place between two records on their way to a log in a file.
#[derive(Debug)]
pub struct LogMark(PositionSlot);

impl LogMark {
    /// Returns the cursor of the last record before it, or the error for which it is not known; `None` while what was
    /// appended before is not written.
    pub(super) fn cursor(&self) -> Option<Result<u64, LogError>> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        place.map(|place| place.map(|place| place.cursor))
    }
}

/// Slot for a reply.
type ReplySlot<T> = Arc<Mutex<Option<T>>>;
/// Slot for the place of a record.
pub(super) type PositionSlot = ReplySlot<Result<RecordPosition, LogError>>;
/// Slot for the places of the records of a batch.
pub(super) type BatchSlot = ReplySlot<Result<Written, AppendError>>;

/// Stores a reply for its waiter.
fn answer<T>(reply: &ReplySlot<T>, result: T) {
    *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
}

impl QueuedContent {
    fn weight(&self) -> usize {
        match self {
            QueuedContent::Record(record, _) => record.weight(),
            QueuedContent::Batch(batch, _) => batch.weight(),
            QueuedContent::Mark(_) => 0,
        }
    }

    /// Returns the number of records.
    fn count(&self) -> usize {
        match self {
            QueuedContent::Record(..) => 1,
            QueuedContent::Batch(batch, _) => batch.records.len(),
            QueuedContent::Mark(_) => 0,
        }
    }

    /// Tells the waiter where the content was written.
    pub(super) fn placed(&self, placed: Placed) {
        match (self, placed) {
            (QueuedContent::Record(_, Some(reply)) | QueuedContent::Mark(reply), Placed::Record(place)) => {
                answer(reply, Ok(place));
            }
            (QueuedContent::Batch(_, reply), Placed::Batch(result)) => answer(reply, result),
            // No caller waits for it. A place is never that of other content.
            _ => {}
        }
    }

    /// Tells the waiter that the content was not written. Returns whether there is one: the content must not be written
    /// later, then.
    pub(super) fn refuse(&self, error: &LogError) -> bool {
        match self {
            QueuedContent::Record(_, Some(reply)) | QueuedContent::Mark(reply) => answer(reply, Err(error.clone())),
            QueuedContent::Record(_, None) => return false,
            QueuedContent::Batch(_, reply) => answer(reply, Err(error.clone().into())),
        }
        true
    }
}

/// A request to remove the records of a topic before a cursor.
pub(super) struct TrimRequest {
    pub(super) topic: Arc<str>,
    pub(super) before: u64,
    /// Number of records removed so far.
    pub(super) removed: u64,
    done: oneshot::Sender<Result<u64, LogError>>,
}

/// State shared by the writer and the appending threads.
#[derive(Default)]
pub(super) struct WriteQueue {
    state: Mutex<WriteQueueState>,
    /// Signals work for the writer.
    work: Condvar,
    /// Signals progress of the writer.
    progress: Condvar,
}

#[derive(Default)]
struct WriteQueueState {
    queue: VecDeque<QueuedItem>,
    queued: usize,
    /// Number of records for which room is reserved.
    reserved: usize,
    /// Number of bytes reserved for them.
    reserved_bytes: usize,
    /// Number of tickets issued.
    appended: u64,
    /// Ticket of the last queued record.
    kept: u64,
    /// Number of settled tickets: written, or reported to their emitter.
    settled: u64,
    /// Number of failed attempts.
    failures: u64,
    /// The error of the last failed write; `None` after a successful one.
    failing: Option<LogError>,
    /// The error after which nothing is written any more.
    ended: Option<LogError>,
    /// Whether a server writes the log for many sessions, so that losses are reported only to those that wait for the lost
    /// records.
    serves: bool,
    /// The number of lost records that no wait for all records has reported yet, and the first error; not for a server.
    unreported: Option<(u64, LogError)>,
    /// The error for which records are refused; `None` after a successful write or probe.
    unavailable: Option<LogError>,
    /// Whether records are lost until something is written again.
    overflowed: bool,
    /// The tickets of lost records, oldest first.
    lost: Vec<LostTickets>,
    /// Whether the writer has ended.
    dead: bool,
    /// Wakers of tasks that wait for a ticket or a failure.
    waiting: BTreeMap<(u64, u64), Waker>,
    /// Wakers of drivers that wait for room.
    roomless: BTreeMap<u64, Waker>,
    /// Wakers of tasks that wait for records.
    watching: BTreeMap<u64, Waker>,
    last_waiter: u64,
    /// Number of threads blocked on `progress`.
    blocked: usize,
    /// Set when a caller waits for durability: the writer must not pause.
    urged: bool,
    /// Whether the writer sleeps.
    idle: bool,
    closing: bool,
    /// Requests to remove old records, the first of which is being worked on.
    trims: VecDeque<TrimRequest>,
    /// Whether the writer's last step removed records, so that waiting ones are next.
    trimmed: bool,
    /// Number of batches written.
    commits: u64,
    /// Written records, to be freed by the threads that created them, because memory is counted per thread.
    spent: Vec<QueuedItem>,
}

/// The tickets of records that were lost in a row.
struct LostTickets {
    first: u64,
    last: u64,
    why: LogError,
}

impl WriteQueueState {
    /// Loses a record.
    fn lose(&mut self, ticket: u64, why: LogError) -> LogError {
        if !self.serves {
            self.unreported.get_or_insert((0, why.clone())).0 += 1;
        }
        match self.lost.last_mut() {
            Some(lost) if lost.last + 1 == ticket => lost.last = ticket,
            _ => self.lost.push(LostTickets { first: ticket, last: ticket, why: why.clone() }),
        }
        if self.lost.len() > MOST_LOST {
            // Waiters of the oldest ones have their answer.
            self.lost.remove(0);
        }
        LogError::Lost { count: 1, why: Box::new(why) }
    }

    /// Returns the error for which a record does not fit. Once one was lost, so are later ones until something is written.
    fn no_room(&mut self, weight: usize) -> Option<LogError> {
        self.overflowed = match (self.failing.is_some(), self.overflowed) {
            (true, true) => true,
            (false, false) => !self.has_room(1, weight, ALL_RECORDS, ALL_BYTES),
            _ => self.is_full(weight),
        };
        self.overflowed.then(|| self.failing.clone().unwrap_or(LogError::Full))
    }

    /// Returns the ticket up to which all records are written, once that one is.
    fn all(&self) -> u64 {
        if self.overflowed || self.ended.is_some() { self.appended } else { self.kept }
    }

    /// Returns the result for a ticket, for a caller that has seen `failures` failed attempts before; `None` while it
    /// is undecided.
    fn verdict(&self, upto: u64, failures: u64) -> Option<Result<(), LogError>> {
        if let Some(lost) = self.lost.iter().find(|lost| (lost.first..=lost.last).contains(&upto)) {
            let count = lost.last - lost.first + 1;
            return Some(Err(LogError::Lost { count, why: Box::new(lost.why.clone()) }));
        }
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

    /// Returns whether the records fit. Anything fits into an empty queue, however large it is.
    fn has_room(&self, records: usize, bytes: usize, most_records: usize, most_bytes: usize) -> bool {
        let waiting = self.queue.len() + self.reserved;
        waiting == 0
            || (waiting.saturating_add(records) <= most_records
                && (self.queued + self.reserved_bytes).saturating_add(bytes) <= most_bytes)
    }

    /// Returns whether the writer is at work, so that room may still become free.
    fn may_write(&self) -> bool {
        self.ended.is_none() && self.failing.is_none()
    }

    /// Ends the log: nothing is written any more.
    fn die(&mut self, why: LogError) {
        self.dead = true;
        let why = self.ended.get_or_insert(why).clone();
        let lost = self.as_lost(&why);
        self.queued = 0;
        for request in std::mem::take(&mut self.trims) {
            let _ = request.done.send(Err(why.clone()));
        }
        for item in std::mem::take(&mut self.queue) {
            item.content.refuse(&lost);
        }
    }

    fn wake_all(&mut self) -> Vec<Waker> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        let roomless = std::mem::take(&mut self.roomless).into_values();
        waiting.chain(roomless).chain(std::mem::take(&mut self.watching).into_values()).collect()
    }

    /// Takes the wakers of those that wait for room, if there is some.
    fn with_room(&mut self) -> Vec<Waker> {
        if self.roomless.is_empty() || self.is_behind() {
            return Vec::new();
        }
        std::mem::take(&mut self.roomless).into_values().collect()
    }

    /// Returns whether too much waits, and may still be written.
    fn is_behind(&self) -> bool {
        self.may_write() && self.is_full(0)
    }
}

/// The writer's next action.
pub(super) enum WriterStep {
    /// It writes the given records.
    Write,
    /// It removes some records.
    Trim(TrimRequest),
    /// It checks whether another process has written.
    Look,
    /// It checks whether records can be written again.
    Probe,
    /// It ends, because all is written or writing is impossible.
    End,
}

impl WriteQueue {
    fn lock(&self) -> MutexGuard<'_, WriteQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a record and returns its ticket. Never blocks.
    pub(super) fn append(&self, record: NewRecord, reply: Option<PositionSlot>) -> u64 {
        let weight = record.weight();
        self.take(self.lock(), QueuedContent::Record(record, reply), weight)
    }

    /// Appends a batch and returns its ticket. Never blocks.
    fn append_batch(&self, batch: Batch, reply: BatchSlot) -> Result<u64, AppendError> {
        let content = QueuedContent::Batch(Box::new(batch), reply);
        let weight = content.weight();
        let state = self.lock();
        if state.ended.is_none() && state.is_full(weight) {
            // Without room because nothing can be written, it is not a matter of waiting a little.
            return Err(state.failing.clone().map_or(AppendError::Full, AppendError::Unavailable));
        }
        Ok(self.take(state, content, weight))
    }

    /// Queues a mark after what was appended so far.
    pub(super) fn mark(&self) -> LogMark {
        let slot = PositionSlot::default();
        self.take(self.lock(), QueuedContent::Mark(slot.clone()), 0);
        LogMark(slot)
    }

    /// Appends a record into reserved room and returns its ticket.
    pub(super) fn append_in(&self, room: &mut LogReservation, record: NewRecord) -> u64 {
        let weight = record.weight();
        let (records, bytes) = (room.records.min(1), room.bytes.min(weight));
        (room.records, room.bytes) = (room.records - records, room.bytes - bytes);
        let mut state = self.lock();
        (state.reserved, state.reserved_bytes) = (state.reserved - records, state.reserved_bytes - bytes);
        self.take(state, QueuedContent::Record(record, None), weight)
    }

    /// Reserves room for a host, without waiting.
    pub(super) fn reserve_now(self: &Arc<Self>, records: usize, bytes: usize) -> Option<LogReservation> {
        let state = self.lock();
        let fits = state.has_room(records, bytes, MOST_RECORDS + HOST_RECORDS, MOST_BYTES + HOST_BYTES);
        // If the file cannot be written, the error is reported by the ticket, not as a lack of room.
        (fits || !state.may_write()).then(|| self.set_aside(state, records, bytes))
    }

    /// Returns the number of records that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    fn set_aside(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, WriteQueueState>,
        records: usize,
        bytes: usize,
    ) -> LogReservation {
        if !state.may_write() {
            return LogReservation::default();
        }
        state.reserved += records;
        state.reserved_bytes += bytes;
        drop(state);
        LogReservation::new(self.clone(), records, bytes)
    }

    fn take(&self, mut state: MutexGuard<'_, WriteQueueState>, content: QueuedContent, weight: usize) -> u64 {
        state.appended += 1;
        let ticket = state.appended;
        let too_large =
            (weight > NewRecord::MOST).then_some(LogError::TooLarge { bytes: weight, most: NewRecord::MOST });
        if let Some(why) = &state.ended {
            content.refuse(&state.as_lost(why));
            return ticket;
        }
        if let Some(why) = too_large.or_else(|| state.no_room(weight)) {
            let why = state.lose(ticket, why);
            report(FailedOperation::Write, "records lost", format_args!("{why}; {}", why.help()));
            content.refuse(&why);
            return ticket;
        }
        state.kept = ticket;
        state.queued += weight;
        state.queue.push_back(QueuedItem { content, ticket, weight });
        let spent = std::mem::take(&mut state.spent);
        if std::mem::take(&mut state.idle) {
            self.work.notify_one();
        }
        drop(state);
        drop(spent);
        ticket
    }

    /// Requests the removal of the records of a topic before a cursor. The receiver gets their number.
    pub(super) fn trim(&self, topic: Arc<str>, before: u64) -> oneshot::Receiver<Result<u64, LogError>> {
        let (done, receiver) = oneshot::channel();
        let mut state = self.lock();
        match &state.ended {
            Some(why) => drop(done.send(Err(why.clone()))),
            None => state.trims.push_back(TrimRequest { topic, before, removed: 0, done }),
        }
        if std::mem::take(&mut state.idle) {
            self.work.notify_one();
        }
        receiver
    }

    /// Records that a step of a removal was taken. It is continued unless it failed or nothing is left.
    pub(super) fn trimmed(&self, mut request: TrimRequest, step: Result<(u64, bool), LogError>) {
        match step {
            Ok((removed, true)) => {
                request.removed += removed;
                self.lock().trims.push_front(request);
            }
            // The caller may have stopped waiting.
            Ok((removed, false)) => drop(request.done.send(Ok(request.removed + removed))),
            Err(error) => drop(request.done.send(Err(error))),
        }
    }

    /// Lets the log go on whatever becomes of its file, and reports losses only to those that wait for the lost records.
    pub(super) fn serve(&self) {
        self.lock().serves = true;
    }

    /// Returns whether records can be written, as far as the last attempt has shown.
    pub(super) fn availability(&self) -> Result<(), LogError> {
        let state = self.lock();
        state.ended.as_ref().or(state.unavailable.as_ref()).map_or(Ok(()), |why| Err(why.clone()))
    }

    /// Returns like [`WriteQueue::availability`], and whether there is room.
    pub(super) fn accepts(&self) -> Result<(), LogError> {
        let state = self.lock();
        let why = state.ended.as_ref().or(state.unavailable.as_ref());
        match why {
            Some(why) => Err(why.clone()),
            None if state.is_full(0) => Err(LogError::Full),
            None => Ok(()),
        }
    }

    /// Returns whether a failure must not end the log.
    pub(super) fn outlasts(&self, error: &LogError) -> bool {
        !error.is_final() || (self.lock().serves && matches!(error, LogError::Gone { .. }))
    }

    /// Records the result of a probe.
    pub(super) fn probed(&self, result: Result<(), LogError>) {
        let mut state = self.lock();
        state.failing = result.as_ref().err().cloned().filter(|_| state.failing.is_some());
        state.overflowed &= result.is_err();
        state.unavailable = result.err();
    }

    /// Returns the number of settled tickets.
    pub(super) fn settled(&self) -> u64 {
        self.lock().settled
    }

    /// Returns the number of batches written.
    pub(super) fn commits(&self) -> u64 {
        self.lock().commits
    }

    fn block<'a>(&self, mut state: MutexGuard<'a, WriteQueueState>) -> MutexGuard<'a, WriteQueueState> {
        state.blocked += 1;
        state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.blocked -= 1;
        state
    }

    /// Returns the number of unsettled records and its limit.
    pub(super) fn backlog(&self) -> (u64, u64) {
        let state = self.lock();
        (state.appended - state.settled, (MOST_RECORDS + HOST_RECORDS) as u64)
    }

    /// Returns the ticket up to which records can be read once it is settled. Lost records cannot be read, and do not keep
    /// others from being read.
    pub(super) fn visible_upto(&self) -> u64 {
        let state = self.lock();
        if state.ended.is_some() { state.appended } else { state.kept }
    }

    /// Blocks until everything appended so far is written.
    pub(super) fn flush(&self) -> Result<(), LogError> {
        let upto = self.visible_upto();
        let mut state = self.lock();
        let failures = state.failures;
        loop {
            if let Some(verdict) = state.verdict(upto, failures) {
                return verdict;
            }
            self.urge(&mut state);
            state = self.block(state);
        }
    }

    fn urge(&self, state: &mut WriteQueueState) {
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
    pub(super) fn next_step(&self, pending: &mut Vec<QueuedItem>) -> WriterStep {
        let mut state = self.lock();
        let start = Instant::now();
        loop {
            if state.dead || (state.closing && state.failing.is_some() && !state.urged) {
                return WriterStep::End;
            }
            let rests = state.failing.is_some() && !state.urged && start.elapsed() < REST;
            let has_work = !pending.is_empty() || !state.queue.is_empty();
            // Removals and batches take turns. A removal waits while the file cannot be written, and the end does not
            // wait for it.
            let may_trim = state.failing.is_none() && !state.closing && !(has_work && state.trimmed);
            if may_trim && let Some(request) = state.trims.pop_front() {
                state.trimmed = true;
                return WriterStep::Trim(request);
            }
            if has_work && !rests {
                state.urged = false;
                state.trimmed = false;
                Self::fill(&mut state, pending);
                let woken = state.with_room();
                drop(state);
                woken.into_iter().for_each(Waker::wake);
                return WriterStep::Write;
            }
            if state.closing {
                return WriterStep::End;
            }
            if state.unavailable.is_some() && !has_work && start.elapsed() >= REST {
                return WriterStep::Probe;
            }
            if state.failing.is_none() && !state.watching.is_empty() && start.elapsed() >= LOOK {
                return WriterStep::Look;
            }
            let time = if state.failing.is_some() || state.watching.is_empty() { REST } else { LOOK };
            state.idle = state.failing.is_none();
            state = self.work.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
            state.idle = false;
        }
    }

    fn fill(state: &mut WriteQueueState, pending: &mut Vec<QueuedItem>) {
        let taken = pending.len();
        let mut records: usize = pending.iter().map(|item| item.content.count()).sum();
        let fits = |item: &&QueuedItem| {
            records += item.content.count();
            records <= BATCH
        };
        // One that is larger than a transaction has one to itself.
        let count = state.queue.iter().take_while(fits).count();
        let count = if pending.is_empty() { count.max(1) } else { count };
        pending.extend(state.queue.drain(..count.min(state.queue.len())));
        state.queued -= pending[taken..].iter().map(|item| item.weight).sum::<usize>();
    }

    /// Records that a batch was written; its records are returned to be freed.
    pub(super) fn written(&self, batch: &mut Vec<QueuedItem>, upto: u64) {
        let (woken, old) = {
            let mut state = self.lock();
            state.settled = upto;
            state.commits += 1;
            (state.failing, state.unavailable, state.overflowed) = (None, None, false);
            if state.ended.is_none() && state.queue.is_empty() {
                // All others are lost.
                state.settled = state.appended;
            }
            // No caller may append any more, so spent items must not pile up.
            let old = std::mem::replace(&mut state.spent, std::mem::take(batch));
            if state.blocked > 0 {
                self.progress.notify_all();
            }
            // Once a log that has ended has written what it kept, all later tickets are lost, and who waits for them is told.
            let is_over = state.ended.is_some() && state.settled >= state.kept;
            let next = if is_over { u64::MAX } else { state.settled + 1 };
            let later = state.waiting.split_off(&(next, 0));
            let woken = std::mem::replace(&mut state.waiting, later).into_values();
            let roomless = state.with_room();
            (woken.chain(roomless).chain(std::mem::take(&mut state.watching).into_values()).collect::<Vec<_>>(), old)
        };
        woken.into_iter().for_each(Waker::wake);
        drop(old);
    }

    /// Records that a batch could not be written. Tickets up to `settled` are settled all the same.
    pub(super) fn failed(&self, error: LogError, settled: Option<u64>) {
        let is_final = !self.outlasts(&error);
        let woken = {
            let mut state = self.lock();
            state.failures += 1;
            state.urged = false;
            if let Some(upto) = settled {
                state.settled = upto;
            }
            if is_final {
                state.die(error.clone());
            }
            state.unavailable = Some(error.clone());
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

    /// Records that another process has written.
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
            // It must check the file from now on.
            self.work.notify_one();
        }
    }

    /// Returns whether nothing has come since [`WriteQueue::watch`]. In that case this waker is woken.
    pub(super) fn watches_still(&self, waiter: u64, waker: &Waker) -> bool {
        let mut state = self.lock();
        let watched = state.watching.get_mut(&waiter);
        watched.map(|watched| watched.clone_from(waker)).is_some()
    }

    pub(super) fn unwatch(&self, waiter: u64) {
        self.lock().watching.remove(&waiter);
    }
}

impl ReservationStore for WriteQueue {
    fn free(&self, records: usize, bytes: usize) {
        let woken = {
            let mut state = self.lock();
            state.reserved -= records;
            state.reserved_bytes -= bytes;
            state.with_room()
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

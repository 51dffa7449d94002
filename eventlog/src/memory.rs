//! The log in memory.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use base::call::{Answer, LocalFuture, Outcome, call_error};

use crate::log::{LeaseClock, LiveFeeds};
use crate::{
    DurableFuture, EventLog, LogError, LogReader, NewRecord, RUN_ID, Record, RecordBatch, RecordFilter, RecordPosition,
    SharedLog, Subscription, Ticket,
};
use rows::{RecordRow, RecordRows};
use subjects::SubjectTable;
use topics::TopicIndex;

mod log;
mod rows;
mod subjects;
mod topics;

/// Retention of a log in memory. The oldest records are dropped first, a sixteenth of them at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRetention {
    /// Records.
    pub records: usize,
    /// Approximate size in bytes: texts, and a little for each value.
    pub bytes: usize,
}

impl Default for MemoryRetention {
    fn default() -> MemoryRetention {
        MemoryRetention { records: 1 << 18, bytes: 256 << 20 }
    }
}

/// A log that lives as long as its process. Clones are the same log and may move to other threads.
#[derive(Clone, Default)]
pub struct MemoryLog(SharedStore);

#[derive(Clone, Default)]
struct SharedStore(Arc<Mutex<MemoryStore>>);

impl SharedStore {
    /// Takes the lock even if it is poisoned: no operation leaves the records half changed. A batch that panics while
    /// its size is computed leaves at most a size that is too high.
    fn lock(&self) -> MutexGuard<'_, MemoryStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct MemoryStore {
    kept: MemoryRetention,
    rows: RecordRows,
    topics: TopicIndex,
    subjects: SubjectTable,
    clock: LeaseClock,
    live: LiveFeeds,
    /// Wakers of waiting readers, by reader number.
    waiting: BTreeMap<u64, Waker>,
    readers: u64,
    /// The error of a refused record, to be reported to the next waiter.
    refused: Option<LogError>,
}

impl MemoryLog {
    /// Creates an empty log with the default retention.
    #[must_use]
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// Returns an empty log that keeps at least one record and at most `kept`.
    #[must_use]
    pub fn keeping(kept: MemoryRetention) -> MemoryLog {
        MemoryLog(SharedStore(Arc::new(Mutex::new(MemoryStore { kept, ..MemoryStore::default() }))))
    }

    /// Returns an empty log whose leases end by a clock.
    #[must_use]
    pub fn with_clock(clock: LeaseClock) -> MemoryLog {
        MemoryLog(SharedStore(Arc::new(Mutex::new(MemoryStore { clock, ..MemoryStore::default() }))))
    }

    /// Returns all kept records, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<Record>> {
        let store = self.0.lock();
        store.rows.behind(store.rows.gone, &RecordFilter::default()).collect()
    }

    pub(super) fn last_id(&self, topic: &str) -> Option<u64> {
        self.0.lock().topics.last_id(topic)
    }

    pub(super) fn page(&self, filter: &RecordFilter, limit: usize) -> Result<Vec<Arc<Record>>, LogError> {
        let store = self.0.lock();
        let records = store.behind(store.start(filter.after), filter)?;
        Ok(records.take(limit).collect())
    }

    /// Returns the error of a refused record. Otherwise succeeds at once: a log in memory is not expected to survive a
    /// crash.
    fn hold(&self, upto: Ticket) -> Result<(), LogError> {
        let mut store = self.0.lock();
        if upto.0 <= store.rows.last { Ok(()) } else { store.refused.take().map_or(Ok(()), Err) }
    }

    fn enter(&self, record: NewRecord) -> Result<RecordPosition, LogError> {
        let weight = record.weight();
        if weight > NewRecord::MOST {
            return Err(LogError::TooLarge { bytes: weight, most: NewRecord::MOST });
        }
        Ok(self.change(|store| {
            // Outside of servers, most records name no subject.
            let subject = record.headers.get(RUN_ID).as_shared_str();
            let place = store.rows.put(record, weight, &mut store.topics);
            if let Some(subject) = subject {
                store.subjects.note_single(&subject, place.cursor);
            }
            place
        }))
    }

    /// Appends, drops excess records, and wakes the waiters.
    fn change<T>(&self, append: impl FnOnce(&mut MemoryStore) -> T) -> T {
        let (done, waiting, old) = {
            let mut store = self.0.lock();
            let done = append(&mut store);
            let waiting = if store.waiting.is_empty() { BTreeMap::new() } else { std::mem::take(&mut store.waiting) };
            (done, waiting, store.trim())
        };
        waiting.into_values().for_each(Waker::wake);
        drop(old);
        done
    }
}

impl MemoryStore {
    /// Removes excess records; the caller drops them when nothing is borrowed.
    fn trim(&mut self) -> Vec<RecordRow> {
        let (rows, kept, mut old) = (&mut self.rows, self.kept, Vec::new());
        if let Some(more) = rows.len().checked_sub(kept.records).filter(|more| *more > 0) {
            rows.take_oldest(more.max(kept.records / 16).min(rows.len() - 1), &mut old);
        }
        while rows.weight > kept.bytes && rows.len() > 1 {
            rows.take_oldest(1, &mut old);
        }
        old
    }

    /// Returns the position where a reader starts that asks for records after a cursor; 0 means the oldest that is
    /// kept.
    fn start(&self, after: u64) -> u64 {
        if after == 0 { self.rows.gone } else { after }
    }

    /// Returns the selected records after a position.
    fn behind<'a>(
        &'a self,
        position: u64,
        filter: &'a RecordFilter,
    ) -> Result<impl Iterator<Item = Arc<Record>> + 'a, LogError> {
        let gone = self.rows.gone;
        if position < gone {
            return Err(LogError::Lagged { lost: gone - position, resume_from: gone });
        }
        Ok(self.rows.behind(position, filter))
    }
}

impl EventLog for MemoryLog {
    fn append(&self, record: NewRecord) -> Ticket {
        match self.enter(record) {
            Ok(place) => Ticket(place.cursor),
            Err(error) => {
                self.0.lock().refused = Some(error);
                Ticket::ALL
            }
        }
    }

    fn tell(&self, batch: Arc<dyn RecordBatch>, occurred_at_ms: u64) -> Ticket {
        if (0..batch.count()).any(|place| batch.weight(place) > NewRecord::MOST / 2) {
            // Records may be as large as the limit, so each is checked.
            let records = (0..batch.count()).map(|place| NewRecord::of(&batch, place, occurred_at_ms));
            return records.fold(Ticket::NONE, |last, record| last.max(self.append(record)));
        }
        Ticket(self.change(|store| {
            store.rows.tell(&batch, occurred_at_ms, &mut store.topics);
            store.rows.last
        }))
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<RecordPosition>> {
        Answer::Now(self.enter(record).map_err(call_error))
    }

    fn reader(&self) -> LogReader {
        self.clone().into()
    }

    fn durable(&self, upto: Ticket) -> LocalFuture<'_, Outcome<()>> {
        Box::pin(std::future::ready(self.hold(upto).map_err(call_error)))
    }

    fn subscribe(&self, filter: RecordFilter) -> Box<dyn Subscription> {
        let mut store = self.0.lock();
        store.readers += 1;
        let (number, position) = (store.readers, store.start(filter.after));
        Box::new(MemorySubscription { store: self.0.clone(), filter, position, number })
    }
}

impl SharedLog for MemoryLog {
    fn put(&self, record: NewRecord) -> Ticket {
        self.append(record)
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        Box::pin(std::future::ready(self.hold(upto)))
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(self.clone())
    }
}

/// Reads from the log itself, so a slow reader costs no memory.
struct MemorySubscription {
    store: SharedStore,
    filter: RecordFilter,
    /// Cursor of the last visited record.
    position: u64,
    number: u64,
}

impl MemorySubscription {
    /// Returns the next available record. If none is available, registers the waker for the next one.
    fn take(&mut self, waiting: Option<&Waker>) -> Result<Option<Arc<Record>>, LogError> {
        let mut store = self.store.lock();
        let found = match store.behind(self.position, &self.filter) {
            Ok(mut records) => {
                let found = records.next();
                // Records that were checked and not selected need not be checked again.
                self.position = found.as_ref().map_or(store.rows.last.max(self.position), |record| record.cursor);
                found
            }
            Err(error) => {
                self.position = store.rows.gone;
                return Err(error);
            }
        };
        if let (None, Some(waker)) = (&found, waiting) {
            store.waiting.insert(self.number, waker.clone());
        }
        Ok(found)
    }
}

impl Subscription for MemorySubscription {
    fn try_next(&mut self) -> Answer<'_, Outcome<Option<Arc<Record>>>> {
        Answer::Now(self.take(None).map_err(call_error))
    }

    fn next(&mut self) -> LocalFuture<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(poll_fn(|cx| match self.take(Some(cx.waker())) {
            Ok(None) => Poll::Pending,
            there => Poll::Ready(there.map_err(call_error)),
        }))
    }
}

impl Drop for MemorySubscription {
    fn drop(&mut self) {
        self.store.lock().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests;

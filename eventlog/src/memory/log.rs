//! The log in memory as a [`Log`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::log::{
    Append, AppendError, Batch, ClaimError, Lease, LiveFeed, Log, LogFuture, Page, Query, Subject, SubjectQuery, Tail,
    TailItem, Written,
};
use crate::{LogError, NewRecord, Record, RecordFilter, Ticket};

use super::{MemoryLog, MemoryStore, SharedStore};

/// Answers with what is known already.
fn ready<T: Send + 'static>(value: T) -> LogFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl MemoryStore {
    fn append_batch(&mut self, mut batch: Batch) -> Result<Written, AppendError> {
        batch.stamp();
        if let Some(record) = batch.records.iter().find(|record| record.weight() > NewRecord::MOST) {
            return Err(LogError::TooLarge { bytes: record.weight(), most: NewRecord::MOST }.into());
        }
        if let Some(repeated) = self.subjects.check(&batch, &self.clock)? {
            return Ok(repeated);
        }
        let mut cursors = Vec::with_capacity(batch.records.len());
        for record in std::mem::take(&mut batch.records) {
            let weight = record.weight();
            cursors.push(self.rows.put(record, weight, &mut self.topics).cursor);
        }
        Ok(self.subjects.note(&batch, cursors))
    }

    /// Returns the selected records that are kept, oldest first.
    fn select<'a>(&'a self, query: &'a Query, filter: &'a RecordFilter) -> impl Iterator<Item = Arc<Record>> + 'a {
        let records = self.rows.behind(query.after.max(self.rows.gone), filter);
        let in_range = records.take_while(|record| query.before.is_none_or(|before| record.cursor < before));
        in_range.filter(|record| query.takes(record))
    }

    /// Returns the cursor up to which records of a query may have been removed.
    fn removed_before(&self, query: &Query) -> u64 {
        let dropped = if self.rows.gone > 0 { self.rows.gone + 1 } else { 0 };
        dropped.max(self.subjects.trimmed_before(query.subject.as_deref()))
    }

    fn page(&self, query: &Query, limit: usize) -> Page {
        let filter = filter_of(query);
        let found = self.select(query, &filter);
        let records = if query.backwards {
            let mut last = VecDeque::new();
            for record in found {
                if last.len() == limit {
                    last.pop_front();
                }
                if limit > 0 {
                    last.push_back(record);
                }
            }
            last.into_iter().rev().collect()
        } else {
            found.take(limit).collect()
        };
        let removed = self.removed_before(query);
        let trimmed_before = if removed > query.after + 1 { removed } else { 0 };
        Page { records, trimmed_before, head: self.rows.last }
    }
}

fn filter_of(query: &Query) -> RecordFilter {
    // Several topics are selected by the query itself.
    let topic = match query.topics.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    RecordFilter { topic, kind_prefix: query.kind_prefix.clone(), after: query.after }
}

impl Log for MemoryLog {
    fn append(&self, batch: Batch) -> Append {
        let (outcome, last) = self.change(|store| (store.append_batch(batch), store.rows.last));
        Append::now(Ticket(last), outcome)
    }

    fn read(&self, query: Query, limit: usize) -> LogFuture<'static, Result<Page, LogError>> {
        ready(Ok(self.0.lock().page(&query, limit)))
    }

    fn tail(&self, query: Query) -> Box<dyn Tail> {
        let mut store = self.0.lock();
        store.readers += 1;
        let query = Query { before: None, backwards: false, ..query };
        Box::new(MemoryTail { store: self.0.clone(), number: store.readers, told: query.after + 1, query })
    }

    fn claim(
        &self,
        subject: Arc<str>,
        owner: Arc<str>,
        ttl: Duration,
    ) -> LogFuture<'static, Result<Lease, ClaimError>> {
        let store = &mut *self.0.lock();
        ready(store.subjects.claim(&subject, &owner, ttl, &store.clock))
    }

    fn renew(&self, lease: Lease, ttl: Duration) -> LogFuture<'static, Result<(), ClaimError>> {
        let store = &mut *self.0.lock();
        ready(store.subjects.renew(&lease, Some(ttl), &store.clock))
    }

    fn release(&self, lease: Lease) -> LogFuture<'static, Result<(), LogError>> {
        let store = &mut *self.0.lock();
        // One that has ended needs no release.
        let _ = store.subjects.renew(&lease, None, &store.clock);
        ready(Ok(()))
    }

    fn owner_of(&self, subject: Arc<str>) -> LogFuture<'static, Result<Option<Lease>, LogError>> {
        let store = self.0.lock();
        ready(Ok(store.subjects.owner_of(&subject, &store.clock)))
    }

    fn subjects(&self, query: SubjectQuery) -> LogFuture<'static, Result<Vec<Subject>, LogError>> {
        let store = self.0.lock();
        ready(Ok(store.subjects.select(&query, &store.clock)))
    }

    fn trim(&self, subject: Arc<str>, before: u64) -> LogFuture<'static, Result<u64, LogError>> {
        let (removed, old) = {
            let store = &mut *self.0.lock();
            let old = store.rows.remove_of(&subject, before);
            let removed = old.len() as u64;
            store.subjects.trim(&subject, before, removed);
            (removed, old)
        };
        drop(old);
        ready(Ok(removed))
    }

    fn live(&self, subject: &str) -> LiveFeed {
        self.0.lock().live.feed(subject)
    }
}

/// Reads from the log itself, so a slow reader costs no memory.
struct MemoryTail {
    store: SharedStore,
    /// Selects what comes next.
    query: Query,
    /// Cursor up to which the reader knows of removed records.
    told: u64,
    number: u64,
}

impl MemoryTail {
    fn take(&mut self, waker: &Waker) -> Option<TailItem> {
        let mut store = self.store.lock();
        let removed = store.removed_before(&self.query);
        if removed > self.told.max(self.query.after + 1) {
            self.told = removed;
            return Some(TailItem::Gap { before: removed });
        }
        let found = store.select(&self.query, &filter_of(&self.query)).next();
        // Records that were not selected need not be looked at again.
        self.query.after = found.as_ref().map_or(store.rows.last.max(self.query.after), |record| record.cursor);
        if found.is_none() {
            store.waiting.insert(self.number, waker.clone());
        }
        found.map(TailItem::Record)
    }
}

impl Tail for MemoryTail {
    fn next(&mut self) -> LogFuture<'_, Result<TailItem, LogError>> {
        Box::pin(poll_fn(|cx| self.take(cx.waker()).map_or(Poll::Pending, |item| Poll::Ready(Ok(item)))))
    }
}

impl Drop for MemoryTail {
    fn drop(&mut self) {
        self.store.lock().waiting.remove(&self.number);
    }
}

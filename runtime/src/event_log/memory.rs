//! The log in memory.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::seam::{Answer, Local, Outcome, fault};

use super::{EventLog, Filter, LogError, NewRecord, Place, Record, Settled, SharedLog, Subscription, Ticket};
use topics::Topics;

mod topics;

/// How much a log in memory keeps. What is older goes, a sixteenth of the records at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Records.
    pub records: usize,
    /// Bytes, roughly: texts, and a little for each value.
    pub bytes: usize,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { records: 1 << 18, bytes: 256 << 20 }
    }
}

/// A log that lives as long as its process. Clones are the same log and may go to other threads.
#[derive(Clone, Default)]
pub struct MemoryLog(Shared);

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Store>>);

impl Shared {
    /// A poisoned lock is taken all the same: no operation leaves the store half changed.
    fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Store {
    kept: Kept,
    /// Those that are kept. Most are never read, so they lie side by side and are shared only once somebody asks.
    rows: VecDeque<Row>,
    weight: usize,
    /// How many were thrown away: the cursor in front of the first that is kept.
    gone: u64,
    topics: Topics,
    /// Who waits, by the number of the reader.
    waiting: BTreeMap<u64, Waker>,
    readers: u64,
    /// A record was refused, and whoever waits next must hear of it.
    refused: Option<LogError>,
}

/// A record that is kept. Its cursor is its place.
struct Row {
    record: NewRecord,
    id: u64,
    weight: usize,
}

impl MemoryLog {
    /// An empty log that keeps the usual amount.
    #[must_use]
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// An empty log that keeps at least one record and at most so much.
    #[must_use]
    pub fn keeping(kept: Kept) -> MemoryLog {
        MemoryLog(Shared(Arc::new(Mutex::new(Store { kept, ..Store::default() }))))
    }

    /// Everything that is kept, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<Record>> {
        let store = self.0.lock();
        (store.gone..store.last()).filter_map(|before| store.behind_cursor(before)).collect()
    }

    /// Nothing in memory survives a crash, and nobody who chose it expects that. What was refused is told.
    fn hold(&self, upto: Ticket) -> Result<(), LogError> {
        let mut store = self.0.lock();
        if upto.0 <= store.last() { Ok(()) } else { store.refused.take().map_or(Ok(()), Err) }
    }

    fn enter(&self, record: NewRecord) -> Result<Place, LogError> {
        let weight = record.weight();
        if weight > NewRecord::MOST {
            return Err(LogError::TooLarge { bytes: weight, most: NewRecord::MOST });
        }
        let (place, waiting, old) = {
            let mut store = self.0.lock();
            let place = store.put(record, weight);
            let waiting = if store.waiting.is_empty() { BTreeMap::new() } else { std::mem::take(&mut store.waiting) };
            (place, waiting, store.trim())
        };
        waiting.into_values().for_each(Waker::wake);
        drop(old);
        Ok(place)
    }
}

impl Store {
    fn last(&self) -> u64 {
        self.gone + self.rows.len() as u64
    }

    fn put(&mut self, record: NewRecord, weight: usize) -> Place {
        let cursor = self.last() + 1;
        let id = self.topics.next_id(&record.topic);
        self.rows.push_back(Row { record, id, weight });
        self.weight += weight;
        Place { id, cursor }
    }

    /// Takes out what is too much; the caller drops it when nothing is borrowed.
    fn trim(&mut self) -> Vec<Row> {
        let mut old = Vec::new();
        if self.rows.len() > self.kept.records {
            let chunk = (self.kept.records / 16).max(1).min(self.rows.len() - 1);
            old.extend(self.rows.drain(..chunk));
        }
        self.weight -= old.iter().map(|row| row.weight).sum::<usize>();
        while self.weight > self.kept.bytes && self.rows.len() > 1 {
            if let Some(row) = self.rows.pop_front() {
                self.weight -= row.weight;
                old.push(row);
            }
        }
        self.gone += old.len() as u64;
        old
    }

    /// Where a reader begins that asks for what is behind a cursor; 0 means the oldest that is kept.
    fn start(&self, after: u64) -> u64 {
        if after == 0 { self.gone } else { after }
    }

    /// The record right behind a cursor.
    fn behind_cursor(&self, before: u64) -> Option<Arc<Record>> {
        let Row { record, id, .. } = self.rows.get(usize::try_from(before.checked_sub(self.gone)?).ok()?)?;
        let NewRecord { topic, kind, payload, headers, occurred_at_ms } = record.clone();
        Some(Arc::new(Record { topic, kind, payload, headers, occurred_at_ms, id: *id, cursor: before + 1 }))
    }

    /// The wanted records behind a position.
    fn behind<'a>(
        &'a self,
        position: u64,
        filter: &'a Filter,
    ) -> Result<impl Iterator<Item = Arc<Record>> + 'a, LogError> {
        if position < self.gone {
            return Err(LogError::Lagged { lost: self.gone - position, resume_from: self.gone });
        }
        let start = usize::try_from(position - self.gone).unwrap_or(usize::MAX).min(self.rows.len());
        let wanted = (position..).zip(self.rows.range(start..));
        let wanted = wanted.filter(|(_, row)| filter.takes(&row.record.topic, &row.record.kind));
        Ok(wanted.filter_map(|(before, _)| self.behind_cursor(before)))
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

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<Place>> {
        Answer::Now(self.enter(record).map_err(fault))
    }

    fn latest(&self, topic: &str) -> Outcome<Option<u64>> {
        Ok(self.0.lock().topics.last_id(topic))
    }

    fn durable(&self, upto: Ticket) -> Local<'_, Outcome<()>> {
        Box::pin(std::future::ready(self.hold(upto).map_err(fault)))
    }

    fn read(&self, filter: &Filter, limit: usize) -> Outcome<Vec<Arc<Record>>> {
        let store = self.0.lock();
        let records = store.behind(store.start(filter.after), filter).map_err(fault)?;
        Ok(records.take(limit).collect())
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        let mut store = self.0.lock();
        store.readers += 1;
        let (number, position) = (store.readers, store.start(filter.after));
        Box::new(Reader { store: self.0.clone(), filter, position, number })
    }
}

impl SharedLog for MemoryLog {
    fn put(&self, record: NewRecord) -> Ticket {
        self.append(record)
    }

    fn settled(&self, upto: Ticket) -> Settled {
        Box::pin(std::future::ready(self.hold(upto)))
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(self.clone())
    }
}

/// Reads from the log itself, so a slow reader costs no memory.
struct Reader {
    store: Shared,
    filter: Filter,
    /// The cursor of the last record that was looked at.
    position: u64,
    number: u64,
}

impl Reader {
    /// The next record that is there; where none is, whoever waits is woken by the next that comes.
    fn take(&mut self, waiting: Option<&Waker>) -> Result<Option<Arc<Record>>, LogError> {
        let mut store = self.store.lock();
        let found = match store.behind(self.position, &self.filter) {
            Ok(mut records) => {
                let found = records.next();
                // What was looked at and not wanted need not be looked at again.
                self.position = found.as_ref().map_or(store.last().max(self.position), |record| record.cursor);
                found
            }
            Err(error) => {
                self.position = store.gone;
                return Err(error);
            }
        };
        if let (None, Some(waker)) = (&found, waiting) {
            store.waiting.insert(self.number, waker.clone());
        }
        Ok(found)
    }
}

impl Subscription for Reader {
    fn try_next(&mut self) -> Outcome<Option<Arc<Record>>> {
        self.take(None).map_err(fault)
    }

    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(poll_fn(|cx| match self.take(Some(cx.waker())) {
            Ok(None) => Poll::Pending,
            there => Poll::Ready(there.map_err(fault)),
        }))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.store.lock().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests;

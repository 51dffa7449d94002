//! The log in memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::seam::{Answer, Local, Outcome, fault};

use super::{EventLog, Filter, LogError, NewRecord, Place, Record, Subscription, Ticket};
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

/// A log that lives as long as its process. Clones are the same log.
#[derive(Clone, Default)]
pub struct MemoryLog(Rc<RefCell<Store>>);

#[derive(Default)]
struct Store {
    kept: Kept,
    /// The records that are kept, with what they weigh.
    records: VecDeque<(Arc<Record>, usize)>,
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

impl MemoryLog {
    /// An empty log that keeps the usual amount.
    #[must_use]
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// An empty log that keeps at least one record and at most so much.
    #[must_use]
    pub fn keeping(kept: Kept) -> MemoryLog {
        MemoryLog(Rc::new(RefCell::new(Store { kept, ..Store::default() })))
    }

    /// Everything that is kept, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<Record>> {
        self.0.borrow().records.iter().map(|(record, _)| record.clone()).collect()
    }

    fn put(&self, record: NewRecord) -> Result<Place, LogError> {
        let weight = record.weight();
        if weight > NewRecord::MOST {
            return Err(LogError::TooLarge { bytes: weight, most: NewRecord::MOST });
        }
        let (place, waiting, old) = {
            let mut store = self.0.borrow_mut();
            let place = store.put(record, weight);
            (place, std::mem::take(&mut store.waiting), store.trim())
        };
        waiting.into_values().for_each(Waker::wake);
        drop(old);
        Ok(place)
    }
}

impl Store {
    fn last(&self) -> u64 {
        self.gone + self.records.len() as u64
    }

    fn put(&mut self, record: NewRecord, weight: usize) -> Place {
        let cursor = self.last() + 1;
        let id = self.topics.next_id(&record.topic);
        let NewRecord { topic, kind, payload, headers, occurred_at_ms } = record;
        let record = Record { topic, kind, payload, headers, occurred_at_ms, id, cursor };
        self.records.push_back((Arc::new(record), weight));
        self.weight += weight;
        Place { id, cursor }
    }

    /// Takes out what is too much; the caller drops it when nothing is borrowed.
    fn trim(&mut self) -> Vec<(Arc<Record>, usize)> {
        let mut old = Vec::new();
        if self.records.len() > self.kept.records {
            let chunk = (self.kept.records / 16).max(1).min(self.records.len() - 1);
            old.extend(self.records.drain(..chunk));
        }
        self.weight -= old.iter().map(|(_, weight)| weight).sum::<usize>();
        while self.weight > self.kept.bytes && self.records.len() > 1 {
            if let Some(record) = self.records.pop_front() {
                self.weight -= record.1;
                old.push(record);
            }
        }
        self.gone += old.len() as u64;
        old
    }

    /// Where a reader begins that asks for what is behind a cursor; 0 means the oldest that is kept.
    fn start(&self, after: u64) -> u64 {
        if after == 0 { self.gone } else { after }
    }

    /// The wanted records behind a position.
    fn behind<'a>(
        &'a self,
        position: u64,
        filter: &'a Filter,
    ) -> Result<impl Iterator<Item = &'a Arc<Record>>, LogError> {
        if position < self.gone {
            return Err(LogError::Lagged { lost: self.gone - position, resume_from: self.gone });
        }
        let start = usize::try_from(position - self.gone).unwrap_or(usize::MAX).min(self.records.len());
        let rest = self.records.range(start..).map(|(record, _)| record);
        Ok(rest.filter(|record| filter.takes(&record.topic, &record.kind)))
    }
}

impl EventLog for MemoryLog {
    fn append(&self, record: NewRecord) -> Ticket {
        match self.put(record) {
            Ok(place) => Ticket(place.cursor),
            Err(error) => {
                self.0.borrow_mut().refused = Some(error);
                Ticket::ALL
            }
        }
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<Place>> {
        Answer::Now(self.put(record).map_err(fault))
    }

    fn latest(&self, topic: &str) -> Outcome<Option<u64>> {
        Ok(self.0.borrow().topics.last_id(topic))
    }

    fn durable(&self, _upto: Ticket) -> Local<'_, Outcome<()>> {
        // Nothing in memory survives a crash, and nobody who chose it expects that.
        let refused = self.0.borrow_mut().refused.take();
        Box::pin(std::future::ready(refused.map_or(Ok(()), |error| Err(fault(error)))))
    }

    fn read(&self, filter: &Filter, limit: usize) -> Outcome<Vec<Arc<Record>>> {
        let store = self.0.borrow();
        let records = store.behind(store.start(filter.after), filter).map_err(fault)?;
        Ok(records.take(limit).cloned().collect())
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        let mut store = self.0.borrow_mut();
        store.readers += 1;
        let (number, position) = (store.readers, store.start(filter.after));
        Box::new(Reader { store: self.0.clone(), filter, position, number })
    }
}

/// Reads from the log itself, so a slow reader costs no memory.
struct Reader {
    store: Rc<RefCell<Store>>,
    filter: Filter,
    /// The cursor of the last record that was looked at.
    position: u64,
    number: u64,
}

impl Reader {
    fn take(&mut self) -> Result<Option<Arc<Record>>, LogError> {
        let store = self.store.borrow();
        match store.behind(self.position, &self.filter) {
            Ok(mut records) => {
                let found = records.next().cloned();
                // What was looked at and not wanted need not be looked at again.
                self.position = found.as_ref().map_or(store.last().max(self.position), |record| record.cursor);
                Ok(found)
            }
            Err(error) => {
                self.position = store.gone;
                Err(error)
            }
        }
    }
}

impl Subscription for Reader {
    fn try_next(&mut self) -> Outcome<Option<Arc<Record>>> {
        self.take().map_err(fault)
    }

    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(poll_fn(|cx| match self.try_next() {
            Ok(None) => {
                self.store.borrow_mut().waiting.insert(self.number, cx.waker().clone());
                Poll::Pending
            }
            there => Poll::Ready(there),
        }))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.store.borrow_mut().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests;

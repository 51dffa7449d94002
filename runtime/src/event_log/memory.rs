//! The log in memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::seam::{Local, Outcome};

use super::{EventLog, Filter, NewRecord, Record, Subscription};

/// A log that lives as long as its process. Clones are the same log.
#[derive(Clone, Default)]
pub struct MemoryLog(Rc<RefCell<Store>>);

#[derive(Default)]
struct Store {
    records: Vec<Arc<Record>>,
    last_ids: HashMap<Arc<str>, u64>,
    waiting: Vec<Waker>,
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }

    /// Everything that was written, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<Record>> {
        self.0.borrow().records.clone()
    }
}

impl Store {
    /// The first wanted record at or behind an index, and the index behind it. Cursors are places from 1.
    fn next_from(&self, filter: &Filter, index: usize) -> (Option<Arc<Record>>, usize) {
        let rest = self.records.get(index..).unwrap_or_default();
        match rest.iter().position(|record| filter.takes(&record.topic, &record.kind)) {
            Some(offset) => (Some(rest[offset].clone()), index + offset + 1),
            None => (None, self.records.len().max(index)),
        }
    }
}

impl EventLog for MemoryLog {
    fn append(&self, record: NewRecord) -> u64 {
        let (cursor, waiting) = {
            let mut store = self.0.borrow_mut();
            let cursor = store.records.len() as u64 + 1;
            let id = store.last_ids.get(&record.topic).copied().unwrap_or(0) + 1;
            store.last_ids.insert(record.topic.clone(), id);
            let NewRecord { topic, kind, payload, headers, occurred_at_ms } = record;
            store.records.push(Arc::new(Record { topic, kind, payload, headers, occurred_at_ms, id, cursor }));
            (cursor, std::mem::take(&mut store.waiting))
        };
        waiting.into_iter().for_each(Waker::wake);
        cursor
    }

    fn latest(&self, topic: &str) -> Outcome<Option<u64>> {
        Ok(self.0.borrow().last_ids.get(topic).copied())
    }

    fn durable(&self, _upto: u64) -> Local<'_, Outcome<()>> {
        // Nothing in memory survives a crash, and nobody who chose it expects that.
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self, filter: &Filter, limit: usize) -> Outcome<Vec<Arc<Record>>> {
        let store = self.0.borrow();
        let behind = usize::try_from(filter.after).unwrap_or(usize::MAX);
        let wanted = store.records.iter().skip(behind).filter(|record| filter.takes(&record.topic, &record.kind));
        Ok(wanted.take(limit).cloned().collect())
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        let index = usize::try_from(filter.after).unwrap_or(usize::MAX);
        Box::new(Reader { store: self.0.clone(), filter, index })
    }
}

/// Reads from the log itself, so a slow reader costs no memory and misses nothing.
struct Reader {
    store: Rc<RefCell<Store>>,
    filter: Filter,
    index: usize,
}

impl Subscription for Reader {
    fn try_next(&mut self) -> Outcome<Option<Arc<Record>>> {
        let (record, index) = self.store.borrow().next_from(&self.filter, self.index);
        self.index = index;
        Ok(record)
    }

    fn next(&mut self) -> Local<'_, Outcome<Option<Arc<Record>>>> {
        Box::pin(poll_fn(|cx| match self.try_next() {
            Ok(None) => {
                let mut store = self.store.borrow_mut();
                if !store.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                    store.waiting.push(cx.waker().clone());
                }
                Poll::Pending
            }
            there => Poll::Ready(there),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;

    fn put(log: &MemoryLog, topic: &str, kind: &str) -> u64 {
        log.append(NewRecord {
            topic: topic.into(),
            kind: kind.into(),
            payload: Data::Nil,
            headers: Data::Nil,
            occurred_at_ms: 0,
        })
    }

    #[test]
    fn ids_count_by_topic_and_cursors_over_all() {
        let log = MemoryLog::new();
        assert_eq!([put(&log, "a", "x"), put(&log, "b", "x"), put(&log, "a", "y")], [1, 2, 3]);
        assert_eq!(log.latest("a").unwrap(), Some(2));
        assert_eq!(log.latest("c").unwrap(), None);
        assert_eq!(log.read(&Filter { after: 1, ..Filter::topic("a") }, 9).unwrap()[0].id, 2);
    }

    #[test]
    fn a_subscriber_gets_history_and_then_what_comes() {
        let log = MemoryLog::new();
        put(&log, "a", "reminder.one");
        put(&log, "a", "other");
        let filter = Filter { kind_prefix: Some("reminder.".into()), ..Filter::topic("a") };
        let mut reader = log.subscribe(filter);
        let seen = crate::testing::block_on(async {
            let first = reader.next().await.unwrap().unwrap();
            assert!(reader.try_next().unwrap().is_none());
            put(&log, "a", "reminder.two");
            [first.cursor, reader.next().await.unwrap().unwrap().cursor]
        });
        assert_eq!(seen, [1, 3]);
    }
}

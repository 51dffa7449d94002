//! Acts on a log, and their answers compared with those of the model.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::data::Data;
use eventlog::{
    Batch, Lease, LeaseClock, Log, NewRecord, Query, Record, RecordPayload, SharedLog, SubjectQuery, Tail, TailItem,
};

use crate::model::ModelLog;
use crate::wait::block_on;

pub(crate) const SUBJECTS: [&str; 3] = ["a", "b", "ab"];
pub(crate) const TOPICS: [&str; 3] = ["t", "u", "tu"];

/// Something that a caller does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Append(BatchPlan),
    /// Appends without conditions and without waiting.
    Put {
        subject: usize,
        record: RecordPlan,
    },
    Read(Query, usize),
    Tail(Query),
    /// Reads the next item of a tail, by index modulo their number.
    Next(usize),
    /// Begins to wait for the next item of a tail, and gives up.
    GiveUp(usize),
    Claim {
        subject: usize,
        owner: usize,
        ttl_ms: u64,
    },
    /// Extends the lease that was given last, or an earlier one.
    Renew {
        back: usize,
        ttl_ms: u64,
    },
    Release {
        back: usize,
    },
    OwnerOf(usize),
    Later(u64),
    Subjects(SubjectQuery),
    Trim {
        subject: usize,
        before: u64,
    },
    /// The log is closed and opened again, if it outlives that.
    Reopen,
}

/// A batch in terms of what the log knows at that time.
#[derive(Debug, Clone)]
pub(crate) struct BatchPlan {
    pub(crate) subject: usize,
    /// Distance to the present epoch.
    pub(crate) epoch: Option<u64>,
    /// Distance to the present sequence.
    pub(crate) expected: Option<u64>,
    pub(crate) request: Option<u8>,
    pub(crate) state: Option<u8>,
    pub(crate) records: Vec<RecordPlan>,
}

#[derive(Debug, Clone)]
pub(crate) struct RecordPlan {
    pub(crate) topic: usize,
    pub(crate) kind: String,
    pub(crate) number: i64,
}

impl RecordPlan {
    pub(crate) fn record(&self, headers: Data) -> NewRecord {
        NewRecord {
            topic: TOPICS[self.topic].into(),
            kind: self.kind.as_str().into(),
            payload: RecordPayload::from(Data::dict([("n", Data::from(self.number))])),
            headers,
            occurred_at_ms: 3,
        }
    }
}

/// A backend under test. Its clock is that of the play.
pub(crate) trait Backend {
    type Opened: Log + SharedLog;

    fn open(&self, clock: LeaseClock) -> Self::Opened;
    /// Whether the records outlive the log.
    const IS_KEPT: bool;
}

/// A tail, and what it has yielded.
struct PlayedTail {
    tail: Box<dyn Tail>,
    query: Query,
    /// Cursor of the last record.
    seen: u64,
    /// The greatest cursor of a gap.
    told: u64,
}

/// A log in play.
pub(crate) struct Play<'a, B: Backend> {
    backend: &'a B,
    clock: LeaseClock,
    now: Arc<AtomicU64>,
    log: Option<B::Opened>,
    model: ModelLog,
    tails: Vec<PlayedTail>,
    leases: Vec<Lease>,
}

fn name(subject: usize) -> Arc<str> {
    SUBJECTS[subject].into()
}

impl<'a, B: Backend> Play<'a, B> {
    pub(crate) fn new(backend: &'a B) -> Play<'a, B> {
        let now = Arc::new(AtomicU64::new(0));
        let reads = now.clone();
        let clock = LeaseClock::new("play", move || Duration::from_millis(reads.load(Ordering::SeqCst)));
        let log = Some(backend.open(clock.clone()));
        Play { backend, clock, now, log, model: ModelLog::default(), tails: Vec::new(), leases: Vec::new() }
    }

    fn log(&self) -> &B::Opened {
        self.log.as_ref().unwrap()
    }

    pub(crate) fn act(&mut self, act: &Act) {
        match act {
            Act::Append(plan) => self.append(plan),
            Act::Put { subject, record } => {
                let record = record.record(Data::dict([(eventlog::RUN_ID, Data::from(SUBJECTS[*subject]))]));
                self.log().put(record.clone());
                self.model.put(&name(*subject), &record);
            }
            Act::Read(query, limit) => {
                let page = block_on(self.log().read(query.clone(), *limit)).unwrap();
                assert_eq!(page.records, self.model.read(query, *limit), "{query:?}");
                assert_eq!(page.head, self.model.records.len() as u64, "the head is that of the whole log");
                if let Some(removed) = self.model.last_removed(query) {
                    assert!(page.trimmed_before > removed, "{query:?} hides the gap at {removed}");
                }
                let has_removed = self.model.records.iter().any(|known| known.is_removed);
                assert!(has_removed || page.trimmed_before == 0, "{query:?} tells of a gap");
            }
            Act::Tail(query) => {
                let query = Query { before: None, backwards: false, ..query.clone() };
                let tail = self.log().tail(query.clone());
                self.tails.push(PlayedTail { tail, seen: query.after, told: 0, query });
            }
            Act::Next(index) if !self.tails.is_empty() => {
                let index = index % self.tails.len();
                self.next(index);
            }
            Act::GiveUp(index) if !self.tails.is_empty() => {
                let index = index % self.tails.len();
                self.give_up(index);
            }
            Act::Claim { subject, owner, ttl_ms } => {
                let (subject, owner) = (name(*subject), Arc::from(format!("owner-{owner}")));
                let ttl = Duration::from_millis(*ttl_ms);
                let given = block_on(self.log().claim(subject.clone(), Arc::clone(&owner), ttl));
                assert_eq!(given, self.model.claim(&subject, &owner, *ttl_ms));
                self.leases.extend(given);
            }
            Act::Renew { back, ttl_ms } => {
                if let Some(lease) = self.lease(*back) {
                    let renewed = block_on(self.log().renew(lease.clone(), Duration::from_millis(*ttl_ms)));
                    assert_eq!(renewed, self.model.renew(&lease, *ttl_ms));
                }
            }
            Act::Release { back } => {
                if let Some(lease) = self.lease(*back) {
                    block_on(self.log().release(lease.clone())).unwrap();
                    let _ = self.model.renew(&lease, 0);
                }
            }
            Act::OwnerOf(subject) => {
                let owner = block_on(self.log().owner_of(name(*subject))).unwrap();
                assert_eq!(owner, self.model.owner_of(&name(*subject)));
            }
            Act::Later(ms) => {
                self.model.now_ms += ms;
                self.now.store(self.model.now_ms, Ordering::SeqCst);
            }
            Act::Subjects(query) => {
                let found = block_on(self.log().subjects(query.clone())).unwrap();
                assert_eq!(found, self.model.subjects(query), "{query:?}");
            }
            Act::Trim { subject, before } => {
                let removed = block_on(self.log().trim(name(*subject), *before)).unwrap();
                assert_eq!(removed, self.model.trim(SUBJECTS[*subject], *before));
            }
            Act::Reopen if B::IS_KEPT => self.reopen(),
            // Without a tail, and of a log that does not outlive its process.
            Act::Next(_) | Act::GiveUp(_) | Act::Reopen => {}
        }
    }

    fn append(&mut self, plan: &BatchPlan) {
        let subject = name(plan.subject);
        let batch = Batch {
            epoch: plan.epoch.map(|back| self.model.epoch(&subject).saturating_sub(back)),
            expected: plan.expected.map(|back| self.model.sequence(&subject).saturating_sub(back)),
            request_id: plan.request.map(|number| format!("request-{number}").into()),
            state: plan.state.map(|number| format!("state-{number}").into()),
            records: plan.records.iter().map(|record| record.record(Data::Nil)).collect(),
            subject,
        };
        let written = block_on(self.log().append(batch.clone()));
        assert_eq!(written, self.model.append(&batch), "{batch:?}");
    }

    fn lease(&self, back: usize) -> Option<Lease> {
        self.leases.iter().rev().nth(back).cloned()
    }

    /// Returns the first record that a tail must yield, sooner or later.
    fn due(&self, index: usize) -> Option<u64> {
        let PlayedTail { query, seen, .. } = &self.tails[index];
        let rest = Query { after: *seen, ..query.clone() };
        self.model.read(&rest, 1).first().map(|record| record.cursor)
    }

    fn next(&mut self, index: usize) {
        if self.due(index).is_none() {
            return self.give_up(index);
        }
        let item = block_on(self.tails[index].tail.next()).unwrap();
        self.take(index, item);
    }

    /// Waits without a result, as a caller that is cancelled.
    fn give_up(&mut self, index: usize) {
        let polled = {
            let mut next = pin!(self.tails[index].tail.next());
            next.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        if let Poll::Ready(item) = polled {
            self.take(index, item.unwrap());
        }
    }

    fn take(&mut self, index: usize, item: TailItem) {
        let due = self.due(index);
        let PlayedTail { query, seen, told, .. } = &mut self.tails[index];
        match item {
            TailItem::Gap { before } => {
                assert!(before > *told && before > *seen + 1, "a gap is told once");
                *told = before;
            }
            TailItem::Record(record) => {
                assert!(record.cursor > *seen && query.takes(&record), "{record:?} in {query:?} after {seen}");
                assert!(due.is_none_or(|due| record.cursor <= due), "{record:?} instead of {due:?}");
                let between = Query { after: *seen, ..query.clone() };
                let skipped = |known: &&Arc<Record>| between.takes(known) && known.cursor < record.cursor;
                let skipped = self.model.records.iter().map(|known| &known.record).rfind(skipped);
                assert!(skipped.is_none_or(|skipped| skipped.cursor < *told), "{skipped:?} was skipped silently");
                let known = &self.model.records[usize::try_from(record.cursor).unwrap() - 1];
                assert_eq!(*record, *known.record);
                *seen = record.cursor;
            }
        }
    }

    fn reopen(&mut self) {
        let tails: Vec<_> = self.tails.drain(..).map(|played| (played.query, played.seen)).collect();
        // Closed first, as at the end of a process.
        self.log = None;
        let log = self.backend.open(self.clock.clone());
        for (query, seen) in tails {
            let tail = log.tail(Query { after: seen, ..query.clone() });
            self.tails.push(PlayedTail { tail, query, seen, told: 0 });
        }
        self.log = Some(log);
    }

    /// Reads all tails to their ends, and the whole log.
    pub(crate) fn end(mut self) {
        for index in 0..self.tails.len() {
            while self.due(index).is_some() {
                self.next(index);
            }
        }
        self.act(&Act::Read(Query::default(), usize::MAX));
        self.act(&Act::Subjects(SubjectQuery::default()));
    }
}

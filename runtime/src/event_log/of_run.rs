//! A log that several runs share, in time or at once: what the runtime writes names the run it belongs to, so that a reader
//! can tell apart two sessions that bear one id.

use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::seam::{Answer, Local, Outcome};

use super::{EventLog, Filter, NewRecord, Place, Record, Settled, SharedLog, Subscription, Ticket};

/// The header that names the run.
pub const RUN_ID: &str = "run_id";

/// How the topics begin that the runtime writes.
const OWN: [&str; 3] = ["transcript.", "session.", "a2a."];

/// A log that writes the run into the headers of the runtime's records. Those of scripts stay as they are.
#[derive(Clone)]
pub struct OfRun<L> {
    log: L,
    headers: Data,
}

impl<L> OfRun<L> {
    /// `run_id` must be another in every process that writes to the log.
    pub fn new(log: L, run_id: &str) -> OfRun<L> {
        OfRun { log, headers: Data::dict([(RUN_ID, Data::from(run_id))]) }
    }

    fn stamped(&self, mut record: NewRecord) -> NewRecord {
        if record.headers.is_nil() && OWN.iter().any(|own| record.topic.starts_with(own)) {
            record.headers = self.headers.clone();
        }
        record
    }
}

impl<L: EventLog> EventLog for OfRun<L> {
    fn append(&self, record: NewRecord) -> Ticket {
        self.log.append(self.stamped(record))
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<Place>> {
        self.log.emit(self.stamped(record))
    }

    fn latest(&self, topic: &str) -> Outcome<Option<u64>> {
        self.log.latest(topic)
    }

    fn durable(&self, upto: Ticket) -> Local<'_, Outcome<()>> {
        self.log.durable(upto)
    }

    fn read(&self, filter: &Filter, limit: usize) -> Outcome<Vec<Arc<Record>>> {
        self.log.read(filter, limit)
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        self.log.subscribe(filter)
    }
}

impl<L: SharedLog + EventLog + Clone + 'static> SharedLog for OfRun<L> {
    fn put(&self, record: NewRecord) -> Ticket {
        self.log.put(self.stamped(record))
    }

    fn settled(&self, upto: Ticket) -> Settled {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryLog;
    use super::*;

    #[test]
    fn records_of_the_runtime_name_their_run_and_others_do_not() {
        let log = OfRun::new(MemoryLog::new(), "r1");
        for topic in ["transcript.turn", "session.injection", "mine"] {
            log.append(NewRecord {
                topic: topic.into(),
                kind: "k".into(),
                payload: Data::Nil.into(),
                headers: Data::Nil,
                occurred_at_ms: 0,
            });
        }
        let headers: Vec<_> = log.read(&Filter::default(), 9).unwrap().iter().map(|r| r.headers.to_json()).collect();
        assert_eq!(headers, [r#"{"run_id":"r1"}"#, r#"{"run_id":"r1"}"#, "null"]);
    }
}

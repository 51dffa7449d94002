//! A log that several runs share, in time or at once: what the runtime writes names the run it belongs to, so that a reader
//! can tell apart two sessions that bear one id.

use std::rc::Rc;

use crate::data::Data;
use crate::seam::{Answer, Outcome};

use super::{EventLog, NewRecord, Passage, Place, Room, Settled, SharedLog, Through, Ticket};

/// The header that names the run.
pub const RUN_ID: &str = "run_id";

/// Prefixes of the topics that the runtime writes.
const OWN: [&str; 3] = ["transcript.", "session.", "a2a."];

/// A log that writes the run into the headers of the runtime's records. Those of scripts stay as they are.
#[derive(Clone)]
pub struct OfRun<L> {
    log: L,
    stamp: Stamp,
}

impl<L: SharedLog> OfRun<L> {
    /// `run_id` must be another in every process that writes to the log.
    pub fn new(log: L, run_id: &str) -> OfRun<L> {
        OfRun { log, stamp: Stamp { headers: Data::dict([(RUN_ID, Data::from(run_id))]) } }
    }

    /// Takes a record, as [`EventLog::append`] does.
    pub fn append(&self, record: NewRecord) -> Ticket {
        self.log.put(self.stamp.stamped(record))
    }
}

impl<L: SharedLog> SharedLog for OfRun<L> {
    fn put(&self, record: NewRecord) -> Ticket {
        self.append(record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<Room> {
        self.log.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut Room, record: NewRecord) -> Ticket {
        self.log.put_in(room, self.stamp.stamped(record))
    }

    fn settled(&self, upto: Ticket) -> Settled {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(Through::new(self.stamp.clone(), self.log.here()))
    }
}

/// The headers of a run's records.
#[derive(Clone)]
struct Stamp {
    headers: Data,
}

impl Stamp {
    fn stamped(&self, mut record: NewRecord) -> NewRecord {
        if record.headers.is_nil() && OWN.iter().any(|own| record.topic.starts_with(own)) {
            record.headers = self.headers.clone();
        }
        record
    }
}

impl Passage for Stamp {
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket {
        log.append(self.stamped(record))
    }

    fn emit(&self, record: NewRecord, log: &dyn EventLog) -> Answer<'static, Outcome<Place>> {
        log.emit(self.stamped(record))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Filter, MemoryLog};
    use super::*;

    #[test]
    fn records_of_the_runtime_name_their_run_and_others_do_not() {
        let shared = OfRun::new(MemoryLog::new(), "r1");
        let log = shared.here();
        let record = |topic: &str| {
            let (topic, kind, payload) = (topic.into(), "k".into(), Data::Nil.into());
            NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms: 0 }
        };
        for topic in ["transcript.turn", "session.injection", "mine"] {
            log.append(record(topic));
            shared.put(record(topic));
        }
        let headers: Vec<_> = log.read(&Filter::default(), 9).unwrap().iter().map(|r| r.headers.to_json()).collect();
        let run = r#"{"run_id":"r1"}"#;
        assert_eq!(headers, [run, run, run, run, "null", "null"]);
    }
}

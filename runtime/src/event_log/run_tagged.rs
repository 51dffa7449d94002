//! A log that several runs share, sequentially or concurrently: the runtime's records name their run, so that a reader
//! can distinguish two sessions with the same id.

use std::rc::Rc;

use base::call::{Answer, Outcome};
use base::data::Data;

use eventlog::{
    DurableFuture, EventLog, InterceptedLog, LogReservation, NewRecord, RUN_ID, RecordInterceptor, RecordPosition,
    SharedLog, Ticket,
};

use super::Topic;

/// Prefixes of the topics that the runtime writes.
const OWN: [&str; 3] = ["transcript.", "session.", "a2a."];

/// A log that writes the run into the headers of the runtime's records. Records of scripts are unchanged.
#[derive(Clone)]
pub struct RunTaggedLog<L> {
    log: L,
    stamp: RunHeaders,
}

impl<L: SharedLog> RunTaggedLog<L> {
    /// Creates the log. `run_id` must be unique among all processes that write to the log.
    pub fn new(log: L, run_id: &str) -> RunTaggedLog<L> {
        RunTaggedLog { log, stamp: RunHeaders { headers: Data::dict([(RUN_ID, Data::from(run_id))]) } }
    }

    /// Appends a record like [`EventLog::append`].
    pub fn append(&self, record: NewRecord) -> Ticket {
        self.log.put(self.stamp.stamped(record))
    }
}

impl<L: SharedLog> SharedLog for RunTaggedLog<L> {
    fn put(&self, record: NewRecord) -> Ticket {
        self.append(record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<LogReservation> {
        self.log.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut LogReservation, record: NewRecord) -> Ticket {
        self.log.put_in(room, self.stamp.stamped(record))
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(InterceptedLog::new(self.stamp.clone(), self.log.here()))
    }
}

/// The headers of a run's records.
#[derive(Clone)]
struct RunHeaders {
    headers: Data,
}

impl RunHeaders {
    fn stamped(&self, mut record: NewRecord) -> NewRecord {
        let is_own = OWN.iter().any(|own| record.topic.starts_with(own)) || *record.topic == *Topic::Channel.as_str();
        if record.headers.is_nil() && is_own {
            record.headers = self.headers.clone();
        }
        record
    }
}

impl RecordInterceptor for RunHeaders {
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket {
        log.append(self.stamped(record))
    }

    fn emit(&self, record: NewRecord, log: &dyn EventLog) -> Answer<'static, Outcome<RecordPosition>> {
        log.emit(self.stamped(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::{MemoryLog, RecordFilter};

    #[test]
    fn records_of_the_runtime_name_their_run_and_others_do_not() {
        let shared = RunTaggedLog::new(MemoryLog::new(), "r1");
        let log = shared.here();
        let record = |topic: &str| {
            let (topic, kind, payload) = (topic.into(), "k".into(), Data::Nil.into());
            NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms: 0 }
        };
        for topic in ["transcript.turn", "session.injection", "channel", "channels"] {
            log.append(record(topic));
            shared.put(record(topic));
        }
        let headers: Vec<_> =
            log.read(&RecordFilter::default(), 9).unwrap().iter().map(|r| r.headers.to_json()).collect();
        let run = r#"{"run_id":"r1"}"#;
        assert_eq!(headers, [run, run, run, run, run, run, "null", "null"]);
    }
}

//! A log whose records another subscriber sees too, such as an exporter of traces.

use std::rc::Rc;
use std::sync::Arc;

use super::{DurableFuture, EventLog, InterceptedLog, LogReservation, NewRecord, RecordInterceptor, SharedLog, Ticket};

/// A callback that sees each record that the runtime writes, on the writing thread. It must not wait.
pub type RecordObserver = Arc<dyn Fn(&NewRecord) + Send + Sync>;

/// A log whose records a [`RecordObserver`] sees. Records that scripts emit are not shown.
pub struct ObservedLog {
    log: Arc<dyn SharedLog>,
    tap: RecordObserver,
}

impl ObservedLog {
    /// Creates a log with a tap in front of it.
    pub fn new(log: Arc<dyn SharedLog>, tap: RecordObserver) -> ObservedLog {
        ObservedLog { log, tap }
    }
}

impl SharedLog for ObservedLog {
    fn put(&self, record: NewRecord) -> Ticket {
        (self.tap)(&record);
        self.log.put(record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<LogReservation> {
        self.log.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut LogReservation, record: NewRecord) -> Ticket {
        (self.tap)(&record);
        self.log.put_in(room, record)
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(InterceptedLog::new(ObserverInterceptor(self.tap.clone()), self.log.here()))
    }
}

struct ObserverInterceptor(RecordObserver);

impl RecordInterceptor for ObserverInterceptor {
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket {
        (self.0)(&record);
        log.append(record)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::{MemoryLog, RecordFilter};
    use super::*;
    use base::data::Data;

    #[test]
    fn a_tap_sees_what_is_appended_on_any_thread() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = seen.clone();
        let tap: RecordObserver = Arc::new(move |record| sees.lock().unwrap().push(record.kind.to_string()));
        let log = ObservedLog::new(Arc::new(MemoryLog::new()), tap);
        let record = |kind: &str| {
            let (topic, payload) = ("session.activity".into(), Data::Nil.into());
            NewRecord { topic, kind: kind.into(), payload, headers: Data::Nil, occurred_at_ms: 0 }
        };
        log.put(record("a"));
        log.put_in(&mut LogReservation::default(), record("b"));
        let here = log.here();
        here.append(record("c"));
        assert_eq!(*seen.lock().unwrap(), ["a", "b", "c"]);
        assert_eq!(here.read(&RecordFilter::default(), 9).unwrap().len(), 3);
    }
}

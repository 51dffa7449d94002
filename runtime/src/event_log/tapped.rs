//! A log whose records another subscriber sees too, such as an exporter of traces.

use std::rc::Rc;
use std::sync::Arc;

use super::{EventLog, NewRecord, Passage, Room, Settled, SharedLog, Through, Ticket};

/// Sees each record that the runtime writes, on the thread that writes it. It must not wait.
pub type Tap = Arc<dyn Fn(&NewRecord) + Send + Sync>;

/// A log whose records a [`Tap`] sees. Records that scripts emit are not shown.
pub struct Tapped {
    log: Arc<dyn SharedLog>,
    tap: Tap,
}

impl Tapped {
    /// Puts a tap in front of a log.
    pub fn new(log: Arc<dyn SharedLog>, tap: Tap) -> Tapped {
        Tapped { log, tap }
    }
}

impl SharedLog for Tapped {
    fn put(&self, record: NewRecord) -> Ticket {
        (self.tap)(&record);
        self.log.put(record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<Room> {
        self.log.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut Room, record: NewRecord) -> Ticket {
        (self.tap)(&record);
        self.log.put_in(room, record)
    }

    fn settled(&self, upto: Ticket) -> Settled {
        self.log.settled(upto)
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(Through::new(Shows(self.tap.clone()), self.log.here()))
    }
}

struct Shows(Tap);

impl Passage for Shows {
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket {
        (self.0)(&record);
        log.append(record)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::{Filter, MemoryLog};
    use super::*;
    use crate::data::Data;

    #[test]
    fn a_tap_sees_what_is_appended_on_any_thread() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = seen.clone();
        let tap: Tap = Arc::new(move |record| sees.lock().unwrap().push(record.kind.to_string()));
        let log = Tapped::new(Arc::new(MemoryLog::new()), tap);
        let record = |kind: &str| {
            let (topic, payload) = ("session.activity".into(), Data::Nil.into());
            NewRecord { topic, kind: kind.into(), payload, headers: Data::Nil, occurred_at_ms: 0 }
        };
        log.put(record("a"));
        log.put_in(&mut Room::default(), record("b"));
        let here = log.here();
        here.append(record("c"));
        here.append_in(&mut Room::default(), record("d"));
        assert_eq!(*seen.lock().unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(here.read(&Filter::default(), 9).unwrap().len(), 4);
    }
}

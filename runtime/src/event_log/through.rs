//! A log with something in front of it: what is appended passes there first, what is read does not.

use std::cell::RefCell;
use std::rc::Rc;

use crate::seam::{Answer, Local, Outcome};

use super::{EventLog, Filter, LogReader, NewRecord, Place, Room, Subscription, Ticket};

/// A filter that records pass on their way to a log.
pub trait Passage {
    /// Takes a record, as [`EventLog::append`] does, and hands it on to `log`.
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket;

    /// Emits like [`EventLog::emit`]. By default the record goes on unchanged.
    fn emit(&self, record: NewRecord, log: &dyn EventLog) -> Answer<'static, Outcome<Place>> {
        log.emit(record)
    }
}

/// A log with a [`Passage`] in front of it.
pub struct Through<P> {
    passage: P,
    log: Rc<dyn EventLog>,
}

impl<P> Through<P> {
    /// Puts a passage in front of a log.
    pub fn new(passage: P, log: Rc<dyn EventLog>) -> Through<P> {
        Through { passage, log }
    }
}

impl<P: Passage> EventLog for Through<P> {
    fn append(&self, record: NewRecord) -> Ticket {
        self.passage.append(record, &*self.log)
    }

    fn reserve(&self, records: usize, bytes: usize) -> Room {
        self.log.reserve(records, bytes)
    }

    fn append_in(&self, room: &mut Room, record: NewRecord) -> Ticket {
        self.passage.append(record, &InRoom { log: &*self.log, room: RefCell::new(room) })
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<Place>> {
        self.passage.emit(record, &*self.log)
    }

    fn reader(&self) -> LogReader {
        self.log.reader()
    }

    fn durable(&self, upto: Ticket) -> Local<'_, Outcome<()>> {
        self.log.durable(upto)
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        self.log.subscribe(filter)
    }
}

/// A log that puts what is appended into room that was set aside.
struct InRoom<'a> {
    log: &'a dyn EventLog,
    room: RefCell<&'a mut Room>,
}

impl EventLog for InRoom<'_> {
    fn append(&self, record: NewRecord) -> Ticket {
        self.log.append_in(&mut self.room.borrow_mut(), record)
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<Place>> {
        self.log.emit(record)
    }

    fn reader(&self) -> LogReader {
        self.log.reader()
    }

    fn durable(&self, upto: Ticket) -> Local<'_, Outcome<()>> {
        self.log.durable(upto)
    }

    fn subscribe(&self, filter: Filter) -> Box<dyn Subscription> {
        self.log.subscribe(filter)
    }
}

//! A log with a filter in front of it: appended records pass through it, reads do not.

use std::rc::Rc;

use base::call::{Answer, BlockingPool, LocalFuture, Outcome};

use super::{EventLog, LogReader, NewRecord, RecordFilter, RecordPosition, Subscription, Ticket};

/// A filter that records pass on their way to a log.
pub trait RecordInterceptor {
    /// Appends a record like [`EventLog::append`], by passing it on to `log`.
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket;

    /// Emits like [`EventLog::emit`]. By default the record goes on unchanged.
    fn emit(&self, record: NewRecord, log: &dyn EventLog) -> Answer<'static, Outcome<RecordPosition>> {
        log.emit(record)
    }
}

/// A log with a [`RecordInterceptor`] in front of it.
pub struct InterceptedLog<P> {
    passage: P,
    log: Rc<dyn EventLog>,
}

impl<P> InterceptedLog<P> {
    /// Creates a log with a passage in front of it.
    pub fn new(passage: P, log: Rc<dyn EventLog>) -> InterceptedLog<P> {
        InterceptedLog { passage, log }
    }
}

impl<P: RecordInterceptor> EventLog for InterceptedLog<P> {
    fn append(&self, record: NewRecord) -> Ticket {
        self.passage.append(record, &*self.log)
    }

    fn room(&self) -> Option<LocalFuture<'static, ()>> {
        self.log.room()
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<RecordPosition>> {
        self.passage.emit(record, &*self.log)
    }

    fn reader(&self) -> LogReader {
        self.log.reader()
    }

    fn durable(&self, upto: Ticket) -> LocalFuture<'_, Outcome<()>> {
        self.log.durable(upto)
    }

    fn subscribe(&self, filter: RecordFilter) -> Box<dyn Subscription> {
        self.log.subscribe(filter)
    }

    fn subscribe_on(&self, filter: RecordFilter, pool: Rc<dyn BlockingPool>) -> Answer<'static, Box<dyn Subscription>> {
        self.log.subscribe_on(filter, pool)
    }
}

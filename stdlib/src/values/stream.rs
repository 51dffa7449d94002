//! A subscription to the event log, walked with `for` or `.next()`.

use crate::convert::to_value;
use crate::fault::to_raise;
use base::call::{Answer, Outcome};
use eventlog::{Record, Subscription};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, StreamSource, Wait};
use std::any::Any;
use std::sync::Arc;

type SharedSubscription = StreamSource<Box<dyn Subscription>>;

/// A stream of records.
pub(crate) struct EventStream {
    source: SharedSubscription,
}

impl EventStream {
    /// Returns the stream as a value.
    pub(crate) fn value(subscription: Box<dyn Subscription>) -> Value {
        HostBox::value(Self { source: StreamSource::new(subscription) })
    }

    /// Returns the next record if that is known without a wait.
    fn try_now(&self) -> Result<Option<Value>, Box<Raise>> {
        let answer = self.source.look(|source| match source.try_next() {
            Answer::Now(record) => Some(record),
            Answer::Later(_) => None,
        })?;
        answer.map_or(Ok(None), shown)
    }

    /// The next record, whenever it comes.
    pub(crate) fn wait(&self) -> Wait {
        self.source.wait(async |source| shown(source.next().await))
    }
}

/// The record as a value, or the error that the log reports.
fn shown(record: Outcome<Option<Arc<Record>>>) -> Result<Option<Value>, Box<Raise>> {
    let record = record.map_err(|error| to_raise(&error))?;
    Ok(record.map(|record| to_value(&record.to_data())))
}

/// The record that is there already, which is known once the file was read.
struct Attempt {
    source: SharedSubscription,
}

impl HostObject for Attempt {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        Some(Next::Later(self.source.wait(async |source| shown(source.try_next().get().await))))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl HostObject for EventStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        Some(match self.try_now() {
            Ok(Some(record)) => Next::Ready(Ok(Some(record))),
            Ok(None) => Next::Later(self.wait()),
            Err(raise) => Next::Ready(Err(raise)),
        })
    }

    fn attempt(&self) -> Option<Value> {
        let waits = self.source.look(|source| source.waits_for_disk()).unwrap_or(false);
        waits.then(|| HostBox::value(Attempt { source: self.source.clone() }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! A subscription to the event log, walked with `for` or `.next()`.

use crate::convert::to_value;
use crate::fault::to_raise;
use base::call::Answer;
use eventlog::Subscription;
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, Wait};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

type SharedSubscription = Rc<RefCell<Option<Box<dyn Subscription>>>>;

/// A stream of records.
pub(crate) struct EventStream {
    /// The source, taken out during a wait.
    source: SharedSubscription,
}

impl EventStream {
    /// Returns the stream as a value.
    pub(crate) fn value(subscription: Box<dyn Subscription>) -> Value {
        HostBox::value(Self { source: Rc::new(RefCell::new(Some(subscription))) })
    }

    /// Returns the next record if that is known without a wait.
    fn try_now(&self) -> Result<Option<Value>, Box<Raise>> {
        match &mut *self.source.borrow_mut() {
            Some(source) => match source.try_next() {
                Answer::Now(record) => {
                    let record = record.map_err(|e| to_raise(&e))?;
                    Ok(record.map(|r| to_value(&r.to_data())))
                }
                Answer::Later(_) => Ok(None),
            },
            None => Err(taken_already()),
        }
    }

    /// The next record, whenever it comes.
    pub(crate) fn wait(&self) -> Wait {
        let shared = self.source.clone();
        Wait::new(async move {
            let source = shared.borrow_mut().take();
            let mut taken = TakenSubscription { shared, source };
            let Some(source) = &mut taken.source else {
                return Err(taken_already());
            };
            match source.next().await {
                Ok(Some(record)) => Ok(Value::pair(to_value(&record.to_data()), Value::Bool(true))),
                Ok(None) => Ok(Value::Nil),
                Err(e) => Err(to_raise(&e)),
            }
        })
    }
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
        let shared = self.source.clone();
        Some(Next::Later(Wait::new(async move {
            let source = shared.borrow_mut().take();
            let mut taken = TakenSubscription { shared, source };
            let Some(source) = &mut taken.source else { return Err(taken_already()) };
            let record = source.try_next().get().await.map_err(|e| to_raise(&e))?;
            Ok(record.map_or(Value::Nil, |record| Value::pair(to_value(&record.to_data()), Value::Bool(true))))
        })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn taken_already() -> Box<Raise> {
    Raise::error(lang::vm::RunCode::Value, "another task already waits for this stream")
}

/// Puts the subscription back when the wait is over, also one that was given up.
struct TakenSubscription {
    shared: SharedSubscription,
    source: Option<Box<dyn Subscription>>,
}

impl Drop for TakenSubscription {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            *self.shared.borrow_mut() = Some(source);
        }
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
        let waits = self.source.borrow().as_ref().is_some_and(|source| source.waits_for_disk());
        waits.then(|| HostBox::value(Attempt { source: self.source.clone() }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! The updates of another agent's task, read with `for` or `.next()`. Dropping the stream closes
//! the connection and leaves the task alone.

use crate::a2a::client::{Event, PeerError, Stream, shown};
use crate::a2a::linked::LinkedTask;
use crate::clock::RunClock;
use crate::convert::to_value;
use crate::fault::of_peer;
use crate::table::a2a::deadline::{Deadline, by};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, Wait};
use std::any::Any;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The source, taken out during a wait.
type SharedPeerStream = Rc<RefCell<Option<Stream>>>;

/// A stream of events.
pub(crate) struct PeerStream {
    source: SharedPeerStream,
    clock: Rc<RunClock>,
    /// The deadline of the task.
    deadline: Option<Deadline>,
    linked: Rc<RefCell<LinkedTask>>,
}

impl PeerStream {
    /// Returns the stream as a value.
    pub(crate) fn value(stream: Stream, clock: Rc<RunClock>, deadline: Option<Deadline>, linked: LinkedTask) -> Value {
        let linked = Rc::new(RefCell::new(linked));
        HostBox::value(Self { source: Rc::new(RefCell::new(Some(stream))), clock, deadline, linked })
    }

    fn wait(&self) -> Wait {
        let (shared, clock, deadline) = (self.source.clone(), self.clock.clone(), self.deadline);
        let linked = self.linked.clone();
        Wait::new(async move {
            let _outside = clock.outside();
            let source = shared.borrow_mut().take();
            let mut taken = TakenPeerStream { shared, source };
            let Some(stream) = &mut taken.source else { return Err(taken_already()) };
            let event = by(deadline, &clock, stream.next()).await;
            let event = event.unwrap_or_else(|deadline| stream.late(|who| deadline.error(who)));
            let event = read(&linked, event)?;
            Ok(event.map_or(Value::Nil, |event| Value::pair(event, Value::Bool(true))))
        })
    }
}

fn read(linked: &RefCell<LinkedTask>, event: Result<Option<Event>, PeerError>) -> Result<Option<Value>, Box<Raise>> {
    linked.borrow_mut().take_event(&event);
    let event = event.map_err(|error| of_peer(&error))?;
    Ok(event.map(|event| to_value(&shown::of_event(&event))))
}

fn taken_already() -> Box<Raise> {
    Raise::error(lang::vm::RunCode::Value, "another task already waits for this stream")
}

/// Puts the stream back when the wait is over, also one that was given up.
struct TakenPeerStream {
    shared: SharedPeerStream,
    source: Option<Stream>,
}

impl Drop for TakenPeerStream {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            *self.shared.borrow_mut() = Some(source);
        }
    }
}

impl HostObject for PeerStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        let mut shared = self.source.borrow_mut();
        let Some(stream) = &mut *shared else { return Some(Next::Ready(Err(taken_already()))) };
        // Also where more has come: an agent that never falls silent is not listened to for ever.
        if let Some(deadline) = self.deadline.filter(|deadline| deadline.is_over(&self.clock)) {
            return Some(Next::Ready(read(&self.linked, stream.late(|who| deadline.error(who)))));
        }
        // A look at what has come, so that `try_next` gets it. Sockets can be looked at only where a runtime is.
        if tokio::runtime::Handle::try_current().is_ok() {
            let looked = pin!(stream.next()).poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(event) = looked {
                return Some(Next::Ready(read(&self.linked, event)));
            }
        }
        drop(shared);
        Some(Next::Later(self.wait()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

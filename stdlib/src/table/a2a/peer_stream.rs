//! The updates of another agent's task, read with `for` or `.next()`. Dropping the stream closes
//! the connection and leaves the task alone.

use super::deadline::{Deadline, by};
use super::linked::LinkedTask;
use crate::a2a::client::{Event, PeerError, Stream, shown};
use crate::clock::RunClock;
use crate::convert::to_value;
use crate::fault::of_peer;
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, StreamSource, Wait};
use std::any::Any;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A stream of events.
pub(crate) struct PeerStream {
    source: StreamSource<Stream>,
    clock: Rc<RunClock>,
    /// The deadline of the task.
    deadline: Option<Deadline>,
    linked: Rc<RefCell<LinkedTask>>,
}

impl PeerStream {
    /// Returns the stream as a value.
    pub(crate) fn value(stream: Stream, clock: Rc<RunClock>, deadline: Option<Deadline>, linked: LinkedTask) -> Value {
        let linked = Rc::new(RefCell::new(linked));
        HostBox::value(Self { source: StreamSource::new(stream), clock, deadline, linked })
    }

    fn wait(&self) -> Wait {
        let (clock, deadline, linked) = (self.clock.clone(), self.deadline, self.linked.clone());
        self.source.wait(async move |stream| {
            let _outside = clock.outside();
            let event = by(deadline, &clock, stream.next()).await;
            read(&linked, event.unwrap_or_else(|deadline| stream.late(|who| deadline.error(who))))
        })
    }

    /// Looks for an event that has come; nothing if that is not known without a wait.
    fn look(&self, stream: &mut Stream) -> Option<Result<Option<Value>, Box<Raise>>> {
        // Also where more has come: an agent that never falls silent is not listened to for ever.
        if let Some(deadline) = self.deadline.filter(|deadline| deadline.is_over(&self.clock)) {
            return Some(read(&self.linked, stream.late(|who| deadline.error(who))));
        }
        // Sockets can be looked at only where a runtime is.
        tokio::runtime::Handle::try_current().ok()?;
        match pin!(stream.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => Some(read(&self.linked, event)),
            Poll::Pending => None,
        }
    }
}

fn read(linked: &RefCell<LinkedTask>, event: Result<Option<Event>, PeerError>) -> Result<Option<Value>, Box<Raise>> {
    linked.borrow_mut().take_event(&event);
    let event = event.map_err(|error| of_peer(&error))?;
    Ok(event.map(|event| to_value(&shown::of_event(&event))))
}

impl HostObject for PeerStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        // So that `try_next` gets it.
        Some(match self.source.look(|stream| self.look(stream)) {
            Err(taken) => Next::Ready(Err(taken)),
            Ok(Some(event)) => Next::Ready(event),
            Ok(None) => Next::Later(self.wait()),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

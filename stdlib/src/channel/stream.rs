//! [`ChannelStream`]: the events of a session, read with `for` or `.next()`. Dropping it closes the connection.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, RunCode, Wait};
use tokio::sync::Mutex;
use tokio::sync::mpsc::error::TryRecvError;

use super::{ChannelEvents, OpenChannel};
use crate::clock::RunClock;
use crate::convert::to_value;

/// The events of a session.
pub(crate) struct ChannelStream {
    events: Rc<Mutex<ChannelEvents>>,
    clock: Rc<RunClock>,
    /// Time without an event after which the stream ends.
    idle: Option<Duration>,
    /// Open as long as the stream is.
    _channel: Arc<dyn OpenChannel>,
}

impl ChannelStream {
    pub(crate) fn value(
        events: ChannelEvents,
        clock: Rc<RunClock>,
        idle: Option<Duration>,
        channel: Arc<dyn OpenChannel>,
    ) -> Value {
        HostBox::value(ChannelStream { events: Rc::new(Mutex::new(events)), clock, idle, _channel: channel })
    }
}

fn read(json: &str) -> Result<Value, Box<Raise>> {
    let event = Data::from_json(json)
        .map_err(|error| Raise::error(RunCode::Outside, format!("cannot read an event of the daemon: {error}")))?;
    Ok(to_value(&event))
}

impl HostObject for ChannelStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        // An event that has arrived, so that `try_next` gets it.
        if let Ok(mut events) = self.events.try_lock() {
            match events.try_recv() {
                Ok(json) => return Some(Next::Ready(read(&json).map(Some))),
                Err(TryRecvError::Disconnected) => return Some(Next::Ready(Ok(None))),
                Err(TryRecvError::Empty) => {}
            }
        }
        let (events, clock, idle) = (self.events.clone(), self.clock.clone(), self.idle);
        let wait = async move {
            let _outside = clock.outside();
            let next = async { events.lock().await.recv().await };
            let json = match idle {
                None => next.await,
                Some(idle) => tokio::time::timeout(idle, next).await.unwrap_or_default(),
            };
            json.map_or(Ok(Value::Nil), |json| Ok(Value::pair(read(&json)?, Value::Bool(true))))
        };
        Some(Next::Later(Wait::new(wait)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

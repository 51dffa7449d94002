//! Reading of a streamed answer: each event is reported live, and all of them together become the
//! document that the vendor would have sent in one piece. So a reply is read by the same code
//! whether it was streamed or not.

use std::collections::VecDeque;
use std::time::Duration;

use json::PieceJoiner;
use runtime::model::{Delta, ModelError};
use serde_json::Value;
use tokio::time::timeout;

use super::Endpoint;
use super::events::{Event, EventError, EventStream};
use super::{failure, values};

/// The time that a server may take to close a stream, or to report its token usage, after the
/// answer is complete.
const LINGER: Duration = Duration::from_secs(3);

/// A wire's interpretation of its events.
pub(crate) trait Assembly {
    /// Takes the next event and tells what it adds. Events that mean nothing here are passed over.
    fn add(&mut self, event: Value, live: &dyn Fn(Delta<'_>)) -> Result<Progress, Problem>;

    /// Whether the mark `[DONE]` alone ends what has come so far.
    fn ends_with_mark(&self) -> bool {
        false
    }

    /// The vendor's document.
    fn document(self: Box<Self>) -> Value;
}

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is not whole.
    More,
    /// It is whole, but something about it may follow.
    Whole,
    /// The stream is over.
    Over,
}

/// Tells a piece that says something.
pub(crate) fn tell(piece: &str, live: impl Fn(&str)) {
    if !piece.is_empty() {
        live(piece);
    }
}

/// The reason why an event ends the answer early.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The server says that it failed: the event with the error in it.
    Failed(Value),
    /// The event is not what the wire says it is.
    Shape(String),
}

/// The end of reading a stream.
pub(super) enum StreamEnd {
    /// The answer is whole.
    Whole,
    /// The stream had no event.
    NoEvents,
}

/// Reads to the end of the answer.
pub(super) async fn assemble(
    endpoint: &Endpoint,
    events: &mut EventStream,
    assembly: &mut dyn Assembly,
    timeout_ms: u64,
    live: &dyn Fn(Delta<'_>),
) -> Result<StreamEnd, ModelError> {
    let (mut whole, mut any) = (false, false);
    let mut events = JoinedEvents { events, joiner: PieceJoiner::default(), ready: VecDeque::new(), end: None };
    loop {
        let next = if whole {
            // Whatever becomes of the connection now, the answer is there.
            timeout(LINGER, events.next()).await.ok().and_then(Result::ok).flatten()
        } else {
            events.next().await.map_err(|error| broken(endpoint, &error, timeout_ms))?
        };
        let Some(JoinedEvent { event, is_joined }) = next else {
            return match (whole, any) {
                (true, _) => Ok(StreamEnd::Whole),
                (false, false) => Ok(StreamEnd::NoEvents),
                (false, true) => Err(failure::unfinished(endpoint)),
            };
        };
        any = true;
        if event.data.trim() == "[DONE]" {
            if whole || assembly.ends_with_mark() {
                drain(events.events).await;
                return Ok(StreamEnd::Whole);
            }
            continue;
        }
        let read = match read(endpoint, &event, is_joined) {
            Ok(Some(json)) => Ok(json),
            Ok(None) => {
                events.hold(event);
                continue;
            }
            Err(error) => Err(error),
        };
        let added = read.and_then(|json| {
            assembly.add(json, live).map_err(|problem| match problem {
                Problem::Failed(event) => failure::of_event(endpoint, &event),
                Problem::Shape(problem) => failure::wrong_shape(endpoint, &problem),
            })
        });
        match added {
            Ok(Progress::More) => {}
            Ok(Progress::Whole) => whole = true,
            Ok(Progress::Over) => {
                drain(events.events).await;
                return Ok(StreamEnd::Whole);
            }
            Err(_) if whole => return Ok(StreamEnd::Whole),
            Err(error) => return Err(error),
        }
    }
}

/// The events of a stream, after halves of a character were joined.
struct JoinedEvents<'a> {
    events: &'a mut EventStream,
    joiner: PieceJoiner<Option<String>>,
    ready: VecDeque<(Option<String>, String)>,
    /// The end of the stream, if it came while an event was held.
    end: Option<Result<(), EventError>>,
}

/// An event, and whether it has passed through the joiner.
struct JoinedEvent {
    event: Event,
    is_joined: bool,
}

impl JoinedEvents<'_> {
    /// Keeps an event that has half of a character until its neighbour has come.
    fn hold(&mut self, Event { name, data }: Event) {
        self.ready.extend(self.joiner.push(name, data));
    }

    async fn next(&mut self) -> Result<Option<JoinedEvent>, EventError> {
        loop {
            if let Some((name, data)) = self.ready.pop_front() {
                return Ok(Some(JoinedEvent { event: Event { name, data }, is_joined: true }));
            }
            if let Some(end) = self.end.take() {
                return end.map(|()| None);
            }
            let next = self.events.next().await;
            if !self.joiner.is_waiting() {
                return next.map(|event| event.map(|event| JoinedEvent { event, is_joined: false }));
            }
            match next {
                Ok(Some(event)) if event.data.trim() != "[DONE]" => self.hold(event),
                last => {
                    self.ready = self.joiner.flush();
                    match last {
                        Ok(Some(mark)) => self.ready.push_back((mark.name, mark.data)),
                        Ok(None) => self.end = Some(Ok(())),
                        Err(error) => self.end = Some(Err(error)),
                    }
                }
            }
        }
    }
}

/// Returns the JSON of an event, unless it reports an error; that much is alike among vendors. `None` if it has half of a
/// character, and was not joined yet.
fn read(endpoint: &Endpoint, event: &Event, is_joined: bool) -> Result<Option<Value>, ModelError> {
    if values::too_many(event.data.as_bytes()) {
        return Err(failure::too_many_values(endpoint, values::MOST));
    }
    let json = if is_joined { json::from_str(&event.data).map(Some) } else { json::from_piece(&event.data) };
    let json: Option<Value> = json.map_err(|error| failure::bad_event(endpoint, event.data.as_bytes(), &error))?;
    let Some(json) = json else { return Ok(None) };
    let is_error = event.name.as_deref() == Some("error")
        || ["type", "object"].iter().any(|key| json.get(key).is_some_and(|kind| kind == "error"))
        || json.get("error").is_some_and(|error| !error.is_null());
    if is_error { Err(failure::of_event(endpoint, &json)) } else { Ok(Some(json)) }
}

/// Takes what has come with the last event, so that the connection can be used again; waits for nothing.
async fn drain(events: &mut EventStream) {
    let _ = timeout(Duration::ZERO, events.next()).await;
}

fn broken(endpoint: &Endpoint, error: &EventError, timeout_ms: u64) -> ModelError {
    use super::chunks::ChunkError as C;
    match error {
        EventError::Utf8 => failure::not_utf8(endpoint),
        EventError::Chunk(C::Network(cause)) => failure::of_network(endpoint, cause, timeout_ms),
        EventError::Chunk(C::Stalled(silence)) => failure::stalled(endpoint, *silence),
        EventError::Chunk(C::AnswerTooLong) => failure::too_long(endpoint, super::MAX_BODY),
        EventError::Chunk(C::EventTooLong) => failure::event_too_long(endpoint, super::chunks::MAX_EVENT),
    }
}

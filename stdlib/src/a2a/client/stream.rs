//! [`Stream`]: what becomes of a task, as a peer tells it.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use a2a::{Frame, TaskState, Version};
use base::data::Data;
use json::PieceJoiner;
use jsonrpc::{Answer, Message, Request};
use providers::web::{Failure, ResponseEvents};
use tokio::time::timeout;

use super::peer::{Peer, excerpt, read};
use super::reminder::{self, ReminderReport};
use super::{ErrorKind, Lease, PeerError};

/// The time a peer may take to close a stream whose task waits for its caller.
const LINGER: Duration = Duration::from_secs(2);

/// The number of unknown events after which other work may run.
const AT_ONCE: usize = 32;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// A frame of the protocol.
    Frame(Frame),
    /// A report about a reminder.
    Reminder(ReminderReport),
}

/// A stream. Dropping it closes the connection and leaves the task alone.
pub(crate) struct Stream {
    peer: Peer,
    source: PeerEventSource,
    /// Whether it is over when the task waits for its caller; else only the peer says when.
    until_over: bool,
    /// The task, once it is known.
    task_id: Option<Arc<str>>,
    /// The state, as far as it was reported.
    state: Option<TaskState>,
    /// The number of events.
    count: u64,
    /// An answer without a task has come.
    answered: bool,
    /// Reminders that went with the message which is answered here.
    carried: Option<Lease>,
}

enum PeerEventSource {
    Events(JoinedResponseEvents),
    /// One document.
    Document(Data),
    /// The stream is over.
    Over,
}

/// The events of a response, after halves of a character were joined: a peer may cut a text inside of one.
struct JoinedResponseEvents {
    events: ResponseEvents,
    joiner: PieceJoiner<()>,
    ready: VecDeque<((), String)>,
    /// The failure that came while an event was held.
    failure: Option<Failure>,
}

impl JoinedResponseEvents {
    async fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            if let Some(((), event)) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            match self.events.next().await {
                Ok(Some(event)) if self.joiner.is_waiting() || json::has_unpaired(&event) => {
                    self.ready = self.joiner.push((), event);
                }
                next if self.joiner.is_waiting() => {
                    self.ready = self.joiner.flush();
                    self.failure = next.err();
                }
                next => return next,
            }
        }
    }
}

impl Stream {
    pub(super) fn of_events(peer: Peer, events: ResponseEvents, until_over: bool) -> Stream {
        let events =
            JoinedResponseEvents { events, joiner: PieceJoiner::default(), ready: VecDeque::new(), failure: None };
        Stream { source: PeerEventSource::Events(events), until_over, ..Stream::of_document(peer, Data::Nil) }
    }

    pub(super) fn of_document(peer: Peer, result: Data) -> Stream {
        let source = PeerEventSource::Document(result);
        Stream { peer, source, until_over: true, task_id: None, state: None, count: 0, answered: false, carried: None }
    }

    /// Attaches the reminders that were sent with the message: the first event confirms their
    /// arrival.
    pub(crate) fn carrying(self, carried: Option<Lease>) -> Stream {
        Stream { carried, ..self }
    }

    /// The next event; nothing after the last.
    ///
    /// # Errors
    /// Returns the error that ended the stream before the task was over, or waited for its caller.
    /// No event follows it.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, PeerError> {
        let next = self.step().await;
        let carried = match next {
            Ok(Some(_)) => self.carried.take(),
            _ => {
                self.source = PeerEventSource::Over;
                self.carried = None;
                None
            }
        };
        carried.into_iter().for_each(Lease::delivered);
        next.map_err(|error| self.how_far(error))
    }

    /// Returns the next event that is known here. Those of later versions of the protocol are skipped.
    async fn step(&mut self) -> Result<Option<Event>, PeerError> {
        let mut skipped = 0_usize;
        loop {
            match self.look().await? {
                ControlFlow::Break(event) => return Ok(event),
                ControlFlow::Continue(()) => skipped += 1,
            }
            if skipped.is_multiple_of(AT_ONCE) {
                // A flood of them must not keep the thread from other work.
                tokio::task::yield_now().await;
            }
        }
    }

    /// Reads once: breaks with the next event, or with `None` after the last, and continues after an unknown event.
    async fn look(&mut self) -> Result<ControlFlow<Option<Event>>, PeerError> {
        if self.has_ended() {
            return Ok(ControlFlow::Break(None));
        }
        let waits = self.waits_for_caller();
        let events = match &mut self.source {
            PeerEventSource::Over => return Ok(ControlFlow::Break(None)),
            PeerEventSource::Document(result) => {
                let result = std::mem::take(result);
                let frame = self.peer.card.version.read_frame_of_peer(&result);
                let event = self.take(frame.map_err(|misfit| self.peer.unfit(&misfit))?, &result);
                self.source = PeerEventSource::Over;
                return Ok(ControlFlow::Break(Some(event)));
            }
            PeerEventSource::Events(events) => events,
        };
        let said = match waits {
            // The reader is the caller that the task waits for.
            true => match timeout(LINGER, events.next()).await {
                Ok(said) => said,
                Err(_) => return Ok(ControlFlow::Break(None)),
            },
            false => events.next().await,
        };
        match said.map_err(PeerError::from)? {
            Some(said) => Ok(match self.read(&said)? {
                Some(event) => ControlFlow::Break(Some(event)),
                None => ControlFlow::Continue(()),
            }),
            None if waits => Ok(ControlFlow::Break(None)),
            None => {
                Err(PeerError::new(ErrorKind::BrokeOff, format!("the stream of {} ended early", self.peer.shown())))
            }
        }
    }

    /// Reads an event. Returns `None` if its kind is unknown.
    fn read(&mut self, said: &str) -> Result<Option<Event>, PeerError> {
        match read(said.as_bytes()) {
            Some(Message::Answer(Answer { error: Some(error @ Data::Dict(_)), .. })) => Err(self.peer.answered(&error)),
            Some(Message::Answer(Answer { result: Some(result), .. })) => {
                let frame = self.peer.card.version.read_event_of_peer(&result);
                let frame = frame.map_err(|misfit| self.peer.unfit(&misfit))?;
                Ok(frame.map(|frame| self.take(frame, &result)))
            }
            Some(Message::Request(Request { method, params, .. })) => {
                let report = reminder::of_notification(&method, &params.unwrap_or_default());
                self.count += u64::from(report.is_some());
                Ok(report.map(Event::Reminder))
            }
            _ => Err(self.no_event(said)),
        }
    }

    fn no_event(&self, said: &str) -> PeerError {
        let said = excerpt(&self.peer.access, said.as_bytes());
        PeerError::new(ErrorKind::NotAgent, format!("invalid stream event of {}: {said}", self.peer.shown()))
    }

    /// Takes the frame in a result.
    fn take(&mut self, frame: Frame, result: &Data) -> Event {
        self.count += 1;
        let (task_id, state) = match &frame {
            Frame::Task(task) => (Some(&task.id), Some(task.status.state)),
            Frame::Status(update) => (Some(&update.task_id), Some(update.status.state)),
            Frame::Artifact(update) => (Some(&update.task_id), None),
            Frame::Message(_) => {
                self.answered = true;
                (None, None)
            }
        };
        if let Some(task_id) = task_id {
            self.task_id.get_or_insert_with(|| task_id.clone());
        }
        self.state = state.or(self.state);
        // Before 1.0 a peer says which event is its last.
        self.answered |= self.peer.card.version < Version::V1_0 && result.get("final").truthy();
        if let Frame::Status(update) = &frame
            && let Some(report) = reminder::of_metadata(&update.metadata, &update.task_id)
        {
            return Event::Reminder(report);
        }
        Event::Frame(frame)
    }

    /// Whether nothing more is to come, whatever the connection does.
    fn has_ended(&self) -> bool {
        let is_over = matches!(self.source, PeerEventSource::Over);
        is_over || self.answered || self.state.is_some_and(TaskState::is_terminal)
    }

    /// Whether its end is where the task waits for its caller.
    fn waits_for_caller(&self) -> bool {
        self.until_over && self.state.is_some_and(TaskState::is_interrupted)
    }

    /// Ends the stream because the wait for it is over. No event follows.
    ///
    /// # Errors
    /// Returns the error to raise, if there was anything to wait for.
    pub(crate) fn late(&mut self, why: impl FnOnce(&str) -> PeerError) -> Result<Option<Event>, PeerError> {
        let was_over = self.has_ended() || self.waits_for_caller();
        self.source = PeerEventSource::Over;
        // A stream that is still held does not hold its reminders.
        self.carried = None;
        if was_over { Ok(None) } else { Err(self.how_far(why(&self.peer.shown()))) }
    }

    /// Returns the error that ended the stream, with the progress so far.
    fn how_far(&self, error: PeerError) -> PeerError {
        let state = self.state.map_or(Data::Nil, |state| state.as_str().into());
        let cut = matches!(error.kind, ErrorKind::BrokeOff | ErrorKind::Connection);
        let mut error = error.fact("events", self.count.into()).fact("state", state.clone());
        if cut {
            error.kind = ErrorKind::BrokeOff;
            let events = if self.count == 1 { "event" } else { "events" };
            let last = state.as_str().map_or(String::new(), |state| format!(", the task was {state}"));
            error.message = format!("{} after {} {events}{last}", error.message, self.count);
        }
        let Some(task_id) = &self.task_id else { return error };
        if matches!(error.kind, ErrorKind::BrokeOff | ErrorKind::Timeout) {
            error.help = Some(format!(
                "the task may still be running: `a2a.subscribe(url, {task_id:?})` continues to follow it, \
                `a2a.get` returns its state"
            ));
        }
        error.fact("task_id", task_id.into())
    }
}

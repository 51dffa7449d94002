//! [`Outbox`]: session events that the client has not read.
//!
//! Workers add events without waiting; a session waits for room before an operation that produces more
//! ([`Outbox::room`]). The connection takes events while its transport has room, one session after the other, and only
//! then converts them to frames: pending pieces of a text are joined by that time.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use tokio::sync::Notify;

use super::{UpdateConverter, UpdateNotification, WantedUpdates};
use crate::host::{Part, ReminderEvent, SessionEvent, Waiting, new_message_id};

/// The number of pending events at which a session has no room.
const MOST_EVENTS: usize = 64;
/// The size of pending events at which a session has no room, in bytes.
const MOST_BYTES: usize = 256 << 10;
/// The maximum number, and size in bytes, of pending events of a session that the client does not know yet: it cannot
/// read any, and the session does not wait for it.
const MOST_EARLY_EVENTS: usize = 1_024;
const MOST_EARLY_BYTES: usize = 1 << 20;
/// The size up to which pieces of text are joined, in bytes.
const MOST_PIECE: usize = 16 << 10;

/// Session events that the client has not read. Shared by the workers' threads.
#[derive(Debug)]
pub struct Outbox {
    state: Mutex<OutboxState>,
    /// Notified when an event can be sent.
    more: Notify,
}

#[derive(Debug, Default)]
struct OutboxState {
    wants: WantedUpdates,
    sessions: HashMap<Arc<str>, SessionOutbox>,
    /// The sessions with pending events, each once; the first is next.
    due: VecDeque<Arc<str>>,
}

/// The events of one session.
#[derive(Debug, Default)]
struct SessionOutbox {
    waiting: VecDeque<SessionEvent>,
    bytes: usize,
    /// The converter: `None` until the client knows the session.
    updates: Option<UpdateConverter>,
    /// The number of events dropped until then.
    left_out: usize,
    is_due: bool,
    room: Arc<Notify>,
}

impl SessionOutbox {
    fn has_room(&self) -> bool {
        // A client cannot read the events of a session that it does not know yet.
        self.updates.is_none() || self.waiting.len() < MOST_EVENTS && self.bytes < MOST_BYTES
    }

    /// Adds an event; joins a piece of text to the piece before it.
    fn put(&mut self, event: SessionEvent) {
        if self.updates.is_none() && (self.waiting.len() >= MOST_EARLY_EVENTS || self.bytes >= MOST_EARLY_BYTES) {
            self.left_out += 1;
            return;
        }
        self.bytes += weight(&event);
        let alone = match self.waiting.back_mut() {
            Some(last) => join(last, event),
            None => Some(event),
        };
        self.waiting.extend(alone);
    }

    fn take(&mut self) -> Option<SessionEvent> {
        let event = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(weight(&event));
        Some(event)
    }
}

impl Outbox {
    /// Creates an outbox for a client.
    #[must_use]
    pub fn new(wants: WantedUpdates) -> Outbox {
        Outbox { state: Mutex::new(OutboxState { wants, ..OutboxState::default() }), more: Notify::new() }
    }

    /// Sets the updates that the client accepts, for the sessions opened from now on.
    pub fn want(&self, wants: WantedUpdates) {
        self.state().wants = wants;
    }

    /// Begins to send a session's events, starting with the pending ones: the client knows the session now. `cwd` is
    /// where its tools start.
    pub fn open(&self, session_id: &Arc<str>, cwd: PathBuf) {
        let mut state = self.state();
        let updates = UpdateConverter::new(session_id.clone(), cwd, state.wants);
        let shown = state.sessions.entry(session_id.clone()).or_default();
        shown.updates = Some(updates);
        match std::mem::take(&mut shown.left_out) {
            0 => {}
            n => shown.put(SessionEvent::Status {
                message_id: new_message_id(),
                text: format!("{n} more updates from before the session was open are omitted").into(),
                partial: Data::Nil,
            }),
        }
        state.make_due(session_id);
        drop(state);
        self.more.notify_one();
    }

    /// Drops a closed session and its pending events, and wakes the waiting tasks.
    pub fn close(&self, session_id: &Arc<str>) {
        let mut state = self.state();
        state.due.retain(|due| due != session_id);
        let closed = state.sessions.remove(session_id);
        drop(state);
        if let Some(shown) = closed {
            shown.room.notify_waiters();
        }
    }

    /// Drops an ended session that the client does not know. Returns false if the client knows it: the rest is sent
    /// first, and then [`Outbox::close`] is called.
    pub fn give_up(&self, session_id: &Arc<str>) -> bool {
        let is_known = self.state().sessions.get(session_id).is_some_and(|shown| shown.updates.is_some());
        if !is_known {
            self.close(session_id);
        }
        !is_known
    }

    /// Adds a session event, in order. Never waits.
    pub fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        let mut state = self.state();
        state.sessions.entry(session_id.clone()).or_default().put(event);
        state.make_due(session_id);
        drop(state);
        self.more.notify_one();
    }

    /// Waits until the client has read enough of the session's events.
    #[must_use]
    pub fn room(self: &Arc<Self>, session_id: &Arc<str>) -> Waiting<()> {
        let (outbox, session_id) = (self.clone(), session_id.clone());
        Box::pin(async move {
            loop {
                let room = match outbox.state().sessions.get(&session_id) {
                    Some(shown) if !shown.has_room() => shown.room.clone(),
                    _ => return,
                };
                let mut woken = std::pin::pin!(room.notified());
                // From here on, freed room wakes this future.
                woken.as_mut().enable();
                if outbox.state().sessions.get(&session_id).is_none_or(SessionOutbox::has_room) {
                    return;
                }
                woken.await;
            }
        })
    }

    /// Waits until an event can be sent.
    pub async fn due(&self) {
        loop {
            let woken = self.more.notified();
            if !self.state().due.is_empty() {
                return;
            }
            woken.await;
        }
    }

    /// Sends the next event of the next session. Returns false if there was none.
    pub fn send_next(&self, mut send: impl FnMut(UpdateNotification)) -> bool {
        let mut state = self.state();
        let Some(id) = state.due.pop_front() else { return false };
        let Some(shown) = state.sessions.get_mut(&id) else { return true };
        shown.is_due = false;
        if let (Some(event), Some(updates)) = (shown.take(), shown.updates.as_mut()) {
            updates.frames(event).into_iter().for_each(&mut send);
        }
        if shown.has_room() {
            shown.room.notify_waiters();
        }
        state.make_due(&id);
        true
    }

    /// Sends all events of a session so far, before a response that must come after them.
    pub fn send_all(&self, session_id: &Arc<str>, mut send: impl FnMut(UpdateNotification)) {
        let mut state = self.state();
        let Some(shown) = state.sessions.get_mut(session_id) else { return };
        if shown.updates.is_none() {
            return;
        }
        while let Some(event) = shown.take() {
            if let Some(updates) = shown.updates.as_mut() {
                updates.frames(event).into_iter().for_each(&mut send);
            }
        }
        shown.room.notify_waiters();
    }

    /// Calls `look` with the converter of a session that the client knows.
    pub fn with<R>(&self, session_id: &str, look: impl FnOnce(&UpdateConverter) -> R) -> Option<R> {
        self.state().sessions.get(session_id)?.updates.as_ref().map(look)
    }

    fn state(&self) -> MutexGuard<'_, OutboxState> {
        // A panic under this lock leaves whole events.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxState {
    fn make_due(&mut self, session_id: &Arc<str>) {
        if let Some(shown) = self.sessions.get_mut(session_id)
            && shown.updates.is_some()
            && !shown.is_due
            && !shown.waiting.is_empty()
        {
            shown.is_due = true;
            self.due.push_back(session_id.clone());
        }
    }
}

/// Joins a piece of text to the piece before it; returns the event if it does not belong there.
fn join(last: &mut SessionEvent, event: SessionEvent) -> Option<SessionEvent> {
    let (into, piece) = match (last, &event) {
        (SessionEvent::Text { message_id, text }, SessionEvent::Text { message_id: id, text: piece })
        | (SessionEvent::Thought { message_id, text }, SessionEvent::Thought { message_id: id, text: piece })
            if message_id == id && text.len() + piece.len() <= MOST_PIECE =>
        {
            (text, piece)
        }
        _ => return Some(event),
    };
    let mut joined = String::with_capacity(into.len() + piece.len());
    joined.push_str(into);
    joined.push_str(piece);
    *into = joined.into();
    None
}

/// Returns the approximate size of an event in bytes.
fn weight(event: &SessionEvent) -> usize {
    match event {
        SessionEvent::UserMessage { content, .. } => content.weight(),
        SessionEvent::ToolCall { call, annotations } => call.arguments.weight() + annotations.weight(),
        SessionEvent::ToolEnded { text, value, .. } => text.len() + value.weight(),
        SessionEvent::Data { data, .. } => data.weight(),
        SessionEvent::Plan(entries) => entries.iter().map(|entry| entry.content.len()).sum(),
        SessionEvent::Artifact { made, .. } => {
            made.parts.iter().map(part_weight).sum::<usize>() + made.metadata.weight()
        }
        SessionEvent::Status { text, partial, .. } => text.len() + partial.weight(),
        SessionEvent::Text { text, .. }
        | SessionEvent::Log(text)
        | SessionEvent::Thought { text, .. }
        | SessionEvent::Title(text)
        | SessionEvent::Question { text, .. }
        | SessionEvent::Mode(text) => text.len(),
        SessionEvent::Reminder(ReminderEvent::Emitted { reminder, .. }) => reminder.body.len(),
        SessionEvent::Remind(payload) => payload.spec.body.len(),
        SessionEvent::Reminder(_) | SessionEvent::Usage { .. } | SessionEvent::ToolBegan { .. } => 0,
    }
}

fn part_weight(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Data(data) => data.weight(),
        Part::File { bytes, .. } => bytes.as_ref().map_or(0, |bytes| bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn text(id: &str, text: &str) -> SessionEvent {
        SessionEvent::Text { message_id: id.into(), text: text.into() }
    }

    fn texts(outbox: &Outbox, session: &Arc<str>) -> Vec<String> {
        let mut out = Vec::new();
        outbox.send_all(session, |frame| {
            out.push(frame.params["update"]["content"]["text"].as_str().unwrap_or("?").to_owned());
        });
        out
    }

    fn is_ready(future: &mut Waiting<()>) -> bool {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn pieces_that_wait_become_one_and_keep_their_order() {
        let (outbox, session) = (Outbox::new(WantedUpdates::default()), Arc::from("s"));
        outbox.open(&session, "/".into());
        for _ in 0..MOST_PIECE {
            outbox.show(&session, text("m1", "ab"));
        }
        outbox.show(&session, SessionEvent::Thought { message_id: "m1".into(), text: "hm".into() });
        outbox.show(&session, text("m1", "c"));
        outbox.show(&session, text("m2", "d"));
        let sent = texts(&outbox, &session);
        let lengths: Vec<usize> = sent.iter().map(String::len).collect();
        assert_eq!(lengths, [MOST_PIECE, MOST_PIECE, 2, 1, 1]);
        assert_eq!((sent[2].as_str(), sent[3].as_str(), sent[4].as_str()), ("hm", "c", "d"));
        assert!(texts(&outbox, &session).is_empty());
    }

    #[test]
    fn a_session_has_no_room_until_the_client_has_taken_something() {
        let (outbox, session) = (Arc::new(Outbox::new(WantedUpdates::default())), Arc::from("s"));
        outbox.open(&session, "/".into());
        assert!(is_ready(&mut outbox.room(&session)));
        outbox.show(&session, text("m", &"x".repeat(MOST_BYTES)));
        let (mut room, mut also) = (outbox.room(&session), outbox.room(&session));
        assert!(!is_ready(&mut room) && !is_ready(&mut also));
        assert!(is_ready(&mut outbox.room(&Arc::from("another"))));
        assert!(outbox.send_next(|_| {}));
        assert!(is_ready(&mut room) && is_ready(&mut also));

        for n in 0..MOST_EVENTS {
            outbox.show(&session, text(&n.to_string(), "x"));
        }
        let mut room = outbox.room(&session);
        assert!(!is_ready(&mut room));
        outbox.close(&session);
        assert!(is_ready(&mut room), "nobody waits for a session that is over");
        assert!(!outbox.send_next(|_| {}));
    }

    #[test]
    fn sessions_take_turns_and_each_keeps_its_order() {
        let outbox = Outbox::new(WantedUpdates::default());
        let sessions = [Arc::from("a"), Arc::from("b")];
        for session in &sessions {
            outbox.open(session, "/".into());
            for n in 0..3 {
                outbox.show(session, text(&n.to_string(), "x"));
            }
        }
        let mut sent = Vec::new();
        let mut note = |frame: UpdateNotification| {
            let (session, message) = (&frame.params["sessionId"], &frame.params["update"]["messageId"]);
            sent.push(format!("{}{}", session.as_str().unwrap_or("?"), message.as_str().unwrap_or("?")));
        };
        while outbox.send_next(&mut note) {}
        assert_eq!(sent, ["a0", "b0", "a1", "b1", "a2", "b2"]);
    }

    #[test]
    fn what_is_shown_before_the_client_knows_is_bounded_and_what_is_left_out_is_told() {
        let (outbox, session) = (Arc::new(Outbox::new(WantedUpdates::default())), Arc::from("s"));
        for n in 0..MOST_EARLY_EVENTS + 7 {
            outbox.show(&session, text(&n.to_string(), "x"));
        }
        assert!(is_ready(&mut outbox.room(&session)), "nobody waits for a client that cannot take anything");
        outbox.open(&session, "/".into());
        outbox.show(&session, text("m", "on"));
        let sent = texts(&outbox, &session);
        assert_eq!(sent.len(), MOST_EARLY_EVENTS + 2);
        let left_out = &sent[MOST_EARLY_EVENTS];
        assert!(left_out.contains("7 more updates from before the session was open are omitted"), "{left_out}");

        for n in 0..3 {
            outbox.show(&Arc::from("long"), text(&n.to_string(), &"x".repeat(MOST_EARLY_BYTES)));
        }
        outbox.open(&Arc::from("long"), "/".into());
        assert_eq!(texts(&outbox, &Arc::from("long")).len(), 2);
    }

    #[test]
    fn a_session_whose_opening_failed_leaves_nothing_behind() {
        let (outbox, known, unknown) =
            (Outbox::new(WantedUpdates::default()), Arc::from("known"), Arc::from("unknown"));
        outbox.open(&known, "/".into());
        for session in [&known, &unknown] {
            outbox.show(session, text("m", "x"));
        }
        assert!(!outbox.give_up(&known) && outbox.give_up(&unknown));
        assert_eq!(texts(&outbox, &known), ["x"]);
        assert!(outbox.state().sessions.keys().eq([&known]));
    }

    #[test]
    fn what_a_session_shows_before_the_client_knows_it_comes_once_it_does() {
        let (outbox, session) = (Arc::new(Outbox::new(WantedUpdates::default())), Arc::from("s"));
        outbox.show(&session, text("m", "early"));
        assert!(!outbox.send_next(|_| {}) && texts(&outbox, &session).is_empty());
        assert!(outbox.with("s", |_| ()).is_none());
        outbox.open(&session, "/".into());
        let mut due = Box::pin(outbox.due());
        assert_eq!(due.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()));
        assert_eq!(texts(&outbox, &session), ["early"]);
    }
}

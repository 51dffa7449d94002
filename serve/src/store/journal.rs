//! [`SessionJournal`]: records a session while it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use eventlog::{DurableFuture, NewRecord, SharedLog, SqliteLog, Ticket};
use runtime::agent_loop::{LoopEvent, LoopObservation};
use runtime::event_log::{RunTaggedLog, Topic};
use runtime::model::Delta;
use runtime::session::{ConversationJournal, JournalChange, Session};

use crate::clock::now_ms;
use crate::host::{PromptOutcome, SessionEvent};

use super::about::title_of;
use super::shown::{NamedRecord, TextAssembly};
use super::{INTERRUPTED, SessionDescription, SessionStore, StoreError, StoredSession};

/// Records a session while it runs. Only [`SessionJournal::again`] and [`SessionJournal::settled`] wait for the disk, without the lock of its state:
/// callers wait for the latter before they report to a client that something is done.
pub struct SessionJournal {
    id: Arc<str>,
    log: RunTaggedLog<SqliteLog>,
    state: Mutex<SessionJournalState>,
    /// Held while recorded events are sent again.
    replay: Mutex<()>,
}

#[derive(Default)]
struct SessionJournalState {
    about: SessionDescription,
    assembly: TextAssembly,
    written: ConversationJournal,
    /// The unwritten text of the current answer.
    draft: String,
    /// The id of the current prompt, which names its records.
    turn_id: Option<Arc<str>>,
    /// Whether a call of [`SessionJournal::write_pieces`] is due.
    waits: bool,
    /// Events that are recorded and not sent yet, because earlier ones are being sent again.
    held: Option<Vec<SessionEvent>>,
}

impl SessionJournal {
    /// Creates the journal of a session that is opened for the first time.
    #[must_use]
    pub fn new(store: &SessionStore, id: &Arc<str>, about: SessionDescription) -> SessionJournal {
        SessionJournal::with(store, id, SessionJournalState { about, ..SessionJournalState::default() })
    }

    fn with(store: &SessionStore, id: &Arc<str>, state: SessionJournalState) -> SessionJournal {
        SessionJournal { id: id.clone(), log: store.log_of(id), state: Mutex::new(state), replay: Mutex::default() }
    }

    /// Records that the session is open. Lists include it from now on.
    pub fn opened(&self, store: &SessionStore) {
        let (protocol, metadata) = {
            let state = self.lock();
            (state.about.protocol.clone(), state.about.metadata.clone())
        };
        self.life(
            "opened",
            [("protocol", protocol.into()), ("metadata", metadata), ("process", (&store.0.process).into())],
        );
    }

    /// Continues the journal of a stored session, with its current description. Completes unfinished items of its last
    /// process: calls without an end get one.
    #[must_use]
    pub fn load(store: &SessionStore, stored: &StoredSession, about: SessionDescription) -> SessionJournal {
        let fold = stored.fold();
        let state = SessionJournalState {
            about,
            written: ConversationJournal::after(&fold.conversation),
            ..SessionJournalState::default()
        };
        let journal = SessionJournal::with(store, &stored.id, state);
        journal.complete(stored);
        journal.life("loaded", [("process", Data::from(&store.0.process))]);
        journal
    }

    /// Records the end of the turn that the last process of a session left open, without loading the session.
    pub(super) fn end_interrupted(store: &SessionStore, stored: &StoredSession) {
        let state = SessionJournalState { about: stored.about().clone(), ..SessionJournalState::default() };
        let journal = SessionJournal::with(store, &stored.id, state);
        journal.complete(stored);
    }

    /// Records the ends of what the last process left open: the text of an answer, calls, and the turn.
    fn complete(&self, stored: &StoredSession) {
        let open = stored.fold().life.open_turn.clone();
        self.lock().turn_id = open.as_ref().and_then(|turn| turn.id.clone());
        for end in stored.ends() {
            self.note(&end);
        }
        // It must precede the message that it ends: if the process ends in between, the message would lack its end.
        self.flush();
        let turn_id = self.lock().turn_id.take();
        if open.is_some() {
            let stop = [("stop", Data::from("failed")), ("reason", INTERRUPTED.into()), ("turn_id", turn_id.into())];
            self.life("answered", stop);
        }
    }

    /// Locks the state. Every operation leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, SessionJournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the beginning of a prompt, with the action of the channel that submitted it.
    pub fn prompted(&self, text: &str, action: Option<&Arc<str>>) {
        {
            let mut state = self.lock();
            if state.about.title.is_none() {
                state.about.title = title_of(text);
            }
            state.turn_id = Some(fresh_turn_id());
        }
        let turn_id = self.lock().turn_id.clone();
        self.life("prompted", [("action", action.into()), ("turn_id", turn_id.into())]);
    }

    /// Records an event, and sends it with `show`, which must not wait. During a [`SessionJournal::again`], that sends it.
    pub fn show(&self, event: SessionEvent, show: impl FnOnce(SessionEvent)) {
        let mut state = self.lock();
        self.take(&mut state, &event);
        match &mut state.held {
            Some(held) => held.push(event),
            None => show(event),
        }
    }

    /// Returns whether events are held back.
    #[cfg(test)]
    pub(super) fn is_replaying(&self) -> bool {
        self.lock().held.is_some()
    }

    /// Records an event that a client has already seen.
    pub fn note(&self, event: &SessionEvent) {
        self.take(&mut self.lock(), event);
    }

    fn take(&self, state: &mut SessionJournalState, event: &SessionEvent) {
        let records = state.assembly.take(event);
        self.write_shown(state.turn_id.as_ref(), records);
        match event {
            SessionEvent::Title(title) => state.about.title = Some(title.clone()),
            SessionEvent::Mode(mode) => state.about.mode = Some(mode.clone()),
            _ => return,
        }
        let word = if matches!(event, SessionEvent::Title(_)) { "title" } else { "mode" };
        self.append(Topic::Life, word, state.about.brief(&self.id));
    }

    /// Records a change of the mode.
    pub fn mode(&self, mode: &Arc<str>) {
        self.lock().about.mode = Some(mode.clone());
        self.life("mode", []);
    }

    /// Sends all recorded events again, in order, and the title if there is one; then those that came meanwhile, each
    /// once. Blocks on the disk, which the session does not wait for.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn again(&self, store: &SessionStore, mut show: impl FnMut(SessionEvent)) -> Result<(), StoreError> {
        let _replay = self.replay.lock().unwrap_or_else(PoisonError::into_inner);
        let (mark, title) = {
            let mut state = self.lock();
            let record = state.assembly.flush();
            self.write_shown(state.turn_id.as_ref(), record);
            state.held = Some(Vec::new());
            (store.log().mark(), state.about.title.clone())
        };
        let sent = store.load_upto(&self.id, &mark).map(|stored| {
            stored.into_shown().into_iter().chain(title.map(SessionEvent::Title)).for_each(&mut show);
        });
        let mut state = self.lock();
        state.held.take().into_iter().flatten().for_each(show);
        sent
    }

    /// Observes a loop. Records the changes of its session, unless it is another session, or only a piece of an answer
    /// came.
    pub fn sight(&self, sight: &LoopObservation<'_>) {
        if *sight.turn.session.id() != self.id {
            return;
        }
        match sight.seen {
            LoopEvent::Piece(Delta::Text(text)) => return self.lock().draft.push_str(text),
            LoopEvent::Piece(Delta::Restart { .. }) => return self.lock().draft.clear(),
            LoopEvent::Piece(_) => return,
            LoopEvent::Asked | LoopEvent::Answered { .. } | LoopEvent::Unanswered { .. } => self.lock().draft.clear(),
            _ => {}
        }
        self.see(sight.turn.session);
    }

    /// Returns whether unwritten text has begun, and no earlier call returned true for it. The caller must then call
    /// [`SessionJournal::write_pieces`].
    pub fn starts_waiting(&self) -> bool {
        let mut state = self.lock();
        let has_text = !state.draft.is_empty() || state.assembly.is_open();
        has_text && !std::mem::replace(&mut state.waits, has_text)
    }

    /// Records the pieces so far, so that they survive the process.
    pub fn write_pieces(&self) {
        let mut state = self.lock();
        state.waits = false;
        let draft = std::mem::take(&mut state.draft);
        let record = state.assembly.flush();
        self.write_shown(state.turn_id.as_ref(), record);
        if !draft.is_empty() {
            self.write(Topic::Message, "streamed", Data::dict([("text", Data::from(draft))]));
        }
    }

    /// Records the changes of the session since the last call. The cost is proportional to the changes.
    pub fn see(&self, session: &Session) {
        let changes = session.with(|now| self.lock().written.changes(now));
        for JournalChange { topic, word, payload } in changes {
            self.write(topic, word, payload);
        }
    }

    /// Waits until all records are durable, on any thread.
    #[must_use]
    pub fn settled(&self) -> DurableFuture {
        self.log.settled(Ticket::ALL)
    }

    /// Records a complete text, so that it is shown again even if the process ends before the prompt does.
    pub fn flush(&self) {
        let mut state = self.lock();
        let record = state.assembly.flush();
        self.write_shown(state.turn_id.as_ref(), record);
    }

    /// Records the end of a prompt.
    pub fn answered(&self, session: &Session, stop: &PromptOutcome) {
        self.flush();
        self.see(session);
        let (word, reason) = match stop {
            PromptOutcome::Done => ("done", Data::Nil),
            PromptOutcome::Cancelled => ("cancelled", Data::Nil),
            PromptOutcome::MaxTokens => ("max_tokens", Data::Nil),
            PromptOutcome::MaxTurns => ("max_turns", Data::Nil),
            PromptOutcome::Refused(reason) => ("refused", reason.into()),
            PromptOutcome::Failed(failure) => ("failed", failure.code.as_str().into()),
            PromptOutcome::Asked(text) => ("asked", text.into()),
        };
        let turn_id = self.lock().turn_id.take();
        self.life("answered", [("stop", Data::from(word)), ("reason", reason), ("turn_id", turn_id.into())]);
    }

    /// Records that the session is closed. Its records remain, and any process may load it again.
    pub fn closed(&self) {
        self.flush();
        self.life("closed", []);
    }

    fn life<const N: usize>(&self, word: &str, more: [(&str, Data); N]) {
        let mut payload = self.lock().about.brief(&self.id);
        for (field, value) in more {
            if !value.is_nil() {
                payload.set(field, value);
            }
        }
        self.append(Topic::Life, word, payload);
    }

    fn write_shown(&self, turn_id: Option<&Arc<str>>, records: impl IntoIterator<Item = NamedRecord>) {
        for (word, payload) in records {
            let payload = match turn_id {
                Some(turn_id) => payload.with("turn_id", turn_id.into()),
                None => payload,
            };
            self.write(Topic::Shown, word, payload);
        }
    }

    fn write(&self, topic: Topic, word: &str, payload: Data) {
        self.append(topic, word, payload.with("session_id", (&self.id).into()));
    }

    fn append(&self, topic: Topic, word: &str, payload: Data) {
        self.log.append(NewRecord {
            topic: topic.into(),
            kind: topic.kind(word).into(),
            payload: payload.into(),
            headers: Data::Nil,
            // Lists of sessions are for people, so they use the system's time and not a script's.
            occurred_at_ms: now_ms(),
        });
    }
}

/// Returns an id for a prompt that is unique across processes.
fn fresh_turn_id() -> Arc<str> {
    format!("turn_{}", &uuid::Uuid::new_v4().simple().to_string()[..16]).into()
}

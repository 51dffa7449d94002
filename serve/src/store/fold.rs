//! [`SessionFold`]: rebuilds a session from its records, in the order of the log.

use std::sync::Arc;

use base::data::Data;
use eventlog::Record;
use runtime::event_log::Topic;
use runtime::lifecycle::rebuild::Rebuilt;
use runtime::message::Message;
use runtime::reminder::bridge::{InjectionPayload, RecordedQueue};
use runtime::session::Conversation;

use crate::host::SessionEvent;

use super::{INTERRUPTED, SessionDescription, StoreError, shown};

/// A session as it is rebuilt from its records.
#[derive(Debug, Default)]
pub(super) struct SessionFold {
    id: Arc<str>,
    pub(super) about: SessionDescription,
    pub(super) life: StoredLifecycle,
    pub(super) shown: Vec<SessionEvent>,
    pub(super) conversation: Conversation,
    pub(super) queue: RecordedQueue,
    /// Injected messages that a seam delivered and that have no message record yet.
    pub(super) delivered: Vec<Arc<Message>>,
    pub(super) reminders: Rebuilt,
    /// The text of an answer that no message holds, because its process ended.
    pub(super) draft: String,
    /// The first record that cannot be read.
    broken: Option<StoreError>,
}

/// The lifecycle of a session.
#[derive(Debug, Default)]
pub(super) struct StoredLifecycle {
    /// The time of its opening, if it was opened.
    pub(super) opened_at_ms: Option<u64>,
    pub(super) updated_at_ms: u64,
    /// The process that has it open, according to the log.
    pub(super) owner: Option<Arc<str>>,
    /// The turn that has begun and has no end, also one that waits for an answer of the user.
    pub(super) open_turn: Option<OpenTurn>,
}

/// A turn without an end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OpenTurn {
    /// Its id; earlier versions wrote none.
    pub(super) id: Option<Arc<str>>,
}

impl OpenTurn {
    /// The kinds of records of a lifecycle that open a turn or end it.
    pub(super) const WORDS: [&str; 5] = ["prompted", "answered", "opened", "loaded", "closed"];

    /// Returns the open turn after a record of the lifecycle: `word` is its kind, `open` the turn before it.
    pub(super) fn after(word: &str, payload: &Data, open: Option<OpenTurn>) -> Option<OpenTurn> {
        let is_asked = payload.get("stop").as_str() == Some("asked");
        match word {
            "answered" if !is_asked => None,
            "prompted" | "answered" => Some(OpenTurn { id: payload.get("turn_id").as_shared_str() }),
            // Earlier versions did not end the turn of a killed process.
            "opened" | "loaded" | "closed" => None,
            _ => open,
        }
    }
}

impl SessionFold {
    pub(super) fn new(id: &str) -> SessionFold {
        SessionFold { id: id.into(), ..SessionFold::default() }
    }

    /// Applies the next record.
    pub(super) fn take(&mut self, record: &Record) {
        self.reminders.take(record);
        let own = record.payload.get("session_id").as_str() == Some(self.id.as_ref());
        let Some(topic) = Topic::named(&record.topic).filter(|_| own && self.broken.is_none()) else { return };
        let Some(word) = topic.word_of(&record.kind) else { return };
        let payload = &*record.payload;
        let read = match topic {
            Topic::Life => self.life(word, payload, record.occurred_at_ms),
            Topic::Shown => self.show(word, payload),
            Topic::Message => self.message(word, payload),
            Topic::State => self.conversation.apply(Topic::State, word, payload),
            Topic::Injection => self.injection(word, payload),
            Topic::Reminder
            | Topic::Turn
            | Topic::Activity
            | Topic::Permission
            | Topic::Task
            | Topic::TaskContent
            | Topic::Hub
            | Topic::Channel => Ok(()),
        };
        if let Err(why) = read {
            let (id, cursor, kind) = (self.id.clone(), record.cursor, record.kind.clone());
            self.broken = Some(StoreError::Unreadable { id, cursor, kind, why });
        }
    }

    /// Returns the session, or the error of the first record that cannot be read.
    pub(super) fn done(mut self) -> Result<SessionFold, StoreError> {
        match self.broken.take() {
            Some(broken) => Err(broken),
            None if self.life.opened_at_ms.is_none() => Err(StoreError::Unknown(self.id)),
            None => Ok(self),
        }
    }

    fn life(&mut self, word: &str, payload: &Data, at_ms: u64) -> Result<(), String> {
        self.about.read_brief(payload);
        self.life.updated_at_ms = at_ms;
        self.life.open_turn = OpenTurn::after(word, payload, self.life.open_turn.take());
        match word {
            "opened" => {
                self.life.opened_at_ms = Some(at_ms);
                self.about.protocol = payload.get("protocol").as_shared_str().unwrap_or_default();
                self.about.metadata = payload.get("metadata").clone();
                self.life.owner = Some(process(payload)?);
            }
            "loaded" => self.life.owner = Some(process(payload)?),
            // No message holds the text of an interrupted turn yet.
            "answered" if payload.get("reason").as_str() != Some(INTERRUPTED) => self.draft.clear(),
            "closed" => self.life.owner = None,
            _ => {}
        }
        Ok(())
    }

    fn show(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        let Some(event) = shown::read(word, payload)? else { return Ok(()) };
        if matches!(event, SessionEvent::Plan(_)) {
            // Each plan replaces the previous one.
            self.shown.retain(|earlier| !matches!(earlier, SessionEvent::Plan(_)));
        }
        self.shown.push(event);
        Ok(())
    }

    fn message(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        if word == "streamed" {
            self.draft.push_str(payload.get("text").as_str().ok_or("`text` is not a string")?);
            return Ok(());
        }
        self.conversation.apply(Topic::Message, word, payload)?;
        self.draft.clear();
        match self.conversation.messages.last() {
            Some(last) if word == "appended" => self.delivered.retain(|delivered| delivered != last),
            _ => self.delivered.clear(),
        }
        Ok(())
    }

    /// Applies an injection record. A message is delivered into the transcript before its message record is written.
    fn injection(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        let for_the_record = ["loop_exit", "session_close"].contains(&payload.get("at").as_str().unwrap_or_default());
        if word == "delivered" && !for_the_record {
            let id = payload.get("id").as_str();
            let item = self.queue.items.iter().find(|item| Some(item.id.as_ref()) == id);
            if let Some(InjectionPayload::Message(message)) = item.map(|item| &item.payload) {
                self.delivered.push(message.clone());
            }
        }
        self.queue.take(word, payload)
    }
}

fn process(payload: &Data) -> Result<Arc<str>, String> {
    payload.get("process").as_shared_str().ok_or_else(|| "`process` is missing".to_owned())
}

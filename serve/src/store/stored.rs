//! [`StoredSession`]: a session restored from the log.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use eventlog::{LogError, LogMark};
use runtime::agent_loop::interruption_mark;
use runtime::lifecycle::rebuild::{Biography, RebuiltPrompt, SessionLife};
use runtime::message::{Message, Role};
use runtime::reminder::Reminder;
use runtime::reminder::bridge::{Injection, RecordedQueue};
use runtime::session::{Recovered, RecoveredReminder};
use runtime::transcript::StoredFirings;

use crate::host::SessionEvent;

use super::fold::SessionFold;
use super::{SessionDescription, SessionStore, StoreError, is_session, open_calls};

/// A session restored from the log.
#[derive(Debug)]
pub struct StoredSession {
    /// The id of the session.
    pub id: Arc<str>,
    fold: SessionFold,
}

/// Returns the mark at the end of an answer that the end of its process interrupted.
fn mark() -> String {
    interruption_mark("the process ended")
}

impl SessionStore {
    /// Reads a session. The cost is proportional to its own records.
    ///
    /// # Errors
    /// The log has no session with this id, a record of it cannot be read, or the log cannot be read.
    pub fn load(&self, id: &str) -> Result<StoredSession, StoreError> {
        if !is_session(id) {
            return Err(StoreError::Unknown(id.into()));
        }
        let mut fold = SessionFold::new(id);
        let read = self.log().look(|file| file.of_run(id, |record| fold.take(&record)));
        StoredSession::of(id, fold, read.map(drop))
    }

    /// Reads what was recorded of a session before a mark.
    pub(super) fn load_upto(&self, id: &str, mark: &LogMark) -> Result<StoredSession, StoreError> {
        let mut fold = SessionFold::new(id);
        let read = self.log().look_upto(mark, |file, upto| {
            file.of_run(id, |record| {
                if record.cursor <= upto {
                    fold.take(&record);
                }
            })
        });
        StoredSession::of(id, fold, read.map(drop))
    }
}

impl StoredSession {
    fn of(id: &str, fold: SessionFold, read: Result<(), LogError>) -> Result<StoredSession, StoreError> {
        let fold = read.map_err(StoreError::from).and_then(|()| fold.done()).inspect_err(StoreError::report)?;
        Ok(StoredSession { id: id.into(), fold })
    }

    /// Returns the description of the session without its conversation.
    #[must_use]
    pub fn about(&self) -> &SessionDescription {
        &self.fold.about
    }

    /// Returns the time of its opening, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn created_at_ms(&self) -> u64 {
        self.fold.life.opened_at_ms.unwrap_or_default()
    }

    /// Returns the time of its last record, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn updated_at_ms(&self) -> u64 {
        self.fold.life.updated_at_ms
    }

    /// Returns the events that a client saw, in order. One message may have several text events.
    #[must_use]
    pub fn shown(&self) -> &[SessionEvent] {
        &self.fold.shown
    }

    pub(super) fn into_shown(self) -> Vec<SessionEvent> {
        self.fold.shown
    }

    /// Returns the durable messages.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.fold.conversation.messages
    }

    /// Returns the number of turns so far.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.life().map_or(0, |life| life.turns)
    }

    /// Returns the pending reminders with their remaining TTLs, oldest first.
    #[must_use]
    pub fn pending(&self) -> Vec<Reminder> {
        self.life().into_iter().flat_map(SessionLife::pending).map(Biography::present).collect()
    }

    /// Returns the pending injections, first in first out.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &Injection> {
        self.fold.queue.items.iter()
    }

    pub(super) fn owner(&self) -> Option<&Arc<str>> {
        self.fold.life.owner.as_ref()
    }

    pub(super) fn fold(&self) -> &SessionFold {
        &self.fold
    }

    /// Returns end events for calls and an answer that were shown and that the end of the process interrupted.
    #[must_use]
    pub fn ends(&self) -> Vec<SessionEvent> {
        let text = self.interrupted().and_then(|_| {
            let last = self.fold.shown.iter().rev().find_map(|event| match event {
                SessionEvent::Text { message_id, text } => Some((message_id, text)),
                _ => None,
            });
            // A later process may have shown the end and then ended before it wrote the message.
            let (message_id, _) = last.filter(|(_, text)| !text.ends_with(&mark()))?;
            Some(SessionEvent::Text { message_id: message_id.clone(), text: mark().into() })
        });
        text.into_iter().chain(open_calls::ends(&self.fold.shown)).collect()
    }

    /// Returns the recorded part of an answer that the end of the process interrupted.
    fn interrupted(&self) -> Option<Arc<Message>> {
        let draft = &self.fold.draft;
        let message = || Message::assistant(format!("{draft}{}", mark()), Vec::new());
        (!draft.trim().is_empty()).then(|| Arc::new(message()))
    }

    /// Returns the state that the session needs to continue. Tool calls without a result get one.
    #[must_use]
    pub fn left(&self) -> Recovered {
        let fold = &self.fold;
        let life = self.life();
        let answers = open_calls::answers(&fold.conversation.messages, &fold.shown);
        let pending = life.into_iter().flat_map(SessionLife::pending);
        let reminder = |pending: &Biography| RecoveredReminder {
            reminder: Arc::new(pending.present()),
            uncharged: pending.uncharged(),
        };
        let open: Vec<_> = life.into_iter().flat_map(SessionLife::open_prompts).collect();
        let answer = |prompt: &RebuiltPrompt| fold.conversation.messages.get(prompt.message_count);
        // A process may have ended after reminders were recorded as fired, and before their prompt was.
        let fired = life.into_iter().flat_map(SessionLife::pending).map(Biography::uncharged).max().unwrap_or(0);
        let sent = u32::try_from(open.len()).unwrap_or(u32::MAX);
        let answered = open.last().filter(|_| fired <= sent).and_then(|prompt| answer(prompt));
        // A process may have ended between a delivery and its record.
        let born: HashSet<&Arc<str>> =
            life.iter().flat_map(|life| &life.reminders).map(|born| &born.reminder.id).collect();
        let (delivered, waiting): (Vec<_>, Vec<_>) =
            fold.queue.items.iter().cloned().partition(|item| born.contains(&item.id));
        let is_answered = answered.is_some_and(|message| message.role == Role::Assistant);
        // No model saw a prompt that was not answered.
        let unseen = usize::from(!is_answered && sent > 0 && fired <= sent);
        Recovered {
            created_at_ms: self.created_at_ms(),
            turns: self.turns(),
            conversation: {
                let delivered = fold.delivered.iter().cloned();
                let mut conversation = fold.conversation.clone();
                conversation.messages.extend(answers.into_iter().chain(delivered).chain(self.interrupted()));
                conversation
            },
            reminders: pending.map(reminder).collect(),
            open_prompts: sent.max(fired),
            firings: life.map_or_else(StoredFirings::default, |life| life.firings(unseen)),
            is_answered,
            queue: RecordedQueue { items: waiting.into(), fates: fold.queue.fates.clone() },
            delivered,
            lost: self.lost(),
            seed: RandomState::new().hash_one(&self.id),
        }
    }

    fn life(&self) -> Option<&SessionLife> {
        self.fold.reminders.session(&self.id)
    }

    /// Returns the pending reminders of the other sessions and transcripts of its run, which were only in the memory
    /// of the process.
    fn lost(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let others = self.fold.reminders.sessions().filter(|life| life.id != self.id);
        others.flat_map(|life| life.pending().map(|pending| (life.id.clone(), pending.reminder.id.clone()))).collect()
    }
}

//! What hosts put into a session: accepted into the queue, delivered at a seam.

use std::sync::{Arc, MutexGuard, PoisonError};

use crate::data::Data;
use crate::event_log::NewRecord;
use crate::note::{Note, Severity};
use crate::reminder::bridge::{
    Accepted, Injection, MessagePayload, Payload, Queue, QueueError, RemindPayload, Revoked, Seam,
};
use crate::reminder::lifecycle::{DropReason, LifecycleRecord, Road};
use crate::reminder::{Reminder, ReminderError};
use crate::seam::Scope;

use super::Session;

/// The topic of what becomes of the items that hosts put in: `queued`, `replaced`, `revoked`, `delivered`.
pub const INJECTION_TOPIC: &str = "session.injection";

/// What was accepted from a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// The item's id; of a reminder its own.
    pub id: Arc<str>,
    /// How many reminders it replaces, queued ones and pending ones together, as known now.
    pub deduped_count: usize,
}

impl Session {
    /// Accepts a reminder of a host.
    ///
    /// # Errors
    /// The queue is full.
    pub fn accept_reminder(&self, scope: &Scope, payload: RemindPayload) -> Result<Injected, QueueError> {
        let key = payload.spec.dedupe_key.clone();
        let accepted = self.locked().push_reminder(payload.spec, payload.mode, scope.clock.now_ms())?;
        self.log_accepted(scope, &accepted, payload.meta);
        let pending = key.map_or(0, |key| self.with(|state| state.transcript.slots_of_key(&key).len()));
        Ok(Injected { id: accepted.id, deduped_count: accepted.replaced.len() + pending })
    }

    /// Accepts a message of the user from a host.
    ///
    /// # Errors
    /// The queue is full.
    pub fn accept_message(&self, scope: &Scope, payload: MessagePayload) -> Result<Injected, QueueError> {
        let accepted = self.locked().push_message(payload.message, payload.mode, scope.clock.now_ms())?;
        self.log_accepted(scope, &accepted, payload.meta);
        Ok(Injected { id: accepted.id, deduped_count: 0 })
    }

    /// A notification that holds no reminder: nobody waits for an answer, so the log says `dropped`, and the driver is told
    /// by a note.
    pub fn refuse_notification(&self, scope: &Scope, error: &ReminderError) {
        let detail = Some(error.message.as_str().into());
        let dropped = LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Invalid, detail };
        self.log_lifecycle(scope, [dropped]);
        scope.note(Note {
            code: Some(error.code.as_str()),
            severity: Severity::Error,
            message: format!("a host's reminder for the session `{}` was dropped: {}", self.id(), error.message),
            about: Some("session/remind".into()),
            fault: None,
        });
    }

    /// Takes an item back before a seam delivers it.
    ///
    /// # Errors
    /// It was delivered, or never was there.
    pub fn revoke_injection(&self, scope: &Scope, id: &str) -> Result<Revoked, QueueError> {
        let revoked = self.locked().revoke(id)?;
        if revoked == Revoked::Now {
            self.log_injection(scope, "revoked", [("id", Data::from(id))]);
        }
        Ok(revoked)
    }

    /// What was accepted is on the log before anybody is told so; the caller waits until that is durable.
    fn log_accepted(&self, scope: &Scope, accepted: &Accepted, meta: Data) {
        let item = self.locked().pending().find(|item| item.id == accepted.id).cloned();
        for id in &accepted.replaced {
            self.log_injection(scope, "replaced", [("id", Data::from(id)), ("replaced_by", (&accepted.id).into())]);
        }
        if let Some(item) = item {
            let payload = match &item.payload {
                Payload::Reminder(reminder) => ("reminder", reminder.to_data(reminder.ttl_turns)),
                Payload::Message(message) => ("message", message.to_data()),
            };
            let mode = ("mode", Data::from(item.mode.as_str()));
            self.log_injection(scope, "queued", [("id", Data::from(&item.id)), mode, payload, ("meta", meta)]);
        }
    }

    /// An item has left the queue, at a seam or because its session ends.
    pub(crate) fn log_delivered(&self, scope: &Scope, item: &Injection, at: &str) {
        let mode = ("mode", Data::from(item.mode.as_str()));
        self.log_injection(scope, "delivered", [("id", Data::from(&item.id)), mode, ("at", at.into())]);
    }

    fn log_injection<const N: usize>(&self, scope: &Scope, word: &str, fields: [(&'static str, Data); N]) {
        let session = ("session_id", Data::from(self.id()));
        scope.log.append(NewRecord {
            topic: INJECTION_TOPIC.into(),
            kind: format!("{INJECTION_TOPIC}.{word}").into(),
            payload: Data::dict_of_present(std::iter::once(session).chain(fields)).into(),
            headers: Data::Nil,
            occurred_at_ms: scope.clock.now_ms(),
        });
    }

    /// Delivers what is due at a seam, first in first. At `loop_exit` it is for the record only.
    pub fn deliver(&self, scope: &Scope, seam: Seam) -> Vec<Injection> {
        let items = self.locked().drain(seam);
        for item in &items {
            self.deliver_one(scope, item, seam == Seam::LoopExit);
            self.log_delivered(scope, item, seam.as_str());
        }
        items
    }

    fn deliver_one(&self, scope: &Scope, item: &Injection, for_the_record: bool) {
        let turn = self.with(|state| state.turns);
        if for_the_record {
            return self.audit(scope, item.clone(), turn);
        }
        match &item.payload {
            Payload::Reminder(reminder) => {
                let reminder = Arc::new(Reminder { fired_at_turn: turn, ..reminder.as_ref().clone() });
                self.admit_reminder(scope, reminder, Road::Injected);
            }
            Payload::Message(message) => self.with(|state| state.transcript.push_message(message.clone())),
        }
    }

    /// A poisoned lock is taken all the same: no operation leaves the queue half changed.
    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.queue().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

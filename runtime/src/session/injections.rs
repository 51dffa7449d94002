//! Injections from hosts into a session: accepted into the queue, delivered at a seam.

use std::sync::{Arc, MutexGuard};

use base::codes::Severity;
use base::data::Data;
use eventlog::{LogReservation, NewRecord, SharedLog, Ticket};

use crate::lifecycle::{LifecycleRecord, ReminderOrigin};
use crate::note::Note;
use crate::reminder::bridge::{
    Injection, InjectionChange, InjectionPayload, MessagePayload, PendingKeys, Queue, QueueError, RemindPayload,
    Revocation, Seam,
};
use crate::reminder::policy::PolicySource;
use crate::reminder::{ExpireReason, Reminder, ReminderError};
use crate::scope::Scope;

use super::Session;
use super::inbox::{AcceptedInjection, DeliveredAt, Inbox, Intake, locked, refusal};

impl Session {
    /// Accepts a reminder from a host.
    ///
    /// # Errors
    /// Fails if the queue is full or the policy refuses the reminder.
    pub fn accept_reminder(&self, scope: &Scope, payload: RemindPayload) -> Result<AcceptedInjection, QueueError> {
        let key = payload.spec.dedupe_key.clone();
        let injected =
            self.intake(scope).accept_reminder(&mut LogReservation::default(), PolicySource::Host, None, payload)?;
        let pending = key.map_or(0, |key| self.with(|state| state.transcript.slots_of_key(&key).len()));
        Ok(AcceptedInjection { deduped_count: injected.replaced.len() + pending, ..injected })
    }

    /// Accepts a user message from a host.
    ///
    /// # Errors
    /// Fails if the queue is full.
    pub fn accept_message(&self, scope: &Scope, payload: MessagePayload) -> Result<AcceptedInjection, QueueError> {
        self.intake(scope).accept_message(&mut LogReservation::default(), payload)
    }

    /// Refuses a notification that contains no valid reminder: the host expects no answer, so the log records
    /// `dropped`, and the driver gets a note.
    pub fn refuse_notification(&self, scope: &Scope, error: &ReminderError) {
        let (dropped, message) = refusal(self.id(), error);
        self.log_lifecycle(scope, [dropped]);
        scope.note(Note {
            code: Some(error.code.into()),
            severity: Severity::Error,
            message,
            about: Some("session/remind".into()),
            fault: None,
        });
    }

    /// Revokes an item before a seam delivers it.
    ///
    /// # Errors
    /// Fails if it was delivered or is unknown.
    pub fn revoke_injection(&self, scope: &Scope, id: &str) -> Result<Revocation, QueueError> {
        self.intake(scope).revoke(&mut LogReservation::default(), id).map(|(revoked, _)| revoked)
    }

    fn intake<'a>(&'a self, scope: &'a Scope) -> Intake<'a, impl Fn(&mut LogReservation, NewRecord) -> Ticket + 'a> {
        // Appending never waits, so it needs no room before the queue is locked.
        let append = |_: &mut LogReservation, record| scope.log.append(record);
        Intake { session_id: self.id(), queue: self.queue(), now_ms: scope.clock.now_ms(), append }
    }

    /// Returns the inbox that accepts for this session on other threads. From now on the session reports its pending
    /// dedupe keys to it.
    #[must_use]
    pub fn inbox(&self, log: Arc<dyn SharedLog>, now_ms: fn() -> u64) -> Inbox {
        self.watched.set(true);
        self.tell_pending();
        Inbox::new(self.id().clone(), self.queue().clone(), log, now_ms)
    }

    /// Reports the pending keys to the inboxes on other threads.
    pub(super) fn tell_pending(&self) {
        if self.watched.get() {
            let keys = self.with(|state| PendingKeys::of(&state.transcript));
            self.locked().tell_pending(keys);
        }
    }

    /// Reports changes of pending reminders to them.
    pub(super) fn tell_records(&self, records: &[LifecycleRecord]) {
        if self.watched.get() && !records.is_empty() {
            let mut queue = self.locked();
            if let Some(keys) = queue.pending_keys() {
                records.iter().for_each(|record| keys.follow(record));
            }
        }
    }

    /// Records that an item has left the queue, at a seam or because its session ends.
    pub(crate) fn log_delivered(&self, scope: &Scope, item: &Injection, at: DeliveredAt) {
        let mode = ("mode", Data::from(item.mode.as_str()));
        let fields = [("id", Data::from(&item.id)), mode, ("at", at.as_str().into())];
        scope.log.append(self.intake(scope).told(InjectionChange::Delivered, fields));
    }

    /// Logs that an item left the queue because its session ended before a loop took it.
    pub fn log_expired(&self, scope: &Scope, item: &Injection) {
        scope.log.append(self.intake(scope).expired(&item.id));
        self.show_unread(&item.id, ExpireReason::Cleared);
    }

    /// Delivers the items due at a seam, in order of arrival. At `loop_exit` they are delivered for the record only.
    pub fn deliver(&self, scope: &Scope, seam: Seam) -> Vec<Injection> {
        let items = self.locked().drain(seam);
        for item in &items {
            self.deliver_one(scope, item, seam == Seam::LoopExit);
            self.log_delivered(scope, item, DeliveredAt::Seam(seam));
        }
        items
    }

    fn deliver_one(&self, scope: &Scope, item: &Injection, for_the_record: bool) {
        let turn = self.with(|state| state.turns);
        if for_the_record {
            return self.audit(scope, item.clone(), turn);
        }
        match &item.payload {
            InjectionPayload::Reminder(reminder) => {
                let reminder = Arc::new(Reminder { fired_at_turn: turn, ..reminder.as_ref().clone() });
                // It may have been accepted by another process, which had another policy.
                if let Err(refusal) = self.admit_allowed(scope, reminder, ReminderOrigin::Injected, None) {
                    scope.note(refusal.note_of_earlier());
                }
            }
            InjectionPayload::Message(message) => self.with(|state| state.transcript.push_message(message.clone())),
        }
    }

    /// Takes the lock even if it is poisoned: no operation leaves the queue half changed.
    fn locked(&self) -> MutexGuard<'_, Queue> {
        locked(self.queue())
    }
}

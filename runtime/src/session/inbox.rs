//! Accepting injections from hosts, on the thread that serves them. The queue's lock decides everything: which items
//! are accepted, in which order, and whether an item was delivered already. An item is recorded before the lock is
//! released, so its `queued` precedes its `delivered` in the log. Room in the log is reserved before the lock is taken:
//! a log that cannot keep up never blocks the queue.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use eventlog::{LogError, LogReservation, NewRecord, PayloadSource, SharedLog, Ticket};

use crate::event_log::Topic;
use crate::lifecycle::{DropReason, LifecycleRecord, Selector};
use crate::reminder::bridge::{
    Injection, InjectionChange, InjectionPayload, MessagePayload, Queue, QueueAcceptance, QueueError, RemindPayload,
    Revocation, Seam, SharedQueue,
};
use crate::reminder::policy::{self, PolicySource};
use crate::reminder::{ExpireReason, ReminderError};

/// The point where an item left the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveredAt {
    /// A seam of the loop.
    Seam(Seam),
    /// The session was closed.
    SessionClose,
    /// The session was loaded: the previous process had taken the item.
    SessionLoad,
}

impl DeliveredAt {
    /// Returns the word of the record.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            DeliveredAt::Seam(seam) => seam.as_str(),
            DeliveredAt::SessionClose => "session_close",
            DeliveredAt::SessionLoad => "session_load",
        }
    }
}

/// An injection that was accepted from a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedInjection {
    /// The item's id; for a reminder, its own id.
    pub id: Arc<str>,
    /// Queued reminders that it replaced.
    pub replaced: Vec<Arc<str>>,
    /// Number of reminders it replaces, queued and pending, as known now.
    pub deduped_count: usize,
    /// When this is durable, the item is too.
    pub ticket: Ticket,
}

/// A handle that accepts, lists and revokes items of one session on other threads, without waking the session's own.
/// Clones are the same inbox.
#[derive(Clone)]
pub struct Inbox(Arc<InboxInner>);

struct InboxInner {
    session_id: Arc<str>,
    queue: SharedQueue,
    log: Arc<dyn SharedLog>,
    now_ms: fn() -> u64,
    /// When this is durable, all results returned so far are too.
    last: Mutex<Ticket>,
}

impl Inbox {
    pub(super) fn new(session_id: Arc<str>, queue: SharedQueue, log: Arc<dyn SharedLog>, now_ms: fn() -> u64) -> Inbox {
        Inbox(Arc::new(InboxInner { session_id, queue, log, now_ms, last: Mutex::new(Ticket::NONE) }))
    }

    /// Returns the session.
    #[must_use]
    pub fn session_id(&self) -> &Arc<str> {
        &self.0.session_id
    }

    /// Accepts a reminder. It may be reported as accepted once [`Inbox::durable`] is ready.
    ///
    /// # Errors
    /// Fails if the queue is full, the session is closed, or the policy refuses the reminder.
    pub fn accept_reminder(&self, payload: RemindPayload) -> Result<AcceptedInjection, QueueError> {
        self.accept_from(PolicySource::Host, None, payload)
    }

    /// Accepts a reminder from a peer, like [`Inbox::accept_reminder`], with the id that the peer has chosen, if any. No
    /// other queued item should have that id.
    ///
    /// # Errors
    /// Fails if the queue is full, the session is closed, or the policy refuses the reminder.
    pub fn accept_from_peer(
        &self,
        id: Option<Arc<str>>,
        payload: RemindPayload,
    ) -> Result<AcceptedInjection, QueueError> {
        self.accept_from(PolicySource::Peer, id, payload)
    }

    fn accept_from(
        &self,
        source: PolicySource,
        id: Option<Arc<str>>,
        payload: RemindPayload,
    ) -> Result<AcceptedInjection, QueueError> {
        let mut room = self.room(payload.weight())?;
        self.noted(self.intake().accept_reminder(&mut room, source, id, payload)?)
    }

    /// Accepts a user message, like [`Inbox::accept_reminder`].
    ///
    /// # Errors
    /// Fails if the queue is full or the session is closed.
    pub fn accept_message(&self, payload: MessagePayload) -> Result<AcceptedInjection, QueueError> {
        let mut room = self.room(payload.weight())?;
        self.noted(self.intake().accept_message(&mut room, payload)?)
    }

    /// Returns the queued item with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Injection> {
        locked(&self.0.queue).find(id).cloned()
    }

    /// Returns the queued items in order of arrival.
    #[must_use]
    pub fn pending(&self) -> Vec<Injection> {
        locked(&self.0.queue).pending().cloned().collect()
    }

    /// Returns the number of queued items.
    #[must_use]
    pub fn depth(&self) -> usize {
        locked(&self.0.queue).pending().count()
    }

    /// Revokes an item before a seam delivers it.
    ///
    /// # Errors
    /// Fails if it was delivered or is unknown.
    pub fn revoke(&self, id: &str) -> Result<Revocation, QueueError> {
        // A record that ends an item needs no reserved room: there are at most as many as accepted items.
        let (revoked, ticket) = self.intake().revoke(&mut LogReservation::default(), id)?;
        if let Some(ticket) = ticket {
            self.note(ticket);
        }
        Ok(revoked)
    }

    /// Ends a queued item that is cleared, or whose task is over, before a loop took it. Returns whether it was still
    /// queued.
    #[must_use]
    pub fn expire(&self, id: &str) -> bool {
        let Some(ticket) = self.intake().expire(id) else { return false };
        self.note(ticket);
        true
    }

    /// Clears the queued reminders that match a selector, and returns their ids.
    pub fn clear(&self, selector: &Selector) -> Vec<Arc<str>> {
        let is_meant = |item: &Injection| match &item.payload {
            InjectionPayload::Reminder(reminder) => selector.matches_queued(reminder),
            InjectionPayload::Message(_) => false,
        };
        let meant = self.pending().into_iter().filter(is_meant).map(|item| item.id);
        meant.filter(|id| self.expire(id)).collect()
    }

    /// Refuses a notification that contains no valid reminder: the host expects no answer, so the log records
    /// `dropped`. Returns a sentence for the host's operator.
    #[must_use]
    pub fn refuse_notification(&self, error: &ReminderError) -> String {
        let (dropped, message) = refusal(&self.0.session_id, error);
        let record = dropped.to_log_outside(&self.0.session_id, (self.0.now_ms)());
        let Some(mut room) = self.0.log.reserve_now(1, record.weight()) else {
            return format!("{message} (not logged: the event log cannot accept more records)");
        };
        let ticket = self.0.log.put_in(&mut room, record);
        self.note(ticket);
        message
    }

    /// Waits until all items accepted and revoked so far would survive the end of the process.
    ///
    /// # Errors
    /// Fails if the log could not be written.
    pub fn durable(&self) -> impl Future<Output = Result<(), LogError>> + Send + use<> {
        let upto = *self.last();
        self.0.log.settled(upto)
    }

    /// Reserves room for the records of one item.
    fn room(&self, weight: usize) -> Result<LogReservation, QueueError> {
        self.0.log.reserve_now(RECORDS_OF_ITEM, weight).ok_or(QueueError::LogBehind)
    }

    fn intake(&self) -> Intake<'_, impl Fn(&mut LogReservation, NewRecord) -> Ticket + '_> {
        let append = |room: &mut LogReservation, record| self.0.log.put_in(room, record);
        Intake { session_id: &self.0.session_id, queue: &self.0.queue, now_ms: (self.0.now_ms)(), append }
    }

    fn noted(&self, injected: AcceptedInjection) -> Result<AcceptedInjection, QueueError> {
        self.note(injected.ticket);
        Ok(injected)
    }

    fn note(&self, ticket: Ticket) {
        let mut last = self.last();
        *last = ticket.max(*last);
    }

    fn last(&self) -> MutexGuard<'_, Ticket> {
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The acceptance of items on any thread: a queue, and a log for their records.
pub(super) struct Intake<'a, A> {
    pub(super) session_id: &'a Arc<str>,
    pub(super) queue: &'a SharedQueue,
    pub(super) now_ms: u64,
    pub(super) append: A,
}

/// Number of records of an accepted item: that it is queued, and that it replaced the one with its key.
pub(super) const RECORDS_OF_ITEM: usize = 2;

/// Size of an item's record without its texts.
const FRAME: usize = 256;

impl RemindPayload {
    /// Returns the approximate size of its item's records, in bytes.
    pub(super) fn weight(&self) -> usize {
        let tags = self.spec.tags.iter().map(|tag| tag.len()).sum::<usize>();
        RECORDS_OF_ITEM * 2 * FRAME + self.spec.body.len() + tags + self.meta.weight()
    }
}

impl MessagePayload {
    /// Returns the approximate size of its item's record, in bytes.
    pub(super) fn weight(&self) -> usize {
        2 * FRAME + self.message.content.to_data().weight() + self.meta.weight()
    }
}

impl<A: Fn(&mut LogReservation, NewRecord) -> Ticket> Intake<'_, A> {
    pub(super) fn accept_reminder(
        &self,
        room: &mut LogReservation,
        source: PolicySource,
        id: Option<Arc<str>>,
        payload: RemindPayload,
    ) -> Result<AcceptedInjection, QueueError> {
        let producer = policy::check(&payload.spec, source, None).map_err(|refusal| {
            let dropped = refusal.dropped().to_log_outside(self.session_id, self.now_ms);
            (self.append)(room, dropped);
            QueueError::Refused(refusal)
        })?;
        let mut queue = locked(self.queue);
        let accepted = queue.push_reminder_as(id, producer, payload.spec, payload.mode, self.now_ms)?;
        Ok(self.record(room, &queue, accepted, payload.meta))
    }

    pub(super) fn accept_message(
        &self,
        room: &mut LogReservation,
        payload: MessagePayload,
    ) -> Result<AcceptedInjection, QueueError> {
        let mut queue = locked(self.queue);
        let accepted = queue.push_message(payload.message, payload.mode, self.now_ms)?;
        Ok(self.record(room, &queue, accepted, payload.meta))
    }

    /// Returns the outcome of the item, and the ticket of its record if a new one was written.
    pub(super) fn revoke(
        &self,
        room: &mut LogReservation,
        id: &str,
    ) -> Result<(Revocation, Option<Ticket>), QueueError> {
        let mut queue = locked(self.queue);
        let revoked = queue.revoke(id)?;
        let ticket =
            (revoked == Revocation::Now).then(|| self.log(room, InjectionChange::Revoked, [("id", Data::from(id))]));
        Ok((revoked, ticket))
    }

    /// Expires an item and returns the record's ticket, or `None` if the item is no longer queued.
    fn expire(&self, id: &str) -> Option<Ticket> {
        let mut queue = locked(self.queue);
        (queue.revoke(id) == Ok(Revocation::Now))
            .then(|| (self.append)(&mut LogReservation::default(), self.expired(id)))
    }

    /// Returns the record of an item that left the queue because its task or session is over.
    pub(super) fn expired(&self, id: &str) -> NewRecord {
        self.told(InjectionChange::Expired, [("id", Data::from(id)), ("reason", ExpireReason::Cleared.as_str().into())])
    }

    /// Records a new item before other threads can see it in the queue.
    fn record(
        &self,
        room: &mut LogReservation,
        queue: &Queue,
        accepted: QueueAcceptance,
        meta: Data,
    ) -> AcceptedInjection {
        let QueueAcceptance { id, replaced, pending } = accepted;
        for old in &replaced {
            let told = InboxRecords::Replaced { session_id: self.session_id.clone(), id: old.clone(), by: id.clone() };
            self.put(room, InjectionChange::Replaced, told);
        }
        let mut ticket = Ticket::ALL;
        if let Some(item) = queue.last() {
            let told = InboxRecords::Queued { session_id: self.session_id.clone(), item: item.clone(), meta };
            ticket = self.put(room, InjectionChange::Queued, told);
        }
        AcceptedInjection { id, deduped_count: replaced.len() + pending, replaced, ticket }
    }

    fn put(&self, room: &mut LogReservation, change: InjectionChange, told: InboxRecords) -> Ticket {
        let record = NewRecord {
            topic: Topic::Injection.into(),
            kind: change.kind().clone(),
            payload: eventlog::RecordPayload::of(told),
            headers: Data::Nil,
            occurred_at_ms: self.now_ms,
        };
        (self.append)(room, record)
    }

    fn log<const N: usize>(
        &self,
        room: &mut LogReservation,
        change: InjectionChange,
        fields: [(&'static str, Data); N],
    ) -> Ticket {
        (self.append)(room, self.told(change, fields))
    }

    /// Returns a record with the outcome of an item.
    pub(super) fn told<const N: usize>(&self, change: InjectionChange, fields: [(&'static str, Data); N]) -> NewRecord {
        let session = ("session_id", Data::from(self.session_id));
        NewRecord {
            topic: Topic::Injection.into(),
            kind: change.kind().clone(),
            payload: Data::dict_of_present(std::iter::once(session).chain(fields)).into(),
            headers: Data::Nil,
            occurred_at_ms: self.now_ms,
        }
    }
}

/// Records of accepted items. A host may inject many thousands a second, and in memory few of their records are ever
/// read, so they are converted to data on demand.
#[derive(Debug)]
enum InboxRecords {
    Queued { session_id: Arc<str>, item: Injection, meta: Data },
    Replaced { session_id: Arc<str>, id: Arc<str>, by: Arc<str> },
}

impl PayloadSource for InboxRecords {
    fn to_data(&self, _: usize) -> Data {
        match self {
            InboxRecords::Queued { session_id, item, meta } => {
                let payload = match &item.payload {
                    InjectionPayload::Reminder(reminder) => ("reminder", reminder.to_data(reminder.ttl_turns)),
                    InjectionPayload::Message(message) => ("message", message.to_data()),
                };
                Data::dict_of_present([
                    ("session_id", Data::from(session_id)),
                    ("id", (&item.id).into()),
                    ("mode", item.mode.as_str().into()),
                    payload,
                    ("meta", meta.clone()),
                ])
            }
            InboxRecords::Replaced { session_id, id, by } => {
                Data::dict([("session_id", Data::from(session_id)), ("id", id.into()), ("replaced_by", by.into())])
            }
        }
    }

    fn weight(&self, _: usize) -> usize {
        match self {
            InboxRecords::Queued { item, meta, .. } => {
                let said = match &item.payload {
                    InjectionPayload::Reminder(reminder) => {
                        reminder.body.len() + reminder.tags.iter().map(|tag| tag.len()).sum::<usize>()
                    }
                    InjectionPayload::Message(message) => message.content.to_data().weight(),
                };
                FRAME + said + meta.weight()
            }
            InboxRecords::Replaced { .. } => FRAME,
        }
    }
}

/// Returns the record of a notification that contains no valid reminder, and the sentence about it.
pub(super) fn refusal(session_id: &str, error: &ReminderError) -> (LifecycleRecord, String) {
    let detail = Some(error.message.as_str().into());
    let dropped = LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Invalid, detail };
    (dropped, format!("a host's reminder for the session `{session_id}` was dropped: {}", error.message))
}

/// Takes the lock even if it is poisoned: no operation leaves the queue half changed.
pub(super) fn locked(queue: &SharedQueue) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

//! [`TaskInjections`]: the recent injections into one task. They make repeats harmless, and keep the peer's own data
//! for reports on its reminder. Bounded; the oldest is dropped first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use runtime::reminder::bridge::{Injection, InjectionPayload, QueueError, Revocation};
use runtime::session::Inbox;

use super::incoming::bad;
use super::{PeerEcho, PeerReminder};
use crate::a2a::Refusal;
use crate::clock::now_ms;
use crate::host::ReminderEvent;

/// The maximum number of injections.
const MOST: usize = 1024;

/// The approximate maximum size in bytes.
const MOST_WEIGHT: usize = 1 << 20;

/// The field that marks an entry of the task's log as a revocation of an earlier one.
const REVOKED: &str = "revoked";

/// The injections into one task.
#[derive(Default)]
pub struct TaskInjections(Mutex<KnownInjections>);

#[derive(Default)]
struct KnownInjections {
    /// Reminders that came with messages and are not injected yet.
    held: Vec<PeerReminder>,
    /// The latest messages that were injected: the ids of the queued items, and of the messages.
    messages: VecDeque<(Arc<str>, Arc<str>)>,
    of: HashMap<Arc<str>, Arc<TaskInjection>>,
    /// The ids, oldest first.
    order: VecDeque<Arc<str>>,
    weight: usize,
}

/// An injected reminder, and the response to its peer.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskInjection {
    /// The id of the reminder.
    pub id: Arc<str>,
    /// The reminder as the peer sent it.
    pub incoming: PeerReminder,
    /// The number of older reminders that it replaced.
    pub deduped_count: usize,
    /// The replaced reminders that were still queued; empty for an entry from a log.
    pub displaced: Vec<Arc<str>>,
    /// The time of acceptance, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// The result of an injection.
enum InjectionOutcome {
    /// The reminder was injected now.
    New(Arc<TaskInjection>),
    /// The reminder was injected before.
    Known(Arc<TaskInjection>),
}

impl TaskInjections {
    /// Restores injections from their records; unreadable ones are skipped.
    #[must_use]
    pub fn restored(written: &[Data]) -> TaskInjections {
        let injections = TaskInjections::default();
        injections.restore(written);
        injections
    }

    /// Adds the recorded injections.
    pub fn restore(&self, written: &[Data]) {
        let mut known = self.lock();
        for entry in written {
            match TaskInjection::from_data(entry) {
                Some(given) => known.add(Arc::new(given)),
                None if entry.get(REVOKED).truthy() => known.remove(entry.get("id").as_str().unwrap_or_default()),
                None => {
                    if let Some((id, message_id)) =
                        entry.get("id").as_shared_str().zip(entry.get("message_id").as_shared_str())
                    {
                        known.sent(id, message_id);
                    }
                }
            }
        }
    }

    /// Returns the injection with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<TaskInjection>> {
        self.lock().of.get(id).cloned()
    }

    /// Returns the peer's own data about the reminder with this id.
    #[must_use]
    pub fn echo(&self, id: &str) -> Option<PeerEcho> {
        self.find(id).map(|given| given.incoming.echo.clone()).filter(|echo| !echo.is_empty())
    }

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.lock().weight
    }

    /// Holds reminders from a message until the session can accept them.
    pub fn hold(&self, incoming: Vec<PeerReminder>) {
        self.lock().held.extend(incoming);
    }

    /// Notes that a message was injected, as the queued item `id`.
    pub fn sent(&self, id: &Arc<str>, message_id: &Arc<str>) {
        self.lock().sent(id.clone(), message_id.clone());
    }

    /// Forgets an injected message that was revoked.
    pub fn unsent(&self, id: &str) {
        self.lock().messages.retain(|(known, _)| **known != *id);
    }

    /// Returns whether this message was injected into the running task, so that it answered no question.
    #[must_use]
    pub fn has_sent(&self, message_id: &str) -> bool {
        self.lock().messages.iter().any(|(_, known)| **known == *message_id)
    }

    /// Revokes the injected messages that no loop has taken by the end of the task, and returns their ids.
    pub fn withdraw_messages(&self, inbox: Option<&Inbox>) -> Vec<Arc<str>> {
        let sent = std::mem::take(&mut self.lock().messages);
        let Some(inbox) = inbox else { return Vec::new() };
        let is_undelivered = |(id, _): &(Arc<str>, Arc<str>)| inbox.find(id).is_some() && inbox.revoke(id).is_ok();
        sent.into_iter().filter(is_undelivered).map(|(_, message_id)| message_id).collect()
    }

    /// Injects the held reminders, and returns the new ones. No caller waits for a response, so a refused reminder is
    /// recorded as `dropped` in the session's log; if it has an id, the returned events report it to subscribers.
    pub fn put_held(&self, inbox: &Inbox) -> (Vec<Arc<TaskInjection>>, Vec<ReminderEvent>) {
        let mut known = self.lock();
        let held = std::mem::take(&mut known.held);
        let (mut new, mut ended) = (Vec::with_capacity(held.len()), Vec::new());
        for incoming in held {
            let id = incoming.id.clone();
            match known.put(incoming, inbox) {
                Ok(InjectionOutcome::New(given)) => {
                    ended.extend(given.displacement());
                    new.push(given);
                }
                // Another reminder with this id is not over.
                Err(Refusal::Reminder(error)) => drop(inbox.refuse_notification(&error)),
                Err(Refusal::Queue(error)) => {
                    drop(inbox.refuse_notification(&bad("", error.to_string())));
                    ended.extend(id.map(ReminderEvent::cleared));
                }
                Ok(InjectionOutcome::Known(_)) | Err(_) => {}
            }
        }
        (new, ended)
    }

    /// Returns the same reminder if it was injected before, whatever metadata came with it, or `None` if it is new.
    ///
    /// # Errors
    /// The id belongs to another reminder.
    pub(super) fn again(&self, incoming: &PeerReminder) -> Result<Option<Arc<TaskInjection>>, Refusal> {
        self.lock().again(incoming)
    }

    /// Injects a reminder and waits until it is durable. Returns it, and whether it is new.
    ///
    /// # Errors
    /// The id belongs to another reminder, the queue refuses, or the reminder cannot be stored.
    pub(super) async fn accept(
        &self,
        incoming: PeerReminder,
        inbox: &Inbox,
    ) -> Result<(Arc<TaskInjection>, bool), Refusal> {
        let put = self.lock().put(incoming, inbox)?;
        let durable = inbox.durable().await;
        match (put, durable) {
            (InjectionOutcome::New(given), Ok(())) => Ok((given, true)),
            (InjectionOutcome::Known(given), Ok(())) => Ok((given, false)),
            (InjectionOutcome::New(given), Err(error)) => {
                self.undo(&given, inbox);
                Err(Refusal::Log(error))
            }
            (InjectionOutcome::Known(_), Err(error)) => Err(Refusal::Log(error)),
        }
    }

    /// Revokes a reminder that no seam has delivered. Its id is free again: a later reminder with this id is a new
    /// one.
    ///
    /// # Errors
    /// The reminder was delivered, or is unknown.
    pub(super) fn revoke(&self, id: &str, inbox: &Inbox) -> Result<Revocation, QueueError> {
        let mut known = self.lock();
        let revoked = inbox.revoke(id)?;
        if revoked == Revocation::Now {
            known.remove(id);
        }
        Ok(revoked)
    }

    /// Frees the id of a reminder that was cleared.
    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Ends the reminders that no loop has taken by the end of the task, and returns their ids. A session runs one
    /// task at a time, so every reminder in its queue is for this one. `inbox` is `None` if no session was opened for
    /// the task.
    pub fn withdraw(&self, inbox: Option<&Inbox>) -> Vec<Arc<str>> {
        let held = std::mem::take(&mut self.lock().held);
        let waiting = inbox.map(Inbox::pending).unwrap_or_default();
        let reminders = waiting.into_iter().filter(|item| matches!(item.payload, InjectionPayload::Reminder(_)));
        let expired = reminders.map(|item| item.id).filter(|id| inbox.is_some_and(|inbox| inbox.expire(id)));
        expired.chain(held.into_iter().filter_map(|incoming| incoming.id)).collect()
    }

    /// Undoes an injection that cannot be stored.
    pub(super) fn undo(&self, given: &TaskInjection, inbox: &Inbox) {
        // If a seam was faster, the reminder is delivered, and its peer still gets an error because it is not
        // recorded.
        let _ = inbox.revoke(&given.id);
        self.lock().remove(&given.id);
    }

    /// Takes a poisoned lock all the same: every operation leaves the state consistent.
    fn lock(&self) -> MutexGuard<'_, KnownInjections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownInjections {
    fn sent(&mut self, id: Arc<str>, message_id: Arc<str>) {
        if self.messages.len() == MOST {
            self.messages.pop_front();
        }
        self.messages.push_back((id, message_id));
    }

    fn again(&self, incoming: &PeerReminder) -> Result<Option<Arc<TaskInjection>>, Refusal> {
        let Some(id) = &incoming.id else { return Ok(None) };
        match self.of.get(id) {
            None => Ok(None),
            Some(given) if given.incoming.is_same(incoming) => Ok(Some(given.clone())),
            Some(_) => Err(taken(id)),
        }
    }

    /// Injects a reminder; of two concurrent ones with the same id only the first. It may be reported as accepted once
    /// [`Inbox::durable`] is ready.
    ///
    /// # Errors
    /// The id belongs to another reminder, or the queue refuses.
    fn put(&mut self, incoming: PeerReminder, inbox: &Inbox) -> Result<InjectionOutcome, Refusal> {
        if let Some(given) = self.again(&incoming)? {
            return Ok(InjectionOutcome::Known(given));
        }
        let at_ms = now_ms();
        let waiting = incoming.id.as_ref().and_then(|id| inbox.find(id));
        let (id, deduped_count, displaced) = match waiting {
            // It came by another task of the session, or before an ended process could record its response.
            Some(item) if is_same(&item, &incoming) => (item.id, 0, Vec::new()),
            Some(item) => return Err(taken(&item.id)),
            None => {
                let accepted = inbox.accept_from_peer(incoming.id.clone(), incoming.payload.clone());
                let accepted = accepted.map_err(Refusal::Queue)?;
                (accepted.id, accepted.deduped_count, accepted.replaced)
            }
        };
        let given = Arc::new(TaskInjection { id, incoming, deduped_count, displaced, at_ms });
        self.add(given.clone());
        Ok(InjectionOutcome::New(given))
    }

    fn add(&mut self, given: Arc<TaskInjection>) {
        self.remove(&given.id);
        self.weight += given.weight();
        self.order.push_back(given.id.clone());
        self.of.insert(given.id.clone(), given);
        while self.order.len() > 1 && (self.order.len() > MOST || self.weight > MOST_WEIGHT) {
            let Some(oldest) = self.order.pop_front() else { return };
            self.weight -= self.of.remove(&oldest).map_or(0, |given| given.weight());
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(given) = self.of.remove(id) {
            self.weight -= given.weight();
            self.order.retain(|known| **known != *id);
        }
    }
}

impl TaskInjection {
    /// Returns the event that tells subscribers which queued reminders this one replaced, if any.
    #[must_use]
    pub fn displacement(&self) -> Option<ReminderEvent> {
        ReminderEvent::displaced(&self.id, self.incoming.payload.spec.dedupe_key.as_deref(), &self.displaced)
    }

    fn weight(&self) -> usize {
        /// The size counted for each injection in addition to its texts, in bytes.
        const EACH: usize = 512;
        let spec = &self.incoming.payload.spec;
        let tags: usize = spec.tags.iter().map(|tag| tag.len()).sum();
        EACH + self.id.len() + spec.body.len() + tags + self.incoming.echo.weight()
    }
}

fn is_same(item: &Injection, incoming: &PeerReminder) -> bool {
    let InjectionPayload::Reminder(reminder) = &item.payload else { return false };
    let spec = incoming.payload.spec.clone();
    item.mode == incoming.payload.mode
        && **reminder == spec.into_reminder(item.id.clone(), reminder.source, reminder.fired_at_turn)
}

/// Returns the log entry of a revoked reminder, so that its id is free in the next process too.
pub(super) fn revoked(id: &Arc<str>) -> Data {
    Data::dict([("id", Data::from(id)), (REVOKED, true.into())])
}

/// Returns the refusal for an id that belongs to another reminder.
fn taken(id: &str) -> Refusal {
    let message = format!("the id `{id}` is already used by another reminder");
    Refusal::Reminder(bad("reminder.id", message).help("give each reminder a unique id, or omit it"))
}

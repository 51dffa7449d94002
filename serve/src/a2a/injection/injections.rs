//! [`Injections`]: what was put into one task, as far as it must be known: so that a repeat is harmless, and that what a peer
//! said of its reminder is told again with it. Bounded; the oldest is forgotten first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime::data::Data;
use runtime::reminder::bridge::{Injection, Payload, QueueError, Revoked};
use runtime::session::Inbox;

use super::incoming::bad;
use super::{Echo, Incoming};
use crate::a2a::Refusal;
use crate::a2a::clock::now_ms;
use crate::host::ReminderEvent;

/// How many are known at most.
const MOST: usize = 1024;

/// How many bytes they take at most, roughly.
const MOST_WEIGHT: usize = 1 << 20;

/// The field that marks an entry of the task's log as the end of an earlier one.
const REVOKED: &str = "revoked";

/// What was put into one task.
#[derive(Default)]
pub struct Injections(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// What came with messages and is not put in yet.
    held: Vec<Incoming>,
    of: HashMap<Arc<str>, Arc<Given>>,
    /// Oldest first.
    order: VecDeque<Arc<str>>,
    weight: usize,
}

/// A reminder that was put in, and what its peer was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Its id.
    pub id: Arc<str>,
    /// As it came.
    pub incoming: Incoming,
    /// How many older ones it took the place of.
    pub deduped_count: usize,
    /// Those of them that were still queued; empty for what comes back from a log.
    pub displaced: Vec<Arc<str>>,
    /// When it was accepted, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// What putting in comes to.
enum Put {
    /// It is in now.
    New(Arc<Given>),
    /// It was put in before.
    Known(Arc<Given>),
}

impl Injections {
    /// What was put in by what was written down of it; what cannot be read is passed over.
    #[must_use]
    pub fn restored(written: &[Data]) -> Injections {
        let injections = Injections::default();
        injections.restore(written);
        injections
    }

    /// Goes on with what was written down.
    pub fn restore(&self, written: &[Data]) {
        let mut known = self.lock();
        for entry in written {
            match Given::from_data(entry) {
                Some(given) => known.add(Arc::new(given)),
                None if entry.get(REVOKED).truthy() => known.remove(entry.get("id").as_str().unwrap_or_default()),
                None => {}
            }
        }
    }

    /// What was put in and is known by this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<Given>> {
        self.lock().of.get(id).cloned()
    }

    /// What a peer said of the reminder with this id.
    #[must_use]
    pub fn echo(&self, id: &str) -> Option<Echo> {
        self.find(id).map(|given| given.incoming.echo.clone()).filter(|echo| !echo.is_empty())
    }

    /// Roughly the bytes it takes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.lock().weight
    }

    /// Holds what came with a message until its session can take it.
    pub fn hold(&self, incoming: Vec<Incoming>) {
        self.lock().held.extend(incoming);
    }

    /// Puts in what is held, and returns what is new. Nobody waits for an answer, so the session's log says `dropped` of what is
    /// refused, and those that follow the task are told, if the reminder has an id.
    pub fn put_held(&self, inbox: &Inbox) -> (Vec<Arc<Given>>, Vec<ReminderEvent>) {
        let mut known = self.lock();
        let held = std::mem::take(&mut known.held);
        let (mut new, mut ended) = (Vec::with_capacity(held.len()), Vec::new());
        for incoming in held {
            let id = incoming.id.clone();
            match known.put(incoming, inbox) {
                Ok(Put::New(given)) => {
                    ended.extend(given.displacement());
                    new.push(given);
                }
                // The other reminder with its id is not over.
                Err(Refusal::Reminder(error)) => drop(inbox.refuse_notification(&error)),
                Err(Refusal::Queue(error)) => {
                    drop(inbox.refuse_notification(&bad("", error.to_string())));
                    ended.extend(id.map(ReminderEvent::cleared));
                }
                Ok(Put::Known(_)) | Err(_) => {}
            }
        }
        (new, ended)
    }

    /// The same one that was put in before; nothing where it is new.
    ///
    /// # Errors
    /// Its id was given to another one.
    pub(super) fn again(&self, incoming: &Incoming) -> Result<Option<Arc<Given>>, Refusal> {
        self.lock().again(incoming)
    }

    /// Accepts a reminder for the task, and waits until it would survive the end of the process; whether it is new.
    ///
    /// # Errors
    /// Its id was given to another one, the queue refuses, or it cannot be kept.
    pub(super) async fn accept(&self, incoming: Incoming, inbox: &Inbox) -> Result<(Arc<Given>, bool), Refusal> {
        let put = self.lock().put(incoming, inbox)?;
        let kept = inbox.durable().await;
        match (put, kept) {
            (Put::New(given), Ok(())) => Ok((given, true)),
            (Put::Known(given), Ok(())) => Ok((given, false)),
            (Put::New(given), Err(error)) => {
                self.undo(&given, inbox);
                Err(Refusal::Log(error))
            }
            (Put::Known(_), Err(error)) => Err(Refusal::Log(error)),
        }
    }

    /// Takes back what a seam has not delivered. The id is free again: whoever gives it to a reminder means a new one.
    ///
    /// # Errors
    /// It was delivered, or never was there.
    pub(super) fn revoke(&self, id: &str, inbox: &Inbox) -> Result<Revoked, QueueError> {
        let mut known = self.lock();
        let revoked = inbox.revoke(id)?;
        if revoked == Revoked::Now {
            known.remove(id);
        }
        Ok(revoked)
    }

    /// Frees the id of a reminder that was cleared.
    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Ends what no loop has taken by the end of the task, and returns the ids. A session works on one task at a time, so every
    /// reminder in its queue is for this one. `inbox` is `None` if no session was opened for it.
    pub fn withdraw(&self, inbox: Option<&Inbox>) -> Vec<Arc<str>> {
        let held = std::mem::take(&mut self.lock().held);
        let waiting = inbox.map(Inbox::pending).unwrap_or_default();
        let reminders = waiting.into_iter().filter(|item| matches!(item.payload, Payload::Reminder(_)));
        let expired = reminders.map(|item| item.id).filter(|id| inbox.is_some_and(|inbox| inbox.expire(id)));
        expired.chain(held.into_iter().filter_map(|incoming| incoming.id)).collect()
    }

    /// Takes back what cannot be kept.
    pub(super) fn undo(&self, given: &Given, inbox: &Inbox) {
        // Where a seam was faster it is delivered, and its peer is told all the same that it is not on record.
        let _ = inbox.revoke(&given.id);
        self.lock().remove(&given.id);
    }

    /// A poisoned lock is taken all the same: no operation leaves it half changed.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn again(&self, incoming: &Incoming) -> Result<Option<Arc<Given>>, Refusal> {
        let Some(id) = &incoming.id else { return Ok(None) };
        match self.of.get(id) {
            None => Ok(None),
            Some(given) if given.incoming == *incoming => Ok(Some(given.clone())),
            Some(_) => Err(taken(id)),
        }
    }

    /// Puts a reminder in, of two that come at once only the first. It may be told of as accepted once [`Inbox::durable`] is
    /// ready.
    ///
    /// # Errors
    /// Its id was given to another one, or the queue refuses.
    fn put(&mut self, incoming: Incoming, inbox: &Inbox) -> Result<Put, Refusal> {
        if let Some(given) = self.again(&incoming)? {
            return Ok(Put::Known(given));
        }
        let at_ms = now_ms();
        let waiting = incoming.id.as_ref().and_then(|id| inbox.find(id));
        let (id, deduped_count, displaced) = match waiting {
            // It came by another task of the session, or before a process ended that could not write down what it told.
            Some(item) if is_same(&item, &incoming) => (item.id, 0, Vec::new()),
            Some(item) => return Err(taken(&item.id)),
            None => {
                let accepted = inbox.accept_reminder_as(incoming.id.clone(), incoming.payload.clone());
                let accepted = accepted.map_err(Refusal::Queue)?;
                (accepted.id, accepted.deduped_count, accepted.replaced)
            }
        };
        let given = Arc::new(Given { id, incoming, deduped_count, displaced, at_ms });
        self.add(given.clone());
        Ok(Put::New(given))
    }

    fn add(&mut self, given: Arc<Given>) {
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

impl Given {
    /// What those who follow the task are told, where it took the place of others in the queue.
    #[must_use]
    pub fn displacement(&self) -> Option<ReminderEvent> {
        ReminderEvent::displaced(&self.id, self.incoming.payload.spec.dedupe_key.as_deref(), &self.displaced)
    }

    fn weight(&self) -> usize {
        /// What each takes beside its texts.
        const EACH: usize = 512;
        let spec = &self.incoming.payload.spec;
        let tags: usize = spec.tags.iter().map(|tag| tag.len()).sum();
        EACH + self.id.len() + spec.body.len() + tags + self.incoming.echo.weight()
    }
}

fn is_same(item: &Injection, incoming: &Incoming) -> bool {
    let Payload::Reminder(reminder) = &item.payload else { return false };
    let spec = incoming.payload.spec.clone();
    item.mode == incoming.payload.mode
        && **reminder == spec.into_reminder(item.id.clone(), reminder.source, reminder.fired_at_turn)
}

/// What the task's log says of a reminder that was taken back, so that its id is free in the next process too.
pub(super) fn revoked(id: &Arc<str>) -> Data {
    Data::dict([("id", Data::from(id)), (REVOKED, true.into())])
}

/// An id was given to two reminders that differ.
fn taken(id: &str) -> Refusal {
    let message = format!("the id `{id}` is already used by another reminder");
    Refusal::Reminder(bad("reminder.id", message).help("give each reminder a unique id, or omit it"))
}

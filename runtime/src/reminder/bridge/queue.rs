//! The queue of injections of one session.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ids::{IdStream, shortened};
use crate::message::Message;
use crate::reminder::{ReminderSpec, Source};

use super::{Injection, Mode, Payload, PendingKeys, Seam};

/// A queue as session and host share it. A poisoned lock is taken all the same: no operation leaves the queue half changed.
pub type SharedQueue = Arc<Mutex<Queue>>;

/// Items in the order of their arrival, and the fate of recent ones.
#[derive(Debug)]
pub struct Queue {
    items: VecDeque<Injection>,
    fates: VecDeque<(Arc<str>, Fate)>,
    ids: IdStream,
    closed: bool,
    /// Wakes those who wait for an item.
    arrived: Arc<Notify>,
    /// The pending keys of the transcript, if another thread needs them.
    pending: Option<PendingKeys>,
}

/// The outcome of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A seam delivered it.
    Delivered,
    /// It was taken back, or its task or session ended before a loop took it.
    Revoked,
    /// One with the same key took its place.
    Replaced,
}

/// An item was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub id: Arc<str>,
    /// Queued items that it took the place of.
    pub replaced: Vec<Arc<str>>,
    /// Number of reminders with its key that are pending in the transcript, as known to the queue.
    pub pending: usize,
}

/// An item was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revoked {
    /// Just now.
    Now,
    /// Before.
    Already,
    /// Not at all: one with the same dedupe key has taken its place.
    Replaced,
}

/// Why the queue refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// It is full.
    #[error("the session's queue is full ({0} items); wait until the session has drained it")]
    Full(usize),
    /// The event log has no room for the item's record.
    #[error("the event log cannot accept more records; try again later")]
    LogBehind,
    /// The session is closed.
    #[error("the session is closed and accepts no more items")]
    Closed,
    /// The item was delivered already.
    #[error("the reminder `{0}` was already delivered")]
    AlreadyDelivered(Arc<str>),
    /// No such item.
    #[error("no queued reminder has the id `{0}`")]
    Unknown(Arc<str>),
}

impl Queue {
    /// The most items a queue holds.
    pub const CAPACITY: usize = 256;
    /// Maximum number of outcomes that are kept.
    const FATES: usize = 4096;

    /// An empty queue whose ids come from `ids`.
    #[must_use]
    pub fn shared(ids: IdStream) -> SharedQueue {
        Queue::restored(ids, Vec::new())
    }

    /// A queue that was stored, with what waited in it.
    pub(crate) fn restored(ids: IdStream, items: Vec<Injection>) -> SharedQueue {
        let (items, fates) = (items.into(), VecDeque::new());
        Arc::new(Mutex::new(Queue { items, fates, ids, closed: false, arrived: Arc::default(), pending: None }))
    }

    /// Returns the queued items and the current state of the ids.
    pub(crate) fn clone_content(&self) -> (IdStream, VecDeque<Injection>) {
        (self.ids.clone(), self.items.clone())
    }

    /// Goes on with what waited in another.
    pub(crate) fn take_over(&mut self, (ids, items): (IdStream, VecDeque<Injection>)) {
        (self.ids, self.items) = (ids, items);
        self.wake();
    }

    /// Continues with the items and outcomes of a queue restored from a log; ids come from `ids`.
    pub(crate) fn go_on_from(&mut self, ids: IdStream, items: Vec<Injection>, fates: Vec<(Arc<str>, Fate)>) {
        (self.ids, self.items) = (ids, items.into());
        self.fates.clear();
        fates.into_iter().for_each(|(id, fate)| self.remember(id, fate));
        self.wake();
    }

    /// Returns the current state of the ids.
    pub(crate) fn ids(&self) -> &IdStream {
        &self.ids
    }

    /// Puts a reminder in. It takes the place of a queued one with the same dedupe key.
    pub fn push_reminder(&mut self, spec: ReminderSpec, mode: Mode, now_ms: u64) -> Result<Accepted, QueueError> {
        self.push_reminder_as(None, spec, mode, now_ms)
    }

    /// Queues a reminder like [`Self::push_reminder`], with the id that its host has chosen, if any.
    pub fn push_reminder_as(
        &mut self,
        id: Option<Arc<str>>,
        spec: ReminderSpec,
        mode: Mode,
        now_ms: u64,
    ) -> Result<Accepted, QueueError> {
        let same_key = |item: &Injection| match &item.payload {
            Payload::Reminder(queued) => spec.dedupe_key.is_some() && queued.dedupe_key == spec.dedupe_key,
            Payload::Message(_) => false,
        };
        let replaced: Vec<_> = self.items.iter().filter(|item| same_key(item)).map(|item| item.id.clone()).collect();
        self.room_for_one(replaced.len())?;
        self.items.retain(|item| !same_key(item));
        for id in &replaced {
            self.remember(id.clone(), Fate::Replaced);
        }
        let id = id.unwrap_or_else(|| self.ids.draw(now_ms).hyphenated().to_string().into());
        let reminder = Arc::new(spec.into_reminder(id.clone(), Source::Bridge, 0));
        let key = reminder.dedupe_key.as_deref();
        let pending = key.and_then(|key| Some(self.pending.as_ref()?.count(key))).unwrap_or_default();
        self.items.push_back(Injection { id: id.clone(), mode, payload: Payload::Reminder(reminder) });
        self.wake();
        Ok(Accepted { id, replaced, pending })
    }

    /// Puts a message of the user in.
    pub fn push_message(&mut self, message: Arc<Message>, mode: Mode, now_ms: u64) -> Result<Accepted, QueueError> {
        self.room_for_one(0)?;
        let id: Arc<str> = self.ids.draw(now_ms).hyphenated().to_string().into();
        self.items.push_back(Injection { id: id.clone(), mode, payload: Payload::Message(message) });
        self.wake();
        Ok(Accepted { id, replaced: Vec::new(), pending: 0 })
    }

    /// Waits until an item is queued that a model should see.
    pub(crate) async fn news(queue: &SharedQueue) {
        Queue::holds(queue, |mode| mode != Mode::AuditOnly).await;
    }

    /// Waits until an item is queued that interrupts the work at hand.
    pub(crate) async fn interrupt(queue: &SharedQueue) {
        Queue::holds(queue, |mode| mode == Mode::InterruptImmediate).await;
    }

    async fn holds(queue: &SharedQueue, wanted: impl Fn(Mode) -> bool) {
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let arrived = lock().arrived.clone();
        loop {
            let arrives = arrived.notified();
            if lock().items.iter().any(|item| wanted(item.mode)) {
                return;
            }
            arrives.await;
        }
    }

    fn wake(&self) {
        self.arrived.notify_waiters();
    }

    /// Tells it from now on which keys are pending in the transcript.
    pub(crate) fn tell_pending(&mut self, keys: PendingKeys) {
        self.pending = Some(keys);
    }

    /// Returns the pending keys of the transcript, if they are tracked.
    pub(crate) fn pending_keys(&mut self) -> Option<&mut PendingKeys> {
        self.pending.as_mut()
    }

    /// The item that came last.
    pub(crate) fn last(&self) -> Option<&Injection> {
        self.items.back()
    }

    /// Returns the queued item with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Injection> {
        self.items.iter().find(|item| item.id.as_ref() == id)
    }

    /// Returns the queued items in order of arrival.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &Injection> {
        self.items.iter()
    }

    /// Takes an item back before a seam delivers it.
    pub fn revoke(&mut self, id: &str) -> Result<Revoked, QueueError> {
        if let Some(index) = self.items.iter().position(|item| item.id.as_ref() == id) {
            self.items.remove(index);
            self.remember(id.into(), Fate::Revoked);
            return Ok(Revoked::Now);
        }
        match self.fates.iter().rev().find(|(known, _)| known.as_ref() == id).map(|(_, fate)| *fate) {
            Some(Fate::Revoked) => Ok(Revoked::Already),
            Some(Fate::Replaced) => Ok(Revoked::Replaced),
            Some(Fate::Delivered) => Err(QueueError::AlreadyDelivered(id.into())),
            None => Err(QueueError::Unknown(shortened(id))),
        }
    }

    /// Takes out what a seam delivers, first in first.
    pub fn drain(&mut self, seam: Seam) -> Vec<Injection> {
        let (due, rest): (VecDeque<_>, VecDeque<_>) = self.items.drain(..).partition(|item| seam.drains(item.mode));
        self.items = rest;
        for item in &due {
            self.remember(item.id.clone(), Fate::Delivered);
            // It is on its way into the transcript, and in neither of the two places until it is there.
            if let (Payload::Reminder(reminder), Some(keys), true) =
                (&item.payload, &mut self.pending, seam != Seam::LoopExit)
            {
                keys.enter(reminder);
            }
        }
        due.into()
    }

    /// Accepts no further items and keeps the queued ones for a successor that continues from the log.
    pub fn seal(&mut self) {
        self.closed = true;
    }

    /// Accepts no further items and returns the queued ones, because the session ends.
    pub fn close(&mut self) -> Vec<Injection> {
        self.closed = true;
        let rest: Vec<Injection> = self.items.drain(..).collect();
        rest.iter().for_each(|item| self.remember(item.id.clone(), Fate::Delivered));
        rest
    }

    fn room_for_one(&self, leaving: usize) -> Result<(), QueueError> {
        match self.items.len() - leaving {
            _ if self.closed => Err(QueueError::Closed),
            Self::CAPACITY.. => Err(QueueError::Full(self.items.len())),
            _ => Ok(()),
        }
    }

    fn remember(&mut self, id: Arc<str>, fate: Fate) {
        if self.fates.len() == Self::FATES {
            self.fates.pop_front();
        }
        self.fates.push_back((id, fate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        Arc::into_inner(Queue::shared(IdStream::new(1, "q"))).unwrap().into_inner().unwrap()
    }

    fn keyed(key: &str) -> ReminderSpec {
        ReminderSpec { dedupe_key: Some(key.into()), ..ReminderSpec::new("b") }
    }

    #[test]
    fn each_seam_drains_what_the_guide_says() {
        let drained =
            |mode: Mode| Seam::ALL.iter().filter(|seam| seam.drains(mode)).map(|s| s.as_str()).collect::<Vec<_>>();
        assert_eq!(
            drained(Mode::InterruptImmediate),
            [
                "iteration_start",
                "pre_tool_dispatch",
                "post_tool_dispatch",
                "iteration_end",
                "daemon_idle_pre",
                "daemon_idle_post"
            ]
        );
        assert_eq!(drained(Mode::FinishStep), ["iteration_start", "post_tool_dispatch", "iteration_end"]);
        assert_eq!(drained(Mode::AuditOnly), ["loop_exit"]);
    }

    #[test]
    fn a_key_is_queued_once_and_a_full_queue_refuses() {
        let mut queue = queue();
        let first = queue.push_reminder(keyed("k"), Mode::FinishStep, 1).unwrap();
        for n in 1..Queue::CAPACITY {
            queue.push_reminder(keyed(&n.to_string()), Mode::FinishStep, 1).unwrap();
        }
        assert_eq!(queue.push_reminder(keyed("new"), Mode::FinishStep, 1), Err(QueueError::Full(256)));
        let again = queue.push_reminder(keyed("k"), Mode::AuditOnly, 1).unwrap();
        assert_eq!(again.replaced, std::slice::from_ref(&first.id));
        assert_eq!(queue.revoke(&first.id), Ok(Revoked::Replaced));
        assert_eq!(queue.pending().len(), 256);
    }

    #[test]
    fn a_host_may_choose_the_id_of_its_reminder() {
        let mut queue = queue();
        let accepted = queue.push_reminder_as(Some("mine".into()), keyed("k"), Mode::FinishStep, 1).unwrap();
        assert_eq!(&*accepted.id, "mine");
        assert!(
            matches!(queue.find("mine"), Some(Injection { payload: Payload::Reminder(r), .. }) if &*r.id == "mine")
        );
        let next = queue.push_reminder(keyed("k"), Mode::FinishStep, 1).unwrap();
        assert_eq!((next.replaced, queue.find("mine")), (vec![accepted.id], None));
    }

    #[test]
    fn a_closed_queue_gives_what_waits_and_takes_nothing_more() {
        let mut queue = queue();
        let one = queue.push_reminder(ReminderSpec::new("1"), Mode::FinishStep, 1).unwrap().id;
        assert_eq!(queue.close().len(), 1);
        assert_eq!(queue.push_reminder(ReminderSpec::new("2"), Mode::FinishStep, 1), Err(QueueError::Closed));
        let message = Arc::new(Message::user("m"));
        assert_eq!(queue.push_message(message, Mode::FinishStep, 1), Err(QueueError::Closed));
        assert_eq!(queue.revoke(&one), Err(QueueError::AlreadyDelivered(one)));
    }

    #[test]
    fn revoking_tells_what_became_of_an_item() {
        let mut queue = queue();
        let one = queue.push_reminder(ReminderSpec::new("1"), Mode::FinishStep, 1).unwrap().id;
        let two = queue.push_reminder(ReminderSpec::new("2"), Mode::FinishStep, 1).unwrap().id;
        assert_eq!(queue.revoke(&one), Ok(Revoked::Now));
        assert_eq!(queue.revoke(&one), Ok(Revoked::Already));
        assert!(queue.drain(Seam::PreToolDispatch).is_empty());
        assert_eq!(queue.drain(Seam::IterationEnd).len(), 1);
        assert_eq!(queue.revoke(&two), Err(QueueError::AlreadyDelivered(two)));
        assert!(matches!(queue.revoke("x"), Err(QueueError::Unknown(_))));
    }
}

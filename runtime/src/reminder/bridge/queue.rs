//! The queue of injections of one session.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use base::ids::{IdStream, shortened};
use tokio::sync::Notify;

use crate::message::Message;
use crate::reminder::policy::PolicyRefusal;
use crate::reminder::{Reminder, ReminderSource, ReminderSpec};

use super::{DeliveryMode, Injection, InjectionPayload, PendingKeys, Seam};

/// A queue shared by session and host. A poisoned lock is still used, because no operation leaves the queue half
/// changed.
pub type SharedQueue = Arc<Mutex<Queue>>;

/// The items in order of arrival, and the outcomes of recent ones.
#[derive(Debug)]
pub struct Queue {
    items: VecDeque<Injection>,
    fates: VecDeque<(Arc<str>, InjectionOutcome)>,
    ids: IdStream,
    closed: bool,
    /// Wakes the tasks that wait for an item.
    arrived: Arc<Notify>,
    /// The pending keys of the transcript, if another thread needs them.
    pending: Option<PendingKeys>,
}

/// The outcome of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectionOutcome {
    /// A seam delivered it.
    Delivered,
    /// It was revoked, or its task or session ended before a loop took it.
    Revoked,
    /// An item with the same key replaced it.
    Replaced,
}

/// An item was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueAcceptance {
    /// Its id.
    pub id: Arc<str>,
    /// Queued items that it replaced.
    pub replaced: Vec<Arc<str>>,
    /// Number of reminders with its key that are pending in the transcript, as known to the queue.
    pub pending: usize,
}

/// An item was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Just now.
    Now,
    /// Before.
    Already,
    /// Never: an item with the same dedupe key has replaced it.
    Replaced,
}

/// The reason the queue refuses an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// The queue is full.
    #[error("the session's queue is full ({0} items); wait until the session has drained it")]
    Full(usize),
    /// The event log has no room for the item's record.
    #[error("the event log cannot accept more records; try again later")]
    LogBehind,
    /// The session is closed.
    #[error("the session is closed and accepts no more items")]
    Closed,
    /// The policy refuses the reminder.
    #[error("{0}")]
    Refused(PolicyRefusal),
    /// The item was delivered already.
    #[error("the reminder `{0}` was already delivered")]
    AlreadyDelivered(Arc<str>),
    /// The item is unknown.
    #[error("no queued reminder has the id `{0}`")]
    Unknown(Arc<str>),
}

impl Queue {
    /// Maximum number of items in a queue.
    pub const CAPACITY: usize = 256;
    /// Maximum number of outcomes that are kept.
    const FATES: usize = 4096;

    /// Creates an empty queue whose ids come from `ids`.
    #[must_use]
    pub fn shared(ids: IdStream) -> SharedQueue {
        Queue::restored(ids, Vec::new())
    }

    /// Returns a stored queue with its items.
    pub(crate) fn restored(ids: IdStream, items: Vec<Injection>) -> SharedQueue {
        let (items, fates) = (items.into(), VecDeque::new());
        Arc::new(Mutex::new(Queue { items, fates, ids, closed: false, arrived: Arc::default(), pending: None }))
    }

    /// Returns the queued items and the current state of the ids.
    pub(crate) fn clone_content(&self) -> (IdStream, VecDeque<Injection>) {
        (self.ids.clone(), self.items.clone())
    }

    /// Continues with the items of another queue.
    pub(crate) fn take_over(&mut self, (ids, items): (IdStream, VecDeque<Injection>)) {
        (self.ids, self.items) = (ids, items);
        self.wake();
    }

    /// Continues with the items and outcomes of a queue restored from a log; ids come from `ids`.
    pub(crate) fn go_on_from(
        &mut self,
        ids: IdStream,
        items: Vec<Injection>,
        fates: Vec<(Arc<str>, InjectionOutcome)>,
    ) {
        (self.ids, self.items) = (ids, items.into());
        self.fates.clear();
        fates.into_iter().for_each(|(id, fate)| self.remember(id, fate));
        self.wake();
    }

    /// Returns the current state of the ids.
    pub(crate) fn ids(&self) -> &IdStream {
        &self.ids
    }

    /// Queues a reminder. It replaces a queued one with the same dedupe key.
    pub fn push_reminder(
        &mut self,
        spec: ReminderSpec,
        mode: DeliveryMode,
        now_ms: u64,
    ) -> Result<QueueAcceptance, QueueError> {
        self.push_reminder_as(None, None, spec, mode, now_ms)
    }

    /// Queues a reminder like [`Self::push_reminder`], with the id that its host has chosen, if any, and a producer that
    /// marks it as untrusted.
    pub fn push_reminder_as(
        &mut self,
        id: Option<Arc<str>>,
        producer: Option<Arc<str>>,
        spec: ReminderSpec,
        mode: DeliveryMode,
        now_ms: u64,
    ) -> Result<QueueAcceptance, QueueError> {
        let same_key = |item: &Injection| match &item.payload {
            InjectionPayload::Reminder(queued) => spec.dedupe_key.is_some() && queued.dedupe_key == spec.dedupe_key,
            InjectionPayload::Message(_) => false,
        };
        let replaced: Vec<_> = self.items.iter().filter(|item| same_key(item)).map(|item| item.id.clone()).collect();
        self.room_for_one(replaced.len())?;
        self.items.retain(|item| !same_key(item));
        for id in &replaced {
            self.remember(id.clone(), InjectionOutcome::Replaced);
        }
        let id = id.unwrap_or_else(|| self.ids.draw(now_ms).hyphenated().to_string().into());
        let reminder = Arc::new(Reminder { producer, ..spec.into_reminder(id.clone(), ReminderSource::Bridge, 0) });
        let key = reminder.dedupe_key.as_deref();
        let pending = key.and_then(|key| Some(self.pending.as_ref()?.count(key))).unwrap_or_default();
        self.items.push_back(Injection { id: id.clone(), mode, payload: InjectionPayload::Reminder(reminder) });
        self.wake();
        Ok(QueueAcceptance { id, replaced, pending })
    }

    /// Queues a user message.
    pub fn push_message(
        &mut self,
        message: Arc<Message>,
        mode: DeliveryMode,
        now_ms: u64,
    ) -> Result<QueueAcceptance, QueueError> {
        self.room_for_one(0)?;
        let id: Arc<str> = self.ids.draw(now_ms).hyphenated().to_string().into();
        self.items.push_back(Injection { id: id.clone(), mode, payload: InjectionPayload::Message(message) });
        self.wake();
        Ok(QueueAcceptance { id, replaced: Vec::new(), pending: 0 })
    }

    /// Waits until an item is queued that the model should see.
    pub(crate) async fn news(queue: &SharedQueue) {
        Queue::holds(queue, |mode| mode != DeliveryMode::AuditOnly).await;
    }

    /// Waits until an item is queued that interrupts the current work.
    pub(crate) async fn interrupt(queue: &SharedQueue) {
        Queue::holds(queue, |mode| mode == DeliveryMode::InterruptImmediate).await;
    }

    async fn holds(queue: &SharedQueue, wanted: impl Fn(DeliveryMode) -> bool) {
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

    /// Sets the pending keys of the transcript, which are tracked from now on.
    pub(crate) fn tell_pending(&mut self, keys: PendingKeys) {
        self.pending = Some(keys);
    }

    /// Returns the pending keys of the transcript, if they are tracked.
    pub(crate) fn pending_keys(&mut self) -> Option<&mut PendingKeys> {
        self.pending.as_mut()
    }

    /// Returns the last item.
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

    /// Revokes an item before a seam delivers it.
    pub fn revoke(&mut self, id: &str) -> Result<Revocation, QueueError> {
        if let Some(index) = self.items.iter().position(|item| item.id.as_ref() == id) {
            self.items.remove(index);
            self.remember(id.into(), InjectionOutcome::Revoked);
            return Ok(Revocation::Now);
        }
        match self.fates.iter().rev().find(|(known, _)| known.as_ref() == id).map(|(_, fate)| *fate) {
            Some(InjectionOutcome::Revoked) => Ok(Revocation::Already),
            Some(InjectionOutcome::Replaced) => Ok(Revocation::Replaced),
            Some(InjectionOutcome::Delivered) => Err(QueueError::AlreadyDelivered(id.into())),
            None => Err(QueueError::Unknown(shortened(id))),
        }
    }

    /// Removes and returns the items that a seam delivers, in order of arrival.
    pub fn drain(&mut self, seam: Seam) -> Vec<Injection> {
        let (due, rest): (VecDeque<_>, VecDeque<_>) = self.items.drain(..).partition(|item| seam.drains(item.mode));
        self.items = rest;
        for item in &due {
            self.remember(item.id.clone(), InjectionOutcome::Delivered);
            // It is on its way into the transcript and in neither of the two places until then.
            if let (InjectionPayload::Reminder(reminder), Some(keys), true) =
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
        rest.iter().for_each(|item| self.remember(item.id.clone(), InjectionOutcome::Delivered));
        rest
    }

    fn room_for_one(&self, leaving: usize) -> Result<(), QueueError> {
        match self.items.len() - leaving {
            _ if self.closed => Err(QueueError::Closed),
            Self::CAPACITY.. => Err(QueueError::Full(self.items.len())),
            _ => Ok(()),
        }
    }

    fn remember(&mut self, id: Arc<str>, fate: InjectionOutcome) {
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
        let drained = |mode: DeliveryMode| {
            Seam::ALL.iter().filter(|seam| seam.drains(mode)).map(|s| s.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(
            drained(DeliveryMode::InterruptImmediate),
            [
                "iteration_start",
                "pre_tool_dispatch",
                "post_tool_dispatch",
                "iteration_end",
                "daemon_idle_pre",
                "daemon_idle_post"
            ]
        );
        assert_eq!(drained(DeliveryMode::FinishStep), ["iteration_start", "post_tool_dispatch", "iteration_end"]);
        assert_eq!(drained(DeliveryMode::AuditOnly), ["loop_exit"]);
    }

    #[test]
    fn a_key_is_queued_once_and_a_full_queue_refuses() {
        let mut queue = queue();
        let first = queue.push_reminder(keyed("k"), DeliveryMode::FinishStep, 1).unwrap();
        for n in 1..Queue::CAPACITY {
            queue.push_reminder(keyed(&n.to_string()), DeliveryMode::FinishStep, 1).unwrap();
        }
        assert_eq!(queue.push_reminder(keyed("new"), DeliveryMode::FinishStep, 1), Err(QueueError::Full(256)));
        let again = queue.push_reminder(keyed("k"), DeliveryMode::AuditOnly, 1).unwrap();
        assert_eq!(again.replaced, std::slice::from_ref(&first.id));
        assert_eq!(queue.revoke(&first.id), Ok(Revocation::Replaced));
        assert_eq!(queue.pending().len(), 256);
    }

    #[test]
    fn a_host_may_choose_the_id_of_its_reminder() {
        let mut queue = queue();
        let accepted =
            queue.push_reminder_as(Some("mine".into()), None, keyed("k"), DeliveryMode::FinishStep, 1).unwrap();
        assert_eq!(&*accepted.id, "mine");
        assert!(
            matches!(queue.find("mine"), Some(Injection { payload: InjectionPayload::Reminder(r), .. }) if &*r.id == "mine")
        );
        let next = queue.push_reminder(keyed("k"), DeliveryMode::FinishStep, 1).unwrap();
        assert_eq!((next.replaced, queue.find("mine")), (vec![accepted.id], None));
    }

    #[test]
    fn a_closed_queue_gives_what_waits_and_takes_nothing_more() {
        let mut queue = queue();
        let one = queue.push_reminder(ReminderSpec::new("1"), DeliveryMode::FinishStep, 1).unwrap().id;
        assert_eq!(queue.close().len(), 1);
        assert_eq!(queue.push_reminder(ReminderSpec::new("2"), DeliveryMode::FinishStep, 1), Err(QueueError::Closed));
        let message = Arc::new(Message::user("m"));
        assert_eq!(queue.push_message(message, DeliveryMode::FinishStep, 1), Err(QueueError::Closed));
        assert_eq!(queue.revoke(&one), Err(QueueError::AlreadyDelivered(one)));
    }

    #[test]
    fn revoking_tells_what_became_of_an_item() {
        let mut queue = queue();
        let one = queue.push_reminder(ReminderSpec::new("1"), DeliveryMode::FinishStep, 1).unwrap().id;
        let two = queue.push_reminder(ReminderSpec::new("2"), DeliveryMode::FinishStep, 1).unwrap().id;
        assert_eq!(queue.revoke(&one), Ok(Revocation::Now));
        assert_eq!(queue.revoke(&one), Ok(Revocation::Already));
        assert!(queue.drain(Seam::PreToolDispatch).is_empty());
        assert_eq!(queue.drain(Seam::IterationEnd).len(), 1);
        assert_eq!(queue.revoke(&two), Err(QueueError::AlreadyDelivered(two)));
        assert!(matches!(queue.revoke("x"), Err(QueueError::Unknown(_))));
    }
}

//! [`Outbox`]: reminders for peers that take none by themselves, until a message goes to their task.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;
use runtime::reminder::{ReminderField, Surface};

/// The maximum number of tasks with waiting reminders.
const MOST_TASKS: usize = 256;

/// The maximum number of reminders for one task.
const MOST: usize = 64;

/// Fields of a kept reminder, as the wire has them.
const ID: &str = ReminderField::Id.name(Surface::A2a);
const DEDUPE_KEY: &str = ReminderField::DedupeKey.name(Surface::A2a);

/// The peer's endpoint and the task.
type TaskKey = (Arc<str>, Arc<str>);

/// Reminders that wait for a message, including those in flight, whose arrival is not confirmed
/// yet.
#[derive(Default, Clone)]
pub(crate) struct Outbox(Rc<RefCell<OutboxState>>);

#[derive(Default)]
struct OutboxState {
    of: BTreeMap<TaskKey, Vec<WaitingReminder>>,
    /// The number of the last lease.
    leases: u64,
}

struct WaitingReminder {
    /// The reminder as the wire has it, with an id, so that its receiver recognizes a repeated one.
    reminder: Data,
    /// The message that it is on its way with.
    lease: Option<u64>,
    /// A newer one has its key: it does not go a second time.
    is_replaced: bool,
}

impl Outbox {
    /// Keeps a reminder, which has an id, for the next message to a task; returns the number of
    /// reminders with the same key that it replaces. A reminder with the same id is the same one.
    /// Returns `None` if there is no room.
    pub(crate) fn put(&self, endpoint: &str, task_id: &str, reminder: Data) -> Option<usize> {
        let of = &mut self.0.borrow_mut().of;
        let key = (Arc::from(endpoint), Arc::from(task_id));
        if of.len() >= MOST_TASKS && !of.contains_key(&key) {
            return None;
        }
        let list = of.entry(key).or_default();
        if list.iter().any(|queued| queued.reminder.get(ID) == reminder.get(ID)) {
            return Some(0);
        }
        let dedupe = reminder.get(DEDUPE_KEY).clone();
        let is_same = |queued: &WaitingReminder| !dedupe.is_nil() && *queued.reminder.get(DEDUPE_KEY) == dedupe;
        let before = list.len();
        list.retain(|queued| queued.lease.is_some() || !is_same(queued));
        if list.len() >= MOST {
            return None;
        }
        list.iter_mut().filter(|queued| is_same(queued)).for_each(|queued| queued.is_replaced = true);
        list.push(WaitingReminder { reminder, lease: None, is_replaced: false });
        Some(before + 1 - list.len())
    }

    /// Whether some are on their way to a task.
    pub(crate) fn has_lent(&self, endpoint: &str, task_id: &str) -> bool {
        let key = (Arc::from(endpoint), Arc::from(task_id));
        self.0.borrow().of.get(&key).is_some_and(|list| list.iter().any(|queued| queued.lease.is_some()))
    }

    /// Lends those that wait for a task to a message. They are gone once it has arrived, else they wait on.
    pub(crate) fn lend(&self, endpoint: &str, task_id: &str) -> Lease {
        let key = (Arc::from(endpoint), Arc::from(task_id));
        let waiting = &mut *self.0.borrow_mut();
        waiting.leases += 1;
        let mut reminders = Vec::new();
        for queued in waiting.of.get_mut(&key).into_iter().flatten().filter(|queued| queued.lease.is_none()) {
            queued.lease = Some(waiting.leases);
            reminders.push(queued.reminder.clone());
        }
        Lease { outbox: self.clone(), key, number: waiting.leases, reminders }
    }
}

/// Reminders in flight with a message. If it is dropped without confirmation, they wait again: the
/// message failed, was cancelled, or timed out.
pub(crate) struct Lease {
    outbox: Outbox,
    key: TaskKey,
    number: u64,
    reminders: Vec<Data>,
}

impl Lease {
    /// Returns the reminders in flight.
    pub(crate) fn reminders(&self) -> &[Data] {
        &self.reminders
    }

    /// Ends the lease because the reminders have arrived.
    pub(crate) fn delivered(self) {
        self.end(|_| false);
    }

    /// Keeps of its reminders those that `stays` says.
    fn end(&self, stays: impl Fn(&WaitingReminder) -> bool) {
        let of = &mut self.outbox.0.borrow_mut().of;
        let Some(list) = of.get_mut(&self.key) else { return };
        list.retain(|queued| queued.lease != Some(self.number) || stays(queued));
        for queued in list.iter_mut().filter(|queued| queued.lease == Some(self.number)) {
            queued.lease = None;
        }
        if list.is_empty() {
            of.remove(&self.key);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.end(|queued| !queued.is_replaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reminder(id: &str, key: &str) -> Data {
        Data::dict([("id", Data::from(id)), ("dedupeKey", if key.is_empty() { Data::Nil } else { key.into() })])
    }

    fn ids(lease: &Lease) -> Vec<&str> {
        lease.reminders().iter().filter_map(|reminder| reminder.get("id").as_str()).collect()
    }

    #[test]
    fn reminders_wait_in_order_and_a_newer_one_takes_the_place_of_its_key() {
        let outbox = Outbox::default();
        assert_eq!(outbox.put("e", "t", reminder("a", "k")), Some(0));
        assert_eq!(outbox.put("e", "t", reminder("b", "l")), Some(0));
        assert_eq!(outbox.put("e", "t", reminder("c", "k")), Some(1));
        assert!(outbox.lend("e", "other").reminders().is_empty());
        let lease = outbox.lend("e", "t");
        assert_eq!(ids(&lease), ["b", "c"]);
        assert!(outbox.lend("e", "t").reminders().is_empty(), "they are on their way already");
        assert!(outbox.has_lent("e", "t") && !outbox.has_lent("e", "other"));
        drop(lease);
        assert!(!outbox.has_lent("e", "t"));
        assert_eq!(ids(&outbox.lend("e", "t")), ["b", "c"]);
        outbox.lend("e", "t").delivered();
        assert!(outbox.lend("e", "t").reminders().is_empty() && outbox.0.borrow().of.is_empty());
    }

    #[test]
    fn what_comes_meanwhile_waits_for_the_next_message() {
        let outbox = Outbox::default();
        outbox.put("e", "t", reminder("a", "k"));
        outbox.put("e", "t", reminder("b", ""));
        let lease = outbox.lend("e", "t");
        assert_eq!(outbox.put("e", "t", reminder("c", "k")), Some(0), "the older one may have arrived");
        assert_eq!(outbox.put("e", "t", reminder("b", "")), Some(0), "the same one");
        drop(lease);
        let lease = outbox.lend("e", "t");
        assert_eq!(ids(&lease), ["b", "c"], "what was replaced meanwhile does not come back");
        outbox.put("e", "t", reminder("d", ""));
        lease.delivered();
        assert_eq!(ids(&outbox.lend("e", "t")), ["d"]);
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let outbox = Outbox::default();
        let put = |task: &str, n: usize| outbox.put("e", task, reminder(&n.to_string(), ""));
        assert_eq!((0..2 * MOST).filter(|n| put("t", *n).is_some()).count(), MOST);
        let lease = outbox.lend("e", "t");
        assert_eq!(put("t", 2 * MOST), None, "what is on its way may come back");
        lease.delivered();
        assert_eq!((0..2 * MOST_TASKS).filter(|n| put(&n.to_string(), 0).is_some()).count(), MOST_TASKS);
    }
}

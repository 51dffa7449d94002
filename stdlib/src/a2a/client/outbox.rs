//! [`Outbox`]: reminders for peers that take none by themselves, until a message goes to their task.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use runtime::data::Data;

/// How many tasks it holds reminders for.
const MOST_TASKS: usize = 256;

/// How many reminders for one task.
const MOST: usize = 64;

/// The peer's endpoint and the task.
type Key = (Arc<str>, Arc<str>);

/// Reminders that wait.
#[derive(Default)]
pub(crate) struct Outbox {
    waiting: RefCell<BTreeMap<Key, Vec<Data>>>,
}

impl Outbox {
    /// Keeps a reminder for the next message to a task. One with the same key gives way; how many did. Nothing where there is no
    /// room.
    pub(crate) fn put(&self, endpoint: &str, task_id: &str, reminder: Data) -> Option<usize> {
        let mut waiting = self.waiting.borrow_mut();
        let key = (Arc::from(endpoint), Arc::from(task_id));
        if waiting.len() >= MOST_TASKS && !waiting.contains_key(&key) {
            return None;
        }
        let list = waiting.entry(key).or_default();
        let before = list.len();
        let dedupe = reminder.get("dedupeKey").clone();
        list.retain(|other| dedupe.is_nil() || *other.get("dedupeKey") != dedupe);
        if list.len() >= MOST {
            return None;
        }
        list.push(reminder);
        Some(before + 1 - list.len())
    }

    /// Takes those out that wait for a task.
    pub(crate) fn take(&self, endpoint: &str, task_id: &str) -> Vec<Data> {
        self.waiting.borrow_mut().remove(&(Arc::from(endpoint), Arc::from(task_id))).unwrap_or_default()
    }

    /// Puts them back: the message did not go.
    pub(crate) fn give_back(&self, endpoint: &str, task_id: &str, reminders: Vec<Data>) {
        if !reminders.is_empty() {
            let key = (Arc::from(endpoint), Arc::from(task_id));
            let mut waiting = self.waiting.borrow_mut();
            let later = waiting.remove(&key).unwrap_or_default();
            waiting.insert(key, reminders.into_iter().chain(later).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_wait_in_order_and_a_newer_one_takes_the_place_of_its_key() {
        let outbox = Outbox::default();
        let reminder = |body: &str, key: &str| Data::dict([("body", Data::from(body)), ("dedupeKey", key.into())]);
        assert_eq!(outbox.put("e", "t", reminder("a", "k")), Some(0));
        assert_eq!(outbox.put("e", "t", reminder("b", "l")), Some(0));
        assert_eq!(outbox.put("e", "t", reminder("c", "k")), Some(1));
        assert!(outbox.take("e", "other").is_empty());
        let taken = outbox.take("e", "t");
        assert_eq!(taken.iter().map(|r| r.get("body").as_str().unwrap()).collect::<Vec<_>>(), ["b", "c"]);
        outbox.give_back("e", "t", taken);
        assert_eq!(outbox.take("e", "t").len(), 2);
        assert!(outbox.take("e", "t").is_empty());
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let outbox = Outbox::default();
        let plain = || Data::dict([("body", Data::from("b"))]);
        assert_eq!((0..2 * MOST).filter(|_| outbox.put("e", "t", plain()).is_some()).count(), MOST);
        assert_eq!(
            (0..2 * MOST_TASKS).filter(|n| outbox.put("e", &n.to_string(), plain()).is_some()).count(),
            MOST_TASKS - 1
        );
    }
}

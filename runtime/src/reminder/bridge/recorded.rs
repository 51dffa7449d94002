//! [`RecordedQueue`]: the state of a queue according to the log.

use std::collections::VecDeque;
use std::sync::Arc;

use base::data::Data;

use crate::message::Message;
use crate::reminder::{Reminder, Surface};

use super::{DeliveryMode, Injection, InjectionChange, InjectionOutcome, InjectionPayload};

/// The queued items of a session according to its log records, and the outcomes of the others.
#[derive(Debug, Clone, Default)]
pub struct RecordedQueue {
    /// The queued items in order of arrival.
    pub items: VecDeque<Injection>,
    /// Outcomes of the other items, oldest first.
    pub fates: Vec<(Arc<str>, InjectionOutcome)>,
}

impl RecordedQueue {
    /// Applies the payload of the next record: `queued`, `replaced`, `revoked`, `expired` or `delivered`. Other words
    /// are skipped.
    ///
    /// # Errors
    /// Explains why the payload is unreadable, as the end of a sentence.
    pub fn take(&mut self, word: &str, payload: &Data) -> Result<(), String> {
        let Some(change) = InjectionChange::ALL.iter().find(|change| change.as_str() == word) else { return Ok(()) };
        let fate = match change {
            InjectionChange::Queued => {
                self.items.push_back(item(payload)?);
                return Ok(());
            }
            InjectionChange::Replaced => InjectionOutcome::Replaced,
            InjectionChange::Revoked | InjectionChange::Expired => InjectionOutcome::Revoked,
            InjectionChange::Delivered => InjectionOutcome::Delivered,
        };
        let id = payload.get("id").as_shared_str().ok_or("`id` is missing")?;
        self.items.retain(|item| item.id != id);
        self.fates.push((id, fate));
        Ok(())
    }
}

fn item(payload: &Data) -> Result<Injection, String> {
    let id = payload.get("id").as_shared_str().ok_or("`id` is missing")?;
    let mode: DeliveryMode =
        payload.get("mode").as_str().ok_or("`mode` is missing")?.parse().map_err(|_| "`mode` is not a mode")?;
    let payload = match (payload.get("reminder"), payload.get("message")) {
        (Data::Nil, Data::Nil) => return Err("it contains neither `reminder` nor `message`".to_owned()),
        (Data::Nil, message) => {
            InjectionPayload::Message(Arc::new(Message::from_data(message).map_err(|error| error.to_string())?))
        }
        (reminder, _) => {
            let read = Reminder::from_stored(reminder, Surface::Script);
            InjectionPayload::Reminder(Arc::new(read.map_err(|error| format!("`reminder`: {error}"))?))
        }
    };
    Ok(Injection { id, mode, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_queued_and_neither_delivered_nor_taken_back_waits() {
        let mut queue = RecordedQueue::default();
        let reminder = r#"{"id":"a","mode":"finish_step","reminder":{"id":"a","tags":["t"],"ttl_turns":2,
            "preserve_on_compact":false,"propagate":"all","role_hint":"system","source":"bridge","body":"b","fired_at_turn":0}}"#;
        let message = r#"{"id":"m","mode":"audit_only","message":{"role":"user","content":"hi"}}"#;
        for (word, json) in [
            ("queued", reminder),
            ("queued", message),
            ("queued", &reminder.replace(r#""id":"a""#, r#""id":"c""#)),
            ("delivered", r#"{"id":"c"}"#),
            ("a later word", "{}"),
        ] {
            queue.take(word, &Data::from_json(json).unwrap()).unwrap();
        }
        assert_eq!(queue.items.iter().map(|item| item.id.as_ref()).collect::<Vec<_>>(), ["a", "m"]);
        assert!(
            matches!(&queue.items[0].payload, InjectionPayload::Reminder(r) if r.ttl_turns == Some(2) && &*r.tags[0] == "t")
        );
        assert_eq!(queue.fates, [("c".into(), InjectionOutcome::Delivered)]);
        assert!(queue.take("queued", &Data::from_json(r#"{"id":"x","mode":"now"}"#).unwrap()).is_err());
    }
}

//! The records as they go to the log. [`super::rebuild`] reads them back: whoever changes one changes the other.

use crate::data::Data;
use crate::event_log::NewRecord;
use crate::reminder::Reminder;

use super::{Charge, ExpireReason, LifecycleRecord, Moment, Pass, TOPIC, TURN_TOPIC};

impl LifecycleRecord {
    /// The record as it goes to the log.
    #[must_use]
    pub fn to_log(&self, at: &Moment<'_>) -> NewRecord {
        let mut payload = envelope(at);
        self.put_fields(&mut payload, at);
        let (topic, prefix) = if self.is_of_turn() { (TURN_TOPIC, TURN_TOPIC) } else { (TOPIC, "transcript.reminder") };
        NewRecord {
            topic: topic.into(),
            kind: format!("{prefix}.{}", self.word()).into(),
            payload,
            headers: Data::Nil,
            occurred_at_ms: at.now_ms,
        }
    }

    fn put_fields(&self, payload: &mut Data, at: &Moment<'_>) {
        let mut put = |key: &str, value: Data| payload.set(key, value);
        match self {
            LifecycleRecord::Injected(reminder)
            | LifecycleRecord::Forked(reminder)
            | LifecycleRecord::Audited(reminder) => {
                describe(reminder, &mut put);
            }
            LifecycleRecord::Inherited(reminder) => {
                describe(reminder, &mut put);
                put("sub_agent_id", at.session_id.into());
            }
            LifecycleRecord::Fired { reminder_id, turn_number, rendered_role, charges } => {
                put("reminder_id", reminder_id.into());
                put("turn_number", (*turn_number).into());
                put("rendered_role", rendered_role.as_str().into());
                put("charges", (*charges).into());
            }
            LifecycleRecord::Deduped { replaced_ids, replacing_id, dedupe_key } => {
                put("replaced_id", replaced_ids.first().into());
                put("replaced_ids", replaced_ids.iter().map(Data::from).collect());
                put("replacing_id", replacing_id.into());
                put("dedupe_key", dedupe_key.as_ref().into());
            }
            LifecycleRecord::Expired { reminder_id, reason, ttl_turns_before } => {
                put("reminder_id", reminder_id.into());
                put("reason", reason.as_str().into());
                if *reason == ExpireReason::Ttl {
                    put("ttl_turns_before", (*ttl_turns_before).into());
                    put("expired_at_turn", at.turn.into());
                }
            }
            LifecycleRecord::Dropped { reminder_id, reason, detail } => {
                put("reminder_id", reminder_id.as_ref().into());
                put("reason", reason.as_str().into());
                if detail.is_some() {
                    put("detail", detail.as_ref().into());
                }
            }
            LifecycleRecord::Discarded { reminder_id, reason } => {
                put("reminder_id", reminder_id.into());
                put("reason", reason.as_str().into());
            }
            LifecycleRecord::ProviderEvaluated { provider_id, event, fired, error } => {
                put("provider_id", provider_id.into());
                put("event", event.into());
                put("fired", (*fired).into());
                if error.is_some() {
                    put("error", error.as_ref().into());
                }
            }
            LifecycleRecord::Passed(pass) => {
                put("pass", pass.as_str().into());
                put("charges", if pass.charges() == Charge::All { "all" } else { "carried" }.into());
                if let Pass::ByHand(turn) = pass {
                    put("upto_turn", (*turn).into());
                }
            }
            LifecycleRecord::Void => {}
        }
    }
}

/// What every record has: whose it is, and in which turn it was written.
fn envelope(at: &Moment<'_>) -> Data {
    Data::dict([
        ("session_id", Data::from(at.session_id)),
        ("task_id", at.task_id.into()),
        ("agent_id", at.agent_id.unwrap_or(at.session_id).into()),
        ("turn", at.turn.into()),
    ])
}

/// The whole reminder, so that the log alone can rebuild it.
fn describe(reminder: &Reminder, put: &mut dyn FnMut(&str, Data)) {
    put("reminder_id", (&reminder.id).into());
    put("body", (&reminder.body).into());
    put("tags", reminder.tags.iter().map(Data::from).collect());
    put("dedupe_key", reminder.dedupe_key.as_ref().into());
    put("source", reminder.source.as_str().into());
    put("role_hint", reminder.role_hint.as_str().into());
    put("ttl_turns", reminder.ttl_turns.into());
    put("preserve_on_compact", reminder.preserve_on_compact.into());
    put("propagate", reminder.propagate.as_str().into());
    put("fired_at_turn", reminder.fired_at_turn.into());
    put("originating_agent_id", reminder.originating_agent_id.as_ref().into());
    put("producer", reminder.producer.as_ref().into());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::{IdStream, SharedIds};

    #[test]
    fn what_turns_do_goes_to_a_topic_of_its_own() {
        let ids = SharedIds::new(IdStream::new(1, "s"));
        let session = Arc::from("s");
        let at = Moment { session_id: &session, task_id: None, agent_id: None, turn: 3, now_ms: 5, ids: &ids };
        let passed = LifecycleRecord::Passed(Pass::ByHand(2)).to_log(&at);
        assert_eq!((passed.topic.as_ref(), passed.kind.as_ref()), ("transcript.turn", "transcript.turn.passed"));
        assert_eq!(
            passed.payload.to_json(),
            r#"{"agent_id":"s","charges":"all","pass":"by_hand","session_id":"s","task_id":null,"turn":3,"upto_turn":2}"#
        );
        let void = LifecycleRecord::Void.to_log(&at);
        assert_eq!((void.topic.as_ref(), void.kind.as_ref()), ("transcript.turn", "transcript.turn.void"));
    }
}

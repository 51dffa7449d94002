//! The records as they go to the log, where each is kept as it is until somebody looks. [`super::rebuild`] reads them back:
//! whoever changes one changes the other.

use std::sync::Arc;

use crate::data::{Data, Entries, shared};
use crate::event_log::{Facts, NewRecord, Payload};
use crate::reminder::Reminder;

use super::{Charge, ExpireReason, LifecycleRecord, Moment, Pass, TOPIC, TURN_TOPIC};

/// Where a session comes from, as its records say.
#[derive(Debug)]
pub(crate) struct Origin {
    /// What happens in it does not touch the session that it is a copy of.
    pub(crate) is_copy: bool,
    /// The session it was forked from or works for.
    pub(crate) parent_id: Option<Arc<str>>,
}

/// Records of one moment of a session as they go to the log.
pub(crate) fn to_log(
    records: Vec<LifecycleRecord>,
    at: &Moment<'_>,
    origin: Origin,
) -> impl Iterator<Item = NewRecord> {
    let told = Arc::new(Told { origin: Some(origin), ..Told::new(records, at) });
    let occurred_at_ms = at.now_ms;
    (0..told.records.len()).map(move |place| {
        let payload = Payload::part(told.clone(), place);
        told.records[place].with_payload(payload, occurred_at_ms)
    })
}

impl LifecycleRecord {
    /// The record as it goes to the log alone.
    #[must_use]
    pub fn to_log(&self, at: &Moment<'_>) -> NewRecord {
        self.with_payload(Payload::of(Told::new(vec![self.clone()], at)), at.now_ms)
    }

    /// The record of what happened outside of any turn.
    #[must_use]
    pub fn to_log_outside(&self, session_id: &Arc<str>, now_ms: u64) -> NewRecord {
        let (records, session_id) = (vec![self.clone()], session_id.clone());
        let told = Told { records, session_id, task_id: None, agent_id: None, turn: 0, origin: None };
        self.with_payload(Payload::of(told), now_ms)
    }

    fn with_payload(&self, payload: Payload, occurred_at_ms: u64) -> NewRecord {
        let topic = if self.is_of_turn() { shared!(TURN_TOPIC) } else { shared!(TOPIC) };
        NewRecord { topic, kind: self.kind(), payload, headers: Data::Nil, occurred_at_ms }
    }

    /// The prefix of its topic, and [`LifecycleRecord::word`].
    fn kind(&self) -> Arc<str> {
        match self {
            LifecycleRecord::Injected(_) => shared!("transcript.reminder.injected"),
            LifecycleRecord::Inherited(_) => shared!("transcript.reminder.inherited"),
            LifecycleRecord::Forked(_) => shared!("transcript.reminder.forked"),
            LifecycleRecord::Audited(_) => shared!("transcript.reminder.audited"),
            LifecycleRecord::Fired { .. } => shared!("transcript.reminder.fired"),
            LifecycleRecord::Deduped { .. } => shared!("transcript.reminder.deduped"),
            LifecycleRecord::Expired { .. } => shared!("transcript.reminder.expired"),
            LifecycleRecord::Dropped { .. } => shared!("transcript.reminder.dropped"),
            LifecycleRecord::Discarded { .. } => shared!("transcript.reminder.discarded"),
            LifecycleRecord::ProviderEvaluated { .. } => shared!("transcript.reminder.provider_evaluated"),
            LifecycleRecord::Passed(_) => shared!("transcript.turn.passed"),
            LifecycleRecord::Void => shared!("transcript.turn.void"),
        }
    }

    fn put_fields(&self, payload: &mut Entries, at: &Told) {
        let mut put = |key: Arc<str>, value: Data| {
            payload.insert(key, value);
        };
        match self {
            LifecycleRecord::Injected(reminder)
            | LifecycleRecord::Forked(reminder)
            | LifecycleRecord::Audited(reminder) => {
                describe(reminder, &mut put);
            }
            LifecycleRecord::Inherited(reminder) => {
                describe(reminder, &mut put);
                put(shared!("sub_agent_id"), (&at.session_id).into());
            }
            LifecycleRecord::Fired { reminder_id, turn_number, rendered_role, charges } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("turn_number"), (*turn_number).into());
                put(shared!("rendered_role"), rendered_role.as_str().into());
                put(shared!("charges"), (*charges).into());
            }
            LifecycleRecord::Deduped { replaced_ids, replacing_id, dedupe_key } => {
                put(shared!("replaced_id"), replaced_ids.first().into());
                put(shared!("replaced_ids"), replaced_ids.iter().map(Data::from).collect());
                put(shared!("replacing_id"), replacing_id.into());
                put(shared!("dedupe_key"), dedupe_key.as_ref().into());
            }
            LifecycleRecord::Expired { reminder_id, reason, ttl_turns_before } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("reason"), reason.as_str().into());
                if *reason == ExpireReason::Ttl {
                    put(shared!("ttl_turns_before"), (*ttl_turns_before).into());
                    put(shared!("expired_at_turn"), at.turn.into());
                }
            }
            LifecycleRecord::Dropped { reminder_id, reason, detail } => {
                put(shared!("reminder_id"), reminder_id.as_ref().into());
                put(shared!("reason"), reason.as_str().into());
                if detail.is_some() {
                    put(shared!("detail"), detail.as_ref().into());
                }
            }
            LifecycleRecord::Discarded { reminder_id, reason } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("reason"), reason.as_str().into());
            }
            LifecycleRecord::ProviderEvaluated { provider_id, event, fired, error } => {
                put(shared!("provider_id"), provider_id.into());
                put(shared!("event"), event.into());
                put(shared!("fired"), (*fired).into());
                if error.is_some() {
                    put(shared!("error"), error.as_ref().into());
                }
            }
            LifecycleRecord::Passed(pass) => {
                put(shared!("pass"), pass.as_str().into());
                put(shared!("charges"), if pass.charges() == Charge::All { "all" } else { "carried" }.into());
                if let Pass::ByHand(turn) = pass {
                    put(shared!("upto_turn"), (*turn).into());
                }
            }
            LifecycleRecord::Void => {}
        }
    }
}

/// What happened, whose it is, and in which turn.
#[derive(Debug)]
struct Told {
    records: Vec<LifecycleRecord>,
    session_id: Arc<str>,
    task_id: Option<Arc<str>>,
    /// Nothing means the session.
    agent_id: Option<Arc<str>>,
    turn: u32,
    /// Nothing for a bare transcript.
    origin: Option<Origin>,
}

impl Told {
    fn new(records: Vec<LifecycleRecord>, at: &Moment<'_>) -> Told {
        Told {
            records,
            session_id: at.session_id.clone(),
            task_id: at.task_id.cloned(),
            agent_id: at.agent_id.cloned(),
            turn: at.turn,
            origin: None,
        }
    }
}

impl Origin {
    fn put_fields(&self, payload: &mut Entries, record: &LifecycleRecord) {
        if self.is_copy {
            payload.insert(shared!("detached"), true.into());
        }
        // What came from a parent names it.
        if matches!(record, LifecycleRecord::Forked(_) | LifecycleRecord::Inherited(_)) {
            payload.insert(shared!("parent_id"), self.parent_id.as_ref().into());
        }
    }
}

impl Facts for Told {
    fn to_data(&self, place: usize) -> Data {
        let mut entries = Entries::new();
        entries.insert(shared!("session_id"), (&self.session_id).into());
        entries.insert(shared!("task_id"), self.task_id.as_ref().into());
        entries.insert(shared!("agent_id"), self.agent_id.as_ref().unwrap_or(&self.session_id).into());
        entries.insert(shared!("turn"), self.turn.into());
        if let Some(record) = self.records.get(place) {
            record.put_fields(&mut entries, self);
            if let Some(origin) = &self.origin {
                origin.put_fields(&mut entries, record);
            }
        }
        Data::from(entries)
    }

    fn weight(&self, place: usize) -> usize {
        /// What a record takes besides the texts that may be long.
        const FRAME: usize = 384;
        let text = match self.records.get(place) {
            Some(
                LifecycleRecord::Injected(reminder)
                | LifecycleRecord::Inherited(reminder)
                | LifecycleRecord::Forked(reminder)
                | LifecycleRecord::Audited(reminder),
            ) => reminder.body.len() + reminder.tags.iter().map(|tag| tag.len()).sum::<usize>(),
            Some(LifecycleRecord::Deduped { replaced_ids, .. }) => replaced_ids.iter().map(|id| id.len()).sum(),
            Some(
                LifecycleRecord::Dropped { detail: said, .. } | LifecycleRecord::ProviderEvaluated { error: said, .. },
            ) => said.as_ref().map_or(0, |said| said.len()),
            _ => 0,
        };
        FRAME + text
    }
}

/// The whole reminder, so that the log alone can rebuild it.
fn describe(reminder: &Reminder, put: &mut dyn FnMut(Arc<str>, Data)) {
    put(shared!("reminder_id"), (&reminder.id).into());
    put(shared!("body"), (&reminder.body).into());
    put(shared!("tags"), reminder.tags.iter().map(Data::from).collect());
    put(shared!("dedupe_key"), reminder.dedupe_key.as_ref().into());
    put(shared!("source"), reminder.source.as_str().into());
    put(shared!("role_hint"), reminder.role_hint.as_str().into());
    put(shared!("ttl_turns"), reminder.ttl_turns.into());
    put(shared!("preserve_on_compact"), reminder.preserve_on_compact.into());
    put(shared!("propagate"), reminder.propagate.as_str().into());
    put(shared!("fired_at_turn"), reminder.fired_at_turn.into());
    put(shared!("originating_agent_id"), reminder.originating_agent_id.as_ref().into());
    put(shared!("producer"), reminder.producer.as_ref().into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{IdStream, SharedIds};

    #[test]
    fn what_turns_do_goes_to_a_topic_of_its_own() {
        let ids = SharedIds::new(IdStream::new(1, "s"));
        let session = Arc::from("s");
        let at = Moment { session_id: &session, task_id: None, agent_id: None, turn: 3, now_ms: 5, ids: &ids };
        let both = vec![LifecycleRecord::Passed(Pass::ByHand(2)), LifecycleRecord::Void];
        let origin = Origin { is_copy: false, parent_id: None };
        let logged: Vec<NewRecord> = to_log(both, &at, origin).collect();
        let [passed, void] = logged.as_slice() else { panic!("two of two") };
        assert_eq!((passed.topic.as_ref(), passed.kind.as_ref()), ("transcript.turn", "transcript.turn.passed"));
        assert_eq!(
            passed.payload.to_json(),
            r#"{"agent_id":"s","charges":"all","pass":"by_hand","session_id":"s","task_id":null,"turn":3,"upto_turn":2}"#
        );
        assert_eq!((void.topic.as_ref(), void.kind.as_ref()), ("transcript.turn", "transcript.turn.void"));
    }
}

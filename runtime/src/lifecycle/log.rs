//! The records as they go to the log, where each is kept unchanged until it is read. [`super::rebuild`] reads them
//! back; change both together.

use std::sync::Arc;

use base::data::{Data, Entries, shared};
use eventlog::{NewRecord, PayloadSource, RecordBatch, RecordPayload};

use crate::event_log::Topic;
use crate::reminder::{DeferReason, ExpireReason};
use crate::reminder::{Reminder, ReminderField, Surface};

use super::{ChargePass, CompactionCharge, Judgement, LifecycleContext, LifecycleRecord, Replacement};

impl LifecycleRecord {
    /// Returns the record as it is logged alone.
    #[must_use]
    pub fn to_log(&self, at: &LifecycleContext<'_>) -> NewRecord {
        let whose = RecordOwner { agent_id: at.agent_id.cloned(), ..RecordOwner::outside(at.session_id) };
        let told = LifecycleBatch::new(vec![self.clone()], Arc::new(whose), at.task_id.cloned(), at.turn);
        self.with_payload(RecordPayload::of(told), at.now_ms)
    }

    /// Returns the record of an event outside of any turn.
    #[must_use]
    pub fn to_log_outside(&self, session_id: &Arc<str>, now_ms: u64) -> NewRecord {
        let told = LifecycleBatch::new(vec![self.clone()], Arc::new(RecordOwner::outside(session_id)), None, 0);
        self.with_payload(RecordPayload::of(told), now_ms)
    }

    fn with_payload(&self, payload: RecordPayload, occurred_at_ms: u64) -> NewRecord {
        let (topic, kind) = (self.kind().topic().into(), self.kind().name().clone());
        NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms }
    }

    fn put_fields(&self, payload: &mut Entries, whose: &RecordOwner, turn: u32) {
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
                put(shared!("sub_agent_id"), (&whose.session_id).into());
            }
            LifecycleRecord::Fired { reminder_id, turn_number, rendered_role, charges, choice } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("turn_number"), (*turn_number).into());
                put(shared!("rendered_role"), rendered_role.as_str().into());
                put(shared!("charges"), (*charges).into());
                if let Some(variant) = choice.as_ref().and_then(|choice| choice.variant.as_ref()) {
                    put(shared!("variant"), variant.into());
                }
                if let Some(escalation) = choice.as_ref().and_then(|choice| choice.escalation) {
                    put(shared!("escalation"), escalation.into());
                }
            }
            LifecycleRecord::Deferred(deferral) => {
                put(shared!("reminder_id"), (&deferral.reminder_id).into());
                put(shared!("reason"), deferral.reason.as_str().into());
                if deferral.reason == DeferReason::Budget {
                    put(shared!("outranked_by"), deferral.outranked_by.as_ref().into());
                }
            }
            LifecycleRecord::Refreshed { reminder_id, ttl_turns } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("ttl_turns"), (*ttl_turns).into());
            }
            LifecycleRecord::ConditionFailed { reminder_id, condition, error } => {
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("condition"), condition.name(Surface::Log).into());
                put(shared!("error"), error.into());
            }
            LifecycleRecord::Judged(judgement) => {
                let Judgement { reminder_id, judged_by, reason, .. } = judgement.as_ref();
                put(shared!("reminder_id"), reminder_id.into());
                put(shared!("judged_by"), judged_by.as_str().into());
                if reason.is_some() {
                    put(shared!("reason"), reason.as_ref().into());
                }
            }
            LifecycleRecord::Deduped(deduped) => {
                let Replacement { replaced_ids, replacing_id, dedupe_key } = deduped.as_ref();
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
                    put(shared!("expired_at_turn"), turn.into());
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
                put(shared!("event"), event.pascal().into());
                put(shared!("fired"), (*fired).into());
                if error.is_some() {
                    put(shared!("error"), error.as_ref().into());
                }
            }
            LifecycleRecord::Passed(pass) => {
                put(shared!("pass"), pass.as_str().into());
                put(shared!("charges"), if pass.charges() == CompactionCharge::All { "all" } else { "carried" }.into());
                if let ChargePass::ByHand(turn) = pass {
                    put(shared!("upto_turn"), (*turn).into());
                }
            }
            LifecycleRecord::Void => {}
            LifecycleRecord::SlotRejected(rejection) => {
                put(shared!("provider"), rejection.provider.as_ref().into());
                put(shared!("model"), rejection.model.as_ref().into());
                put(shared!("next"), rejection.next.as_str().into());
                put(shared!("error"), (&rejection.error).into());
            }
            LifecycleRecord::Answered(answer) => {
                put(shared!("answer_end"), answer.end.as_str().into());
                put(shared!("stop_reason"), answer.stop_reason.as_ref().into());
                put(shared!("thoughts_left_out"), answer.thoughts_left_out.into());
            }
            LifecycleRecord::Resumed(pending) => {
                let pending = pending.iter().map(|(id, ttl_turns)| {
                    Data::dict([("reminder_id", Data::from(id)), ("ttl_turns", (*ttl_turns).into())])
                });
                put(shared!("pending"), pending.collect());
            }
        }
    }
}

/// The owner of records: shared by all records of a session, or of an agent in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordOwner {
    /// The session; for a bare transcript, its id.
    pub(crate) session_id: Arc<str>,
    /// `None` means the session.
    pub(crate) agent_id: Option<Arc<str>>,
    /// Set for a copy, whose changes do not affect the copied session.
    pub(crate) is_copy: bool,
    /// The session it was forked from or works for. `None` for a bare transcript, whose records do not name one.
    pub(crate) parent_id: Option<Option<Arc<str>>>,
}

impl RecordOwner {
    /// Returns the owner for a session without further information, or a bare transcript.
    fn outside(session_id: &Arc<str>) -> RecordOwner {
        RecordOwner { session_id: session_id.clone(), agent_id: None, is_copy: false, parent_id: None }
    }

    /// Returns the agent, or the session.
    pub(crate) fn agent(&self) -> &Arc<str> {
        self.agent_id.as_ref().unwrap_or(&self.session_id)
    }

    fn put_fields(&self, payload: &mut Entries, record: &LifecycleRecord) {
        if self.is_copy {
            payload.insert(shared!("detached"), true.into());
        }
        // A reminder from a parent names the parent.
        if let (LifecycleRecord::Forked(_) | LifecycleRecord::Inherited(_), Some(parent_id)) = (record, &self.parent_id)
        {
            payload.insert(shared!("parent_id"), parent_id.as_ref().into());
        }
    }
}

/// Records of one moment with their owner and turn. A loop creates several of these per turn, and they live as long as
/// the log keeps them.
#[derive(Debug)]
pub(crate) struct LifecycleBatch {
    records: Records,
    whose: Arc<RecordOwner>,
    task_id: Option<Arc<str>>,
    turn: u32,
}

#[derive(Debug)]
enum Records {
    One(LifecycleRecord),
    Many(Box<[LifecycleRecord]>),
}

impl Records {
    fn all(&self) -> &[LifecycleRecord] {
        match self {
            Records::One(record) => std::slice::from_ref(record),
            Records::Many(records) => records,
        }
    }
}

impl LifecycleBatch {
    pub(crate) fn new(
        mut records: Vec<LifecycleRecord>,
        whose: Arc<RecordOwner>,
        task_id: Option<Arc<str>>,
        turn: u32,
    ) -> LifecycleBatch {
        let last = if records.len() == 1 { records.pop() } else { None };
        let records = last.map_or_else(|| Records::Many(records.into()), Records::One);
        LifecycleBatch { records, whose, task_id, turn }
    }

    /// Returns the records, in order.
    pub(crate) fn records(&self) -> &[LifecycleRecord] {
        self.records.all()
    }

    /// Returns whether the records have an owner.
    pub(crate) fn is_of(&self, whose: &Arc<RecordOwner>) -> bool {
        Arc::ptr_eq(&self.whose, whose)
    }

    fn payload(&self, place: usize, task_id: Option<&Arc<str>>, turn: u32) -> Data {
        let mut entries = Entries::with_capacity(16);
        entries.insert(shared!("session_id"), (&self.whose.session_id).into());
        entries.insert(shared!("task_id"), task_id.into());
        entries.insert(shared!("agent_id"), self.whose.agent().into());
        entries.insert(shared!("turn"), turn.into());
        if let Some(record) = self.records.all().get(place) {
            record.put_fields(&mut entries, &self.whose, turn);
            self.whose.put_fields(&mut entries, record);
        }
        Data::from(entries)
    }
}

impl RecordBatch for LifecycleBatch {
    fn count(&self) -> usize {
        self.records.all().len()
    }

    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>) {
        // There is no other position.
        self.records.all().get(place).map_or((Topic::Reminder.shared(), Topic::Reminder.shared()), |record| {
            (record.kind().topic().shared(), record.kind().name())
        })
    }
}

impl PayloadSource for LifecycleBatch {
    fn to_data(&self, place: usize) -> Data {
        self.payload(place, self.task_id.as_ref(), self.turn)
    }

    fn weight(&self, place: usize) -> usize {
        /// Size of a record without the texts that may be long.
        const FRAME: usize = 384;
        let text = match self.records.all().get(place) {
            Some(
                LifecycleRecord::Injected(reminder)
                | LifecycleRecord::Inherited(reminder)
                | LifecycleRecord::Forked(reminder)
                | LifecycleRecord::Audited(reminder),
            ) => {
                let rules = reminder.rules.as_ref().map_or(0, |rules| rules.weight());
                reminder.body.len() + reminder.tags.iter().map(|tag| tag.len()).sum::<usize>() + rules
            }
            Some(LifecycleRecord::ConditionFailed { error, .. }) => error.len(),
            Some(LifecycleRecord::Judged(judgement)) => judgement.reason.as_ref().map_or(0, |reason| reason.len()),
            Some(LifecycleRecord::Resumed(pending)) => pending.iter().map(|(id, _)| id.len() + 64).sum(),
            Some(LifecycleRecord::Deduped(deduped)) => deduped.replaced_ids.iter().map(|id| id.len()).sum(),
            Some(
                LifecycleRecord::Dropped { detail: said, .. } | LifecycleRecord::ProviderEvaluated { error: said, .. },
            ) => said.as_ref().map_or(0, |said| said.len()),
            _ => 0,
        };
        FRAME + text
    }
}

/// The records of an earlier batch once more, in another turn or tool call. The results of providers that have nothing
/// to remind of are the same turn after turn.
#[derive(Debug)]
pub(crate) struct RepeatedBatch {
    first: Arc<LifecycleBatch>,
    task_id: Option<Arc<str>>,
    turn: u32,
}

impl RepeatedBatch {
    pub(crate) fn new(first: Arc<LifecycleBatch>, task_id: Option<Arc<str>>, turn: u32) -> RepeatedBatch {
        RepeatedBatch { first, task_id, turn }
    }
}

impl RecordBatch for RepeatedBatch {
    fn count(&self) -> usize {
        self.first.count()
    }

    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>) {
        self.first.names(place)
    }
}

impl PayloadSource for RepeatedBatch {
    fn to_data(&self, place: usize) -> Data {
        self.first.payload(place, self.task_id.as_ref(), self.turn)
    }

    fn weight(&self, place: usize) -> usize {
        self.first.weight(place)
    }
}

/// Writes the whole reminder, so that it can be rebuilt from the log alone.
fn describe(reminder: &Reminder, put: &mut dyn FnMut(Arc<str>, Data)) {
    for field in ReminderField::ALL {
        let value = reminder.value(*field);
        if !field.is_rule() || !value.is_nil() {
            put(field.key(Surface::Log).clone(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::ids::{IdStream, SharedIds};

    #[test]
    fn what_turns_do_goes_to_a_topic_of_its_own() {
        let ids = SharedIds::new(IdStream::new(1, "s"));
        let session = Arc::from("s");
        let at =
            LifecycleContext { session_id: &session, task_id: None, agent_id: None, turn: 3, now_ms: 5, ids: &ids };
        let [passed, void] =
            [LifecycleRecord::Passed(ChargePass::ByHand(2)), LifecycleRecord::Void].map(|record| record.to_log(&at));
        assert_eq!((passed.topic.as_ref(), passed.kind.as_ref()), ("transcript.turn", "transcript.turn.passed"));
        assert_eq!(
            passed.payload.to_json(),
            r#"{"agent_id":"s","charges":"all","pass":"by_hand","session_id":"s","task_id":null,"turn":3,"upto_turn":2}"#
        );
        assert_eq!((void.topic.as_ref(), void.kind.as_ref()), ("transcript.turn", "transcript.turn.void"));
    }

    #[test]
    fn what_is_told_at_once_reads_as_if_told_one_by_one() {
        use eventlog::{EventLog, MemoryLog, RecordFilter};

        let log = MemoryLog::new();
        let expired =
            LifecycleRecord::Expired { reminder_id: "r".into(), reason: ExpireReason::Ttl, ttl_turns_before: Some(1) };
        let records = vec![expired, LifecycleRecord::Passed(ChargePass::PostTurn), LifecycleRecord::Void];
        let told: Arc<dyn RecordBatch> =
            Arc::new(LifecycleBatch::new(records, Arc::new(RecordOwner::outside(&"s".into())), None, 2));
        log.append(NewRecord::of(&told, 1, 7));
        log.tell(told.clone(), 8);
        let all = log.read(&RecordFilter::default(), 9).unwrap();
        let alone: Vec<_> = (0..3).map(|place| NewRecord::of(&told, place, 8)).collect();
        let told: Vec<_> =
            all.iter().skip(1).map(|r| (r.kind.clone(), r.payload.to_data(), r.occurred_at_ms)).collect();
        assert_eq!(told, alone.iter().map(|r| (r.kind.clone(), r.payload.to_data(), 8)).collect::<Vec<_>>());
        assert_eq!(all.iter().map(|r| (r.cursor, r.id)).collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 2), (4, 3)]);
        let after: Vec<u64> = log
            .read(&RecordFilter { after: 3, ..RecordFilter::default() }, 9)
            .unwrap()
            .iter()
            .map(|r| r.cursor)
            .collect();
        assert_eq!(after, [4]);
        let of_turns: Vec<u64> =
            log.read(&RecordFilter::topic(Topic::Turn), 9).unwrap().iter().map(|r| r.cursor).collect();
        assert_eq!(of_turns, [1, 3, 4]);
    }
}

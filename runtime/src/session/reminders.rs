//! Reminders of a session: the lifecycle applied to its transcript, the records written to the log.
use std::sync::Arc;

use base::data::Data;
use base::ids::Ids;
use eventlog::RecordBatch;

use crate::events::EventKind;
use crate::lifecycle::{
    self, Admission, DropReason, LifecycleBatch, LifecycleContext, LifecycleRecord, PassResult, RecordOwner,
    ReminderOrigin, RepeatedBatch, Selector,
};
use crate::reminder::bridge::{Injection, InjectionPayload};
use crate::reminder::policy::{self, PolicyRefusal, PolicySource, ReminderPolicy};
use crate::reminder::{Reminder, ReminderSource, ReminderSpec};
use crate::scope::Scope;
use crate::transcript::Transcript;

use super::Session;

/// The producer of a new reminder.
#[derive(Debug, Clone)]
pub struct ReminderProducer {
    /// The source that the reminder names.
    pub source: ReminderSource,
    /// The source as a policy names it.
    pub policy_source: PolicySource,
    /// The id of the provider, or the name of the hook.
    pub id: Option<Arc<str>>,
}

impl Session {
    /// Applies a pure function of the lifecycle to the transcript and logs the records that `records` takes out of its
    /// result.
    pub fn apply<R>(
        &self,
        scope: &Scope,
        change: impl FnOnce(&mut Transcript, &LifecycleContext<'_>) -> R,
        records: impl FnOnce(&mut R) -> Vec<LifecycleRecord>,
    ) -> R {
        let turn = self.with(|state| state.turns);
        self.apply_at(scope, turn, change, records)
    }

    fn apply_at<R>(
        &self,
        scope: &Scope,
        turn: u32,
        change: impl FnOnce(&mut Transcript, &LifecycleContext<'_>) -> R,
        records: impl FnOnce(&mut R) -> Vec<LifecycleRecord>,
    ) -> R {
        let moment = self.moment(scope, turn);
        let mut result = self.with(|state| change(&mut state.transcript, &moment));
        // Written after the borrow has ended, because a log may run any code.
        self.write(scope, &moment, records(&mut result));
        result
    }

    /// Creates a reminder in the current turn.
    pub fn inject_reminder(
        &self,
        scope: &Scope,
        spec: ReminderSpec,
        source: ReminderSource,
        producer: Option<Arc<str>>,
    ) -> Admission {
        let turn = self.with(|state| state.turns);
        self.inject_reminder_at(scope, spec, source, producer, turn)
    }

    /// Creates a reminder with a known turn of origin.
    pub fn inject_reminder_at(
        &self,
        scope: &Scope,
        spec: ReminderSpec,
        source: ReminderSource,
        producer: Option<Arc<str>>,
        fired_at_turn: u32,
    ) -> Admission {
        let spec = scope.overridden(spec, producer.as_ref());
        self.inject_as_it_is(scope, spec, source, producer, fired_at_turn)
    }

    fn inject_as_it_is(
        &self,
        scope: &Scope,
        spec: ReminderSpec,
        source: ReminderSource,
        producer: Option<Arc<str>>,
        fired_at_turn: u32,
    ) -> Admission {
        self.admit_with(scope, fired_at_turn, |t, at| lifecycle::inject(t, spec, source, producer, at))
    }

    /// Creates a reminder that the policy forces. Unlike any other, a variant of the run does not change it.
    pub fn force_reminder(&self, scope: &Scope, spec: ReminderSpec) -> Admission {
        let (turn, producer) = (self.with(|state| state.turns), Some(ReminderPolicy::PRODUCER.into()));
        self.inject_as_it_is(scope, spec, ReminderSource::StdlibProvider, producer, turn)
    }

    /// Creates a reminder in the current turn, if the policy of the process allows it.
    ///
    /// # Errors
    /// Returns the reason why it is refused, which is recorded.
    pub fn inject_allowed(
        &self,
        scope: &Scope,
        spec: ReminderSpec,
        from: ReminderProducer,
        fired_at_turn: Option<u32>,
    ) -> Result<Admission, PolicyRefusal> {
        let spec = scope.overridden(spec, from.id.as_ref());
        let producer = self.allowed(scope, policy::check(&spec, from.policy_source, from.id))?;
        let turn = fired_at_turn.unwrap_or_else(|| self.with(|state| state.turns));
        Ok(self.inject_as_it_is(scope, spec, from.source, producer, turn))
    }

    /// Admits an existing reminder like [`Session::admit_reminder`], if the policy of the process allows it from one of
    /// the sources; without sources, from the one that it names.
    ///
    /// # Errors
    /// Returns the reason why it is refused, which is recorded.
    pub fn admit_allowed(
        &self,
        scope: &Scope,
        reminder: Arc<Reminder>,
        road: ReminderOrigin,
        sources: Option<&[PolicySource]>,
    ) -> Result<Admission, PolicyRefusal> {
        let checked = match sources {
            Some(sources) => policy::check_made(reminder, sources),
            None => policy::check_named(reminder),
        };
        Ok(self.admit_reminder(scope, self.allowed(scope, checked)?, road))
    }

    /// Records a refusal.
    fn allowed<T>(&self, scope: &Scope, checked: Result<T, PolicyRefusal>) -> Result<T, PolicyRefusal> {
        checked.inspect_err(|refusal| self.log_lifecycle(scope, [refusal.dropped()]))
    }

    /// Drops the pending reminders that the policy of this process refuses, after they came from another process.
    /// Records and returns the refusals.
    pub fn drop_forbidden(&self, scope: &Scope) -> Vec<PolicyRefusal> {
        if policy::current().is_none() {
            return Vec::new();
        }
        let records = |refused: &mut Vec<(PolicyRefusal, LifecycleRecord)>| {
            refused.iter().map(|(_, record)| record.clone()).collect()
        };
        let refused = self.apply(scope, |t, _| lifecycle::drop_forbidden(t), records);
        refused.into_iter().map(|(refusal, _)| refusal).collect()
    }

    /// Admits an existing reminder (from a parent, or one that is checked already).
    pub fn admit_reminder(&self, scope: &Scope, reminder: Arc<Reminder>, road: ReminderOrigin) -> Admission {
        let turn = self.with(|state| state.turns);
        self.admit_with(scope, turn, |t, at| lifecycle::admit(t, reminder, road, at))
    }

    /// Admits reminders. In a closed session (a handler has just closed it) they are recorded as dropped, because they
    /// would never be seen or ended.
    fn admit_with(
        &self,
        scope: &Scope,
        turn: u32,
        change: impl FnOnce(&mut Transcript, &LifecycleContext<'_>) -> Admission,
    ) -> Admission {
        if !self.is_closed() {
            return self.apply_at(scope, turn, change, |admitted| std::mem::take(&mut admitted.records));
        }
        let moment = self.moment(scope, turn);
        let mut nowhere = Transcript::new(self.id.clone());
        let detail = Some("the session is closed".into());
        let dropped = LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Invalid, detail };
        let admitted = Admission { records: vec![dropped], ..change(&mut nowhere, &moment) };
        self.write(scope, &moment, admitted.records.clone());
        admitted
    }

    /// Records a queued item that no model will see.
    pub(crate) fn audit(&self, scope: &Scope, item: Injection, turn: u32) {
        match item.payload {
            InjectionPayload::Reminder(reminder) => {
                let reminder = Arc::new(Reminder { fired_at_turn: turn, ..reminder.as_ref().clone() });
                self.apply(scope, |t, at| vec![lifecycle::audit(t, reminder, at)], std::mem::take);
            }
            InjectionPayload::Message(message) => {
                let id = self.ids.next_text(scope.clock.now_ms());
                let fields = Data::dict([("message", message.to_data())]);
                self.with(|state| state.transcript.push_event(id, "audited_message", fields));
            }
        }
    }

    /// Clears the pending reminders that match a selector. Returns their number.
    pub fn clear_reminders(&self, scope: &Scope, selector: &Selector) -> usize {
        let counted = |records: Vec<LifecycleRecord>| (records.len(), records);
        self.apply(scope, |t, _| counted(lifecycle::clear(t, selector)), |(_, records)| std::mem::take(records)).0
    }

    /// Runs the post-turn pass manually.
    pub fn post_turn_by_hand(&self, scope: &Scope, turn: u32) -> PassResult {
        self.apply(scope, |t, _| lifecycle::post_turn_by_hand(t, turn), |passed| std::mem::take(&mut passed.records))
    }

    /// Logs records that belong to no change of the transcript.
    pub fn log_lifecycle(&self, scope: &Scope, records: impl Into<Vec<LifecycleRecord>>) {
        let records = records.into();
        if !records.is_empty() {
            let moment = self.moment(scope, self.with(|state| state.turns));
            self.write(scope, &moment, records);
        }
    }

    fn moment<'a>(&'a self, scope: &'a Scope, turn: u32) -> LifecycleContext<'a> {
        let ids: &dyn Ids = &self.ids;
        let (task_id, agent_id) = (scope.caller.task_id.as_ref(), scope.caller.agent_id.as_ref());
        LifecycleContext { session_id: &self.id, task_id, agent_id, turn, now_ms: scope.clock.now_ms(), ids }
    }

    /// Writes records to the log of a scope.
    fn write(&self, scope: &Scope, moment: &LifecycleContext<'_>, records: Vec<LifecycleRecord>) {
        if !records.is_empty() {
            let whose = self.whose(moment.agent_id);
            let batch = Arc::new(LifecycleBatch::new(records, whose, moment.task_id.cloned(), moment.turn));
            self.write_batch(scope, moment, batch.clone(), batch.records());
        }
    }

    fn write_batch(
        &self,
        scope: &Scope,
        moment: &LifecycleContext<'_>,
        batch: Arc<dyn RecordBatch>,
        records: &[LifecycleRecord],
    ) {
        self.tell_records(records);
        scope.log.tell(batch, moment.now_ms);
        self.show_records(records, moment.turn);
    }

    /// Returns the batch that was logged when the providers of an event last had nothing to remind of.
    pub(crate) fn last_quiet(&self, scope: &Scope, event: EventKind) -> Option<Arc<LifecycleBatch>> {
        let whose = self.whose(scope.caller.agent_id.as_ref());
        let quiet = self.quiet.borrow();
        quiet.iter().find(|(known, batch)| *known == event && batch.is_of(&whose)).map(|(_, batch)| batch.clone())
    }

    /// Logs the results of the providers of an event.
    pub(crate) fn log_evaluations(&self, scope: &Scope, event: EventKind, records: Vec<LifecycleRecord>) {
        let moment = self.moment(scope, self.with(|state| state.turns));
        let whose = self.whose(moment.agent_id);
        let batch = Arc::new(LifecycleBatch::new(records, whose, moment.task_id.cloned(), moment.turn));
        let is_quiet = |record: &LifecycleRecord| {
            matches!(record, LifecycleRecord::ProviderEvaluated { fired: false, error: None, .. })
        };
        if batch.records().iter().all(is_quiet) {
            let mut quiet = self.quiet.borrow_mut();
            match quiet.iter_mut().find(|(known, _)| *known == event) {
                Some((_, known)) => *known = batch.clone(),
                None => quiet.push((event, batch.clone())),
            }
        }
        self.write_batch(scope, &moment, batch.clone(), batch.records());
    }

    /// Logs the records of a batch once more, as of now.
    pub(crate) fn log_again(&self, scope: &Scope, first: &Arc<LifecycleBatch>) {
        let moment = self.moment(scope, self.with(|state| state.turns));
        let again = Arc::new(RepeatedBatch::new(first.clone(), moment.task_id.cloned(), moment.turn));
        self.write_batch(scope, &moment, again, first.records());
    }

    /// Returns the owner of the records written now. It is usually unchanged and shared with the previous records.
    pub(super) fn whose(&self, agent_id: Option<&Arc<str>>) -> Arc<RecordOwner> {
        let mut kept = self.whose.borrow_mut();
        self.with(|state| {
            let same = |known: &&Arc<RecordOwner>| {
                known.agent_id.as_ref() == agent_id
                    && known.is_copy == state.is_copy
                    && known.parent_id.as_ref() == Some(&state.parent_id)
            };
            if let Some(known) = kept.as_ref().filter(same) {
                return known.clone();
            }
            let parent_id = Some(state.parent_id.clone());
            let (session_id, agent_id) = (self.id.clone(), agent_id.cloned());
            kept.insert(Arc::new(RecordOwner { session_id, agent_id, is_copy: state.is_copy, parent_id })).clone()
        })
    }
}

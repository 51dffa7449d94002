//! Requests that are sent: their reminders are fired, and each leaves one record.

use std::sync::Arc;

use base::data::{Data, shared};
use eventlog::{PayloadSource, RecordBatch};

use crate::lifecycle::{
    LifecycleKind, LifecycleRecord, RecordOwner, SelectInput, SelectedReminder, Selection, SlotRejection,
    UnusualAnswer, fire, needs_selection, select,
};
use crate::model::{AnswerEnd, Destination, ModelError, ModelReply, Request, RequestSize};
use crate::reminder::cost::ReminderCosts;
use crate::reminder::slots::{Rendered, SlotLimit};
use crate::scope::Scope;

use super::Session;

impl Session {
    /// Selects the reminders of the next prompt; `None` if it shows all of them with their bodies.
    pub fn select_reminders(&self, scope: &Scope, input: &SelectInput<'_>) -> Option<Vec<SelectedReminder>> {
        if !self.with(|state| needs_selection(&state.transcript, input.budget)) {
            return None;
        }
        let records = |selection: &mut Selection| std::mem::take(&mut selection.records);
        Some(self.apply(scope, |t, _| select(t, input), records).shown)
    }

    /// Records a request that is about to be sent to a model. A loop's request charges the reminders it carries, a bare
    /// call's does not.
    ///
    /// The log record names its destination, its reminders, and the bytes it has and shares with the session's previous
    /// request ([`crate::model::PrefixMeter`]).
    ///
    /// Returns the costs of its reminders.
    pub fn sent(&self, scope: &Scope, request: &Request, charges: bool, to: Destination) -> ReminderCosts {
        self.apply(scope, |t, at| fire(t, &request.reminders, charges, at), std::mem::take);
        let (turn, measured) = self.with(|state| (state.turns, state.prefix.measure(request)));
        let mut costs = ReminderCosts::default();
        for (index, fired) in request.reminders.fired.iter().enumerate() {
            costs.carry(fired.source, fired.estimated_tokens(), measured.cached.get(index) == Some(&true));
        }
        costs.rebill(measured.rebilled / BYTES_PER_TOKEN);
        let prompt = PromptRecord {
            whose: self.whose(scope.caller.agent_id.as_ref()),
            task_id: scope.caller.task_id.clone(),
            turn,
            charges,
            to,
            message_count: request.messages.len(),
            reminders: request.reminders.clone(),
            measured,
        };
        scope.log.tell(Arc::new(prompt), scope.clock.now_ms());
        costs
    }

    /// Records the answer to the last request, if it is unusual.
    pub fn answered(&self, scope: &Scope, reply: &ModelReply) {
        let (end, thoughts_left_out) = (reply.end(), reply.thoughts_left_out());
        if !matches!(end, AnswerEnd::End | AnswerEnd::ToolCalls) || thoughts_left_out > 0 {
            let answer = UnusualAnswer { end, stop_reason: reply.stop_reason.clone(), thoughts_left_out };
            self.log_lifecycle(scope, [LifecycleRecord::Answered(Box::new(answer))]);
        }
    }

    /// Records that a route rejected a slot of reminders.
    pub fn log_slot_rejected(&self, scope: &Scope, route: &Destination, next: SlotLimit, failure: &ModelError) {
        let Destination { provider, model } = route.clone();
        let error = failure.message.as_str().into();
        let rejection = SlotRejection { provider, model, next, error };
        self.log_lifecycle(scope, [LifecycleRecord::SlotRejected(Box::new(rejection))]);
    }
}

/// Average size of a token, for estimates.
const BYTES_PER_TOKEN: u64 = 4;

/// The logged facts of a request.
#[derive(Debug)]
struct PromptRecord {
    whose: Arc<RecordOwner>,
    task_id: Option<Arc<str>>,
    turn: u32,
    charges: bool,
    to: Destination,
    message_count: usize,
    reminders: Arc<Rendered>,
    measured: RequestSize,
}

impl RecordBatch for PromptRecord {
    fn count(&self) -> usize {
        1
    }

    fn names(&self, _: usize) -> (&'static Arc<str>, &'static Arc<str>) {
        (LifecycleKind::Prompt.topic().shared(), LifecycleKind::Prompt.name())
    }
}

impl PayloadSource for PromptRecord {
    fn to_data(&self, _: usize) -> Data {
        let carried = self.reminders.fired.iter().enumerate().map(|(index, fired)| {
            Data::dict([
                ("reminder_id", Data::from(&fired.id)),
                ("slot", fired.rendered_role.as_str().into()),
                ("tokens", fired.estimated_tokens().into()),
                ("cached", (self.measured.cached.get(index) == Some(&true)).into()),
            ])
        });
        let mut fields = Data::dict(self.fields(carried.collect()));
        if self.measured.rebilled > 0 {
            fields.set("rebilled_tokens", (self.measured.rebilled / BYTES_PER_TOKEN).into());
        }
        fields
    }

    fn weight(&self, _: usize) -> usize {
        /// Size of a record without its reminders, and of each reminder.
        const FRAME: usize = 512;
        const EACH: usize = 128;
        // The slots with their texts live as long as the record.
        let texts = self.reminders.fired.iter().map(|fired| EACH + fired.text.len());
        FRAME + texts.sum::<usize>()
    }
}

impl PromptRecord {
    fn fields(&self, carried: Data) -> [(Arc<str>, Data); 13] {
        [
            (shared!("session_id"), (&self.whose.session_id).into()),
            (shared!("task_id"), self.task_id.as_ref().into()),
            (shared!("agent_id"), self.whose.agent().into()),
            (shared!("parent_id"), self.whose.parent_id.clone().flatten().into()),
            (shared!("turn"), self.turn.into()),
            (shared!("charges"), self.charges.into()),
            (shared!("provider"), self.to.provider.as_ref().into()),
            (shared!("model"), self.to.model.as_ref().into()),
            (shared!("message_count"), self.message_count.into()),
            (shared!("carried"), carried),
            (shared!("placement"), self.reminders.placement.as_str().into()),
            (shared!("total_bytes"), self.measured.total.into()),
            (shared!("shared_prefix_bytes"), self.measured.shared.into()),
        ]
    }
}

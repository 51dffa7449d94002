//! Requests that are sent: their reminders are fired, and each leaves one record.

use std::sync::Arc;

use crate::data::{Data, shared};
use crate::event_log::{PayloadSource, RecordBatch};
use crate::model::{Request, RequestSize};
use crate::reminder::lifecycle::{LifecycleKind, RecordOwner, fire};
use crate::render::Rendered;
use crate::seam::{Destination, Model, Scope};

use super::Session;

impl Session {
    /// Records a request that is about to be sent to a model. A loop's request charges the reminders it carries, a bare
    /// call's does not.
    ///
    /// The log record names its destination, its reminders, and the bytes it has and shares with the session's previous
    /// request ([`crate::model::PrefixMeter`]).
    pub fn sent(&self, scope: &Scope, request: &Request, charges: bool, model: &dyn Model) {
        self.apply(scope, |t, at| fire(t, &request.reminders, charges, at), std::mem::take);
        let (turn, measured) = self.with(|state| (state.turns, state.prefix.measure(request)));
        let prompt = PromptRecord {
            whose: self.whose(scope.caller.agent_id.as_ref()),
            task_id: scope.caller.task_id.clone(),
            turn,
            charges,
            to: model.destination(request),
            message_count: request.messages.len(),
            reminders: request.reminders.clone(),
            measured,
        };
        scope.log.tell(Arc::new(prompt), scope.clock.now_ms());
    }
}

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
        let carried = self.reminders.fired.iter().map(|fired| {
            Data::dict([("reminder_id", Data::from(&fired.id)), ("slot", fired.rendered_role.as_str().into())])
        });
        let fields: [(Arc<str>, Data); 13] = [
            (shared!("session_id"), (&self.whose.session_id).into()),
            (shared!("task_id"), self.task_id.as_ref().into()),
            (shared!("agent_id"), self.whose.agent().into()),
            (shared!("parent_id"), self.whose.parent_id.clone().flatten().into()),
            (shared!("turn"), self.turn.into()),
            (shared!("charges"), self.charges.into()),
            (shared!("provider"), self.to.provider.as_ref().into()),
            (shared!("model"), self.to.model.as_ref().into()),
            (shared!("message_count"), self.message_count.into()),
            (shared!("carried"), carried.collect()),
            (shared!("placement"), self.reminders.placement.as_str().into()),
            (shared!("total_bytes"), self.measured.total.into()),
            (shared!("shared_prefix_bytes"), self.measured.shared.into()),
        ];
        Data::dict(fields)
    }

    fn weight(&self, _: usize) -> usize {
        /// Size of a record without its reminders, and of each reminder.
        const FRAME: usize = 512;
        const EACH: usize = 128;
        // The slots with their texts live as long as the record.
        let rendered = &self.reminders;
        let texts = rendered.system_sections.iter().chain(&rendered.developer_messages);
        let blocks = rendered.user_blocks.iter().map(|block| block.text.len());
        FRAME + EACH * rendered.fired.len() + texts.map(|text| text.len()).chain(blocks).sum::<usize>()
    }
}

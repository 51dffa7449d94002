//! Requests that are really sent: what they show is fired, and each leaves one record.

use std::sync::Arc;

use crate::data::{Data, shared};
use crate::event_log::NewRecord;
use crate::model::{Measured, Request};
use crate::reminder::lifecycle::{TURN_TOPIC, fire};
use crate::seam::{Model, Scope};

use super::Session;

impl Session {
    /// A request is about to be sent to a model. A loop's charges what it carries, a bare call's does not.
    ///
    /// The record on the log names where it goes, what it carries, and how many bytes it has and shares with the session's
    /// request before it ([`crate::model::PrefixMeter`]).
    pub fn sent(&self, scope: &Scope, request: &Request, charges: bool, model: &dyn Model) {
        self.apply(scope, |t, at| fire(t, &request.reminders, charges, at), |records| records);
        let (turn, parent_id, measured) =
            self.with(|state| (state.turns, state.parent_id.clone(), state.prefix.measure(request)));
        let mut payload = describe(request, measured, model);
        payload.extend([
            (shared!("session_id"), Data::from(self.id())),
            (shared!("task_id"), scope.task_id.as_ref().into()),
            (shared!("agent_id"), scope.agent_id.as_ref().unwrap_or(self.id()).into()),
            (shared!("parent_id"), parent_id.into()),
            (shared!("turn"), turn.into()),
            (shared!("charges"), charges.into()),
        ]);
        scope.log.append(NewRecord {
            topic: shared!(TURN_TOPIC),
            kind: shared!("transcript.turn.prompt"),
            payload: Data::from(payload),
            headers: Data::Nil,
            occurred_at_ms: scope.clock.now_ms(),
        });
    }
}

fn describe(request: &Request, measured: Measured, model: &dyn Model) -> crate::data::Entries {
    let to = model.destination(request);
    let carried = request.reminders.fired.iter().map(|fired| {
        Data::dict([("reminder_id", Data::from(&fired.id)), ("slot", fired.rendered_role.as_str().into())])
    });
    let fields: [(Arc<str>, Data); 7] = [
        (shared!("provider"), to.provider.into()),
        (shared!("model"), to.model.into()),
        (shared!("message_count"), request.messages.len().into()),
        (shared!("carried"), carried.collect()),
        (shared!("placement"), request.reminders.placement.as_str().into()),
        (shared!("total_bytes"), measured.total.into()),
        (shared!("shared_prefix_bytes"), measured.shared.into()),
    ];
    fields.into_iter().collect()
}

//! Emitting events of a worker. Handlers of `worker_*` events only observe: one that returns a reminder raises
//! `HARN-RMD-008`. Reminder providers that subscribe see the same event in the worker's session.

use base::call::{CallErrorKind, Outcome, call_error};
use base::data::Data;

use crate::events::EventKind;
use crate::hooks::HookEvent;
use crate::lifecycle::{DropReason, LifecycleRecord};
use crate::note::Note;
use crate::reminder_providers::fire as evaluate;
use crate::scope::Scope;
use crate::seam::Turn;

use super::Worker;

impl Worker {
    /// Returns the current turn of its session.
    #[must_use]
    pub fn turn<'a>(&'a self, scope: &'a Scope) -> Turn<'a> {
        Turn { session: &self.session, number: self.session.with(|state| state.turns), scope }
    }

    /// Notifies observers, then providers, of a worker event: `{worker: {id, name, task, status}, …}`.
    pub async fn tell(&self, scope: &Scope, kind: EventKind, fields: Data) -> Outcome<()> {
        let payload = fields.with("worker", self.brief());
        let event = HookEvent::Raw { kind, payload: &payload };
        self.observe(scope, &event).await?;
        let selected = self.options.reminders.select(&self.parts.providers).map_err(call_error)?;
        let (config, strict) = (&self.options.reminders.config, self.options.reminders.strict);
        evaluate(&selected, self.turn(scope), &event, config, strict).get().await?;
        Ok(())
    }

    /// Notifies handlers and providers of an event of the worker's session or persona: `{worker, …}`. Handlers may add
    /// reminders.
    pub async fn tell_session(&self, scope: &Scope, kind: EventKind, fields: Data) -> Outcome<()> {
        let payload = fields.with("worker", self.brief());
        let event = HookEvent::Raw { kind, payload: &payload };
        let (turn, strict) = (self.turn(scope), self.options.reminders.strict);
        crate::listeners::fire::fire(&self.parts.hooks, turn, &event, strict).get().await?;
        let selected = self.options.reminders.select(&self.parts.providers).map_err(call_error)?;
        evaluate(&selected, turn, &event, &self.options.reminders.config, strict).get().await?;
        Ok(())
    }

    async fn observe(&self, scope: &Scope, event: &HookEvent<'_>) -> Outcome<()> {
        let turn = self.turn(scope);
        for hook in self.parts.hooks.wanting(event) {
            match crate::listeners::fire::call(hook.as_ref(), turn, event).await {
                Ok(verdict) => {
                    let Some(error) = verdict.malformed.first() else { continue };
                    let detail = Some(error.message.as_str().into());
                    let record = LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Invalid, detail };
                    self.session.log_lifecycle(scope, [record]);
                    return Err(hook.malformed(error));
                }
                Err(thrown) if self.options.reminders.strict || is_stop(thrown.kind()) => return Err(thrown),
                Err(thrown) => scope.note(Note::of_fault(hook.name(), thrown)),
            }
        }
        Ok(())
    }
}

fn is_stop(sort: CallErrorKind) -> bool {
    matches!(sort, CallErrorKind::Cancelled | CallErrorKind::Deadline)
}

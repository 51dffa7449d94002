//! Evaluating the conditions of the pending reminders before a prompt.

use std::sync::Arc;

use base::call::{CallErrorKind, Outcome};

use crate::conditions::ConditionFacts;
use crate::lifecycle::{ConditionVerdict, LifecycleRecord};
use crate::note::Note;
use crate::reminder::{Reminder, ReminderField, Surface};
use crate::scope::Scope;
use crate::seam::Turn;
use crate::timeout::{is_timeout, with_timeout};

use super::{LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Evaluates the conditions of the pending reminders, oldest first.
    pub(super) async fn verdicts(&self, state: &LoopState) -> Outcome<Vec<(Arc<str>, ConditionVerdict)>> {
        if !self.session.with(|s| s.transcript.has_conditions()) {
            return Ok(Vec::new());
        }
        let conditional = |reminder: &Reminder| reminder.rules.as_ref().is_some_and(|rules| rules.has_conditions());
        let asked: Vec<Arc<Reminder>> = self.session.with(|s| {
            s.transcript.pending().map(|p| &p.reminder).filter(|reminder| conditional(reminder)).cloned().collect()
        });
        let mut verdicts = Vec::with_capacity(asked.len());
        for reminder in asked {
            let verdict = self.verdict(state, &reminder).await?;
            verdicts.push((reminder.id.clone(), verdict));
        }
        Ok(verdicts)
    }

    /// Evaluates `until`, then `when`.
    async fn verdict(&self, state: &LoopState, reminder: &Reminder) -> Outcome<ConditionVerdict> {
        let Some(rules) = &reminder.rules else { return Ok(ConditionVerdict::Shown) };
        if let Some(until) = &rules.until {
            match self.holds(state, reminder, until, ReminderField::Until).await? {
                None => return Ok(ConditionVerdict::Lost),
                Some(true) => return Ok(ConditionVerdict::Over),
                Some(false) => {}
            }
        }
        let Some(when) = &rules.when else { return Ok(ConditionVerdict::Shown) };
        Ok(match self.holds(state, reminder, when, ReminderField::When).await? {
            None => ConditionVerdict::Lost,
            Some(true) => ConditionVerdict::Shown,
            Some(false) => ConditionVerdict::Hidden,
        })
    }

    /// Returns whether a condition holds; `None` if it is lost. One that throws is reported and does not hold, unless
    /// `strict` reminders require an error.
    async fn holds(
        &self,
        state: &LoopState,
        reminder: &Reminder,
        name: &str,
        field: ReminderField,
    ) -> Outcome<Option<bool>> {
        let conditions = self.parts.conditions.as_ref();
        let facts = ConditionFacts {
            reminder,
            times: self.session.with(|s| s.transcript.firing(reminder).times),
            iteration: state.iteration,
            task: &state.task,
            text: &state.text,
            context_tokens: state.context_tokens,
            context_window: self.options.model.context_window.or(self.options.model.capabilities.context_window),
        };
        let cancel = self.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), ..self.scope.clone() };
        let Some(answer) = conditions.evaluate(name, Turn { scope: &scope, ..self.turn() }, facts) else {
            return Ok(None);
        };
        let ms = self.scope.hook_timeout_ms;
        let late = |thrown| if is_timeout(&thrown) { conditions.late(name, ms) } else { thrown };
        let thrown = match with_timeout(&self.scope, &cancel, answer).await.map_err(late) {
            Ok(holds) => return Ok(Some(holds)),
            Err(thrown) => thrown,
        };
        let is_stopped = matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline);
        if is_stopped && self.scope.check().is_err() {
            return Err(thrown);
        }
        let failed = LifecycleRecord::ConditionFailed {
            reminder_id: reminder.id.clone(),
            condition: field,
            error: thrown.to_string().into(),
        };
        self.session.log_lifecycle(&self.scope, [failed]);
        if self.strict() {
            return Err(thrown);
        }
        self.note(Note::of_fault(field.name(Surface::Script), thrown));
        Ok(Some(false))
    }
}

//! [`Listeners`]: the subscribers of an event, handlers first, then reminder providers.

use std::rc::Rc;

use base::call::{Answer, Outcome};
use base::data::Data;

use crate::hooks::verdict::Decision;
use crate::hooks::{ActionableEvent, HookAction, HookEvent, Hooks};
use crate::reminder_providers::{self, ReminderFiles, ReminderProvider};
use crate::seam::Turn;

pub mod fire;

/// The subscribers of an event.
#[derive(Clone, Copy)]
pub struct Listeners<'a> {
    /// The handlers.
    pub hooks: &'a Hooks,
    /// The enabled providers.
    pub providers: &'a [Rc<dyn ReminderProvider>],
    /// The reminder files, evaluated after the providers.
    pub files: Option<&'a dyn ReminderFiles>,
    /// Their configuration by id.
    pub config: &'a Data,
    /// Whether a failing provider or a malformed reminder is a failure.
    pub strict: bool,
}

impl<'a> Listeners<'a> {
    /// Notifies handlers, then, unless one of them blocked the event, providers. Creates no future if there is nothing
    /// to wait for.
    pub fn emit(self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<()>> {
        match self.decide(turn, event) {
            Answer::Now(decided) => Answer::Now(decided.map(drop)),
            Answer::Later(decided) => Answer::later(async move { decided.await.map(drop) }),
        }
    }

    /// Notifies the subscribers of an event that handlers may act on, and returns the action.
    ///
    /// # Errors
    /// Fails if a handler or a provider failed.
    pub async fn ask<E: ActionableEvent>(self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Outcome<E::Action> {
        debug_assert_eq!(event.kind(), E::KIND);
        self.decide(turn, event).get().await.map(E::Action::of)
    }

    fn decide(self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Decision>> {
        match fire::decide(self.hooks, turn, event, self.strict) {
            Answer::Now(Ok(decision)) => self.after(decision, turn, event),
            Answer::Now(Err(thrown)) => Answer::Now(Err(thrown)),
            Answer::Later(asked) => Answer::later(async move { self.after(asked.await?, turn, event).get().await }),
        }
    }

    /// Notifies providers of the handlers' decision.
    fn after(self, decision: Decision, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Decision>> {
        if matches!(decision, Decision::Block { .. }) {
            return Answer::Now(Ok(decision));
        }
        match self.evaluate(turn, event) {
            Answer::Now(told) => Answer::Now(told.map(|()| decision)),
            Answer::Later(told) => Answer::later(async move { told.await.map(|()| decision) }),
        }
    }

    /// Notifies only providers.
    pub fn evaluate(self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<()>> {
        if let Some(files) = self.files.filter(|files| files.subscribes_to().contains(event.kind())) {
            return Answer::later(async move {
                Listeners { files: None, ..self }.evaluate(turn, event).get().await?;
                // The list may be replaced meanwhile; this event is evaluated by all of the current one.
                let providers = files.providers();
                reminder_providers::fire(&providers, turn, event, self.config, self.strict).get().await.map(drop)
            });
        }
        if self.providers.is_empty() {
            return Answer::Now(Ok(()));
        }
        match reminder_providers::fire(self.providers, turn, event, self.config, self.strict) {
            Answer::Now(report) => Answer::Now(report.map(drop)),
            Answer::Later(report) => Answer::later(async move { report.await.map(drop) }),
        }
    }
}

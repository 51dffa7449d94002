//! Notifying handlers of an event, and applying their answers.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallErrorKind, Outcome};
use base::codes::Severity;
use tracing::Instrument as _;

use crate::events::EventKind;
use crate::hooks::verdict::{Decision, Verdict, default_reason};
use crate::hooks::{ActionableEvent, Hook, HookAction, HookEvent, Hooks, new_prompt};
use crate::lifecycle::{DropReason, LifecycleRecord};
use crate::note::Note;
use crate::reminder::policy::PolicySource;
use crate::reminder::{ReminderError, ReminderSource};
use crate::scope::Scope;
use crate::seam::Turn;
use crate::session::ReminderProducer;
use crate::timeout::{is_timeout, with_timeout};

/// Notifies all handlers of an event whose answers the caller ignores.
pub fn fire<'a>(hooks: &Hooks, turn: Turn<'a>, event: &'a HookEvent<'a>, strict: bool) -> Answer<'a, Outcome<()>> {
    match decide(hooks, turn, event, strict) {
        Answer::Now(decided) => Answer::Now(decided.map(drop)),
        Answer::Later(decided) => Answer::later(async move { decided.await.map(drop) }),
    }
}

/// Notifies all handlers of an event and returns the requested action.
pub async fn fire_for<'a, E: ActionableEvent>(
    hooks: &Hooks,
    turn: Turn<'a>,
    event: &'a HookEvent<'a>,
    strict: bool,
) -> Outcome<E::Action> {
    debug_assert_eq!(event.kind(), E::KIND);
    decide(hooks, turn, event, strict).get().await.map(E::Action::of)
}

/// Notifies all handlers of an event of a session, a seam, a worker or a persona, in the order of registration. The
/// first block ends the pass; the last of several changes wins, and each handler sees the prompt as the previous one
/// left it. Reminders are admitted at once.
pub(super) fn decide<'a>(
    hooks: &Hooks,
    turn: Turn<'a>,
    event: &'a HookEvent<'a>,
    strict: bool,
) -> Answer<'a, Outcome<Decision>> {
    // Most events have no handler, and a loop has many events.
    if !hooks.hears(event.kind()) {
        return Answer::Now(Ok(Decision::Allow));
    }
    let wanting = hooks.wanting(event);
    if wanting.is_empty() {
        Answer::Now(Ok(Decision::Allow))
    } else {
        Answer::later(ask_all(wanting, turn, event, strict))
    }
}

async fn ask_all(wanting: Vec<Rc<dyn Hook>>, turn: Turn<'_>, event: &HookEvent<'_>, strict: bool) -> Outcome<Decision> {
    let mut decision = Decision::Allow;
    let mut prompt: Option<Arc<str>> = None;
    for hook in wanting {
        // Boxed, because it is rare and every handler's future would reserve room for it.
        let changed = changed_prompt(event, prompt.as_ref()).map(Box::new);
        let event = changed.as_deref().unwrap_or(event);
        match ask_one(hook.as_ref(), turn, event, strict).await? {
            block @ Decision::Block { .. } if event.kind().can_be_vetoed() => return Ok(block),
            ignored @ (Decision::Block { .. } | Decision::Modify(_)) if !event.kind().can_be_vetoed() => {
                note_ignored(turn, hook.as_ref(), event.kind(), &ignored);
            }
            Decision::Allow | Decision::Block { .. } => {}
            Decision::Modify(payload) => {
                prompt = new_prompt(&payload).or(prompt);
                decision = Decision::Modify(payload);
            }
        }
    }
    Ok(decision)
}

/// Notes a decision that has no effect at this event. A handler that only returned `false` may not have meant it.
fn note_ignored(turn: Turn<'_>, hook: &dyn Hook, kind: EventKind, ignored: &Decision) {
    let what = match ignored {
        Decision::Block { reason } if *reason != default_reason(kind) => "refuse anything",
        Decision::Modify(_) => "change anything",
        _ => return,
    };
    let message = format!("a `{kind}` hook cannot {what}; its result was ignored");
    let note = Note::of_fault(hook.name(), hook.unusable(&message));
    turn.scope.note(Note { severity: Severity::Warning, ..note });
}

/// Returns the event with the changed prompt for the next handler, if a previous one has changed it.
fn changed_prompt<'a>(event: &'a HookEvent<'a>, prompt: Option<&'a Arc<str>>) -> Option<HookEvent<'a>> {
    match (event, prompt) {
        (HookEvent::UserPromptSubmit { system, .. }, Some(prompt)) => {
            Some(HookEvent::UserPromptSubmit { prompt, system: *system })
        }
        _ => None,
    }
}

/// Calls one handler and admits its reminders. An error is noted and does not end the work, unless `strict` is set or
/// the work is being stopped. A guard that fails does not allow the call: if a veto is possible, its error counts as
/// one.
pub async fn ask<E: ActionableEvent>(
    hook: &dyn Hook,
    turn: Turn<'_>,
    event: &HookEvent<'_>,
    strict: bool,
) -> Outcome<E::Action> {
    debug_assert_eq!(event.kind(), E::KIND);
    ask_one(hook, turn, event, strict).await.map(E::Action::of)
}

async fn ask_one(hook: &dyn Hook, turn: Turn<'_>, event: &HookEvent<'_>, strict: bool) -> Outcome<Decision> {
    match call(hook, turn, event).await {
        Ok(verdict) => {
            admit(hook, turn, event, &verdict, strict)?;
            Ok(verdict.decision)
        }
        Err(thrown) if strict || matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline) => {
            Err(thrown)
        }
        Err(thrown) => {
            let reason = format!("a {} hook failed: {thrown}", event.kind());
            turn.scope.note(Note::of_fault(hook.name(), thrown));
            Ok(if event.kind().can_be_vetoed() { Decision::Block { reason: reason.into() } } else { Decision::Allow })
        }
    }
}

/// Calls one handler within the scope's time limit and returns its answer unchanged.
pub async fn call(hook: &dyn Hook, turn: Turn<'_>, event: &HookEvent<'_>) -> Outcome<Verdict> {
    let cancel = turn.scope.cancel.child();
    let scope = Scope { cancel: cancel.clone(), activity: turn.scope.enter(), ..turn.scope.clone() };
    let own = Turn { scope: &scope, ..turn };
    let span = tracing::debug_span!("hook", event = event.kind().as_str(), hook = hook.name());
    if let Some(activity) = &scope.activity {
        activity.hook_began(own, event.kind(), hook.name());
    }
    let answer = span.in_scope(|| hook.on(own, event));
    let answered = with_timeout(turn.scope, &cancel, answer).instrument(span).await;
    if let Some(activity) = &scope.activity {
        activity.hook_ended(own, event.kind(), hook.name(), answered.as_ref().err().map(AsRef::as_ref));
    }
    answered.map_err(|thrown| if is_timeout(&thrown) { hook.late(turn.scope.hook_timeout_ms) } else { thrown })
}

fn admit(hook: &dyn Hook, turn: Turn<'_>, event: &HookEvent<'_>, verdict: &Verdict, strict: bool) -> Outcome<()> {
    let producer: Arc<str> = hook.name().into();
    for selector in &verdict.clears {
        turn.session.clear_reminders(turn.scope, selector);
    }
    for spec in &verdict.effects {
        let from = ReminderProducer {
            source: ReminderSource::Hook,
            policy_source: PolicySource::Hook,
            id: Some(producer.clone()),
        };
        match turn.session.inject_allowed(turn.scope, spec.clone(), from, None) {
            Ok(admitted) => turn.scope.report(event.kind(), &admitted),
            Err(refusal) => turn.scope.note(refusal.note(hook.name())),
        }
    }
    for why in &verdict.unusable {
        let fault = hook.unusable(&format!("invalid result of a `{}` hook: {why}", event.kind()));
        if strict {
            return Err(fault);
        }
        turn.scope.note(Note::of_fault(hook.name(), fault));
    }
    for error in &verdict.malformed {
        if strict {
            return Err(hook.malformed(error));
        }
        report_malformed(turn, hook, error, event);
    }
    Ok(())
}

fn report_malformed(turn: Turn<'_>, hook: &dyn Hook, error: &ReminderError, event: &HookEvent<'_>) {
    let record = LifecycleRecord::Dropped {
        reminder_id: None,
        reason: DropReason::Invalid,
        detail: Some(error.message.as_str().into()),
    };
    turn.session.log_lifecycle(turn.scope, [record]);
    let mut note = Note::of_fault(hook.name(), hook.malformed(error));
    note.message = format!("{} (returned by a {} hook)", note.message, event.kind());
    turn.scope.note(note);
}

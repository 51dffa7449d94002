//! Permission checks before a tool runs: first the script, in the order of the calls and within a handler's time limit;
//! then the approver, who may take hours and may be asked about several calls at once.

use std::sync::Arc;

use crate::hooks::{HookEvent, PermissionAnswer};
use crate::message::{ToolCall, ToolSpec};
use crate::note::Note;
use crate::patience::{is_late, patiently};
use crate::reminder::bridge::Queue;
use crate::seam::{Demand, Outcome, Permissions, Permit, Preview, Ruling, Scope, Sort, Turn};

use super::{GRACE_MS, LoopState, Run, until_stopped};

/// Text the model reads for a call that was skipped because of a bridge injection.
pub(super) const INTERRUPTED: &str = "interrupted: the host sent a message. Read it, then decide again.";

/// The state of a call before any approver is asked.
pub(super) enum Gate {
    /// It may run.
    Open,
    /// It must not run; why, in words for the model.
    Refused(Arc<str>),
    /// The approver is to be asked; why it needs a permission.
    Question(Arc<str>),
}

impl Run<'_> {
    /// Returns the script's ruling if the script or the approver requires a permission for the call.
    pub(super) async fn gate(
        &self,
        turn: Turn<'_>,
        state: &LoopState,
        tool: &ToolSpec,
        call: &ToolCall,
    ) -> Outcome<Gate> {
        let (permissions, approver) = (&self.options.permissions, &self.options.approver);
        let demand = approver.as_ref().map_or(Demand::Nothing, |approver| approver.demand(tool, call));
        if let Demand::Refused(reason) = demand {
            self.asked(turn, state, call, &reason).await?;
            return self.replied(turn, call, Permit::deny(reason.clone()), reason).await;
        }
        let wanted = permissions.as_ref().and_then(|permissions| Some((permissions, permissions.wanted(call)?)));
        let reason = match (wanted, demand) {
            (Some((permissions, reason)), _) => {
                self.asked(turn, state, call, &reason).await?;
                match self.ruling(turn, permissions.as_ref(), call, &reason).await {
                    Ruling::Final(permit) => return self.replied(turn, call, permit, reason).await,
                    Ruling::Open(said) => said.unwrap_or(reason),
                }
            }
            (None, Demand::Asked(reason)) => {
                self.asked(turn, state, call, &reason).await?;
                reason
            }
            (None, _) => return Ok(Gate::Open),
        };
        if approver.is_some() {
            return Ok(Gate::Question(reason));
        }
        self.replied(turn, call, Permit::deny("no approver is attached"), reason).await
    }

    /// Asks the approver and returns the reason, in words for the model, if the call must not run. The approver may
    /// take any time; the loop does not wait for the answer once it is to stop.
    pub(super) async fn approval(
        &self,
        turn: Turn<'_>,
        tool: &ToolSpec,
        call: &ToolCall,
        preview: Result<Option<&Preview>, String>,
        reason: Arc<str>,
    ) -> Outcome<Option<Arc<str>>> {
        let permit = match (&self.options.approver, preview) {
            (_, Err(why)) => Permit::deny(why),
            (Some(approver), Ok(preview)) => {
                let answer = self.unless_interrupted(approver.ask(turn, tool, call, preview, &reason).get());
                match until_stopped(turn.scope, 0, answer).await {
                    Ok(Some(permit)) => permit,
                    Ok(None) => {
                        self.withdrawn.set(true);
                        self.replied(turn, call, Permit::deny(INTERRUPTED), reason).await?;
                        return Ok(Some(INTERRUPTED.into()));
                    }
                    Err(stopped) => Permit::deny(stopped.to_string()),
                }
            }
            (None, Ok(_)) => Permit::deny("no approver is attached"),
        };
        Ok(match self.replied(turn, call, permit, reason).await? {
            Gate::Refused(why) => Some(why),
            Gate::Open | Gate::Question(_) => None,
        })
    }

    /// Returns the answer, or `None` once a bridge injection interrupts the loop. The question is dropped then, which
    /// withdraws it from the approver.
    async fn unless_interrupted<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = Queue::interrupt(self.session.queue()) => None,
            answer = answer => Some(answer),
        }
    }

    /// Tells the handlers of the question.
    async fn asked(&self, turn: Turn<'_>, state: &LoopState, call: &ToolCall, reason: &Arc<str>) -> Outcome<()> {
        self.emit_in(turn, &HookEvent::PermissionAsked { call, reason }).await?;
        let (persona, iteration) = (&self.options.persona, state.iteration);
        self.emit_in(turn, &HookEvent::OnApprovalRequested { persona, iteration, call, reason }).await?;
        Ok(())
    }

    /// Tells the handlers of the answer.
    async fn replied(&self, turn: Turn<'_>, call: &ToolCall, permit: Permit, reason: Arc<str>) -> Outcome<Gate> {
        let said = permit.reason.unwrap_or(reason);
        let decision = if permit.allow { PermissionAnswer::Allow } else { PermissionAnswer::Deny };
        self.emit_in(turn, &HookEvent::PermissionReplied { call, reason: &said, decision }).await?;
        Ok(match permit.allow {
            true => Gate::Open,
            false => Gate::Refused(format!("permission denied: {said}").into()),
        })
    }

    /// Returns the script's ruling. A policy that fails does not allow the call.
    async fn ruling(
        &self,
        turn: Turn<'_>,
        permissions: &dyn Permissions,
        call: &ToolCall,
        reason: &Arc<str>,
    ) -> Ruling {
        // A script that decides may take as long as a handler.
        let cancel = turn.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), ..turn.scope.clone() };
        let asked = permissions.ask(Turn { scope: &scope, ..turn }, call, reason);
        match until_stopped(turn.scope, GRACE_MS, patiently(turn.scope, &cancel, asked)).await {
            Ok(Ok(ruling)) => ruling,
            Ok(Err(thrown)) => {
                let thrown = if is_late(&thrown) { permissions.late(scope.hook_timeout_ms) } else { thrown };
                let why = format!("the permission handler failed: {thrown}");
                if !matches!(thrown.sort(), Sort::Cancelled) {
                    turn.scope.note(Note::of_fault("permissions", thrown));
                }
                Ruling::Final(Permit::deny(why))
            }
            Err(stopped) => Ruling::Final(Permit::deny(stopped.to_string())),
        }
    }
}

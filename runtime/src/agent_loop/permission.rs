//! Permission checks before a tool runs: first the script, in the order of the calls and within a handler's time limit;
//! then the approver, who may take hours and may be asked about several calls at once.

use std::sync::Arc;

use base::call::{CallErrorKind, Outcome};

use crate::hooks::{HookEvent, PermissionAnswer};
use crate::message::{ToolCall, ToolSpec};
use crate::note::Note;
use crate::reminder::bridge::Queue;
use crate::scope::Scope;
use crate::seam::{ApprovalDemand, PermissionOutcome, PermissionRuling, Permissions, Preview, Turn};
use crate::stop::{GRACE_MS, until_stopped};
use crate::timeout::{is_timeout, with_timeout};

use super::{LoopState, RunningLoop};

/// Text the model reads for a call that was skipped because of a bridge injection.
pub(super) const INTERRUPTED: &str = "interrupted: the host sent a message. Read it, then decide again.";

/// The state of a call before any approver is asked.
pub(super) enum PermissionGate {
    /// It may run.
    Open,
    /// It must not run, for this reason in words for the model.
    Refused(Arc<str>),
    /// The approver must be asked, for this reason.
    Question(Arc<str>),
}

impl RunningLoop<'_> {
    /// Returns the script's ruling if the script or the approver requires a permission for the call.
    pub(super) async fn gate(
        &self,
        turn: Turn<'_>,
        state: &LoopState,
        tool: &ToolSpec,
        call: &ToolCall,
    ) -> Outcome<PermissionGate> {
        let (permissions, approver) = (&self.options.permissions, &self.options.approver);
        let demand = approver.as_ref().map_or(ApprovalDemand::Nothing, |approver| approver.demand(tool, call));
        if let ApprovalDemand::Refused(reason) = demand {
            self.asked(turn, state, call, &reason).await?;
            return self.replied(turn, call, PermissionOutcome::deny(reason.clone()), reason).await;
        }
        let wanted = permissions.as_ref().and_then(|permissions| Some((permissions, permissions.wanted(call)?)));
        let reason = match (wanted, demand) {
            (Some((permissions, reason)), _) => {
                self.asked(turn, state, call, &reason).await?;
                match self.ruling(turn, permissions.as_ref(), call, &reason).await {
                    PermissionRuling::Final(permit) => return self.replied(turn, call, permit, reason).await,
                    PermissionRuling::Open(said) => said.unwrap_or(reason),
                }
            }
            (None, ApprovalDemand::Asked(reason)) => {
                self.asked(turn, state, call, &reason).await?;
                reason
            }
            (None, _) => return Ok(PermissionGate::Open),
        };
        if approver.is_some() {
            return Ok(PermissionGate::Question(reason));
        }
        self.replied(turn, call, PermissionOutcome::deny("no approver is attached"), reason).await
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
            (_, Err(why)) => PermissionOutcome::deny(why),
            (Some(approver), Ok(preview)) => {
                let answer = self.unless_interrupted(approver.ask(turn, tool, call, preview, &reason).get());
                match until_stopped(turn.scope, 0, answer).await {
                    Ok(Some(permit)) => permit,
                    Ok(None) => {
                        self.withdrawn.set(true);
                        self.replied(turn, call, PermissionOutcome::deny(INTERRUPTED), reason).await?;
                        return Ok(Some(INTERRUPTED.into()));
                    }
                    Err(stopped) => PermissionOutcome::deny(stopped.to_string()),
                }
            }
            (None, Ok(_)) => PermissionOutcome::deny("no approver is attached"),
        };
        Ok(match self.replied(turn, call, permit, reason).await? {
            PermissionGate::Refused(why) => Some(why),
            PermissionGate::Open | PermissionGate::Question(_) => None,
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

    /// Notifies the handlers of the question.
    async fn asked(&self, turn: Turn<'_>, state: &LoopState, call: &ToolCall, reason: &Arc<str>) -> Outcome<()> {
        self.emit_in(turn, &HookEvent::PermissionAsked { call, reason }).await?;
        let (persona, iteration) = (&self.options.persona, state.iteration);
        self.emit_in(turn, &HookEvent::OnApprovalRequested { persona, iteration, call, reason }).await?;
        Ok(())
    }

    /// Notifies the handlers of the answer.
    async fn replied(
        &self,
        turn: Turn<'_>,
        call: &ToolCall,
        permit: PermissionOutcome,
        reason: Arc<str>,
    ) -> Outcome<PermissionGate> {
        let said = permit.reason.unwrap_or(reason);
        let decision = if permit.allow { PermissionAnswer::Allow } else { PermissionAnswer::Deny };
        self.emit_in(turn, &HookEvent::PermissionReplied { call, reason: &said, decision }).await?;
        Ok(match permit.allow {
            true => PermissionGate::Open,
            false => PermissionGate::Refused(format!("permission denied: {said}").into()),
        })
    }

    /// Returns the script's ruling. A policy that fails does not allow the call.
    async fn ruling(
        &self,
        turn: Turn<'_>,
        permissions: &dyn Permissions,
        call: &ToolCall,
        reason: &Arc<str>,
    ) -> PermissionRuling {
        // The script's decision may take as long as a handler.
        let cancel = turn.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), ..turn.scope.clone() };
        let asked = permissions.ask(Turn { scope: &scope, ..turn }, call, reason);
        match until_stopped(turn.scope, GRACE_MS, with_timeout(turn.scope, &cancel, asked)).await {
            Ok(Ok(ruling)) => ruling,
            Ok(Err(thrown)) => {
                let thrown = if is_timeout(&thrown) { permissions.late(scope.hook_timeout_ms) } else { thrown };
                let why = format!("the permission handler failed: {thrown}");
                if !matches!(thrown.kind(), CallErrorKind::Cancelled) {
                    turn.scope.note(Note::of_fault("permissions", thrown));
                }
                PermissionRuling::Final(PermissionOutcome::deny(why))
            }
            Err(stopped) => PermissionRuling::Final(PermissionOutcome::deny(stopped.to_string())),
        }
    }
}

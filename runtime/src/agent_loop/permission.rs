//! Asking whether a tool may run.

use std::sync::Arc;

use crate::hooks::HookEvent;
use crate::message::ToolCall;
use crate::note::Note;
use crate::patience::{is_late, patiently};
use crate::seam::{Outcome, Permissions, Permit, Scope, Sort, Turn};

use super::{GRACE_MS, LoopState, Run, until_stopped};

impl Run<'_> {
    /// Asks for a permission where one is wanted; why it was refused.
    pub(super) async fn refused(
        &self,
        turn: Turn<'_>,
        state: &LoopState,
        call: &ToolCall,
    ) -> Outcome<Option<Arc<str>>> {
        let Some(permissions) = &self.options.permissions else { return Ok(None) };
        let Some(reason) = permissions.wanted(call) else { return Ok(None) };
        self.emit_in(turn, &HookEvent::PermissionAsked { call, reason: &reason }).await?;
        let (persona, iteration) = (&self.options.persona, state.iteration);
        self.emit_in(turn, &HookEvent::OnApprovalRequested { persona, iteration, call, reason: &reason }).await?;
        let permit = self.permit(turn, permissions.as_ref(), call, &reason).await;
        let said = permit.reason.unwrap_or(reason);
        let decision = if permit.allow { "allow" } else { "deny" };
        self.emit_in(turn, &HookEvent::PermissionReplied { call, reason: &said, decision }).await?;
        Ok((!permit.allow).then(|| format!("permission refused ({said})").into()))
    }

    /// The answer. Who breaks while deciding does not open the gate.
    async fn permit(
        &self,
        turn: Turn<'_>,
        permissions: &dyn Permissions,
        call: &ToolCall,
        reason: &Arc<str>,
    ) -> Permit {
        // Whoever decides may take as long as a handler.
        let cancel = turn.scope.cancel.child();
        let scope = Scope { cancel: cancel.clone(), ..turn.scope.clone() };
        let asked = permissions.ask(Turn { scope: &scope, ..turn }, call, reason);
        match until_stopped(turn.scope, GRACE_MS, patiently(turn.scope, &cancel, asked)).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(thrown)) => {
                let thrown = if is_late(&thrown) { permissions.late(scope.hook_timeout_ms) } else { thrown };
                let why = format!("the decision failed: {thrown}");
                if !matches!(thrown.sort(), Sort::Cancelled) {
                    turn.scope.note(Note::of_fault("permissions", thrown));
                }
                Permit::deny(why)
            }
            Err(stopped) => Permit::deny(stopped.to_string()),
        }
    }
}

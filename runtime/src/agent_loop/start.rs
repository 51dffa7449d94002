//! The steps before the first iteration.

use std::sync::Arc;

use base::call::Outcome;
use base::data::Data;

use crate::hooks::{HookEvent, PromptAction, UserPromptSubmit};
use crate::loop_status::{LoopStatus, StopReason};
use crate::message::Message;

use super::{LoopEnd, LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Submits the prompt, then begins.
    pub(super) async fn start(&self, state: &mut LoopState) -> Outcome<Option<LoopEnd>> {
        if let Some(blocked) = self.user_prompt_submit(state).await? {
            return Ok(Some(blocked));
        }
        if !state.task.is_empty() {
            let message = Arc::new(Message::user(state.task.clone()));
            self.session.with(|s| s.transcript.push_message(message));
        }
        let event = HookEvent::SessionStart {
            task: &state.task,
            system: self.options.model.request.system.primary.as_ref(),
            max_iterations: self.options.limits.max_iterations,
        };
        self.emit(&event).await?;
        if let Some(files) = &self.parts.files {
            files.started(event.to_data(self.session.id()));
        }
        Ok(None)
    }

    pub(super) async fn user_prompt_submit(&self, state: &mut LoopState) -> Outcome<Option<LoopEnd>> {
        let prompt = state.task.clone();
        let system = self.options.model.request.system.primary.as_ref();
        let event = HookEvent::UserPromptSubmit { prompt: &prompt, system };
        match self.listening_to(&event).ask::<UserPromptSubmit>(self.turn(), &event).await? {
            PromptAction::Submit => {}
            PromptAction::Replace(text) => state.task = text,
            PromptAction::Refuse { reason } => {
                let mut ended = LoopEnd::new(LoopStatus::Blocked, StopReason::UserPromptSubmitBlocked);
                ended.error = Data::dict([("category", Data::from("blocked")), ("message", reason.into())]);
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }
}

//! The three steps of an iteration, each reported before and after.

use std::borrow::Cow;
use std::rc::Rc;

use base::call::{CallError, Outcome};
use tracing::Instrument as _;

use crate::events::IterationStep;
use crate::hooks::HookEvent;
use crate::hooks::event::ToolResults;
use crate::model::{AnswerEnd, ModelReply, Request};

use super::persist::Checkpoint;
use super::{LoopState, RunningLoop};

/// Maximum number of times in a row that an answer which the vendor pauses is continued.
const MOST_PAUSES: usize = 16;

impl RunningLoop<'_> {
    /// Builds the prompt. Reminders that handlers add before this step are included.
    pub(super) async fn prompt_step(&self, state: &mut LoopState) -> Outcome<Request> {
        self.pre_step(state, IterationStep::Prompt).await?;
        self.refresh_files().await?;
        let verdicts = self.verdicts(state).await?;
        let request = self.build_prompt(state, &verdicts)?;
        self.emit(&self.post_step(state, IterationStep::Prompt, true)).await?;
        Ok(request)
    }

    /// Calls the model. A failure of the model is returned as an answer; any other failure ends the loop.
    pub(super) async fn model_step(
        &self,
        state: &mut LoopState,
        request: &Request,
    ) -> Outcome<Result<ModelReply, Rc<dyn CallError>>> {
        self.pre_step(state, IterationStep::Model).await?;
        let span =
            tracing::info_span!("model_call", provider = request.provider.as_deref(), model = request.model.as_deref());
        let answered = self.ask_until_answered(state, request).instrument(span).await;
        let said = answered.as_ref().ok().map(|reply| reply.text.clone());
        let mut event = self.post_step(state, IterationStep::Model, said.is_some());
        if let HookEvent::PostStep { text, .. } = &mut event {
            *text = said.as_ref();
        }
        self.emit(&event).await?;
        Ok(answered)
    }

    /// Asks with the reminders in slots that the route accepts, and continues an answer that the vendor pauses.
    async fn ask_until_answered(&self, state: &mut LoopState, request: &Request) -> Outcome<ModelReply> {
        let mut answered = self.ask_model(state, request).await;
        let mut sent = Cow::Borrowed(request);
        while let Err(thrown) = &answered
            && let Some(next) = self.in_other_slots(&sent, thrown.as_ref())
        {
            answered = self.ask_model(state, &next).await;
            sent = Cow::Owned(next);
        }
        for _ in 0..MOST_PAUSES {
            let Ok(paused) = &answered else { break };
            if paused.end() != AnswerEnd::Pause || !paused.tool_calls.is_empty() {
                break;
            }
            state.usage.add(paused.usage);
            let next = sent.continued(paused.to_message());
            answered = self.ask_model(state, &next).await;
            sent = Cow::Owned(next);
        }
        answered
    }

    /// Runs the tools that the answer requests. The step does not take place if it requests none.
    pub(super) async fn tools_step(&self, state: &mut LoopState, reply: &ModelReply) -> Outcome<ToolResults> {
        if reply.tool_calls.is_empty() {
            return Ok(ToolResults::default());
        }
        self.pre_step(state, IterationStep::Tools).await?;
        // A tool may do what cannot be done twice, so a process that resumes here learns that it may have run.
        self.persist(state, Checkpoint::Working).await?;
        let results = self.dispatch(state, reply).await?;
        let ok = results.rows().iter().all(|row| row.result.ok);
        let mut event = self.post_step(state, IterationStep::Tools, ok);
        if let HookEvent::PostStep { tool_results, .. } = &mut event {
            *tool_results = Some(&results);
        }
        self.emit(&event).await?;
        Ok(results)
    }

    async fn pre_step(&self, state: &LoopState, step: IterationStep) -> Outcome<()> {
        let event = HookEvent::PreStep { persona: &self.options.persona, step, iteration: state.iteration };
        self.emit(&event).await?;
        Ok(())
    }

    fn post_step(&self, state: &LoopState, step: IterationStep, ok: bool) -> HookEvent<'_> {
        let (persona, iteration) = (&self.options.persona, state.iteration);
        HookEvent::PostStep { persona, step, iteration, ok, text: None, tool_results: None }
    }
}

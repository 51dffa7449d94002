//! The loop's own compaction, between two iterations.

use crate::compaction::{AutoCompact, ByModel, Compaction, Summarisers};
use crate::note::Note;
use crate::seam::{Outcome, Sort};

use super::{LoopState, Run};

impl Run<'_> {
    /// Compacts the transcript where the context has grown too large. It happens before the seam `iteration_start`, so what
    /// that seam delivers is not compacted away unseen. A failure is noted, and the loop goes on without compacting again.
    pub(super) async fn compact_if_due(&self, state: &mut LoopState) -> Outcome<()> {
        let Some(auto) = &self.options.compaction else { return Ok(()) };
        let estimate = self.session.with(|s| s.transcript.count_tokens());
        let tokens = state.context_tokens.max(u64::try_from(estimate).unwrap_or(u64::MAX));
        if state.compaction_failed || !auto.threshold.is_reached(tokens, self.options.capabilities.context_window) {
            return Ok(());
        }
        self.compact(state, auto).await?;
        Ok(())
    }

    /// Compacts the transcript where there is something to compact; whether there was.
    pub(super) async fn compact(&self, state: &mut LoopState, auto: &AutoCompact) -> Outcome<bool> {
        let by_model = ByModel::new(&*self.parts.model, &self.options.request, auto.summarize_prompt.clone());
        let task = state.task.clone();
        let compaction = Compaction {
            session: self.session,
            told: self.turn(),
            iteration: state.iteration,
            listeners: self.listeners(),
            summarisers: Summarisers {
                custom: auto.compactor.as_deref(),
                model: Some(&by_model),
                remember: Some(task.as_ref()).filter(|task| !task.is_empty()),
            },
        };
        let done = compaction.run(auto.options.clone()).await;
        state.usage.add(by_model.usage.get());
        match done {
            Ok(Some(_)) => {
                state.context_tokens = 0;
                return Ok(true);
            }
            Ok(None) => {}
            // The step that follows sees it, and ends the loop as it should.
            Err(_) if self.scope.check().is_err() => {}
            Err(thrown) if self.strict() || matches!(thrown.sort(), Sort::Cancelled | Sort::Deadline) => {
                return Err(thrown);
            }
            Err(thrown) => {
                state.compaction_failed = true;
                self.note(Note::of_fault("compaction", thrown));
            }
        }
        Ok(false)
    }
}

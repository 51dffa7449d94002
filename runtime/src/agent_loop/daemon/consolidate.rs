//! Consolidation: a daemon that has nothing to do compacts its transcript, by the loop's own compaction.

use crate::seam::Outcome;

use super::super::{LoopState, Run};

impl Run<'_> {
    /// Compacts, once for what has come since the last time, and before anything that this nap brings: a compaction takes
    /// reminders away.
    pub(super) async fn consolidate(&self, state: &mut LoopState) -> Outcome<()> {
        let daemon = self.options.daemon.as_ref();
        let Some(how) = daemon.and_then(|daemon| daemon.consolidate.as_ref()) else { return Ok(()) };
        if state.compaction_failed || self.newest().0 == state.daemon.consolidated_at {
            return Ok(());
        }
        let done = self.compact(state, how).await?;
        state.daemon.consolidated_at = self.newest().0;
        state.daemon.consolidations += u32::from(done);
        Ok(())
    }
}

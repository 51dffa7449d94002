//! Consolidation: a daemon that has nothing to do compacts its transcript, by the loop's own compaction.

use base::call::Outcome;

use super::super::{LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Compacts the transcript once for the messages since the last time, before anything that this nap adds, because a
    /// compaction removes reminders.
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

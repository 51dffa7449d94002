//! The snapshot of a loop without a parent: the state it needs to go on in another process.

use crate::loop_status::{LoopStatus, StopReason};
use crate::message::ToolSpec;
use crate::session::Session;

use super::super::{LoopOptions, LoopState};
use super::{Recipe, Snapshot, StoredWork, Suspension, WorkerMode};

/// The stored outcome of a loop.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredEnd {
    /// The status.
    pub status: LoopStatus,
    /// The reason.
    pub stop_reason: StopReason,
}

impl Snapshot {
    /// Builds the snapshot of a loop between two steps. `ended` is set if it has finished or given up its task.
    #[must_use]
    pub fn of_loop(
        session: &Session,
        options: &LoopOptions,
        recipe: &Recipe,
        tools: &[ToolSpec],
        suspension: Suspension,
        state: LoopState,
        ended: Option<StoredEnd>,
    ) -> Snapshot {
        let work = StoredWork {
            id: session.id().clone(),
            name: options.persona.clone(),
            // The submitted task; the state contains the changes that handlers made.
            task: options.task.clone(),
            mode: WorkerMode::Loop,
            recipe,
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
        };
        Snapshot::of(work, session, suspension, state, ended)
    }
}

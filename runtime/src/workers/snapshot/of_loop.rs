//! The snapshot of a loop that nobody leads: what it needs to go on in another process.

use crate::agent_loop::{LoopOptions, LoopState, LoopStatus, StopReason};
use crate::message::ToolSpec;
use crate::session::Session;

use super::super::worker::Recipe;
use super::super::{Suspension, WorkerMode};
use super::{FORMAT, Snapshot, StoredSession};

/// How a loop ended that is stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredEnd {
    /// How.
    pub status: LoopStatus,
    /// Why.
    pub stop_reason: StopReason,
}

impl Snapshot {
    /// A loop as it stands between two steps. `ended` where it has done, or given up, what it was asked.
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
        Snapshot {
            format: FORMAT.to_owned(),
            version: Self::VERSION,
            id: session.id().clone(),
            name: options.persona.clone(),
            // As it was handed in: what handlers made of it the state says.
            task: options.task.clone(),
            mode: WorkerMode::Loop,
            suspension,
            state,
            ended,
            options: recipe.options.clone(),
            needs: recipe.needs.clone(),
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            session: StoredSession::of(session),
        }
    }
}

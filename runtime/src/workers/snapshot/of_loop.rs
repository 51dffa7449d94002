//! The snapshot of a loop that nobody leads: what it needs to go on in another process.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::agent_loop::{LoopOptions, LoopState, LoopStatus};
use crate::message::{Message, ToolCall, ToolSpec};
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
    /// Why, in one word.
    pub stop_reason: Arc<str>,
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

/// Answers the calls that a process left open when it ended, so that every wire format takes the conversation. How many.
pub fn answer_open_calls(session: &Rc<Session>) -> usize {
    const WHY: &str = "not run: the process ended before this call was answered; the tool may have completed a \
        part of its work";
    session.with(|state| {
        let open = open_calls(state.transcript.messages().iter());
        for call in &open {
            state.transcript.push_message(Arc::new(Message::tool_result(call, WHY, false)));
        }
        open.len()
    })
}

/// The calls that have no answer, in their order.
fn open_calls<'a>(messages: impl Iterator<Item = &'a Arc<Message>> + Clone) -> Vec<ToolCall> {
    let answered: HashSet<&str> = messages.clone().filter_map(|message| message.tool_call_id.as_deref()).collect();
    let calls = messages.flat_map(|message| message.tool_calls.iter());
    calls.filter(|call| !answered.contains(call.id.as_ref())).cloned().collect()
}

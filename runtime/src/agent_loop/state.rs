//! The state that a loop keeps between steps. Plain data: it can be stored and resumed by another process.

use std::sync::Arc;

use crate::budget::Ledger;
use crate::model::AnswerEnd;
use crate::reminder::cost::ReminderCosts;
use crate::usage::Usage;

use super::repeats::Repeats;
use super::{DaemonState, ToolNames};

/// The state of a loop.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoopState {
    /// The task, as the handlers of `user_prompt_submit` left it.
    pub task: Arc<str>,
    /// Current iteration, from 1; 0 before the first.
    pub iteration: u32,
    /// Number of times the model was asked to go on without a tool call in between.
    pub nudges: u32,
    /// Tokens of all calls.
    pub usage: Usage,
    /// Tokens of the last request and its answer: the live context.
    pub context_tokens: u64,
    /// Costs of the reminders in all prompts.
    #[serde(skip_serializing_if = "ReminderCosts::is_empty")]
    pub reminder_costs: ReminderCosts,
    /// Spending of the loop's own budget; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Ledger>,
    /// The tools called so far.
    pub tools: ToolNames,
    /// The text of the last answer.
    pub text: Arc<str>,
    /// The reason that the last answer ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_end: Option<AnswerEnd>,
    /// Number of items from hosts, meant for the model, that no prompt has carried yet.
    pub unseen: u32,
    /// Number of naps of a daemon.
    #[serde(default)]
    pub naps: u32,
    /// Further state of a daemon.
    #[serde(default)]
    pub daemon: DaemonState,
    /// Whether the loop's own compaction failed; it is not tried again.
    #[serde(default)]
    pub compaction_failed: bool,
    /// Whether the unknown context window was noted already.
    #[serde(default)]
    pub window_noted: bool,
    /// Whether the missing user blocks of this route were noted already.
    pub demotion_noted: bool,
    /// The results of the last turn's calls and how often they were repeated in a row.
    #[serde(default)]
    pub repeats: Repeats,
    /// Start time of the loop, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: u64,
}

impl LoopState {
    /// Returns the state before the first step.
    #[must_use]
    pub fn new(task: Arc<str>, now_ms: u64) -> LoopState {
        LoopState { task, started_at_ms: now_ms, ..LoopState::default() }
    }
}

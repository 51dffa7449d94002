//! The options of a loop.

use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;

use crate::budget::BudgetLimits;
use crate::capabilities::Capabilities;
use crate::compaction::AutoCompact;
use crate::model::Request;
use crate::reminder_providers::ReminderOptions;
use crate::seam::{Approver, Permissions};
use crate::watch::FileWatcher;

use super::{LoopState, LoopStorage, Parking, ResumedLoop, ToolMode};

/// The options of a loop.
#[derive(Debug, Clone)]
pub struct LoopOptions {
    /// The task, which becomes a user message. Empty if the session already contains it.
    pub task: Arc<str>,
    /// Name of the agent that works; handlers of steps and personas receive it.
    pub persona: Arc<str>,
    /// Options for the model's requests.
    pub model: ModelOptions,
    /// Limits of the loop.
    pub limits: LoopLimits,
    /// Detection of the word by which the model says that it is done.
    pub sentinel: SentinelOptions,
    /// Whether the tools of one answer may run in parallel.
    pub parallel_tool_calls: bool,
    /// The loop's own compaction. With `None` the context keeps growing.
    pub compaction: Option<AutoCompact>,
    /// Options that make the loop a daemon.
    pub daemon: Option<DaemonOptions>,
    /// Options of reminders.
    pub reminders: ReminderOptions,
    /// Policy that decides before a tool runs. With `None` every tool may run.
    pub permissions: Option<Rc<dyn Permissions>>,
    /// Approver that is asked when `permissions` leave a call undecided.
    pub approver: Option<Rc<dyn Approver>>,
    /// Options to suspend and resume the loop.
    pub continuity: Continuity,
    /// The options as written, for handlers that read them.
    pub written: Data,
}

/// Options for the model requests of a loop.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The parts that all requests share: system text, route, limits. History, reminders and tools are filled in.
    pub request: Request,
    /// Whether answers are streamed. With `None` they are if the loop is observed or a handler subscribes to pieces.
    pub stream: Option<bool>,
    /// Capabilities of the route.
    pub capabilities: Arc<Capabilities>,
    /// Transport of tool calls, as reported in the result: `native` or `text`.
    pub tool_mode: ToolMode,
    /// The context window set by the script. With `None` that of the route applies.
    pub context_window: Option<u64>,
}

/// Limits of a loop.
#[derive(Debug, Clone)]
pub struct LoopLimits {
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// Maximum number of times a model that neither calls a tool nor is done is asked to go on.
    pub max_nudges: u32,
    /// Maximum number of tokens, in and out, over all calls.
    pub token_budget: Option<u64>,
    /// Limits of what the loop and all that works for it may use. With `None` only the budget around it applies.
    pub budget: Option<BudgetLimits>,
    /// Maximum number of characters of a tool's output that the model sees; 200,000 by default.
    pub max_tool_output_chars: Option<usize>,
    /// Maximum number of consecutive turns that make the same calls and get the same results; 0 means no limit.
    pub max_repeats: u32,
    /// Time limit of the loop, in milliseconds from its start. With `None` the scope's deadline applies.
    pub deadline_ms: Option<u64>,
    /// Time limit of one handler or provider, in milliseconds. With `None` the scope's limit applies.
    pub hook_timeout_ms: Option<u64>,
}

/// Detection of the word by which the model says that it is done.
#[derive(Debug, Clone)]
pub struct SentinelOptions {
    /// The word.
    pub word: Arc<str>,
    /// Whether the loop goes on until the model says it.
    pub is_required: bool,
}

/// Options that make a loop a daemon: it does not end when the model has nothing more to do. It sleeps and goes on when
/// there is something new.
#[derive(Debug, Clone)]
pub struct DaemonOptions {
    /// Length of a sleep, in milliseconds, unless a host queues something earlier.
    pub wake_interval_ms: u64,
    /// File watcher: the daemon goes on when a file changes.
    pub watch: Option<Rc<dyn FileWatcher>>,
    /// Compaction of the transcript before a sleep, run once for the messages since the last time. Its threshold is not
    /// used.
    pub consolidate: Option<Box<AutoCompact>>,
}

/// Options to suspend and resume a loop.
#[derive(Debug, Clone, Default)]
pub struct Continuity {
    /// Queue of requests to suspend the loop. A loop that is suspended here is not over: its end is not reported, and
    /// [`super::LoopResult::left`] holds the state it needs to go on.
    pub parking: Option<Rc<Parking>>,
    /// State left by an earlier part of this loop, which continues from there.
    pub from: Option<Box<LoopState>>,
    /// Storage for the state that the loop needs to go on in another process.
    pub persist: Option<Rc<LoopStorage>>,
    /// Information about another process that has left this loop, or its conversation.
    pub resumed: Option<Box<ResumedLoop>>,
}

impl Continuity {
    /// Returns whether a loop that is suspended can go on later: a caller resumes it, or it is persisted.
    #[must_use]
    pub fn can_suspend(&self) -> bool {
        self.parking.is_some() || self.persist.is_some()
    }
}

impl LoopOptions {
    /// Returns the default options for a task.
    pub fn new(task: impl Into<Arc<str>>) -> LoopOptions {
        LoopOptions {
            task: task.into(),
            persona: "agent".into(),
            model: ModelOptions {
                request: Request::default(),
                stream: None,
                capabilities: Arc::default(),
                tool_mode: ToolMode::Native,
                context_window: None,
            },
            limits: LoopLimits {
                max_iterations: 50,
                max_nudges: 3,
                token_budget: None,
                budget: None,
                max_tool_output_chars: None,
                max_repeats: 16,
                deadline_ms: None,
                hook_timeout_ms: None,
            },
            sentinel: SentinelOptions { word: "##DONE##".into(), is_required: false },
            parallel_tool_calls: true,
            compaction: None,
            daemon: None,
            reminders: ReminderOptions::default(),
            permissions: None,
            approver: None,
            continuity: Continuity::default(),
            written: Data::Nil,
        }
    }
}

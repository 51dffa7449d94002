//! What a loop is told.

use std::rc::Rc;
use std::sync::Arc;

use crate::capabilities::Capabilities;
use crate::compaction::AutoCompact;
use crate::data::Data;
use crate::model::Request;
use crate::reminder::providers::ReminderOptions;
use crate::seam::{Approver, Permissions};
use crate::watch::Watch;

use super::{LoopState, Parking, Persist, Resumed, ToolMode};

/// What a loop is told.
#[derive(Debug, Clone)]
pub struct LoopOptions {
    /// The task; it becomes a message of the user. Empty where the session holds all that is to be said.
    pub task: Arc<str>,
    /// What every request has in common: system text, route, limits. History, reminders and tools are filled in.
    pub request: Request,
    /// Whether answers come in pieces; where nothing is said, they do where somebody watches or a handler wants them.
    pub stream: Option<bool>,
    /// What the route can take.
    pub capabilities: Arc<Capabilities>,
    /// Who works: handlers of steps and personas ask for it by name.
    pub persona: Arc<str>,
    /// The most iterations.
    pub max_iterations: u32,
    /// Go on until the model says the sentinel.
    pub loop_until_done: bool,
    /// The word by which the model says it is done.
    pub done_sentinel: Arc<str>,
    /// How often a model that neither calls a tool nor is done is asked to go on.
    pub max_nudges: u32,
    /// The most tokens, in and out, over all calls.
    pub token_budget: Option<u64>,
    /// The most characters of a tool's output that the model sees; nothing means 200,000.
    pub max_tool_output_chars: Option<usize>,
    /// Whether the tools of one answer may run at the same time.
    pub parallel_tool_calls: bool,
    /// How many turns in a row may ask for the same and get the same; 0 means any number.
    pub max_repeats: u32,
    /// How calls reach the model and come back, for the result.
    pub tool_mode: ToolMode,
    /// The loop's own compaction; nothing means it lets the context grow.
    pub compaction: Option<AutoCompact>,
    /// A daemon does not end when the model has nothing more to do: it sleeps so many milliseconds, or until a host puts
    /// something in, and goes on where there is something new.
    pub wake_interval_ms: Option<u64>,
    /// Whoever watches files for a daemon: it goes on when some change.
    pub watch: Option<Rc<dyn Watch>>,
    /// How a daemon compacts its transcript before it sleeps, once for what has come since the last time; nothing means it
    /// does not. Its threshold does not count.
    pub consolidate: Option<Box<AutoCompact>>,
    /// The context window that the script names; nothing means that of the route.
    pub context_window: Option<u64>,
    /// How long the loop may take, in milliseconds from its start; nothing means as the scope says.
    pub deadline_ms: Option<u64>,
    /// How long one handler or provider may take, in milliseconds; nothing means as the scope says.
    pub hook_timeout_ms: Option<u64>,
    /// The reminders.
    pub reminders: ReminderOptions,
    /// Who decides before a tool runs; nothing means every tool may.
    pub permissions: Option<Rc<dyn Permissions>>,
    /// Who is asked about what `permissions` do not decide; nothing means nobody is there.
    pub approver: Option<Rc<dyn Approver>>,
    /// Where somebody may ask for the loop to be suspended. One that is suspended here is not over: its end is not told,
    /// and [`super::LoopResult::left`] is what it needs to go on.
    pub parking: Option<Rc<Parking>>,
    /// What an earlier part of this loop left: it goes on from there.
    pub from: Option<Box<LoopState>>,
    /// Where it writes what it needs to go on in another process; nothing means nowhere.
    pub persist: Option<Rc<Persist>>,
    /// What is known of another process that has left this loop, or its conversation.
    pub resumed: Option<Box<Resumed>>,
    /// The options as they were written, for handlers that want to see them.
    pub written: Data,
}

impl LoopOptions {
    /// A task with everything else as it is by default.
    pub fn new(task: impl Into<Arc<str>>) -> LoopOptions {
        LoopOptions {
            task: task.into(),
            request: Request::default(),
            stream: None,
            capabilities: Arc::default(),
            persona: "agent".into(),
            max_iterations: 50,
            loop_until_done: false,
            done_sentinel: "##DONE##".into(),
            max_nudges: 3,
            token_budget: None,
            max_tool_output_chars: None,
            parallel_tool_calls: true,
            max_repeats: 16,
            tool_mode: ToolMode::Native,
            compaction: None,
            wake_interval_ms: None,
            watch: None,
            consolidate: None,
            context_window: None,
            deadline_ms: None,
            hook_timeout_ms: None,
            reminders: ReminderOptions::default(),
            permissions: None,
            approver: None,
            parking: None,
            from: None,
            persist: None,
            resumed: None,
            written: Data::Nil,
        }
    }
}

//! Options of loops and workers.

use super::compaction::LoopCompaction;
use super::{
    AnyData, Callback, CallbackOr, CompactionOptions, Count, Flag, FlagOr, Fullness, Items, ModelOptions, Ms,
    OneOrMore, OptionKind, OptionPlace, Raw, Text, Texts, Word,
};
use crate::tool_search::Deferral;
use lang::value::Value;
use lang::vm::Raise;
use runtime::lifecycle::archive::Strategy;

options! {
    /// Options of every loop.
    SharedLoopOptions(model: ModelOptions) {
        mcp_servers: Items as "list<string | McpServer>" = [], "MCP servers whose tools the model can call: descriptions, or names that the run knows.";
        skills: Texts = [], "Folders with skills, from the folder of the script: each has a `SKILL.md`, or folders with one. Their names and descriptions are in the system text.";
        tool_search: ToolSearch, "Tools that the model gets after a search for them: `true` for all, or globs of names. Default: tools with the annotation `defer_loading`.";
        persona: Text, "The persona, for handlers of steps and personas. Default: the worker's name, else `\"agent\"`.";
        permissions: CallbackOr<PermissionOptions> as "LoopPermissions | fn(PermissionRequest) -> any", "Tools that need permission: a function, or `{ask, deny, decide}`. Default: every tool is allowed.";
        deadline: Ms, "Milliseconds from the start after which the loop is cancelled.";
        hook_timeout_ms: Ms = (shown "30000"), "Timeout of one handler, provider, compactor or permission decision, in milliseconds.";
        daemon: Flag = false, "Sleep instead of ending.";
        wake_interval_ms: Ms = 30000, "Time that a daemon sleeps, in milliseconds.";
        watch_paths: OneOrMore, "Files whose changes wake a daemon: a glob or a list of globs.";
        consolidate_on_idle: FlagOr<CompactionOptions> as "bool | CompactOptions" = (shown "false"), "Compact the transcript before a daemon sleeps: a bool, or options of the compaction.";
        max_iterations: Count<u32> = 50, "Maximum number of model calls.";
        max_nudges: Count<u32> = 3, "How often in a row the model is asked to continue.";
        loop_until_done: Flag = false, "Ask the model to continue after a turn without a tool call, instead of ending.";
        done_sentinel: Text = "##DONE##", "Text by which the model reports that it is done.";
        llm_caller: Callback as "fn(ModelQuestion) -> any", "Function that replaces the model: gets `{prompt, system, messages, turn, opts}`, returns a text or `{text?, tool_calls?, reasoning?}`.";
        post_turn_callback: Callback as "fn(PostTurn) -> any", "Function that is called after each turn. `false` ends the loop.";
        auto_compact: Flag = (shown "false"), "Compact the transcript when the context is almost full.";
        compact_threshold: Fullness = (shown "0.8"), "Share of the context window, or number of tokens, from which on the transcript is compacted.";
        compact_keep_last: Count<usize> = (shown "12"), "Number of messages that a compaction keeps.";
        compact_strategy: Word<Strategy> = (shown "\"truncate\""), "Treatment of the messages that are not kept.";
        compact_callback: Callback as "fn(list<Message>, list<Reminder>) -> any", "Compactor of the strategy `\"custom\"`: gets messages and reminders.";
        compaction: FlagOr<LoopCompaction> as "bool | LoopCompaction", "Options of the compaction as one dict.";
        token_budget: Count, "Maximum number of tokens of all calls, input and output.";
        max_tool_output_chars: Count<usize> = (shown "200000"), "Length after which the output of a tool is truncated, in characters.";
        parallel_tool_calls: Flag = true, "Run the tool calls of one answer at the same time.";
        max_repeats: Count<u32> = 16, "End as `stuck` after this many turns in a row with the same calls and results. 0 disables the check.";
    }

    /// Options of `agent_loop`.
    AgentLoopOptions(shared: SharedLoopOptions) {
        transcript: Raw as "dict", "The transcript to continue: its messages and pending reminders.";
        persist_path: Text, "File to save the state of the loop to.";
        resume_path: Text, "File to resume the loop from.";
    }

    /// Options of a worker, which another process may have left.
    WorkerBehaviour(shared: SharedLoopOptions) {
        name: Text, "The name. Default: the beginning of the task.";
        system: Text, "The system text of the worker.";
    }

    /// Options of a worker that works for a session.
    DelegationOptions(worker: WorkerBehaviour) {
        parent_session_id: Text, "Session whose reminders are inherited. Default: the current session.";
        reminder_propagation: AnyData as "list<InheritedReminder>", "The reminders to inherit. Default: those that propagate.";
    }

    /// Options of `sub_agent_run`.
    SubAgentOptions(delegation: DelegationOptions) {
        background: Flag = false, "Return the handle of the worker at once.";
    }

    /// The task and the options of `spawn_agent`.
    WorkerSpec(delegation: DelegationOptions) {
        task: Raw = (required), "The task of the worker.";
    }

    /// A task that is handed over.
    HandoffOptions = "Handoff" {
        source_persona: Text = (required), "The persona that hands the task over.";
        target_persona_or_human: AnyData = (required), "The persona or human that takes the task.";
        task: AnyData = (required), "The task.";
        reason: Text = (required), "Reason of the handoff.";
        session_id: Text, "The session whose reminders are inherited. Default: the current session.";
        metadata: AnyData, "Any data.";
        reminder_propagation: AnyData as "list<InheritedReminder>", "The reminders to inherit. Default: those that propagate.";
    }

    /// Permissions of the tools of a loop.
    PermissionOptions = "LoopPermissions" {
        ask: Texts = (shown "[]"), "Globs of the tools that need permission.";
        deny: Texts = [], "Globs of the tools that are refused.";
        decide: Callback as "fn(PermissionRequest) -> any", "Function that decides: gets `{tool, args, tool_call_id, reason}`, returns a bool or `{allow, reason?}`.";
    }

    /// Options of `suspend_agent`.
    SuspendOptions {
        snapshot_path: Text, "File to write the snapshot to. Default: one in `.harn/workers`.";
    }

    /// Options of `agent_lifecycle_tools`.
    LifecycleToolOptions {
        subagents: Raw, "The workers that the tools control: handles or ids. Default: all that work for the session.";
    }
}

/// The tools that are searched for.
pub(crate) struct ToolSearch;

impl OptionKind for ToolSearch {
    const TYPE: &'static str = "bool | list<string>";
    type Out = Deferral;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Deferral, Box<Raise>> {
        match value {
            Value::Bool(true) => Ok(Deferral::All),
            Value::Bool(false) => Ok(Deferral::Off),
            Value::List(_) => {
                let globs = Texts::read(at, value)?;
                Deferral::named(&globs).map_err(|raise| at.about(raise))
            }
            _ => Err(at.wrong("a bool or a list of strings", value)),
        }
    }
}

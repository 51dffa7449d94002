//! Options of hooks, sessions and event logs.

use super::{AnyData, Callback, Count, Text};

options! {
    /// Handlers around tool calls.
    ToolHookOptions = "ToolHook" {
        pattern: Text = (shown "\"*\""), "Pattern of the tools.";
        pre: Callback as "fn(PreToolUse) -> any", "Function that is called before a call, and may refuse or change it.";
        post: Callback as "fn(PostToolUse) -> any", "Function that is called after a call, and may change its result.";
        deny: Text, "Reason for which every call is refused.";
        max_output: Count<usize>, "Length after which results are truncated, in characters.";
    }

    /// Options of `agent_session_open`.
    SessionOptions {
        workspace_anchor: AnyData, "The place that the session works in: `{project_root?, cwd?, …}`.";
    }

    /// Records of an event log.
    LogFilter {
        topic: Text, "Only records of this topic.";
        from_cursor: Count, "Only records after this cursor.";
        kind_prefix: Text, "Only records whose kind begins with this text.";
    }
}

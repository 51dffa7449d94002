//! What builtins hand over: results, and the payloads of events.
//!
//! Each shape is open, so that a key more is no error; a name near to one of its keys is a slip that `check` reports. The
//! shape of the payload that a handler gets is found by the name of its event.

/// The named types of results and payloads.
pub(crate) static HANDED_OVER: &[(&str, &str)] = &[
    (
        "AgentLoopResult",
        "{status: string, stop_reason: string, text: string, visible_text: string, error: any, llm: \
             {iterations: int, duration_ms: int, input_tokens: int, output_tokens: int, cache_read_tokens: \
             int, cache_write_tokens: int, cost_usd?: float, ...}, tools: {calls: any, successful: any, \
             rejected: any, mode: string, ...}, session_id: string, diagnostics: list<any>, data?: any, \
             suspension?: any, daemon_state?: any, transcript: any, ...}",
    ),
    (
        "PreToolUse",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, tool_name: string, iteration: int, ...}",
    ),
    (
        "PostToolUse",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, tool_name: string, result: {ok: bool, text: string, truncated: bool, ...}, truncated: \
             bool, iteration: int, ...}",
    ),
    (
        "LoopCheckpoint",
        "{session: {id: any, ...}, event: string, session_id: any, iteration: int, kind: string, \
             delivered: any, dispatch_skipped: any, ...}",
    ),
    (
        "event session_start",
        "{session: {id: any, ...}, event: string, task: any, system: any, max_iterations: any, ...}",
    ),
    (
        "event session_end",
        "{session: {id: any, ...}, event: string, final_status: any, stop_reason: any, iterations: int, \
             ...}",
    ),
    ("event user_prompt_submit", "{session: {id: any, ...}, event: string, prompt: any, system: any, ...}"),
    (
        "event post_turn",
        "{session: {id: any, ...}, event: string, iteration: int, has_tool_calls: bool, tool_results: \
             list<{name: string, ok: bool, text: string, tool_call_id: any, truncated: bool, ...}>, text: \
             string, ...}",
    ),
    (
        "event post_agent_turn",
        "{session: {id: any, ...}, event: string, iteration: int, has_tool_calls: bool, tool_results: \
             list<{name: string, ok: bool, text: string, tool_call_id: any, truncated: bool, ...}>, text: \
             string, ...}",
    ),
    (
        "event pre_tool_use",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, tool_name: string, iteration: int, ...}",
    ),
    (
        "event post_tool_use",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, tool_name: string, result: {ok: bool, text: string, truncated: bool, ...}, truncated: \
             bool, iteration: int, ...}",
    ),
    ("event file_edited", "{session: {id: any, ...}, event: string, path: string, metadata: any, ...}"),
    ("event session_error", "{session: {id: any, ...}, event: string, error: any, ...}"),
    ("event session_idle", "{session: {id: any, ...}, event: string, iteration: int, wake_interval_ms: any, ...}"),
    (
        "event permission_asked",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, reason: any, ...}",
    ),
    (
        "event permission_replied",
        "{session: {id: any, ...}, event: string, tool: {name: string, args: any, tool_call_id: any, \
             ...}, reason: any, decision: any, ...}",
    ),
    (
        "LlmResult",
        "{text: string, visible_text: string, model: any, provider: any, input_tokens: int, output_tokens: int, \
             cache_read_tokens: int, cache_write_tokens: int, tool_calls: list<any>, blocks: list<any>, stop_reason: any, \
             reasoning: any, cost_usd?: float, data?: any, schema_error?: any, session_id?: any, transcript?: any, ...}",
    ),
    ("event pre_step", "{session: {id: any, ...}, event: string, persona: any, step: string, iteration: int, ...}"),
    (
        "event post_step",
        "{session: {id: any, ...}, event: string, persona: any, step: string, iteration: int, ok: bool, text: any, \
             tool_results: any, ...}",
    ),
];

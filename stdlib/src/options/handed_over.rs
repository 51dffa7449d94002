//! What builtins hand over: results, and the payloads of events.
//!
//! Each shape is open, so that a key more is no error; a name near to one of its keys is a slip that `check` reports. The
//! shape of the payload that a handler gets is found by the name of its event.

/// The named types of results and payloads. What differs from case to case, or may be nil, is `any` there.
pub(crate) static HANDED_OVER: &[(&str, &str)] = &[
    (
        "AgentLoopResult",
        "{status: string, stop_reason: string, text: string, visible_text: string, error: any, llm: \
             {iterations: int, duration_ms: int, input_tokens: int, output_tokens: int, cache_read_tokens: \
             int, cache_write_tokens: int, cost_usd?: float, ...}, tools: {calls: list<string>, successful: list<string>, \
             rejected: list<string>, mode: string, ...}, session_id: string, diagnostics: list<any>, data?: any, \
             suspension?: any, daemon_state?: any, transcript: any, ...}",
    ),
    (
        "LlmResult",
        "{text: string, visible_text: string, model: any, provider: any, input_tokens: int, output_tokens: int, \
             cache_read_tokens: int, cache_write_tokens: int, tool_calls: list<ToolCall>, blocks: list<any>, stop_reason: any, \
             reasoning: any, cost_usd?: float, data?: any, schema_error?: any, session_id?: any, transcript?: any, ...}",
    ),
    ("ToolCall", "{id: string, name: string, arguments: any, ...}"),
    (
        "Message",
        "{role: string, content: any, tool_calls?: list<ToolCall>, tool_call_id?: string, name?: string, reasoning?: any, \
             is_error?: bool, ...}",
    ),
    (
        "Reminder",
        "{id: string, body: string, tags: list<string>, dedupe_key?: string, ttl_turns?: int, preserve_on_compact: bool, \
             propagate: string, role_hint: string, source: string, fired_at_turn: int, originating_agent_id?: string, ...}",
    ),
    (
        "TranscriptEvent",
        "{id: string, kind: string, role: any, visibility: any, text: any, blocks: any, reminder: any, metadata: any, \
             delivery?: string, ...}",
    ),
    ("ReminderAdded", "{reminder_id: string, deduped_count: int, ...}"),
    ("ReminderAddedTo", "{transcript: transcript, reminder_id: string, deduped_count: int, ...}"),
    ("RemindersRemoved", "{removed_count: int, ...}"),
    ("RemindersRemovedFrom", "{transcript: transcript, removed_count: int, ...}"),
    ("RemindersCharged", "{expired_count: int, decremented_count: int, remaining_count: int, ...}"),
    (
        "RemindersFired",
        "{fired_count: int, reports: list<{provider: string, reminder_id: string, deduped_count: int, ...}>, ...}",
    ),
    (
        "TranscriptStats",
        "{message_count: int, event_count: int, reminder_count: int, tool_call_count: int, estimated_tokens: int, ...}",
    ),
    (
        "ExportedTranscript",
        "{_type: string, version: int, id: string, messages: list<Message>, events: list<TranscriptEvent>, assets?: any, \
             metadata?: any, summary?: any, ...}",
    ),
    (
        "SessionSnapshot",
        "{_type: string, version: int, id: string, messages: list<Message>, events: list<TranscriptEvent>, assets?: any, \
             metadata?: any, summary?: any, length: int, created_at: int, parent_id: any, child_ids: list<string>, \
             branched_at_event_index: any, workspace_anchor: any, ...}",
    ),
    ("SessionAncestry", "{parent_id: any, child_ids: list<string>, root_id: string, ...}"),
    (
        "Compaction",
        "{mode: string, strategy: string, keep_last: int, message_count: int, archived_messages: int, \
             remaining_messages: int, estimated_tokens_before: int, estimated_tokens_after: int, summary: any, \
             reminders_expired: int, reminders_deduped: int, reminders_preserved: int, ...}",
    ),
    (
        "InjectionAccepted",
        "{status: string, mode: string, reminderId?: string, injectionId?: string, dedupedCount: int, ...}",
    ),
    (
        "Injection",
        "{kind: string, mode: string, reminderId?: string, injectionId?: string, body?: string, content?: any, \
             tags?: list<string>, dedupeKey?: any, ttlTurns?: any, roleHint?: string, source?: string, ...}",
    ),
    ("InjectionsPending", "{pendingCount: int, injections: list<Injection>, ...}"),
    ("InjectionsDelivered", "{delivered: int, injections: list<Injection>, ...}"),
    ("ReminderRevoked", "{status: string, reminderId: string, ...}"),
    (
        "ToolCallReceipt",
        "{_type: string, session_id: any, agent_id: any, tool_call_id: string, tool_name: string, arguments: any, \
             turn: int, iteration: int, status: string, reason: any, truncated: bool, started_at_ms: int, \
             duration_ms: int, audit: {reminders: list<{hook_event: string, tool_call_id: string, tool_name: string, \
             reminder_id: string, tags: list<string>, dedupe_key: any, source: string, role_hint: string, \
             ttl_turns: any, deduped_count: int, ...}>, ...}, ...}",
    ),
    (
        "LogRecord",
        "{id: int, cursor: int, topic: string, kind: string, payload: any, headers: any, occurred_at_ms: int, ...}",
    ),
    (
        "HandoffEnvelope",
        "{_type: string, id: string, source_persona: string, target_persona_or_human: any, task: any, reason: any, \
             session_id: any, created_at_ms: int, reminder_propagation: list<any>, metadata?: any, ...}",
    ),
    (
        "FactRecord",
        "{_type: string, id: string, key: string, tags: list<string>, value: {schema: string, kind: string, claim: any, \
             confidence: any, evidence: list<{kind: string, ref: any, ...}>, provenance: any, recorded_at: int, \
             valid_until: any, ...}, score?: float, ...}",
    ),
    (
        "MockCall",
        "{provider: string, model: string, session_id: any, turn: int, system: any, messages: list<Message>, \
             tools: list<{name: string, description: string, parameters: any, returns: any, annotations: any, ...}>, \
             tool_choice?: any, temperature?: any, top_p?: any, stop?: any, seed?: any, max_tokens?: any, \
             output_schema?: any, thinking?: any, extra?: any, ...}",
    ),
    (
        "Worker",
        "{id: string, name: string, task: string, status: string, mode: string, session_id: string, parent_id?: string, \
             has_transcript: bool, snapshot_path?: string, suspension?: any, result?: any, error?: any, \
             transcript?: transcript, ...}",
    ),
    (
        "SubAgentResult",
        "{ok?: bool, status: string, summary?: string, text?: string, artifacts?: any, tokens_used?: int, \
             budget_exceeded?: bool, data?: any, error?: any, suspension?: any, session_id: string, worker_id?: string, \
             transcript?: transcript, id?: string, name?: string, task?: string, mode?: string, parent_id?: string, \
             has_transcript?: bool, snapshot_path?: string, result?: any, ...}",
    ),
    (
        "A2aCard",
        "{name: any, description: any, version: any, url: any, supportedInterfaces: any, provider: any, \
             documentationUrl: any, iconUrl: any, capabilities: any, securitySchemes: any, security: any, \
             defaultInputModes: any, defaultOutputModes: any, skills: any, signatures: any, harn: {version: string, \
             endpoint: string, streaming: bool, reminders: any, ...}, ...}",
    ),
    (
        "A2aTask",
        "{task_id: any, context_id: any, state: string, text: string, data: any, artifacts: list<{artifact_id: string, \
             name: any, description: any, parts: list<any>, metadata: any, ...}>, status_text: any, status_data: any, \
             history: list<any>, metadata: any, rejection_reason?: any, ...}",
    ),
    (
        "A2aReminder",
        "{via: string, reason?: string, sent?: bool, reminder_id?: any, deduped_count?: any, ...}",
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
    ("event pre_step", "{session: {id: any, ...}, event: string, persona: any, step: string, iteration: int, ...}"),
    (
        "event post_step",
        "{session: {id: any, ...}, event: string, persona: any, step: string, iteration: int, ok: bool, text: any, \
             tool_results: any, ...}",
    ),
];

//! Results of loops, models, workers and tools, and what is recorded about them.

lang::option_tables! {
    /// The result of `agent_loop`.
    pub(super) AGENT_LOOP_RESULT: "AgentLoopResult" (open) {
        status: "string" = required, "How the loop ended.";
        stop_reason: "string" = required, "Why it ended.";
        answer_end: "any" = required, "Why the last answer ended; nil if there was none.";
        text: "string" = required, "The last text of the model.";
        visible_text: "string" = required, "The last text without the sentinel.";
        error: "any" = required, "`{category, message, …}` if the loop failed, was blocked or was cancelled, else nil.";
        llm: "LoopUsage" = required, "Numbers of all model calls.";
        tools: "LoopTools" = required, "The names of the tools that were called.";
        session_id: "string" = required, "The session.";
        diagnostics: "list<any>" = required, "Problems that did not end the loop.";
        data: "any", "With `output_schema`: the answer.";
        reminders: "any", "Costs of the reminders in all prompts.";
        budget: "any", "With a budget: `{limit, spent, left, spent_on}`.";
        suspension: "any", "`{reason}` if the loop was suspended.";
        daemon_state: "any", "For a daemon: how often it slept and woke, and why.";
        transcript: "any" = required, "The conversation at the end.";
    }

    /// Numbers of the model calls of a loop.
    pub(super) LOOP_USAGE: "LoopUsage" (open) {
        iterations: "int" = required, "Number of model calls.";
        duration_ms: "int" = required, "Duration of the loop, in milliseconds.";
        input_tokens: "int" = required, "Tokens of the prompts.";
        output_tokens: "int" = required, "Tokens of the answers.";
        cache_read_tokens: "int" = required, "Tokens that were read from the vendor's cache.";
        cache_write_tokens: "int" = required, "Tokens that were written to the vendor's cache.";
        cost_usd: "float", "Costs in US dollars, if the price of each call is known.";
    }

    /// Names of tools, one for each call.
    pub(super) LOOP_TOOLS: "LoopTools" (open) {
        calls: "list<string>" = required, "All calls.";
        successful: "list<string>" = required, "Calls that succeeded.";
        rejected: "list<string>" = required, "Calls that were not run.";
        mode: "string" = required, "`native` or `text`.";
    }

    /// The result of `llm_call`.
    pub(super) LLM_RESULT: "LlmResult" (open) {
        text: "string" = required, "The text of the answer.";
        visible_text: "string" = required, "The text of the answer.";
        model: "any" = required, "The model that answered.";
        provider: "any" = required, "The provider that answered.";
        input_tokens: "int" = required, "Tokens of the prompt.";
        output_tokens: "int" = required, "Tokens of the answer.";
        cache_read_tokens: "int" = required, "Tokens that were read from the vendor's cache.";
        cache_write_tokens: "int" = required, "Tokens that were written to the vendor's cache.";
        tool_calls: "list<ToolCall>" = required, "The tool calls that the model requests.";
        blocks: "list<any>" = required, "The blocks of the answer.";
        stop_reason: "any" = required, "Why the answer ended, in the vendor's word.";
        answer_end: "string" = required, "Why the answer ended.";
        reasoning: "any" = required, "The thinking before the text, or nil.";
        cost_usd: "float", "Costs in US dollars, if the price is known.";
        thoughts_left_out: "int", "Number of thoughts that the request had to omit.";
        data: "any", "With `output_schema`: the answer.";
        schema_error: "any", "With `output_schema`: why the answer does not match.";
        session_id: "any", "The session.";
        transcript: "any", "With `transcript`: the conversation with the prompt and the answer.";
    }

    /// A call of a tool.
    pub(super) TOOL_CALL: "ToolCall" (open) {
        id: "string" = required, "The id of the call.";
        name: "string" = required, "The name of the tool.";
        arguments: "any" = required, "The arguments.";
    }

    /// A message of a conversation.
    pub(super) MESSAGE: "Message" (open) {
        role: "string" = required, "The speaker.";
        content: "any" = required, "The text, or blocks.";
        tool_calls: "list<ToolCall>", "The tool calls of the model.";
        tool_call_id: "string", "The call that a result belongs to.";
        name: "string", "The name of the tool, or of the speaker.";
        reasoning: "any", "The thinking before the text.";
        is_error: "bool", "Whether a result reports a failure.";
    }

    /// The handle of a worker.
    pub(super) WORKER: "Worker" (open) {
        id: "string" = required, "The id of the worker.";
        name: "string" = required, "The name of the worker.";
        task: "string" = required, "The task.";
        status: "string" = required, "The state of the worker.";
        mode: "string" = required, "The kind of the worker.";
        session_id: "string" = required, "The session of the worker.";
        parent_id: "string", "The session that it works for.";
        has_transcript: "bool" = required, "Whether it has a conversation.";
        snapshot_path: "string", "The file of its snapshot.";
        suspension: "any", "If it is suspended: `{reason, …}`.";
        result: "any", "If it has ended: the result of its loop.";
        error: "any", "If it has failed: the error.";
        transcript: "transcript", "If it has ended: the conversation.";
    }

    /// The result of `sub_agent_run`; with `background`, the handle of the worker.
    pub(super) SUB_AGENT_RESULT: "SubAgentResult" (open) {
        ok: "bool", "Whether the sub-agent succeeded.";
        status: "string" = required, "How the loop ended, or the state of the worker.";
        summary: "string", "The text of the answer.";
        text: "string", "The text of the answer.";
        artifacts: "any", "The artifacts of the sub-agent.";
        tokens_used: "int", "Tokens of all its model calls.";
        budget_exceeded: "bool", "Whether a budget ended it.";
        data: "any", "With `output_schema`: the answer.";
        error: "any", "If it failed: the error.";
        suspension: "any", "If it was suspended: `{reason, …}`.";
        session_id: "string" = required, "The session of the sub-agent.";
        worker_id: "string", "The id of the worker.";
        transcript: "transcript", "The conversation.";
        id: "string", "With `background`: the id of the worker.";
        name: "string", "With `background`: the name of the worker.";
        task: "string", "With `background`: the task.";
        mode: "string", "With `background`: the kind of the worker.";
        parent_id: "string", "With `background`: the session that it works for.";
        has_transcript: "bool", "With `background`: whether it has a conversation.";
        snapshot_path: "string", "With `background`: the file of its snapshot.";
        result: "any", "With `background`: the result of its loop.";
    }

    /// The envelope of a task that is handed over.
    pub(super) HANDOFF_ENVELOPE: "HandoffEnvelope" (open) {
        _type: "string" = required, "`handoff`";
        id: "string" = required, "The id of the envelope.";
        source_persona: "string" = required, "The persona that hands the task over.";
        target_persona_or_human: "any" = required, "The persona or human that takes the task.";
        task: "any" = required, "The task.";
        reason: "any" = required, "The reason of the handoff.";
        session_id: "any" = required, "The session, or nil.";
        created_at_ms: "int" = required, "The time, in milliseconds since 1970.";
        reminder_propagation: "list<any>" = required, "The reminders that the recipient inherits.";
        metadata: "any", "Any data.";
    }

    /// The receipt of a tool call.
    pub(super) TOOL_CALL_RECEIPT: "ToolCallReceipt" (open) {
        _type: "string" = required, "`tool_call_receipt`";
        session_id: "any" = required, "The session, or nil.";
        agent_id: "any" = required, "The agent, or nil.";
        tool_call_id: "string" = required, "The id of the call.";
        tool_name: "string" = required, "The name of the tool.";
        arguments: "any" = required, "The arguments.";
        turn: "int" = required, "The turn of the session.";
        iteration: "int" = required, "The iteration of the loop.";
        status: "string" = required, "How the call ended.";
        reason: "any" = required, "Why it did not run, or nil.";
        truncated: "bool" = required, "Whether the model saw only a part of the output.";
        started_at_ms: "int" = required, "The time, in milliseconds since 1970.";
        duration_ms: "int" = required, "Duration of the call, in milliseconds.";
        audit: "ReceiptAudit" = required, "Additions of handlers.";
    }

    /// Additions of handlers to a tool call.
    pub(super) RECEIPT_AUDIT: "ReceiptAudit" (open) {
        reminders: "list<ReceiptReminder>" = required, "The reminders.";
    }

    /// A reminder that a handler of a tool call added.
    pub(super) RECEIPT_REMINDER: "ReceiptReminder" (open) {
        hook_event: "string" = required, "The event of the handler.";
        tool_call_id: "string" = required, "The id of the call.";
        tool_name: "string" = required, "The name of the tool.";
        reminder_id: "string" = required, "The id of the reminder.";
        tags: "list<string>" = required, "The tags of the reminder.";
        dedupe_key: "any" = required, "The key of the reminder, or nil.";
        source: "string" = required, "The origin of the reminder.";
        role_hint: "string" = required, "The preferred slot.";
        ttl_turns: "any" = required, "Number of prompts that show it, or nil.";
        deduped_count: "int" = required, "Number of reminders that it replaced.";
    }

    /// A record of an event log.
    pub(super) LOG_RECORD: "LogRecord" (open) {
        id: "int" = required, "The number of the record in its topic.";
        cursor: "int" = required, "The position of the record in the log.";
        topic: "string" = required, "The topic.";
        kind: "string" = required, "The kind of the record.";
        payload: "any" = required, "The data.";
        headers: "any" = required, "The headers, or nil.";
        occurred_at_ms: "int" = required, "The time, in milliseconds since 1970.";
    }

    /// The record of a fact.
    pub(super) FACT_RECORD: "FactRecord" (open) {
        _type: "string" = required, "`memory_record`";
        id: "string" = required, "The id of the fact.";
        key: "string" = required, "The key of the claim.";
        tags: "list<string>" = required, "The tags.";
        value: "FactValue" = required, "The fact.";
        score: "float", "How well it fits the query.";
    }

    /// A recorded fact.
    pub(super) FACT_VALUE: "FactValue" (open) {
        schema: "string" = required, "The version of the record.";
        kind: "string" = required, "The kind of the fact.";
        claim: "any" = required, "The claim.";
        confidence: "any" = required, "A number from 0 to 1.";
        evidence: "list<RecordedEvidence>" = required, "The evidence.";
        provenance: "any" = required, "Any data, or nil.";
        recorded_at: "int" = required, "The time, in milliseconds since 1970.";
        valid_until: "any" = required, "The time when the fact stops being valid, or nil.";
    }

    /// A recorded piece of evidence.
    pub(super) RECORDED_EVIDENCE: "RecordedEvidence" (open) {
        kind: "string" = required, "The kind of the object.";
        r#ref: "any" = required, "The object.";
    }

    /// A call of the mock model.
    pub(super) MOCK_CALL: "MockCall" (open) {
        provider: "string" = required, "The provider.";
        model: "string" = required, "The model.";
        session_id: "any" = required, "The session, or nil.";
        turn: "int" = required, "The turn of the session.";
        system: "any" = required, "The system text, or nil.";
        messages: "list<Message>" = required, "The messages.";
        tools: "list<OfferedTool>" = required, "The tools that the model could call.";
        tool_choice: "any", "The option `tool_choice`.";
        temperature: "any", "The option `temperature`.";
        top_p: "any", "The option `top_p`.";
        stop: "any", "The option `stop`.";
        seed: "any", "The option `seed`.";
        max_tokens: "any", "The option `max_tokens`.";
        output_schema: "any", "The option `output_schema`.";
        thinking: "any", "The option `thinking`.";
        extra: "any", "The option `extra`.";
    }

    /// A tool that a model could call.
    pub(super) OFFERED_TOOL: "OfferedTool" (open) {
        name: "string" = required, "The name.";
        description: "string" = required, "The description.";
        parameters: "any" = required, "The JSON Schema of the arguments.";
        returns: "any", "The JSON Schema of the result.";
        annotations: "any", "The annotations.";
    }
}

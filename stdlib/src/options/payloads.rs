//! The payloads of events, as handlers and reminder providers get them.
//!
//! The runtime's table of events lists the fields; their types are here. A payload has no other fields, so that `check` reports
//! each unknown one.

macro_rules! payload {
    ($name:literal, $event:literal $(, $fields:expr)*) => {
        ($name, concat!("{session: {id: any, ...}, event: \"", $event, "\"" $(, ", ", $fields)*, "}"))
    };
}

macro_rules! tool {
    () => {
        "tool: {name: string, args: any, tool_call_id: any}"
    };
}

macro_rules! worker {
    () => {
        "worker: {id: string, name: string, task: string, status: string, ...}"
    };
}

macro_rules! step {
    () => {
        "persona: string, step: \"prompt\" | \"model\" | \"tools\", iteration: int"
    };
}

macro_rules! turn {
    () => {
        "iteration: int, has_tool_calls: bool, text: string, tool_results: list<{name: string, ok: bool, text: string, \
         tool_call_id: any, truncated: bool, ...}>"
    };
}

/// Before a compaction, what only the compaction determines is nil.
macro_rules! compaction {
    () => {
        "mode: string, strategy: string, keep_last: int, message_count: int, archived_messages: any, remaining_messages: any, \
         estimated_tokens_before: any, estimated_tokens_after: any, summary: any, reminders_expired: any, \
         reminders_deduped: any, reminders_preserved: any"
    };
}

/// The type of the payload of each event, by its name. What may be nil is `any`.
pub(crate) static PAYLOADS: &[(&str, &str)] = &[
    payload!("session_start", "SessionStart", "task: string, system: any, max_iterations: int"),
    payload!("session_end", "SessionEnd", "final_status: string, stop_reason: string, iterations: int"),
    payload!("user_prompt_submit", "UserPromptSubmit", "prompt: string, system: any"),
    payload!("pre_compact", "PreCompact", compaction!()),
    payload!("post_compact", "PostCompact", compaction!()),
    payload!("post_turn", "PostTurn", turn!()),
    payload!("permission_asked", "PermissionAsked", tool!(), "reason: any"),
    payload!("permission_replied", "PermissionReplied", tool!(), "reason: any, decision: \"allow\" | \"deny\""),
    payload!("file_edited", "FileEdited", "path: string, metadata: any"),
    payload!("session_error", "SessionError", "error: any"),
    payload!("session_idle", "SessionIdle", "iteration: int, wake_interval_ms: int"),
    payload!("pre_suspend", "PreSuspend", worker!(), "reason: any"),
    payload!("post_suspend", "PostSuspend", worker!(), "reason: any"),
    payload!("pre_resume", "PreResume", worker!(), "resume_input: any"),
    payload!("post_resume", "PostResume", worker!(), "resume_input: any"),
    payload!(
        "model_delta",
        "ModelDelta",
        "iteration: int, kind: \"text\" | \"reasoning\" | \"tool_call_start\" | \"tool_call_arguments\" | \"restart\", text?: string, index?: int, id?: string, name?: string, json?: string"
    ),
    payload!(
        "loop_checkpoint",
        "LoopCheckpoint",
        "session_id: string, iteration: int, kind: string, delivered: int, dispatch_skipped: bool"
    ),
    payload!("pre_step", "PreStep", step!()),
    payload!("post_step", "PostStep", step!(), "ok: bool, text: any, tool_results: any"),
    payload!(
        "on_budget_threshold",
        "OnBudgetThreshold",
        step!(),
        "tokens_used: int, context_window: any, task: string"
    ),
    payload!("on_approval_requested", "OnApprovalRequested", step!(), tool!(), "reason: any"),
    payload!("on_handoff_emitted", "OnHandoffEmitted", "persona: string, handoff: HandoffEnvelope"),
    payload!("on_persona_paused", "OnPersonaPaused", "persona: string", worker!(), "reason: any"),
    payload!("on_persona_resumed", "OnPersonaResumed", "persona: string", worker!(), "resume_input: any"),
    payload!("worker_spawned", "WorkerSpawned", worker!(), "reminder_propagation: any, again: any, parent_id: any"),
    payload!("worker_progressed", "WorkerProgressed", worker!(), "iteration: int, text: any, has_tool_calls: bool"),
    payload!("worker_waiting_for_input", "WorkerWaitingForInput", worker!(), "reason: any, suspension: any"),
    payload!("worker_suspended", "WorkerSuspended", worker!(), "reason: any, suspension: any"),
    payload!("worker_resumed", "WorkerResumed", worker!(), "resume_input: any, suspension: any, resume: any"),
    payload!("worker_completed", "WorkerCompleted", worker!(), "stop_reason: any, text: any, iteration: any"),
    payload!("worker_failed", "WorkerFailed", worker!(), "error: any, stop_reason?: any, text?: any, iteration?: any"),
    payload!("worker_stopped", "WorkerStopped", worker!(), "error: any, stop_reason: any, text: any, iteration: any"),
    payload!(
        "worker_cancelled",
        "WorkerCancelled",
        worker!(),
        "reason?: any, error?: any, stop_reason?: any, text?: any, iteration?: any"
    ),
    payload!("pre_tool_use", "PreToolUse", tool!(), "tool_name: string, iteration: int"),
    payload!(
        "post_tool_use",
        "PostToolUse",
        tool!(),
        "tool_name: string, result: {ok: bool, text: string, truncated: bool, ...}, truncated: bool, iteration: int"
    ),
    payload!("post_agent_turn", "PostAgentTurn", turn!()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use lang::ast::TypeKind;
    use lang::check::signature;
    use runtime::hooks::event::table::EVENTS;

    #[test]
    fn every_event_has_the_fields_of_the_table() {
        let names: Vec<&str> = PAYLOADS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, EVENTS.iter().map(|row| row.kind.as_str()).collect::<Vec<_>>());
        for (row, (name, text)) in EVENTS.iter().zip(PAYLOADS) {
            let ty = signature(&format!("payload() -> {text}")).and_then(|decl| decl.returns);
            let Some(TypeKind::Shape { fields, open: false }) = ty.map(|ty| ty.kind) else { panic!("{name}: {text}") };
            let mut typed: Vec<&str> = fields.iter().map(|(name, ..)| name.text.as_str()).collect();
            let mut listed: Vec<&str> = row.all_fields().chain(["event", "session"]).collect();
            typed.sort_unstable();
            listed.sort_unstable();
            assert_eq!(typed, listed, "{name}");
            for (field, optional, _) in &fields {
                let certain = row.certain_fields().chain(["event", "session"]).any(|known| known == field.text);
                assert_eq!(certain, !optional, "{name}.{}", field.text);
            }
            assert!(text.contains(&format!("event: \"{}\"", row.kind.pascal())), "{name}");
        }
    }
}

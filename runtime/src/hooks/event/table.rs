//! The table of events: when each is emitted, its payload besides `event` and `session`, and the effect of an answer.
//! The reference is generated from it, and a test checks the typed payloads against it.

use crate::events::EventKind;

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRow {
    /// The event.
    pub kind: EventKind,
    /// The moment it is emitted.
    pub when: &'static str,
    /// The fields of its payload; those in brackets are optional.
    pub fields: &'static str,
    /// The possible effects of an answer besides adding reminders.
    pub answer: &'static str,
}

impl EventRow {
    /// Returns the names of all its fields.
    pub fn all_fields(&self) -> impl Iterator<Item = &'static str> {
        self.fields.split_whitespace().map(|field| field.trim_matches(['[', ']']))
    }

    /// Returns the names of its fields that are always present.
    pub fn certain_fields(&self) -> impl Iterator<Item = &'static str> {
        self.fields.split_whitespace().filter(|field| !field.starts_with('['))
    }

    fn fields_in_markdown(&self) -> String {
        let fields: Vec<String> = self.fields.split_whitespace().map(|field| format!("`{field}`")).collect();
        fields.join(" ").replace("`[", "`").replace("]`", "`?")
    }

    /// Returns the builtin that registers a handler, in words for the reference.
    #[must_use]
    pub fn registered_by(&self) -> &'static str {
        match self.kind {
            EventKind::PreToolUse => "`register_tool_hook({pre})`",
            EventKind::PostToolUse => "`register_tool_hook({post})`",
            EventKind::PostAgentTurn => "providers only",
            EventKind::LoopCheckpoint => "`register_checkpoint_hook`, `register_session_hook`",
            kind if kind.is_session() => "`register_session_hook`",
            kind if kind.is_worker() => "`register_worker_hook`",
            kind if kind.has_step() => "`register_step_hook`, `register_persona_hook`",
            _ => "`register_persona_hook`",
        }
    }
}

/// Returns the row of an event.
#[must_use]
pub fn row(kind: EventKind) -> &'static EventRow {
    // Rows have the order of the words; a test checks it.
    &EVENTS[kind as usize]
}

const OBSERVES: &str = "";
const NOTHING: &str = "not allowed, not even reminders";

const fn told(kind: EventKind, when: &'static str, fields: &'static str, answer: &'static str) -> EventRow {
    EventRow { kind, when, fields, answer }
}

const COMPACTION: &str = "mode strategy keep_last message_count archived_messages remaining_messages estimated_tokens_before \
    estimated_tokens_after summary reminders_expired reminders_deduped reminders_preserved";

/// All events, in the order of [`EventKind::ALL`].
pub static EVENTS: &[EventRow] = &[
    told(
        EventKind::SessionStart,
        "when a loop starts, after its prompt is accepted",
        "task system max_iterations",
        OBSERVES,
    ),
    told(
        EventKind::SessionEnd,
        "when a loop has ended, after the seam `loop_exit`",
        "final_status stop_reason iterations",
        OBSERVES,
    ),
    told(
        EventKind::UserPromptSubmit,
        "before a loop accepts its task",
        "prompt system",
        "block (status `blocked`), or `{modify: {prompt}}`",
    ),
    told(
        EventKind::PreCompact,
        "before a transcript or session is compacted",
        COMPACTION,
        "block, or `{modify: {strategy?, keep_last?, target_tokens?, summary?}}`",
    ),
    told(EventKind::PostCompact, "after a compaction", COMPACTION, OBSERVES),
    told(
        EventKind::PostTurn,
        "after the model's turn and its tools, before reminders are charged",
        "iteration has_tool_calls tool_results text",
        OBSERVES,
    ),
    told(EventKind::PermissionAsked, "before a tool that needs permission", "tool reason", OBSERVES),
    told(EventKind::PermissionReplied, "after the permission is decided", "tool reason decision", OBSERVES),
    told(
        EventKind::FileEdited,
        "`notify_file_edited`, or a change of a file that a daemon watches",
        "path metadata",
        OBSERVES,
    ),
    told(EventKind::SessionError, "when the model request fails", "error", OBSERVES),
    told(
        EventKind::SessionIdle,
        "when a daemon has nothing left to do, before it sleeps",
        "iteration wake_interval_ms",
        OBSERVES,
    ),
    told(EventKind::PreSuspend, "before a worker is suspended", "worker reason", OBSERVES),
    told(EventKind::PostSuspend, "after a worker was suspended", "worker reason", OBSERVES),
    told(EventKind::PreResume, "before a worker is resumed", "worker resume_input", OBSERVES),
    told(EventKind::PostResume, "after a worker was resumed, before its first turn", "worker resume_input", OBSERVES),
    told(
        EventKind::ModelDelta,
        "for each piece of a response, while the request is running; `kind` is `text`, `reasoning`, \
        `tool_call_start`, `tool_call_arguments` or `restart` (earlier pieces are void)",
        "iteration kind [text] [index] [id] [name] [json]",
        OBSERVES,
    ),
    told(
        EventKind::LoopCheckpoint,
        "at every seam, after its reminders were delivered",
        "session_id iteration kind delivered dispatch_skipped",
        OBSERVES,
    ),
    told(EventKind::PreStep, "before a step of an iteration", "persona step iteration", OBSERVES),
    told(
        EventKind::PostStep,
        "after a step of an iteration; `text` after `model`, `tool_results` after `tools`",
        "persona step iteration ok text tool_results",
        OBSERVES,
    ),
    told(
        EventKind::OnBudgetThreshold,
        "after each turn, once its token usage is known",
        "persona step iteration tokens_used context_window task",
        OBSERVES,
    ),
    told(EventKind::OnApprovalRequested, "with `permission_asked`", "persona step iteration tool reason", OBSERVES),
    told(EventKind::OnHandoffEmitted, "by `handoff`", "persona handoff", OBSERVES),
    told(EventKind::OnPersonaPaused, "when a worker of the persona was suspended", "persona worker reason", OBSERVES),
    told(
        EventKind::OnPersonaResumed,
        "when a worker of the persona is resumed",
        "persona worker resume_input",
        OBSERVES,
    ),
    told(EventKind::WorkerSpawned, "when a worker starts", "worker reminder_propagation again parent_id", NOTHING),
    told(EventKind::WorkerProgressed, "after each of its turns", "worker iteration text has_tool_calls", NOTHING),
    told(EventKind::WorkerWaitingForInput, "when a worker suspends itself", "worker reason suspension", NOTHING),
    told(EventKind::WorkerSuspended, "when it was suspended", "worker reason suspension", NOTHING),
    told(EventKind::WorkerResumed, "when it is resumed", "worker resume_input suspension resume", NOTHING),
    told(EventKind::WorkerCompleted, "when it has completed", "worker stop_reason text iteration", NOTHING),
    told(EventKind::WorkerFailed, "when it failed", "worker error [stop_reason] [text] [iteration]", NOTHING),
    told(
        EventKind::WorkerStopped,
        "when its budget is used up, or it is blocked or makes no progress",
        "worker error stop_reason text iteration",
        NOTHING,
    ),
    told(
        EventKind::WorkerCancelled,
        "when it was cancelled or closed",
        "worker [reason] [error] [stop_reason] [text] [iteration]",
        NOTHING,
    ),
    told(
        EventKind::PreToolUse,
        "before a tool call",
        "tool tool_name iteration",
        "block (the model reads the reason), or `{args}`",
    ),
    told(
        EventKind::PostToolUse,
        "after a tool call",
        "tool tool_name result truncated iteration",
        "`{result}` or a string",
    ),
    told(
        EventKind::PostAgentTurn,
        "together with `post_turn`, just before it",
        "iteration has_tool_calls tool_results text",
        OBSERVES,
    ),
];

/// Returns the table as Markdown, for the reference.
#[must_use]
pub fn to_markdown() -> String {
    let mut out = String::from("| event | fires | payload | registered with | result |\n|---|---|---|---|---|\n");
    for row in EVENTS {
        let providers =
            if row.kind.is_for_providers() && row.kind != EventKind::PostAgentTurn { ", providers" } else { "" };
        let answer = match row.answer {
            OBSERVES => "add reminders".to_owned(),
            NOTHING => NOTHING.to_owned(),
            more => format!("add reminders; {more}"),
        };
        out.push_str(&format!(
            "| `{}` | {} | {} | {}{providers} | {answer} |\n",
            row.kind,
            row.when,
            row.fields_in_markdown(),
            row.registered_by()
        ));
    }
    out
}

/// Returns the payloads of the events that providers can have as Markdown, for the guide.
#[must_use]
pub fn provider_payloads_to_markdown() -> String {
    let mut out = String::from("| event | fields of the payload |\n|---|---|\n");
    for row in EVENTS.iter().filter(|row| row.kind.is_for_providers()) {
        out.push_str(&format!("| `{}` | {} |\n", row.kind, row.fields_in_markdown()));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::hooks::event::{HookEvent, IterationStep, PermissionAnswer, ToolResult, ToolResults};
    use crate::loop_status::{LoopStatus, StopReason};
    use crate::message::ToolCall;
    use crate::model::Delta;
    use crate::reminder::bridge::Seam;
    use base::data::Data;

    #[test]
    fn every_event_has_its_row_in_its_place() {
        let kinds: Vec<_> = EVENTS.iter().map(|row| row.kind).collect();
        assert_eq!(kinds, EventKind::ALL);
        for kind in EventKind::ALL {
            assert_eq!(row(*kind).kind, *kind);
            assert_eq!(row(*kind).answer == NOTHING, kind.is_worker());
        }
    }

    #[test]
    fn typed_payloads_hold_what_their_rows_say() {
        let (text, data): (Arc<str>, Data) = ("t".into(), Data::Nil);
        let call = ToolCall::new("c", "look", Data::empty_dict());
        let result = ToolResult { text: text.clone(), truncated: false, ok: true, value: Data::Nil };
        let (step, iteration, results) = (IterationStep::Model, 1, ToolResults::default());
        let events = [
            HookEvent::SessionStart { task: &text, system: None, max_iterations: 1 },
            HookEvent::SessionEnd { final_status: LoopStatus::Done, stop_reason: StopReason::Completed, iterations: 1 },
            HookEvent::UserPromptSubmit { prompt: &text, system: None },
            HookEvent::PostTurn { iteration, has_tool_calls: false, tool_results: &results, text: &text },
            HookEvent::PostAgentTurn { iteration, has_tool_calls: false, tool_results: &results, text: &text },
            HookEvent::OnBudgetThreshold {
                persona: &text,
                iteration,
                tokens_used: 1,
                context_window: None,
                task: &text,
            },
            HookEvent::PreStep { persona: &text, step, iteration },
            HookEvent::PostStep { persona: &text, step, iteration, ok: true, text: None, tool_results: None },
            HookEvent::PreToolUse { call: &call, iteration },
            HookEvent::PostToolUse { call: &call, result: &result, iteration },
            HookEvent::PermissionAsked { call: &call, reason: &text },
            HookEvent::PermissionReplied { call: &call, reason: &text, decision: PermissionAnswer::Allow },
            HookEvent::OnApprovalRequested { persona: &text, iteration, call: &call, reason: &text },
            HookEvent::FileEdited { path: &text, metadata: &data },
            HookEvent::SessionError { error: &data },
            HookEvent::SessionIdle { iteration, wake_interval_ms: 1 },
            HookEvent::ModelDelta { iteration, delta: Delta::Restart { why: "" } },
            HookEvent::LoopCheckpoint {
                session_id: &text,
                iteration,
                kind: Seam::LoopExit,
                delivered: 0,
                dispatch_skipped: false,
            },
        ];
        for event in &events {
            let mut fields: Vec<&str> = row(event.kind()).certain_fields().chain(["event", "session"]).collect();
            fields.sort_unstable();
            let payload = event.to_data(&text);
            let found: Vec<&str> = payload.as_dict().unwrap().keys().map(AsRef::as_ref).collect();
            assert_eq!(found, fields, "{}", event.kind());
        }
    }

    #[test]
    fn compaction_tells_what_its_rows_say() {
        let told: Vec<&str> = row(EventKind::PreCompact).certain_fields().collect();
        for field in crate::lifecycle::archive::OUTLOOK {
            assert!(told.contains(&field), "{field}");
        }
        assert_eq!(told.len(), crate::lifecycle::archive::OUTLOOK.len());
    }
}

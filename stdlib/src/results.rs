//! Dicts that builtins pass to scripts: results, and the arguments of functions that a script hands over.
//!
//! A value that differs from case to case, or may be nil, is `any`. A table is open if there can be keys that it does not list; a name
//! near to one of its keys is then a slip that `check` reports. In a closed one, every unknown key is.

mod agents;
mod callbacks;
mod peers;
mod reminders;
#[cfg(test)]
mod tests;

use lang::builtins::OptionTable;

/// The tables of results and arguments.
pub(crate) static RESULTS: &[&OptionTable] = &[
    &agents::AGENT_LOOP_RESULT,
    &agents::LOOP_USAGE,
    &agents::LOOP_TOOLS,
    &agents::LLM_RESULT,
    &agents::TOOL_CALL,
    &agents::MESSAGE,
    &agents::WORKER,
    &agents::SUB_AGENT_RESULT,
    &agents::HANDOFF_ENVELOPE,
    &agents::TOOL_CALL_RECEIPT,
    &agents::RECEIPT_AUDIT,
    &agents::RECEIPT_REMINDER,
    &agents::LOG_RECORD,
    &agents::FACT_RECORD,
    &agents::FACT_VALUE,
    &agents::RECORDED_EVIDENCE,
    &agents::MOCK_CALL,
    &agents::OFFERED_TOOL,
    &reminders::REMINDER,
    &reminders::TRANSCRIPT_EVENT,
    &reminders::REMINDER_ADDED,
    &reminders::REMINDER_ADDED_TO,
    &reminders::REMINDERS_REMOVED,
    &reminders::REMINDERS_REMOVED_FROM,
    &reminders::REMINDERS_CHARGED,
    &reminders::REMINDERS_FIRED,
    &reminders::PROVIDER_REPORT,
    &reminders::TRANSCRIPT_STATS,
    &reminders::EXPORTED_TRANSCRIPT,
    &reminders::SESSION_SNAPSHOT,
    &reminders::SESSION_ANCESTRY,
    &reminders::COMPACTION,
    &reminders::INJECTION_ACCEPTED,
    &reminders::INJECTION,
    &reminders::INJECTIONS_PENDING,
    &reminders::INJECTIONS_DELIVERED,
    &reminders::REMINDER_REVOKED,
    &peers::A2A_CARD,
    &peers::A2A_CARD_READING,
    &peers::A2A_TASK,
    &peers::A2A_ARTIFACT,
    &peers::A2A_REMINDER,
    &peers::CHANNEL_CONNECTION,
    &peers::CHANNEL_RECEIPT,
    &peers::CHANNEL_SESSION_PAGE,
    &peers::HUB,
    &peers::HUB_TASK,
    &peers::HUB_RECEIPT,
    &peers::HUB_DEAD_LETTER_PAGE,
    &peers::HUB_CARD_VIEW,
    &peers::HUB_TASK_PAGE,
    &callbacks::PROVIDER_CONTEXT,
    &callbacks::MODEL_QUESTION,
    &callbacks::PERMISSION_REQUEST,
    &callbacks::HTTP_CALL,
    &callbacks::MCP_QUESTION,
    &callbacks::MCP_PROGRESS,
];

//! The agent's messages about a task, and the ids that the server makes.

use base::data::Data;

use crate::a2a::A2aCode;
use a2a::{Message, Part, Role};
use stdlib::CodeRef;

use crate::host::ScriptFailure;

/// Returns an unguessable id.
pub(super) fn fresh_id(kind: &str) -> std::sync::Arc<str> {
    format!("{kind}_{}", uuid::Uuid::new_v4().simple()).into()
}

/// Returns a message from the agent.
pub(super) fn says(parts: Vec<Part>) -> Message {
    Message::new(Role::Agent, fresh_id("msg"), parts)
}

/// Returns a message with one text.
pub(super) fn sentence(text: &str) -> Message {
    says(vec![Part::text(text)])
}

/// Returns a failure message: a sentence, and data for programs.
pub(super) fn failed(code: &str, message: &str) -> Message {
    failed_as(code, message, None)
}

fn failed_as(code: &str, message: &str, correlation_id: Option<&str>) -> Message {
    let data = Data::dict_of_present([("code", Data::from(code)), ("correlation_id", correlation_id.into())]);
    says(vec![Part::text(message), Part::data(data)])
}

/// An error whose details stay on this machine: the caller gets its code, its title and an id, and the server's log
/// has the details under the same id.
pub(super) struct ReportedError {
    /// The message for the caller.
    pub(super) message: Message,
    /// The text for the log.
    pub(super) log: String,
}

/// Reports an error with the code `code`; `words` is the script's own message to its caller, `details` the full text
/// for the log.
pub(super) fn reported(about: &str, code: impl Into<CodeRef>, words: Option<&str>, details: &str) -> ReportedError {
    let (id, code) = (fresh_id("err"), code.into());
    let text = match words {
        Some(words) => words.to_owned(),
        None => format!("{about}: {} (error {id})", code.row().title),
    };
    ReportedError {
        message: failed_as(code.as_str(), &text, Some(&id)),
        log: format!("error {id}\n{}", details.trim_end()),
    }
}

/// Reports the failure of a script.
pub(super) fn failure(failure: &ScriptFailure) -> ReportedError {
    reported(FAILED, failure.code, failure.words.as_deref(), &failure.drawn)
}

/// Reports an internal error of the server.
pub(super) fn fault(details: &str) -> ReportedError {
    reported(FAILED, A2aCode::Internal, None, details)
}

/// The start of the sentence for the caller.
pub(super) const FAILED: &str = "the task failed";

/// Returns the message of a rejection: `reason` is a word such as `CAPACITY_EXCEEDED` or a sentence, `detail` adds to
/// it.
pub(super) fn rejection(reason: &str, detail: Option<&str>, agent_id: &str, at_ms: u64) -> Message {
    let text = match detail {
        Some(detail) => format!("Task rejected: {reason}: {detail}"),
        None => format!("Task rejected: {reason}"),
    };
    let data = Data::dict_of_present([
        ("rejection_reason", Data::from(reason)),
        ("detail", detail.into()),
        ("agent_id", agent_id.into()),
        ("timestamp", (at_ms / 1000).into()),
    ]);
    says(vec![Part::text(text), Part::data(data)])
}

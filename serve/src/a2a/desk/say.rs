//! What the agent says of a task: its messages, and the ids of all that is made here.

use crate::a2a::A2aCode;
use a2a::{Message, Part, Role};
use runtime::data::Data;
use stdlib::CodeRef;

use crate::host::Failure;

/// An id that nobody can guess.
pub(super) fn fresh_id(kind: &str) -> std::sync::Arc<str> {
    format!("{kind}_{}", uuid::Uuid::new_v4().simple()).into()
}

/// A message of the agent's.
pub(super) fn says(parts: Vec<Part>) -> Message {
    Message::new(Role::Agent, fresh_id("msg"), parts)
}

/// A sentence.
pub(super) fn sentence(text: &str) -> Message {
    says(vec![Part::text(text)])
}

/// Why a task has failed: a sentence, and what a machine can read.
pub(super) fn failed(code: &str, message: &str) -> Message {
    failed_as(code, message, None)
}

fn failed_as(code: &str, message: &str, correlation_id: Option<&str>) -> Message {
    let data = Data::dict_of_present([("code", Data::from(code)), ("correlation_id", correlation_id.into())]);
    says(vec![Part::text(message), Part::data(data)])
}

/// An error whose details stay on this machine: the caller gets its code, its title and an id, and the log of the server has the
/// rest under the same id.
pub(super) struct Reported {
    /// For the caller.
    pub(super) message: Message,
    /// For the log.
    pub(super) log: String,
}

/// Reports an error of the code `code`; `words` are the script's own to its caller, `details` the whole of it.
pub(super) fn reported(about: &str, code: impl Into<CodeRef>, words: Option<&str>, details: &str) -> Reported {
    let (id, code) = (fresh_id("err"), code.into());
    let text = match words {
        Some(words) => words.to_owned(),
        None => format!("{about}: {} (error {id})", code.row().title),
    };
    Reported { message: failed_as(code.as_str(), &text, Some(&id)), log: format!("error {id}\n{}", details.trim_end()) }
}

/// Reports why a script has failed.
pub(super) fn failure(failure: &Failure) -> Reported {
    reported(FAILED, failure.code, failure.words.as_deref(), &failure.drawn)
}

/// Reports an error of the server.
pub(super) fn fault(details: &str) -> Reported {
    reported(FAILED, A2aCode::Internal, None, details)
}

/// How the sentence for the caller begins.
pub(super) const FAILED: &str = "the task failed";

/// Why a task is rejected: `reason` is a word such as `CAPACITY_EXCEEDED` or a sentence, `detail` says more.
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

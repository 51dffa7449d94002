//! What the agent says of a task: its messages, and the ids of all that is made here.

use runtime::data::Data;
use stdlib::a2a::{Message, Part, Role};

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
pub(super) fn failed(code: &str, message: &str, drawn: Option<&str>) -> Message {
    let data = Data::dict_of_present([("code", Data::from(code)), ("drawn", drawn.into())]);
    says(vec![Part::text(message), Part::data(data)])
}

/// Why a script has failed.
pub(super) fn failure(failure: &Failure) -> Message {
    failed(&failure.code, &failure.message, Some(&failure.drawn))
}

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

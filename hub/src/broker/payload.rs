//! Reading and writing the payload: metadata, messages and times.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{Struct, Timestamp, Value};

use crate::proto::a2a::{DataPart, Message, Part, Role, TaskState, part};

use super::error::BrokerError;

/// Returns the string at a key of metadata. Empty strings count as missing.
pub(crate) fn text<'a>(metadata: Option<&'a Struct>, key: &str) -> Option<&'a str> {
    match metadata?.fields.get(key)?.kind.as_ref()? {
        Kind::StringValue(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Returns the queue of a message; empty if it names none.
pub(crate) fn queue(metadata: Option<&Struct>) -> Result<String, BrokerError> {
    match metadata.and_then(|metadata| metadata.fields.get("queue")).map(|value| value.kind.as_ref()) {
        None | Some(None | Some(Kind::NullValue(_))) => Ok(String::new()),
        Some(Some(Kind::StringValue(queue))) => Ok(queue.clone()),
        // A message without a queue is a broadcast.
        Some(Some(_)) => Err(BrokerError::invalid("`metadata.queue` is not a string")),
    }
}

/// Returns the deadline of a message, in milliseconds since 1970-01-01 UTC.
pub(crate) fn deadline(metadata: Option<&Struct>) -> Result<Option<u64>, BrokerError> {
    let Some(value) = metadata.and_then(|metadata| metadata.fields.get("deadline")) else { return Ok(None) };
    let Some(Kind::StringValue(written)) = &value.kind else {
        return Err(BrokerError::invalid(
            "`metadata.deadline` is not a string; use RFC 3339, as in `2026-01-31T12:00:00Z`",
        ));
    };
    let parsed: jiff::Timestamp = written.parse().map_err(|_| {
        let shown = base::ids::shortened(written);
        BrokerError::invalid(format!(
            "`metadata.deadline` is not a time: `{shown}`; use RFC 3339, as in `2026-01-31T12:00:00Z`"
        ))
    })?;
    Ok(Some(u64::try_from(parsed.as_millisecond()).unwrap_or(0)))
}

/// Returns the maximum number of attempts that a message names.
pub(crate) fn max_attempts(metadata: Option<&Struct>) -> Result<Option<u32>, BrokerError> {
    let Some(value) = metadata.and_then(|metadata| metadata.fields.get("max_attempts")) else { return Ok(None) };
    match value.kind {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(Kind::NumberValue(number)) if (1.0..=1_000_000.0).contains(&number) && number.fract() == 0.0 => {
            Ok(Some(number as u32))
        }
        _ => Err(BrokerError::invalid("`metadata.max_attempts` is not a whole number of at least 1")),
    }
}

/// Converts a time in milliseconds since 1970-01-01 UTC.
pub(crate) fn timestamp(at_ms: u64) -> Timestamp {
    Timestamp {
        seconds: i64::try_from(at_ms / 1_000).unwrap_or(i64::MAX),
        nanos: i32::try_from(at_ms % 1_000).unwrap_or(0) * 1_000_000,
    }
}

/// Creates metadata.
pub(crate) fn metadata<'a>(fields: impl IntoIterator<Item = (&'a str, Kind)>) -> Struct {
    let fields: BTreeMap<String, Value> =
        fields.into_iter().map(|(key, kind)| (key.to_owned(), Value { kind: Some(kind) })).collect();
    Struct { fields }
}

/// Creates the value of a string.
pub(crate) fn string(text: impl Into<String>) -> Kind {
    Kind::StringValue(text.into())
}

/// Creates a message of the hub about a task.
pub(crate) fn notice(
    message_id: String,
    task_id: &str,
    context_id: &str,
    text: String,
    data: Option<Struct>,
) -> Message {
    let part = |part| Part { part: Some(part), metadata: None };
    let mut content = vec![part(part::Part::Text(text))];
    content.extend(data.map(|data| part(part::Part::Data(DataPart { data: Some(data) }))));
    Message {
        message_id,
        context_id: context_id.to_owned(),
        task_id: task_id.to_owned(),
        role: Role::Agent as i32,
        content,
        metadata: None,
        extensions: Vec::new(),
    }
}

/// Returns the rejection reason in a data part of a message, as the published protocol writes it.
pub(crate) fn rejection_reason(message: Option<&Message>) -> Option<&str> {
    message?.content.iter().find_map(|part| match &part.part {
        Some(part::Part::Data(data)) => text(data.data.as_ref(), "rejection_reason"),
        _ => None,
    })
}

/// Returns the first text of a message.
#[must_use]
pub fn first_text(message: &Message) -> Option<&str> {
    message.content.iter().find_map(|part| match &part.part {
        Some(part::Part::Text(text)) => Some(text.as_str()),
        _ => None,
    })
}

/// Returns a state without its prefix.
#[must_use]
pub fn state_name(state: TaskState) -> &'static str {
    state.as_str_name().trim_start_matches("TASK_STATE_")
}

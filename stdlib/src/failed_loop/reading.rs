//! The outcome of the loop whose result a value is.

use base::data::Data;

use super::FailedLoop;
use super::failure::{FailureSubject, Told, code_of, ended_early, lacked_budget, message_of, raise_of};
use crate::convert::TranscriptValue;
use lang::diagnostic::Diagnostic;
use lang::value::{Dict, Value};
use lang::vm::Raise;
use runtime::loop_status::{LoopStatus, StopReason};
use runtime::workers::WorkerStatus;

/// The failure of a loop whose result a pipeline returns.
pub(crate) fn returned(value: &Value, told: Told) -> Option<Diagnostic> {
    if let Some(failed) = value.as_host::<FailedLoop>() {
        return Some(failed.failure.to_returned(told));
    }
    let (_, error) = ended(value).filter(|(status, _)| has_failed(value, *status))?;
    let message = message_of(&FailureSubject::Loop, &error);
    Some(Raise::error(code_of(&error), message).to_diagnostic())
}

/// Returns how a loop ended if the value is its result: `None` for other values, an error if the
/// loop failed, which handles the failure.
pub(crate) fn outcome(value: &Value) -> Option<Result<(), Box<Raise>>> {
    if let Some(failed) = value.as_host::<FailedLoop>() {
        return Some(Err(failed.failure.to_raise()));
    }
    let Some((status, error)) = ended(value) else { return worker_outcome(value) };
    if !has_failed(value, status) {
        return Some(Ok(()));
    }
    let message = message_of(&FailureSubject::Loop, &error);
    Some(Err(raise_of(code_of(&error), &message, &error)))
}

/// Returns how a worker ended, if the value is a handle of one that has ended.
fn worker_outcome(value: &Value) -> Option<Result<(), Box<Raise>>> {
    let handle = value.as_dict()?;
    handle.get_str("transcript")?.as_host::<TranscriptValue>()?;
    match handle.get_str("status")?.as_str()?.parse() {
        Ok(WorkerStatus::Completed) => Some(Ok(())),
        Ok(WorkerStatus::Failed) => {
            let text = |key: &str| handle.get_str(key).and_then(Value::as_str).unwrap_or_default().into();
            let subject = FailureSubject::Worker { id: text("id"), name: text("name") };
            let error = handle.get_str("error").map(crate::convert::to_data_lossy).unwrap_or_default();
            if ended_early(&error) || lacked_budget(&error) {
                return Some(Ok(()));
            }
            let message = message_of(&subject, &error);
            Some(Err(raise_of(code_of(&error), &message, &error)))
        }
        _ => None,
    }
}

/// The status and the error of a loop's result, which holds its transcript; nothing for other values.
pub(crate) fn ended(value: &Value) -> Option<(LoopStatus, Data)> {
    let result = as_dict(value)?;
    result.get_str("transcript")?.as_host::<TranscriptValue>()?;
    let status: LoopStatus = result.get_str("status")?.as_str()?.parse().ok()?;
    let error = result.get_str("error").map(crate::convert::to_data_lossy).unwrap_or_default();
    Some((status, error))
}

/// The entries of a dict, or of a failed loop's result.
pub(crate) fn as_dict(value: &Value) -> Option<&Dict> {
    match value.as_host::<FailedLoop>() {
        Some(failed) => failed.dict(),
        None => value.as_dict(),
    }
}

/// Whether a loop failed that ended so, as [`LoopResult::has_failed`] says.
///
/// [`LoopResult::has_failed`]: runtime::agent_loop::LoopResult::has_failed
fn has_failed(result: &Value, status: LoopStatus) -> bool {
    let stop_reason = as_dict(result).and_then(|dict| dict.get_str("stop_reason")).and_then(Value::as_str);
    matches!(status, LoopStatus::ProviderError | LoopStatus::Error | LoopStatus::Refused)
        || [StopReason::OutputSchema, StopReason::Budget].iter().any(|reason| stop_reason == Some(reason.as_str()))
}

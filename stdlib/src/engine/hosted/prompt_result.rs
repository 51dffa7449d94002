//! The result of a prompt.

use crate::codes::ServedCode;
use crate::convert::to_data_lossy;
use crate::failed_loop::{self, Told};
use crate::hosting::Hosting;
use base::data::Data;
use lang::diagnostic::Diagnostic;
use lang::value::{Value, display};
use lang::vm::{Outcome, RunCode, Why};
use runtime::loop_status::{LoopStatus, StopReason};
use std::sync::Arc;

/// The result of a prompt.
#[derive(Debug)]
pub struct PromptResult {
    /// The end of the prompt.
    pub end: PromptEnd,
    /// The closing message that the script has set.
    pub closing: Option<Arc<str>>,
    /// The error that the pipeline threw while it cleaned up after a stop.
    pub uncleaned: Option<Diagnostic>,
    /// Further diagnostics: tasks that failed unseen, a log that cannot be written.
    pub diagnostics: Vec<Diagnostic>,
}

/// The end of a prompt.
#[derive(Debug)]
pub enum PromptEnd {
    /// The pipeline returned.
    Returned(ReturnedValue),
    /// It was told to stop.
    Cancelled,
    /// The script refuses what was asked: why.
    Refused(Arc<str>),
    /// It failed.
    Failed(Box<Diagnostic>),
    /// The pipeline returned an `Err` of the script's own: its words, and the same as a diagnostic.
    Declined(Arc<str>, Box<Diagnostic>),
}

/// The value that a pipeline returned, for display.
#[derive(Debug, Clone, PartialEq)]
pub enum ReturnedValue {
    /// The pipeline returned nothing to show, or only text that was shown already.
    Nothing,
    /// Text.
    Text(Arc<str>),
    /// The result of a loop.
    Loop {
        /// Its text, where it has not shown that itself.
        text: Option<Arc<str>>,
        /// Its status.
        status: LoopStatus,
        /// The reason of the end; `None` if the result does not say, as that of a sub-agent.
        stop_reason: Option<StopReason>,
    },
    /// Data of the script's own.
    Data(Data),
    /// The result of a public function, as it is.
    Result(Data),
}

/// The top level ended before its end.
pub(super) fn of_top_level(value: &Value) -> Diagnostic {
    let why = match value.as_result() {
        Some(Err(error)) => format!("the top level of the script failed: {}", display(error)),
        _ => "the top level of the script returned before its end, so the script accepts no prompts".to_owned(),
    };
    Diagnostic::new(ServedCode::Unservable, why)
}

/// Returns the error that the pipeline threw while it cleaned up after a stop: a `finally` or a
/// `defer` has failed.
pub(super) fn of_cleaning_up(outcome: &Outcome) -> Option<Diagnostic> {
    let raise = outcome.as_ref().err()?;
    let failed = matches!(raise.why, Why::Thrown | Why::Error).then_some(raise).or(raise.clean_up.as_ref());
    failed.map(|raise| raise.to_diagnostic())
}

/// Returns the end of a public function that was not stopped.
pub(super) fn of_call(outcome: Outcome, hosting: &Hosting) -> PromptEnd {
    let Ok(value) = outcome else { return of_pipeline(outcome, hosting) };
    let inner = match value.as_result() {
        Some(Err(_)) => return of_value(&value, hosting),
        Some(Ok(inner)) => inner,
        None => &value,
    };
    match of_loop(inner, hosting) {
        Some(PromptEnd::Returned(_)) => {
            let text = failed_loop::as_dict(inner).and_then(|dict| {
                ["visible_text", "text"].into_iter().find_map(|key| dict.get_str(key)?.as_str().map(Arc::<str>::from))
            });
            PromptEnd::Returned(ReturnedValue::Result(text.into()))
        }
        Some(end) => end,
        None => PromptEnd::Returned(ReturnedValue::Result(to_data_lossy(inner))),
    }
}

/// Returns the end of a pipeline that was not stopped.
pub(super) fn of_pipeline(outcome: Outcome, hosting: &Hosting) -> PromptEnd {
    match outcome {
        Ok(value) => of_value(&value, hosting),
        Err(raise) if raise.why == Why::Exit(0) => PromptEnd::Returned(ReturnedValue::Nothing),
        Err(raise) => {
            let mut found = raise.to_diagnostic();
            if let Why::Exit(code) = raise.why {
                found.message = format!("the script exited with `exit({code})`");
            }
            PromptEnd::Failed(Box::new(found))
        }
    }
}

fn of_value(value: &Value, hosting: &Hosting) -> PromptEnd {
    let value = match value.as_result() {
        Some(Err(error)) => {
            let found = Box::new(Diagnostic::new(
                RunCode::Uncaught,
                format!("the pipeline returned an error: {}", display(error)),
            ));
            return match own_words(error) {
                Some(words) => PromptEnd::Declined(words, found),
                None => PromptEnd::Failed(found),
            };
        }
        Some(Ok(value)) => value,
        None => value,
    };
    if let Some(text) = value.as_str() {
        return PromptEnd::Returned(news(text, hosting).map_or(ReturnedValue::Nothing, ReturnedValue::Text));
    }
    match value {
        Value::Nil | Value::Unbound => PromptEnd::Returned(ReturnedValue::Nothing),
        _ => match of_loop(value, hosting) {
            Some(end) => end,
            None => PromptEnd::Returned(match to_data_lossy(value) {
                data @ (Data::Dict(_) | Data::List(_)) => ReturnedValue::Data(data),
                _ => ReturnedValue::Text(display(value).into()),
            }),
        },
    }
}

/// Returns the text if it was not shown yet.
fn news(text: &str, hosting: &Hosting) -> Option<Arc<str>> {
    (!text.trim().is_empty() && !hosting.is_shown(text)).then(|| text.into())
}

/// Returns the end for the result of a loop or of a sub-agent: a dict with its transcript.
fn of_loop(value: &Value, hosting: &Hosting) -> Option<PromptEnd> {
    let failed = failed_loop::returned(value, Told::OtherReader);
    let (status, error) = failed_loop::ended(value)?;
    if let Some(failed) = failed.filter(|_| status != LoopStatus::Refused) {
        return Some(PromptEnd::Failed(Box::new(failed)));
    }
    let dict = failed_loop::as_dict(value)?;
    let stop_reason = dict.get_str("stop_reason").and_then(Value::as_str);
    Some(match status {
        LoopStatus::Blocked | LoopStatus::Refused => {
            PromptEnd::Refused(error.get("message").as_str().unwrap_or(stop_reason.unwrap_or(status.as_str())).into())
        }
        _ => {
            let text = ["visible_text", "text"].into_iter().find_map(|key| dict.get_str(key)?.as_str());
            let text = text.and_then(|text| news(text, hosting));
            PromptEnd::Returned(ReturnedValue::Loop {
                text,
                status,
                stop_reason: stop_reason.and_then(|word| word.parse().ok()),
            })
        }
    })
}

/// Returns the script's own message in a returned `Err(error)`: a text, or the `message` of a dict
/// that it made itself. The errors of builtins have a code of the catalogue; they may name paths
/// and servers, and are passed on by `?`.
fn own_words(error: &Value) -> Option<Arc<str>> {
    if let Some(text) = error.as_str() {
        return Some(text.into());
    }
    let dict = error.as_dict()?;
    let code = dict.get_str("code").and_then(Value::as_str);
    let is_own = code.is_none_or(|code| crate::catalogue::find(code).is_none());
    dict.get_str("message").and_then(Value::as_str).filter(|_| is_own).map(Into::into)
}

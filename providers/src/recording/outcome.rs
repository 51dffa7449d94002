//! The outcome of a call.

use base::call::{CallError, CallErrorKind, Outcome, call_error};
use base::data::Data;
use runtime::budget::BudgetError;
use runtime::message::{Block, ToolCall};
use runtime::model::{ModelError, ModelErrorKind, ModelReply};
use runtime::scope::Stopped;
use runtime::usage::Usage;
use std::rc::Rc;
use std::sync::Arc;

/// The outcome of a call.
#[derive(Debug, Clone)]
pub enum CallOutcome {
    /// An answer.
    Reply(Box<ModelReply>),
    /// The route failed.
    Error(ModelError),
    /// It was stopped, and said so.
    Stopped(Stopped),
    /// A budget did not cover the retry after this failure.
    OverBudget(Arc<str>),
    /// The caller was cancelled before there was an answer.
    GivenUp,
}

impl CallOutcome {
    /// Returns the part of an outcome that is recorded.
    #[must_use]
    pub fn of(outcome: &Outcome<ModelReply>) -> CallOutcome {
        match outcome {
            Ok(reply) => CallOutcome::Reply(Box::new(reply.clone())),
            Err(failure) => Self::failure(failure),
        }
    }

    fn failure(failure: &Rc<dyn CallError>) -> CallOutcome {
        if let Some(error) = failure.as_any().downcast_ref::<ModelError>() {
            return CallOutcome::Error(error.clone());
        }
        if let Some(BudgetError::Exhausted(exhausted)) = failure.as_any().downcast_ref::<BudgetError>()
            && let Some(after) = &exhausted.after
        {
            return CallOutcome::OverBudget(after.clone());
        }
        if let Some(stopped) = failure.as_any().downcast_ref::<Stopped>() {
            return CallOutcome::Stopped(stopped.clone());
        }
        match failure.kind() {
            CallErrorKind::Deadline => CallOutcome::Stopped(Stopped::Deadline),
            _ => CallOutcome::Stopped(Stopped::Cancelled(failure.to_string().into())),
        }
    }

    /// The outcome again; nothing where there was none.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome<ModelReply>> {
        match self {
            CallOutcome::Reply(reply) => Some(Ok(reply.as_ref().clone())),
            CallOutcome::Error(error) => Some(Err(call_error(error.clone()))),
            CallOutcome::Stopped(stopped) => Some(Err(call_error(stopped.clone()))),
            CallOutcome::OverBudget(failure) => {
                Some(Err(call_error(ModelError::new(ModelErrorKind::Server, failure.as_ref()))))
            }
            CallOutcome::GivenUp => None,
        }
    }

    pub(super) fn to_data(&self) -> Data {
        match self {
            CallOutcome::Reply(reply) => Data::dict([("reply", reply_to_data(reply))]),
            CallOutcome::Error(error) => Data::dict([("error", error.to_data())]),
            CallOutcome::Stopped(Stopped::Deadline) => Data::dict([("stopped", Data::from("deadline"))]),
            CallOutcome::Stopped(Stopped::Cancelled(reason)) => {
                Data::dict([("stopped", Data::from("cancelled")), ("reason", reason.into())])
            }
            CallOutcome::OverBudget(failure) => Data::dict([("over_budget", Data::from(failure))]),
            CallOutcome::GivenUp => Data::dict([("given_up", Data::from(true))]),
        }
    }

    pub(super) fn from_data(data: &Data) -> Option<CallOutcome> {
        if data.get("given_up").truthy() {
            return Some(CallOutcome::GivenUp);
        }
        if let Some(failure) = data.get("over_budget").as_shared_str() {
            return Some(CallOutcome::OverBudget(failure));
        }
        match data.get("stopped").as_str() {
            Some("deadline") => return Some(CallOutcome::Stopped(Stopped::Deadline)),
            Some("cancelled") => {
                return Some(CallOutcome::Stopped(Stopped::Cancelled(data.get("reason").as_shared_str()?)));
            }
            _ => {}
        }
        if !data.get("error").is_nil() {
            return error_from_data(data.get("error")).map(CallOutcome::Error);
        }
        reply_from_data(data.get("reply")).map(|reply| CallOutcome::Reply(Box::new(reply)))
    }
}

fn reply_to_data(reply: &ModelReply) -> Data {
    let list = |items: Vec<Data>| if items.is_empty() { Data::Nil } else { Data::list(items) };
    let usage = serde_json::to_value(reply.usage).map_or(Data::Nil, Data::from);
    let extra = if reply.extra.is_empty() { Data::Nil } else { Data::from(reply.extra.clone()) };
    Data::dict_of_present([
        ("text", Data::from(&reply.text)),
        ("tool_calls", list(reply.tool_calls.iter().map(ToolCall::to_data).collect())),
        ("blocks", list(reply.blocks.iter().map(Block::to_data).collect())),
        ("reasoning", reply.reasoning.as_ref().into()),
        ("usage", usage),
        ("stop_reason", reply.stop_reason.as_ref().into()),
        ("model", (&reply.model).into()),
        ("provider", (&reply.provider).into()),
        ("extra", extra),
    ])
}

fn reply_from_data(data: &Data) -> Option<ModelReply> {
    data.as_dict()?;
    let list = |key: &str| match data.get(key) {
        Data::Nil => Some(&[][..]),
        other => other.as_list(),
    };
    let call = |call: &Data| {
        Some(ToolCall::new(
            call.get("id").as_shared_str()?,
            call.get("name").as_shared_str()?,
            call.get("arguments").clone(),
        ))
    };
    Some(ModelReply {
        text: data.get("text").as_shared_str()?,
        tool_calls: list("tool_calls")?.iter().map(call).collect::<Option<_>>()?,
        blocks: list("blocks")?.iter().map(Block::from_data).collect(),
        reasoning: data.get("reasoning").as_shared_str(),
        usage: usage_from_data(data.get("usage"))?,
        stop_reason: data.get("stop_reason").as_shared_str(),
        model: data.get("model").as_shared_str()?,
        provider: data.get("provider").as_shared_str()?,
        extra: data.get("extra").as_dict().cloned().unwrap_or_default(),
    })
}

fn usage_from_data(data: &Data) -> Option<Usage> {
    serde_json::from_value(data.into()).ok()
}

/// The error that [`ModelError::to_data`] wrote.
pub(super) fn error_from_data(data: &Data) -> Option<ModelError> {
    let kind = data.get("category").as_str()?.parse().ok()?;
    let text = |key: &str| -> Option<Arc<str>> { data.get(key).as_shared_str() };
    Some(ModelError {
        status: data.get("status").as_int().and_then(|status| u16::try_from(status).ok()),
        retry_after_ms: data.get("retry_after_ms").as_int().and_then(|ms| u64::try_from(ms).ok()),
        retryable: data.get("retryable").truthy(),
        provider: text("provider"),
        model: text("model"),
        ..ModelError::new(kind, data.get("message").as_str()?)
    })
}

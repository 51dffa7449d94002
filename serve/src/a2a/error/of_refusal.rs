//! Converts a [`Refusal`] to its error on the wire.

use crate::a2a::A2aCode;
use a2a::ShapeError;
use runtime::reminder::bridge::QueueError;
use runtime::reminder::{ReminderError, Surface};
use stdlib::from_core;

use super::Refusal;
use super::rpc_error::{RpcError, code};
use super::shortened;
use crate::bridge::{self, BridgeError};
use crate::host::HostError;
use crate::store::StoreError;

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> RpcError {
        match refusal {
            Refusal::Params(misfit) => misfit.into(),
            Refusal::Reminder(error) => of_reminder(&error),
            Refusal::UnknownTask(id) => unknown_task(code::UNKNOWN_TASK, &id),
            Refusal::Over { task_id, state } => {
                let message = format!(
                    "the task `{}` is {state} and accepts no more messages; a message without its id starts \
                    another task",
                    shortened(&task_id),
                );
                let fault = RpcError::new(code::UNSUPPORTED, A2aCode::NotTaken, message);
                fault.with("taskId", &task_id).with("state", state.as_str())
            }
            Refusal::NotCancelable { task_id, state } => {
                let message = format!("the task `{}` is {state} and cannot be cancelled", shortened(&task_id));
                let fault = RpcError::new(code::NOT_CANCELABLE, A2aCode::NotTaken, message);
                fault.with("taskId", &task_id).with("state", state.as_str())
            }
            Refusal::Halting(id) => {
                let message = format!(
                    "the task `{}` is being stopped and accepts no more messages; a message without its id starts \
                    another task",
                    shortened(&id)
                );
                RpcError::new(code::UNSUPPORTED, A2aCode::NotTaken, message).reason("task_stopping").with("taskId", &id)
            }
            Refusal::OtherContext { task_id, context_id } => {
                let (task, context) = (shortened(&task_id), shortened(&context_id));
                let message = format!("the task `{task}` does not belong to the context `{context}`");
                RpcError::new(code::PARAMS, A2aCode::Params, message)
                    .field("message.contextId")
                    .with("taskId", &task_id)
            }
            Refusal::UnknownContext(context_id) => {
                let message = format!("context `{}` not found", shortened(&context_id));
                RpcError::new(code::PARAMS, A2aCode::Params, message).field("message.contextId")
            }
            Refusal::MediaType { part, media_type } => {
                let message = format!("the agent does not support the media type `{}`", shortened(&media_type));
                let fault = RpcError::new(code::CONTENT_TYPE, A2aCode::MediaType, message);
                fault.field(&format!("message.parts.{part}"))
            }
            Refusal::NoScope(scope) => no_scope(scope),
            Refusal::Unsupported(operation) => {
                RpcError::new(code::UNSUPPORTED, A2aCode::NotOffered, format!("{operation} is not supported"))
            }
            Refusal::TooManyStreams(most) => {
                let message = format!(
                    "too many streams: {most} are open, which is the limit; close one, or \
                    request the task"
                );
                RpcError::new(code::SERVER, A2aCode::TooMany, message).reason("too_many_streams")
            }
            Refusal::Queue(error) => of_queue(&error),
            Refusal::Host(error) => of_host(&error),
            Refusal::Log(error) => {
                let message = format!(
                    "the request was not accepted, because it cannot be written to the event \
                    log: {}",
                    error.client_message()
                );
                RpcError::new(code::INTERNAL, from_core(error.code()), message)
            }
        }
    }
}

impl From<ShapeError> for RpcError {
    fn from(misfit: ShapeError) -> RpcError {
        let fault = RpcError::new(code::PARAMS, A2aCode::Params, misfit.message).field(&misfit.field);
        fault.suggestion(misfit.suggestion.as_deref())
    }
}

impl RpcError {
    /// Converts a refusal by a method of the reminder extension. Its draft uses one code for unknown tasks and for
    /// ended ones.
    pub(crate) fn of_extension(refusal: Refusal) -> RpcError {
        match refusal {
            Refusal::UnknownTask(id) => unknown_task(code::UNSUPPORTED, &id).reason("task_not_found").typed(),
            Refusal::Over { .. } => RpcError::from(refusal).reason("task_terminal").typed(),
            other => other.into(),
        }
    }
}

/// Returns the error for a channel that lacks a scope.
pub(crate) fn no_scope(scope: &str) -> RpcError {
    let message = format!("the channel may not do this: it needs the scope `{scope}`");
    RpcError::new(code::SERVER, A2aCode::NoScope, message).reason("scope").with("scope", scope)
}

fn unknown_task(rpc: i32, id: &str) -> RpcError {
    let message = format!("task `{}` not found", shortened(id));
    RpcError::new(rpc, A2aCode::UnknownTask, message).with("taskId", id)
}

fn of_reminder(error: &ReminderError) -> RpcError {
    let fault = RpcError::new(code::PARAMS, from_core(error.code), error.message.as_str());
    let fault = fault.field(if error.field.is_empty() { "params" } else { &error.field });
    fault.with("message", error.message.as_str()).suggestion(bridge::suggestion(error, Surface::A2a))
}

fn of_queue(error: &QueueError) -> RpcError {
    let rpc = match error {
        QueueError::Full(_) | QueueError::LogBehind => code::SERVER,
        QueueError::AlreadyDelivered(_) => code::ALREADY_DELIVERED,
        QueueError::Unknown(_) | QueueError::Refused(_) => code::PARAMS,
        QueueError::Closed => code::UNSUPPORTED,
    };
    let fault = RpcError::new(rpc, BridgeError::of_queue(error), error.to_string()).reason(bridge::reason(error));
    match error {
        QueueError::AlreadyDelivered(id) | QueueError::Unknown(id) => {
            fault.field("reminderId").with("reminderId", &**id)
        }
        QueueError::Full(_) | QueueError::LogBehind | QueueError::Closed | QueueError::Refused(_) => fault,
    }
}

fn of_host(error: &HostError) -> RpcError {
    let message = error.to_string();
    match error {
        HostError::Failed(failure) => RpcError::new(code::INTERNAL, failure.code, message),
        HostError::Full(_) => RpcError::new(code::SERVER, A2aCode::TooMany, message).reason("sessions_full"),
        HostError::AccountFull(_) => {
            RpcError::new(code::SERVER, A2aCode::TooMany, message).reason("account_sessions_full")
        }
        HostError::Stopping => RpcError::new(code::SERVER, A2aCode::TooMany, message).reason("stopping"),
        HostError::Store(error) => {
            let message = format!("{message}; {}", error.help());
            match error {
                StoreError::Elsewhere(_) => {
                    RpcError::new(code::UNSUPPORTED, error.code(), message).reason("open_elsewhere")
                }
                _ => RpcError::new(code::INTERNAL, error.code(), message),
            }
        }
        HostError::UnknownSession(_)
        | HostError::Exists(_)
        | HostError::Busy(_)
        | HostError::NotAsking(_)
        | HostError::Closed(_)
        | HostError::Broken { .. } => RpcError::new(code::INTERNAL, A2aCode::Internal, message),
    }
}

//! [`Refusal`]: a refused request. [`RpcError`] is its JSON-RPC error.

use std::sync::Arc;

use a2a::{ShapeError, TaskState};
use eventlog::LogError;
use runtime::reminder::ReminderError;
use runtime::reminder::bridge::QueueError;

use crate::host::HostError;

mod of_refusal;
mod rpc_error;

#[cfg(test)]
mod tests;

pub(crate) use crate::http::shortened;
pub(crate) use of_refusal::no_scope;
pub(crate) use rpc_error::{RpcError, code};

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Invalid parameters.
    Params(ShapeError),
    /// Invalid reminder.
    Reminder(ReminderError),
    /// No task has this id.
    UnknownTask(Arc<str>),
    /// The task is over, so it accepts no messages or reminders.
    Over {
        /// The task.
        task_id: Arc<str>,
        /// The state in which it ended.
        state: TaskState,
    },
    /// The task is over, so it cannot be cancelled.
    NotCancelable {
        /// The task.
        task_id: Arc<str>,
        /// The state in which it ended.
        state: TaskState,
    },
    /// The task is being stopped, so it accepts no message.
    Halting(Arc<str>),
    /// The task belongs to a context other than the one in the request.
    OtherContext {
        /// The task.
        task_id: Arc<str>,
        /// The context in the request.
        context_id: Arc<str>,
    },
    /// The context is a session that does not exist, or that the caller does not reach.
    UnknownContext(Arc<str>),
    /// A part of the message has a media type that the agent does not accept.
    MediaType {
        /// The index of the part.
        part: usize,
        /// Its media type.
        media_type: String,
    },
    /// The channel of the caller lacks this scope.
    NoScope(&'static str),
    /// The operation with this name is not supported.
    Unsupported(&'static str),
    /// The maximum number of streams is already open.
    TooManyStreams(usize),
    /// The queue of the task refused it.
    Queue(QueueError),
    /// The session refused it.
    Host(HostError),
    /// Data that was accepted cannot be stored.
    Log(LogError),
}

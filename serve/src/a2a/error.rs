//! [`Refusal`]: what is refused. How JSON-RPC says it is [`Fault`]'s.

use std::sync::Arc;

use a2a::{ShapeError, TaskState};
use runtime::event_log::LogError;
use runtime::reminder::ReminderError;
use runtime::reminder::bridge::QueueError;

use crate::host::HostError;

mod fault;
mod of_refusal;

#[cfg(test)]
mod tests;

pub(crate) use fault::{Fault, code, shortened};

/// What is refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The parameters do not fit.
    Params(ShapeError),
    /// They are no reminder.
    Reminder(ReminderError),
    /// There is no task with this id.
    UnknownTask(Arc<str>),
    /// The task is over, so nothing can be said or put in.
    Over {
        /// The task.
        task_id: Arc<str>,
        /// How it ended.
        state: TaskState,
    },
    /// The task is over, so it cannot be cancelled.
    NotCancelable {
        /// The task.
        task_id: Arc<str>,
        /// How it ended.
        state: TaskState,
    },
    /// The task is at work and asks nothing, so nothing can be said to it.
    Busy(Arc<str>),
    /// The task belongs to another context than the one that is named.
    OtherContext {
        /// The task.
        task_id: Arc<str>,
        /// The context that was named.
        context_id: Arc<str>,
    },
    /// A part of the message has a media type that the agent does not take.
    MediaType {
        /// Which part.
        part: usize,
        /// Its media type.
        media_type: String,
    },
    /// Another message had this id.
    OtherMessage(Arc<str>),
    /// What is not offered: the name of the operation.
    Unsupported(&'static str),
    /// As many follow tasks as may.
    TooManyStreams(usize),
    /// The queue of the task refuses.
    Queue(QueueError),
    /// The session refuses.
    Host(HostError),
    /// What was accepted cannot be kept.
    Log(LogError),
}

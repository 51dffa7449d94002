//! The parameters of a caller's requests.

use std::sync::Arc;

use base::data::Data;

use super::{Message, Task, TaskState};

/// The parameters of sending a message: to a new task, or to one that waits for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SendMessage {
    /// The message.
    pub message: Message,
    /// The caller's wishes for the answer.
    pub configuration: Configuration,
    /// A dict, or nil.
    pub metadata: Data,
}

/// The caller's wishes for the answer to a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The media types that the caller understands; none for all.
    pub accepted_output_modes: Vec<Arc<str>>,
    /// The maximum number of history messages, the newest; `None` for all.
    pub history_length: Option<u32>,
    /// Whether the task is returned immediately rather than when it is over or waits for input.
    pub return_immediately: bool,
    /// Whether the caller wants to be called back, which is not offered.
    pub push: bool,
}

/// A task is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetTask {
    /// The task's id.
    pub id: Arc<str>,
    /// Limit of history messages, as in [`Configuration::history_length`].
    pub history_length: Option<u32>,
}

/// Tasks are asked for, those that changed last first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListTasks {
    /// The conversation to list.
    pub context_id: Option<Arc<str>>,
    /// The state to list.
    pub state: Option<TaskState>,
    /// The earliest change to list, in milliseconds since 1970-01-01 UTC.
    pub changed_since_ms: Option<u64>,
    /// The maximum number of tasks on a page, from 1 to 100; 50 if absent.
    pub page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    pub page_token: Option<Arc<str>>,
    /// Limit of history messages, as in [`Configuration::history_length`]; no messages if absent.
    pub history_length: Option<u32>,
    /// Whether artifacts are wanted.
    pub include_artifacts: bool,
}

/// A page of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Arc<Task>>,
    /// The token that requests the next page; empty on the last page.
    pub next_page_token: String,
    /// The maximum number of tasks on a page.
    pub page_size: u32,
    /// The number of tasks on all pages.
    pub total_size: u64,
}

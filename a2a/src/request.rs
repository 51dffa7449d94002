//! What a caller asks for.

use std::sync::Arc;

use runtime::data::Data;

use super::{Message, Task, TaskState};

/// Something is said: of a new task, or of one that waits for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SendMessage {
    /// What is said.
    pub message: Message,
    /// How it is to be answered.
    pub configuration: Configuration,
    /// A dict, or nil.
    pub metadata: Data,
}

/// How a message is to be answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The media types that the caller understands; none for all.
    pub accepted_output_modes: Vec<Arc<str>>,
    /// How many messages of the history are wanted, the newest; nothing for all.
    pub history_length: Option<u32>,
    /// Whether the task is told of at once and not when it is over or waits.
    pub return_immediately: bool,
    /// Whether the caller wants to be called back, which is not offered.
    pub push: bool,
}

/// A task is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetTask {
    /// Which.
    pub id: Arc<str>,
    /// As in [`Configuration::history_length`].
    pub history_length: Option<u32>,
}

/// Tasks are asked for, those that changed last first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListTasks {
    /// Only those of this conversation.
    pub context_id: Option<Arc<str>>,
    /// Only those that have come so far.
    pub state: Option<TaskState>,
    /// Only those that changed at this time or later, in milliseconds since 1970-01-01 UTC.
    pub changed_since_ms: Option<u64>,
    /// How many on a page, from 1 to 100; 50 where nothing is said.
    pub page_size: Option<u32>,
    /// What the page before gave.
    pub page_token: Option<Arc<str>>,
    /// As in [`Configuration::history_length`]; none where nothing is said.
    pub history_length: Option<u32>,
    /// Whether artifacts are wanted.
    pub include_artifacts: bool,
}

/// A page of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Arc<Task>>,
    /// What to give for the next page; empty where there is none.
    pub next_page_token: String,
    /// How many a page holds at most.
    pub page_size: u32,
    /// How many there are on all pages.
    pub total_size: u64,
}

//! The spelling of each version: [`Version`] reads what comes and writes what goes.

use std::fmt;

use runtime::data::Data;

use super::{Frame, GetTask, ListTasks, Message, SendMessage, Task, TaskPage};

/// A version of the protocol. They differ in spelling, not in what can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Parts by `type`, tasks with a `sessionId`.
    V0_1,
    /// Parts and results by `kind`.
    V0_3,
    /// Parts and results by their member, words in capitals.
    V1_0,
}

/// What does not fit the shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The field as it is written on the wire, such as `message.parts.0`; empty for the whole.
    pub field: String,
    /// What is wrong with it, in one sentence.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl Version {
    /// The version of a header's value, such as `1.0`, `0.3` or `1.0.0`; nothing for one that is not spoken here.
    #[must_use]
    pub fn of_header(_value: &str) -> Option<Version> {
        todo!()
    }

    /// As the header has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V0_1 => "0.1",
            Version::V0_3 => "0.3",
            Version::V1_0 => "1.0",
        }
    }

    /// Reads the parameters of sending a message.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read_send(self, _params: &Data) -> Result<SendMessage, Misfit> {
        todo!()
    }

    /// Reads the parameters of asking for a task, and of all that names nothing but a task.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read_get(self, _params: &Data) -> Result<GetTask, Misfit> {
        todo!()
    }

    /// Reads the parameters of asking for tasks.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read_list(self, _params: &Data) -> Result<ListTasks, Misfit> {
        todo!()
    }

    /// Reads a task.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read_task(self, _data: &Data) -> Result<Task, Misfit> {
        todo!()
    }

    /// Reads a result of a stream, or of sending a message.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read_frame(self, _data: &Data) -> Result<Frame, Misfit> {
        todo!()
    }

    /// Writes the parameters of sending a message.
    #[must_use]
    pub fn send(self, _request: &SendMessage) -> Data {
        todo!()
    }

    /// Writes a message.
    #[must_use]
    pub fn message(self, _message: &Message) -> Data {
        todo!()
    }

    /// Writes a task with the newest `history_length` messages of its history, all where nothing is said.
    #[must_use]
    pub fn task(self, _task: &Task, _history_length: Option<u32>) -> Data {
        todo!()
    }

    /// Writes the result of sending a message.
    #[must_use]
    pub fn sent(self, _task: &Task, _history_length: Option<u32>) -> Data {
        todo!()
    }

    /// Writes a result of a stream; the last one says so where the version has a word for it.
    #[must_use]
    pub fn frame(self, _frame: &Frame, _is_last: bool) -> Data {
        todo!()
    }

    /// Writes a page of tasks.
    #[must_use]
    pub fn page(self, _page: &TaskPage, _asked: &ListTasks) -> Data {
        todo!()
    }
}

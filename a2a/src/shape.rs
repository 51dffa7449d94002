//! The spelling of each version: [`Version`] reads what comes and writes what goes.
//!
//! - `v1_0`, `v0_3`: what each version spells in its own way. `alike`: what both share; `tagged`: the parts of 0.3.
//! - `send`, `list`: parameters that are spelled alike, and their bounds.
//! - `object` reads fields and `fields` writes them; `key`, `word`: names, states and roles.

use std::fmt;
use std::sync::Arc;

use runtime::data::Data;

use super::{Artifact, Frame, GetTask, ListTasks, Message, SendMessage, Task, TaskPage};
use object::Object;
use v0_3::V0_3;
use v1_0::V1_0;

mod alike;
mod fields;
mod key;
mod list;
mod object;
mod send;
mod tagged;
mod v0_3;
mod v1_0;
mod word;

#[cfg(test)]
mod tests;

const PARAMS: &str = "the parameters";
const RESULT: &str = "the result";

/// A version of the protocol. They differ in spelling, not in what can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Parts and results by `kind`.
    V0_3,
    /// Parts and results by their member, words in capitals.
    V1_0,
}

/// A value that does not have the expected shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// The field as it is written on the wire, such as `message.parts.0`; empty for the whole.
    pub field: String,
    /// The problem, in one sentence.
    pub message: String,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShapeError {}

impl Version {
    /// The version of a header's value, such as `1.0`, `0.3` or `1.0.0`; nothing for one that is not spoken here.
    #[must_use]
    pub fn of_header(value: &str) -> Option<Version> {
        let is_patch = |rest: &str| match rest.strip_prefix('.') {
            Some(digits) => (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()),
            None => rest.is_empty(),
        };
        let value = value.trim();
        [Version::V1_0, Version::V0_3]
            .into_iter()
            .find(|version| value.strip_prefix(version.as_str()).is_some_and(is_patch))
    }

    /// Returns the version as it is written in the header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V0_3 => "0.3",
            Version::V1_0 => "1.0",
        }
    }

    /// Reads the parameters of sending a message.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_send(self, params: &Data) -> Result<SendMessage, ShapeError> {
        let params = Object::whole(params, PARAMS)?;
        match self {
            Version::V1_0 => send::read::<V1_0>(&params, v1_0::read_configuration),
            Version::V0_3 => send::read::<V0_3>(&params, v0_3::read_configuration),
        }
    }

    /// Reads the parameters of asking for a task, and of all that names nothing but a task.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_get(self, params: &Data) -> Result<GetTask, ShapeError> {
        let params = Object::whole(params, PARAMS)?;
        let history_length = match self {
            Version::V0_3 => v0_3::read_history_length(&params)?,
            Version::V1_0 => params.count(&key::HISTORY_LENGTH)?,
        };
        Ok(GetTask { id: params.needed_text(&key::ID)?, history_length })
    }

    /// Reads the parameters of asking for tasks.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_list(self, params: &Data) -> Result<ListTasks, ShapeError> {
        // All of them are optional, so a caller may leave them out as a whole.
        if params.is_nil() {
            return Ok(ListTasks::default());
        }
        list::read(self, &Object::whole(params, PARAMS)?)
    }

    /// Reads a task.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_task(self, data: &Data) -> Result<Task, ShapeError> {
        let task = Object::whole(data, RESULT)?;
        match self {
            Version::V1_0 => alike::read_task::<V1_0>(&task),
            Version::V0_3 => alike::read_task::<V0_3>(&task),
        }
    }

    /// Reads a result of a stream, or of sending a message.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_frame(self, data: &Data) -> Result<Frame, ShapeError> {
        let frame = Object::whole(data, RESULT)?;
        match self {
            Version::V1_0 => v1_0::read_frame(&frame),
            Version::V0_3 => v0_3::read_frame(&frame),
        }
    }

    /// Writes the parameters of sending a message.
    #[must_use]
    pub fn send(self, request: &SendMessage) -> Data {
        match self {
            Version::V1_0 => send::write::<V1_0>(request, v1_0::configuration(&request.configuration)),
            Version::V0_3 => send::write::<V0_3>(request, v0_3::configuration(&request.configuration)),
        }
    }

    /// Writes a message.
    #[must_use]
    pub fn message(self, message: &Message) -> Data {
        match self {
            Version::V1_0 => alike::message::<V1_0>(message),
            Version::V0_3 => alike::message::<V0_3>(message),
        }
    }

    /// Writes a task with the newest `history_length` messages of its history, all where nothing is said.
    #[must_use]
    pub fn task(self, task: &Task, history_length: Option<u32>) -> Data {
        self.task_with(task, history_length, &task.artifacts)
    }

    /// Writes the result of sending a message.
    #[must_use]
    pub fn sent(self, task: &Task, history_length: Option<u32>) -> Data {
        let task = self.task(task, history_length);
        match self {
            Version::V1_0 => fields::Fields::new().with(&key::TASK, task).done(),
            Version::V0_3 => task,
        }
    }

    /// Writes a result of a stream; the last one says so where the version has a word for it.
    #[must_use]
    pub fn frame(self, frame: &Frame, is_last: bool) -> Data {
        match self {
            Version::V1_0 => v1_0::frame(frame),
            Version::V0_3 => v0_3::frame(frame, is_last),
        }
    }

    /// Writes a page of tasks.
    #[must_use]
    pub fn page(self, page: &TaskPage, asked: &ListTasks) -> Data {
        list::page(self, page, asked)
    }

    /// A task with the newest messages of its history, and these artifacts.
    fn task_with(self, task: &Task, history_length: Option<u32>, artifacts: &[Arc<Artifact>]) -> Data {
        let wanted = history_length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        let history = &task.history[task.history.len().saturating_sub(wanted)..];
        match self {
            Version::V1_0 => alike::task::<V1_0>(task, history, artifacts),
            Version::V0_3 => alike::task::<V0_3>(task, history, artifacts),
        }
    }
}

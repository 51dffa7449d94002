//! The spelling of each version: [`Version`] reads what comes and writes what goes.
//!
//! - Reading: `document` reads with serde what `incoming` defines, from the types in `value`; `error` says what does not fit. `send`
//!   has the bounds of messages.
//!   `tolerant` reads what peers of later versions write.
//! - Writing: `outgoing` writes the model, with `fields` and `key`.
//! - `v1_0`, `v0_3`: what each version spells in its own way, a `spelling`; `tagged`: the parts of 0.3; `word`: states and roles.

use base::data::Data;

use super::{Frame, GetTask, ListTasks, Message, SendMessage, Task, TaskPage, TaskState};
use document::Document;
use incoming::{WireGetTask, WireListTasks, WireSendMessage, WireTask};
use v0_3::V0_3;
use v1_0::V1_0;

mod document;
mod error;
mod fields;
mod incoming;
mod key;
mod outgoing;
mod send;
mod spelling;
mod tagged;
mod tolerant;
mod v0_3;
mod v1_0;
mod value;
mod word;

#[cfg(test)]
mod tests;

pub use error::ShapeError;

/// A version of the protocol. They differ in spelling, not in what can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Parts and results by `kind`.
    V0_3,
    /// Parts and results by their member, words in capitals.
    V1_0,
}

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
        let params = Document::params(params);
        let request: SendMessage = match self {
            Version::V1_0 => params.read::<V1_0, WireSendMessage<V1_0>>()?.into(),
            Version::V0_3 => params.read::<V0_3, WireSendMessage<V0_3>>()?.into(),
        };
        send::check(&request.message, &params.place())?;
        Ok(request)
    }

    /// Reads the parameters of asking for a task, and of all that names nothing but a task.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_get(self, params: &Data) -> Result<GetTask, ShapeError> {
        let params = Document::params(params);
        Ok(match self {
            Version::V1_0 => params.read::<V1_0, WireGetTask>()?.into(),
            Version::V0_3 => {
                let request = GetTask::from(params.read::<V0_3, WireGetTask>()?);
                GetTask { history_length: v0_3::history_length(request.history_length), ..request }
            }
        })
    }

    /// Reads the parameters of asking for tasks.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_list(self, params: &Data) -> Result<ListTasks, ShapeError> {
        // All of them are optional, so a caller may omit them as a whole.
        if params.is_nil() {
            return Ok(ListTasks::default());
        }
        let params = Document::params(params);
        Ok(match self {
            Version::V1_0 => {
                let request = ListTasks::from(params.read::<V1_0, WireListTasks<V1_0>>()?);
                // A caller that asks for no state may write the word for an unspecified one.
                ListTasks { state: request.state.filter(|state| *state != TaskState::Unknown), ..request }
            }
            Version::V0_3 => params.read::<V0_3, WireListTasks<V0_3>>()?.into(),
        })
    }

    /// Reads a task.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_task(self, data: &Data) -> Result<Task, ShapeError> {
        let task = Document::result(data);
        match self {
            Version::V1_0 => v1_0::read_task(task),
            Version::V0_3 => task.read::<V0_3, WireTask<V0_3>>().map(Task::from),
        }
    }

    /// Reads a result of a stream, or of sending a message.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] that names the field that does not have its shape.
    pub fn read_frame(self, data: &Data) -> Result<Frame, ShapeError> {
        let frame = Document::result(data);
        match self {
            Version::V1_0 => v1_0::read_frame(frame),
            Version::V0_3 => v0_3::read_frame(frame),
        }
    }

    /// Writes the parameters of sending a message.
    #[must_use]
    pub fn send(self, request: &SendMessage) -> Data {
        match self {
            Version::V1_0 => outgoing::send::<V1_0>(request),
            Version::V0_3 => outgoing::send::<V0_3>(request),
        }
    }

    /// Writes a message.
    #[must_use]
    pub fn message(self, message: &Message) -> Data {
        match self {
            Version::V1_0 => outgoing::message::<V1_0>(message),
            Version::V0_3 => outgoing::message::<V0_3>(message),
        }
    }

    /// Writes an artifact.
    #[must_use]
    pub fn artifact(self, artifact: &crate::Artifact) -> Data {
        match self {
            Version::V1_0 => outgoing::artifact::<V1_0>(artifact),
            Version::V0_3 => outgoing::artifact::<V0_3>(artifact),
        }
    }

    /// Writes a task with the newest `history_length` messages of its history, all where nothing is said.
    #[must_use]
    pub fn task(self, task: &Task, history_length: Option<u32>) -> Data {
        match self {
            Version::V1_0 => outgoing::task_with::<V1_0>(task, history_length, &task.artifacts),
            Version::V0_3 => outgoing::task_with::<V0_3>(task, history_length, &task.artifacts),
        }
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
        match self {
            Version::V1_0 => outgoing::page::<V1_0>(page, asked),
            Version::V0_3 => outgoing::page::<V0_3>(page, asked),
        }
    }
}

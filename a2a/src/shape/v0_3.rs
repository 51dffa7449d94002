//! Version 0.3: parts and results say by `kind` what they are.

use runtime::data::Data;

use super::alike::{self, Spelling};
use super::fields::Fields;
use super::key::{self, Key};
use super::object::Object;
use super::{ShapeError, tagged, word};
use crate::{Configuration, Frame, Part, Role, TaskState};

pub(super) struct V0_3;

impl Spelling for V0_3 {
    fn read_part(part: &Object<'_>) -> Result<Part, ShapeError> {
        tagged::read_part(part)
    }

    fn part(part: &Part) -> Data {
        tagged::part(part)
    }

    fn read_state(status: &Object<'_>, key: &Key) -> Result<Option<TaskState>, ShapeError> {
        word::read_quiet_state(status, key)
    }

    fn state(state: TaskState) -> Data {
        word::quiet_state(state)
    }

    const UNSAID: Option<TaskState> = None;

    fn read_role(message: &Object<'_>) -> Result<Option<Role>, ShapeError> {
        word::read_quiet_role(message, &key::ROLE)
    }

    fn role(role: Role) -> Data {
        word::quiet_role(role)
    }

    /// Servers of this version also write times without an offset, which say nothing.
    fn read_moment(status: &Object<'_>) -> Result<Option<u64>, ShapeError> {
        Ok(status.moment(&key::TIMESTAMP).ok().flatten())
    }

    fn of_kind(kind: &'static str) -> Fields {
        Fields::new().with(&key::KIND, kind)
    }
}

pub(super) fn read_configuration(configuration: &Object<'_>) -> Result<Configuration, ShapeError> {
    Ok(Configuration {
        accepted_output_modes: configuration.texts(&key::ACCEPTED_OUTPUT_MODES)?,
        history_length: read_history_length(configuration)?,
        return_immediately: configuration.flag(&key::BLOCKING)? == Some(false),
        push: !configuration.data(&key::PUSH_NOTIFICATION_CONFIG).is_nil(),
    })
}

/// Reads the length of the history. In this version 0 means the whole history, as its SDK has it.
pub(super) fn read_history_length(object: &Object<'_>) -> Result<Option<u32>, ShapeError> {
    Ok(object.count(&key::HISTORY_LENGTH)?.filter(|length| *length > 0))
}

pub(super) fn configuration(configuration: &Configuration) -> Fields {
    Fields::new()
        .with_texts(&key::ACCEPTED_OUTPUT_MODES, &configuration.accepted_output_modes)
        .with_present(&key::HISTORY_LENGTH, configuration.history_length)
        .with(&key::BLOCKING, !configuration.return_immediately)
}

const KINDS: [&str; 4] = ["task", "message", "status-update", "artifact-update"];

pub(super) fn read_frame(frame: &Object<'_>) -> Result<Frame, ShapeError> {
    let kind = frame.word(&key::KIND, &KINDS, |data| KINDS.iter().position(|kind| data.as_str() == Some(kind)))?;
    match kind.ok_or_else(|| frame.missing(&key::KIND))? {
        0 => alike::read_task::<V0_3>(frame).map(|task| Frame::Task(task.into())),
        1 => alike::read_message::<V0_3>(frame).map(|message| Frame::Message(message.into())),
        2 => alike::read_status_update::<V0_3>(frame).map(Frame::Status),
        _ => alike::read_artifact_update::<V0_3>(frame).map(Frame::Artifact),
    }
}

pub(super) fn frame(frame: &Frame, is_last: bool) -> Data {
    match frame {
        Frame::Task(task) => alike::task::<V0_3>(task, &task.history, &task.artifacts),
        Frame::Message(message) => alike::message::<V0_3>(message),
        Frame::Status(update) => alike::status_update::<V0_3>(update).with(&key::FINAL, is_last).done(),
        Frame::Artifact(update) => alike::artifact_update::<V0_3>(update),
    }
}

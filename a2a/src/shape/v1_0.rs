//! Version 1.0, the JSON of protocol buffers: parts and results by their member, words in capitals.

use runtime::data::Data;

use super::alike::{self, Spelling};
use super::fields::Fields;
use super::key::{self, Key};
use super::object::Object;
use super::{ShapeError, word};
use crate::{Configuration, Content, Frame, Part, Role, TaskState, base64};

pub(super) struct V1_0;

impl Spelling for V1_0 {
    fn read_part(part: &Object<'_>) -> Result<Part, ShapeError> {
        Ok(Part {
            content: read_content(part)?,
            filename: part.text(&key::FILENAME)?,
            media_type: part.text(&key::MEDIA_TYPE)?,
            metadata: part.dict(&key::METADATA)?,
        })
    }

    fn part(part: &Part) -> Data {
        let fields = match &part.content {
            Content::Text(text) => Fields::new().with(&key::TEXT, text),
            Content::Raw(bytes) => Fields::new().with(&key::RAW, bytes),
            Content::Url(url) => Fields::new().with(&key::URL, url),
            Content::Data(data) => Fields::new().with(&key::DATA, data.clone()),
        };
        fields
            .with_present(&key::FILENAME, part.filename.as_ref())
            .with_present(&key::MEDIA_TYPE, part.media_type.as_ref())
            .with_present(&key::METADATA, part.metadata.clone())
            .done()
    }

    fn read_state(status: &Object<'_>, key: &Key) -> Result<Option<TaskState>, ShapeError> {
        word::read_loud_state(status, key)
    }

    fn state(state: TaskState) -> Data {
        word::loud_state(state)
    }

    /// The JSON of protocol buffers leaves out what is unspecified.
    const UNSAID: Option<TaskState> = Some(TaskState::Unknown);

    fn read_role(message: &Object<'_>) -> Result<Option<Role>, ShapeError> {
        word::read_loud_role(message, &key::ROLE)
    }

    fn role(role: Role) -> Data {
        word::loud_role(role)
    }

    fn read_moment(status: &Object<'_>) -> Result<Option<u64>, ShapeError> {
        status.moment(&key::TIMESTAMP)
    }

    fn of_kind(_kind: &'static str) -> Fields {
        Fields::new()
    }
}

fn read_content(part: &Object<'_>) -> Result<Content, ShapeError> {
    let text = part.any_text(&key::TEXT)?.map(Content::Text);
    let raw = match part.any_text(&key::RAW)? {
        Some(raw) => Some(Content::Raw(base64::plain(raw).ok_or_else(|| part.wrong(&key::RAW, "must be base64"))?)),
        None => None,
    };
    let url = part.any_text(&key::URL)?.map(Content::Url);
    let data = Some(part.data(&key::DATA)).filter(|data| !data.is_nil()).map(Content::Data);
    let mut given = [text, raw, url, data].into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(content), None) => Ok(content),
        (Some(_), Some(_)) => {
            Err(part.shape_error("has several of `text`, `raw`, `url` and `data`, but only one is allowed"))
        }
        // No other member is there, so that the data are null.
        (None, _) if part.has(&key::DATA) => Ok(Content::Data(Data::Nil)),
        (None, _) => Err(without_content(part)),
    }
}

fn without_content(part: &Object<'_>) -> ShapeError {
    let nearest = [&key::TEXT, &key::RAW, &key::URL, &key::DATA].map(|key| part.missing(key));
    if let Some(shape_error) = nearest.into_iter().find(|shape_error| shape_error.suggestion.is_some()) {
        return shape_error;
    }
    let mut shape_error = part.shape_error("needs one of `text`, `raw`, `url` and `data`");
    if part.has(&key::FILE) {
        shape_error.message.push_str("; version 1.0 does not support `file`");
    }
    shape_error
}

pub(super) fn read_configuration(configuration: &Object<'_>) -> Result<Configuration, ShapeError> {
    Ok(Configuration {
        accepted_output_modes: configuration.texts(&key::ACCEPTED_OUTPUT_MODES)?,
        history_length: configuration.count(&key::HISTORY_LENGTH)?,
        return_immediately: configuration.flag(&key::RETURN_IMMEDIATELY)?.unwrap_or(false),
        push: !configuration.data(&key::TASK_PUSH_NOTIFICATION_CONFIG).is_nil(),
    })
}

pub(super) fn configuration(configuration: &Configuration) -> Fields {
    Fields::new()
        .with_texts(&key::ACCEPTED_OUTPUT_MODES, &configuration.accepted_output_modes)
        .with_present(&key::HISTORY_LENGTH, configuration.history_length)
        .with_flag(&key::RETURN_IMMEDIATELY, configuration.return_immediately)
}

pub(super) fn read_frame(frame: &Object<'_>) -> Result<Frame, ShapeError> {
    let mut told = [
        frame.object(&key::TASK, alike::read_task::<V1_0>)?.map(|task| Frame::Task(task.into())),
        frame.object(&key::MESSAGE, alike::read_message::<V1_0>)?.map(|message| Frame::Message(message.into())),
        frame.object(&key::STATUS_UPDATE, alike::read_status_update::<V1_0>)?.map(Frame::Status),
        frame.object(&key::ARTIFACT_UPDATE, alike::read_artifact_update::<V1_0>)?.map(Frame::Artifact),
    ]
    .into_iter()
    .flatten();
    match (told.next(), told.next()) {
        (Some(frame), None) => Ok(frame),
        (Some(_), Some(_)) => Err(frame.shape_error(
            "has several of `task`, `message`, `statusUpdate` and `artifactUpdate`, but only one is allowed",
        )),
        (None, _) => Err(frame.shape_error("needs one of `task`, `message`, `statusUpdate` and `artifactUpdate`")),
    }
}

pub(super) fn frame(frame: &Frame) -> Data {
    let (key, told) = match frame {
        Frame::Task(task) => (&key::TASK, alike::task::<V1_0>(task, &task.history, &task.artifacts)),
        Frame::Message(message) => (&key::MESSAGE, alike::message::<V1_0>(message)),
        Frame::Status(update) => (&key::STATUS_UPDATE, alike::status_update::<V1_0>(update).done()),
        Frame::Artifact(update) => (&key::ARTIFACT_UPDATE, alike::artifact_update::<V1_0>(update)),
    };
    Fields::new().with(key, told).done()
}

//! Version 1.0, the JSON of protocol buffers: parts and results by their member, words in capitals.

use std::sync::Arc;

use base::data::{Data, Entries};
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::document::Document;
use super::error::Place;
use super::fields::Fields;
use super::incoming::{WireArtifactUpdate, WireMessage, WireStatusUpdate, WireTask};
use super::spelling::Spelling;
use super::value::{Base64Text, Count, Moment, OpenDict, present};
use super::{ShapeError, key, outgoing, word};
use crate::{Configuration, Content, Frame, Part, Role, Status, Task, TaskState};

/// The problem of a part without content.
pub(super) const NO_CONTENT: &str = "needs one of `text`, `raw`, `url` and `data`";

pub(super) struct V1_0;

impl Spelling for V1_0 {
    type Part = MemberPart;
    type State = word::CapitalState;
    type Role = word::CapitalRole;
    type StatusTime = Moment;
    type Configuration = ConfigurationV1_0;

    fn ignores(_name: &str, _entries: &Entries) -> bool {
        false
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

    fn state(state: TaskState) -> Data {
        word::capital_state(state)
    }

    fn role(role: Role) -> Data {
        word::capital_role(role)
    }

    fn configuration(configuration: &Configuration) -> Fields {
        Fields::new()
            .with_texts(&key::ACCEPTED_OUTPUT_MODES, &configuration.accepted_output_modes)
            .with_present(&key::HISTORY_LENGTH, configuration.history_length)
            .with_flag(&key::RETURN_IMMEDIATELY, configuration.return_immediately)
    }

    fn of_kind(_kind: &'static str) -> Fields {
        Fields::new()
    }
}

/// A part: the name of a member says what it is.
pub(super) struct MemberPart(Part);

impl From<MemberPart> for Part {
    fn from(part: MemberPart) -> Part {
        part.0
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct MemberFields {
    text: Option<Arc<str>>,
    raw: Option<Base64Text>,
    url: Option<Arc<str>>,
    /// Null is data, too, if no other member is present.
    #[serde(default, deserialize_with = "some")]
    data: Option<Data>,
    filename: Option<Arc<str>>,
    #[serde(alias = "media_type")]
    media_type: Option<Arc<str>>,
    metadata: Option<OpenDict>,
}

fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Data>, D::Error> {
    Data::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for MemberPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MemberPart, D::Error> {
        let fields = MemberFields::deserialize(deserializer)?;
        let has_null = fields.data.as_ref().is_some_and(Data::is_nil);
        let data = fields.data.filter(|data| !data.is_nil());
        let mut given = [
            fields.text.map(Content::Text),
            fields.raw.map(|raw| Content::Raw(raw.0)),
            fields.url.map(Content::Url),
            data.map(Content::Data),
        ]
        .into_iter()
        .flatten();
        let content = match (given.next(), given.next()) {
            (Some(content), None) => content,
            (Some(_), Some(_)) => {
                let problem = "has several of `text`, `raw`, `url` and `data`, but only one is allowed";
                return Err(D::Error::custom(problem));
            }
            (None, _) if has_null => Content::Data(Data::Nil),
            (None, _) => return Err(D::Error::custom(NO_CONTENT)),
        };
        Ok(MemberPart(Part {
            content,
            filename: present(fields.filename),
            media_type: present(fields.media_type),
            metadata: OpenDict::or_nil(fields.metadata),
        }))
    }
}

/// Returns the error for a part without content.
pub(super) fn without_content(part: &Place<'_>) -> ShapeError {
    let misspelled = ["text", "raw", "url", "data"].into_iter().find_map(|name| part.misspelled(name));
    misspelled.unwrap_or_else(|| {
        let hint = if part.has("file") { "; version 1.0 does not support `file`" } else { "" };
        part.error(&format!("{NO_CONTENT}{hint}"))
    })
}

/// The caller's wishes for the answer to a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct ConfigurationV1_0 {
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<Arc<str>>>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    #[serde(alias = "return_immediately")]
    return_immediately: Option<bool>,
    #[serde(alias = "task_push_notification_config")]
    task_push_notification_config: Option<IgnoredAny>,
}

impl From<ConfigurationV1_0> for Configuration {
    fn from(configuration: ConfigurationV1_0) -> Configuration {
        Configuration {
            accepted_output_modes: configuration.accepted_output_modes.unwrap_or_default(),
            history_length: configuration.history_length.map(|count| count.0),
            return_immediately: configuration.return_immediately.unwrap_or(false),
            push: configuration.task_push_notification_config.is_some(),
        }
    }
}

/// A result: the name of a member says what it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct MemberFrame {
    task: Option<WireTask<V1_0>>,
    message: Option<WireMessage<V1_0>>,
    #[serde(alias = "status_update")]
    status_update: Option<WireStatusUpdate<V1_0>>,
    #[serde(alias = "artifact_update")]
    artifact_update: Option<WireArtifactUpdate<V1_0>>,
}

pub(super) fn read_task(task: Document<'_>) -> Result<Task, ShapeError> {
    let read = Task::from(task.read::<V1_0, WireTask<V1_0>>()?);
    check_state(&read.status, &task.place())?;
    Ok(read)
}

pub(super) fn read_frame(frame: Document<'_>) -> Result<Frame, ShapeError> {
    let members = frame.read::<V1_0, MemberFrame>()?;
    let mut given = [
        members.task.map(|task| Frame::Task(Arc::new(task.into()))),
        members.message.map(|message| Frame::Message(Arc::new(message.into()))),
        members.status_update.map(|update| Frame::Status(update.into())),
        members.artifact_update.map(|update| Frame::Artifact(update.into())),
    ]
    .into_iter()
    .flatten();
    match (given.next(), given.next()) {
        (Some(read), None) => {
            match &read {
                Frame::Task(task) => check_state(&task.status, &frame.place().field("task"))?,
                Frame::Status(update) => check_state(&update.status, &frame.place().field("statusUpdate"))?,
                Frame::Message(_) | Frame::Artifact(_) => {}
            }
            Ok(read)
        }
        (Some(_), Some(_)) => Err(frame
            .place()
            .error("has several of `task`, `message`, `statusUpdate` and `artifactUpdate`, but only one is allowed")),
        (None, _) => Err(frame.place().error("needs one of `task`, `message`, `statusUpdate` and `artifactUpdate`")),
    }
}

/// Checks that a state which was not said is not misspelled. `holder` is the object with the status.
fn check_state(status: &Status, holder: &Place<'_>) -> Result<(), ShapeError> {
    match status.state {
        TaskState::Unknown => holder.field("status").misspelled("state").map_or(Ok(()), Err),
        _ => Ok(()),
    }
}

pub(super) fn frame(frame: &Frame) -> Data {
    let (key, content) = match frame {
        Frame::Task(task) => (&key::TASK, outgoing::task::<V1_0>(task, &task.history, &task.artifacts)),
        Frame::Message(message) => (&key::MESSAGE, outgoing::message::<V1_0>(message)),
        Frame::Status(update) => (&key::STATUS_UPDATE, outgoing::status_update::<V1_0>(update).done()),
        Frame::Artifact(update) => (&key::ARTIFACT_UPDATE, outgoing::artifact_update::<V1_0>(update)),
    };
    Fields::new().with(key, content).done()
}

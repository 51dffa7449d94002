//! Version 0.3: parts and results say by `kind` what they are.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::moment::from_rfc3339;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::document::Document;
use super::fields::Fields;
use super::incoming::{WireArtifactUpdate, WireMessage, WireStatusUpdate, WireTask};
use super::spelling::Spelling;
use super::value::Count;
use super::{ShapeError, key, outgoing, tagged, word};
use crate::{Configuration, Frame, Message, Part, Role, Task, TaskState};

pub(super) struct V0_3;

impl Spelling for V0_3 {
    type Part = tagged::TaggedPart;
    type State = TaskState;
    type Role = Role;
    type StatusTime = LenientMoment;
    type Configuration = ConfigurationV0_3;

    fn ignores(name: &str, entries: &Entries) -> bool {
        tagged::is_ignored(name, entries)
    }

    fn part(part: &Part) -> Data {
        tagged::part(part)
    }

    fn state(state: TaskState) -> Data {
        word::small_state(state)
    }

    fn role(role: Role) -> Data {
        word::small_role(role)
    }

    fn configuration(configuration: &Configuration) -> Fields {
        Fields::new()
            .with_texts(&key::ACCEPTED_OUTPUT_MODES, &configuration.accepted_output_modes)
            .with_present(&key::HISTORY_LENGTH, configuration.history_length)
            .with(&key::BLOCKING, !configuration.return_immediately)
    }

    fn of_kind(kind: &'static str) -> Fields {
        Fields::new().with(&key::KIND, kind)
    }
}

/// A moment, if it can be read: servers of this version also write times without an offset, which say nothing.
pub(super) struct LenientMoment(Option<u64>);

impl<'de> Deserialize<'de> for LenientMoment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LenientMoment, D::Error> {
        let data = Data::deserialize(deserializer)?;
        Ok(LenientMoment(data.as_str().and_then(from_rfc3339)))
    }
}

impl From<LenientMoment> for Option<u64> {
    fn from(moment: LenientMoment) -> Option<u64> {
        moment.0
    }
}

/// The caller's wishes for the answer to a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct ConfigurationV0_3 {
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<Arc<str>>>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    blocking: Option<bool>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<IgnoredAny>,
}

impl From<ConfigurationV0_3> for Configuration {
    fn from(configuration: ConfigurationV0_3) -> Configuration {
        Configuration {
            accepted_output_modes: configuration.accepted_output_modes.unwrap_or_default(),
            history_length: history_length(configuration.history_length.map(|count| count.0)),
            return_immediately: configuration.blocking == Some(false),
            push: configuration.push_notification_config.is_some(),
        }
    }
}

/// Returns the length of the history. In this version 0 means the whole history, as its SDK has it.
pub(super) fn history_length(length: Option<u32>) -> Option<u32> {
    length.filter(|length| *length > 0)
}

/// The kind of a result.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct TaggedFrame {
    kind: FrameKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FrameKind {
    Task,
    Message,
    StatusUpdate,
    ArtifactUpdate,
}

pub(super) fn read_frame(frame: Document<'_>) -> Result<Frame, ShapeError> {
    Ok(match frame.read::<V0_3, TaggedFrame>()?.kind {
        FrameKind::Task => Frame::Task(Arc::new(Task::from(frame.read::<V0_3, WireTask<V0_3>>()?))),
        FrameKind::Message => Frame::Message(Arc::new(Message::from(frame.read::<V0_3, WireMessage<V0_3>>()?))),
        FrameKind::StatusUpdate => Frame::Status(frame.read::<V0_3, WireStatusUpdate<V0_3>>()?.into()),
        FrameKind::ArtifactUpdate => Frame::Artifact(frame.read::<V0_3, WireArtifactUpdate<V0_3>>()?.into()),
    })
}

pub(super) fn frame(frame: &Frame, is_last: bool) -> Data {
    match frame {
        Frame::Task(task) => outgoing::task::<V0_3>(task, &task.history, &task.artifacts),
        Frame::Message(message) => outgoing::message::<V0_3>(message),
        Frame::Status(update) => outgoing::status_update::<V0_3>(update).with(&key::FINAL, is_last).done(),
        Frame::Artifact(update) => outgoing::artifact_update::<V0_3>(update),
    }
}

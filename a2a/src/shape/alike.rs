//! The parts of 0.3 and 1.0 that are spelled alike: messages, artifacts, tasks and their updates. A
//! [`Spelling`] covers the differences.

use std::sync::Arc;

use runtime::data::Data;
use runtime::moment::rfc3339;

use super::ShapeError;
use super::fields::Fields;
use super::key::{self, Key};
use super::object::Object;
use crate::{Artifact, ArtifactUpdate, Message, Part, Role, Status, StatusUpdate, Task, TaskState};

/// The differences between the versions.
pub(super) trait Spelling {
    fn read_part(part: &Object<'_>) -> Result<Part, ShapeError>;
    fn part(part: &Part) -> Data;
    fn read_state(status: &Object<'_>, key: &Key) -> Result<Option<TaskState>, ShapeError>;
    fn state(state: TaskState) -> Data;
    /// The state that a status without a state has, if the version allows it.
    const UNSAID: Option<TaskState>;
    fn read_role(message: &Object<'_>) -> Result<Option<Role>, ShapeError>;
    fn role(role: Role) -> Data;
    /// The time in a status.
    fn read_moment(status: &Object<'_>) -> Result<Option<u64>, ShapeError>;
    /// An object that says what it is, where the version has it so.
    fn of_kind(kind: &'static str) -> Fields;
}

pub(super) fn read_message<S: Spelling>(message: &Object<'_>) -> Result<Message, ShapeError> {
    Ok(Message {
        message_id: message.needed_text(&key::MESSAGE_ID)?,
        context_id: message.text(&key::CONTEXT_ID)?,
        task_id: message.text(&key::TASK_ID)?,
        role: S::read_role(message)?.ok_or_else(|| message.missing(&key::ROLE))?,
        parts: message.objects(&key::PARTS, S::read_part)?,
        metadata: message.dict(&key::METADATA)?,
        extensions: message.texts(&key::EXTENSIONS)?,
        reference_task_ids: message.texts(&key::REFERENCE_TASK_IDS)?,
    })
}

pub(super) fn message<S: Spelling>(message: &Message) -> Data {
    S::of_kind("message")
        .with(&key::MESSAGE_ID, &message.message_id)
        .with_present(&key::CONTEXT_ID, message.context_id.as_ref())
        .with_present(&key::TASK_ID, message.task_id.as_ref())
        .with(&key::ROLE, S::role(message.role))
        .with(&key::PARTS, parts::<S>(&message.parts))
        .with_present(&key::METADATA, message.metadata.clone())
        .with_texts(&key::EXTENSIONS, &message.extensions)
        .with_texts(&key::REFERENCE_TASK_IDS, &message.reference_task_ids)
        .done()
}

fn parts<S: Spelling>(parts: &[Part]) -> Data {
    parts.iter().map(S::part).collect()
}

fn read_status<S: Spelling>(status: &Object<'_>) -> Result<Status, ShapeError> {
    let state = match S::read_state(status, &key::STATE)? {
        Some(state) => state,
        None => S::UNSAID.filter(|_| !status.is_misspelt(&key::STATE)).ok_or_else(|| status.missing(&key::STATE))?,
    };
    Ok(Status {
        state,
        message: status.object(&key::MESSAGE, read_message::<S>)?.map(Arc::new),
        at_ms: S::read_moment(status)?,
    })
}

fn status<S: Spelling>(status: &Status) -> Data {
    Fields::new()
        .with(&key::STATE, S::state(status.state))
        .with_present(&key::MESSAGE, status.message.as_deref().map(message::<S>))
        .with_present(&key::TIMESTAMP, status.at_ms.map(rfc3339))
        .done()
}

fn read_artifact<S: Spelling>(artifact: &Object<'_>) -> Result<Artifact, ShapeError> {
    Ok(Artifact {
        artifact_id: artifact.needed_text(&key::ARTIFACT_ID)?,
        name: artifact.text(&key::NAME)?,
        description: artifact.text(&key::DESCRIPTION)?,
        parts: artifact.objects(&key::PARTS, S::read_part)?,
        metadata: artifact.dict(&key::METADATA)?,
        extensions: artifact.texts(&key::EXTENSIONS)?,
    })
}

fn artifact<S: Spelling>(artifact: &Artifact) -> Data {
    Fields::new()
        .with(&key::ARTIFACT_ID, &artifact.artifact_id)
        .with_present(&key::NAME, artifact.name.as_ref())
        .with_present(&key::DESCRIPTION, artifact.description.as_ref())
        .with(&key::PARTS, parts::<S>(&artifact.parts))
        .with_present(&key::METADATA, artifact.metadata.clone())
        .with_texts(&key::EXTENSIONS, &artifact.extensions)
        .done()
}

pub(super) fn read_task<S: Spelling>(task: &Object<'_>) -> Result<Task, ShapeError> {
    Ok(Task {
        id: task.needed_text(&key::ID)?,
        context_id: task.text(&key::CONTEXT_ID)?.unwrap_or_default(),
        status: task.needed_object(&key::STATUS, read_status::<S>)?,
        artifacts: task.objects(&key::ARTIFACTS, |one| read_artifact::<S>(one).map(Arc::new))?,
        history: task.objects(&key::HISTORY, |one| read_message::<S>(one).map(Arc::new))?,
        metadata: task.dict(&key::METADATA)?,
    })
}

pub(super) fn task<S: Spelling>(task: &Task, history: &[Arc<Message>], artifacts: &[Arc<Artifact>]) -> Data {
    S::of_kind("task")
        .with(&key::ID, &task.id)
        .with_text(&key::CONTEXT_ID, &task.context_id)
        .with(&key::STATUS, status::<S>(&task.status))
        .with_list(&key::ARTIFACTS, artifacts.iter().map(|one| artifact::<S>(one)))
        .with_list(&key::HISTORY, history.iter().map(|one| message::<S>(one)))
        .with_present(&key::METADATA, task.metadata.clone())
        .done()
}

pub(super) fn read_status_update<S: Spelling>(update: &Object<'_>) -> Result<StatusUpdate, ShapeError> {
    Ok(StatusUpdate {
        task_id: update.needed_text(&key::TASK_ID)?,
        context_id: update.text(&key::CONTEXT_ID)?.unwrap_or_default(),
        status: update.needed_object(&key::STATUS, read_status::<S>)?,
        metadata: update.dict(&key::METADATA)?,
    })
}

pub(super) fn status_update<S: Spelling>(update: &StatusUpdate) -> Fields {
    S::of_kind("status-update")
        .with(&key::TASK_ID, &update.task_id)
        .with(&key::CONTEXT_ID, &update.context_id)
        .with(&key::STATUS, status::<S>(&update.status))
        .with_present(&key::METADATA, update.metadata.clone())
}

pub(super) fn read_artifact_update<S: Spelling>(update: &Object<'_>) -> Result<ArtifactUpdate, ShapeError> {
    Ok(ArtifactUpdate {
        task_id: update.needed_text(&key::TASK_ID)?,
        context_id: update.text(&key::CONTEXT_ID)?.unwrap_or_default(),
        artifact: Arc::new(update.needed_object(&key::ARTIFACT, read_artifact::<S>)?),
        append: update.flag(&key::APPEND)?.unwrap_or(false),
        last_chunk: update.flag(&key::LAST_CHUNK)?.unwrap_or(false),
        metadata: update.dict(&key::METADATA)?,
    })
}

pub(super) fn artifact_update<S: Spelling>(update: &ArtifactUpdate) -> Data {
    S::of_kind("artifact-update")
        .with(&key::TASK_ID, &update.task_id)
        .with(&key::CONTEXT_ID, &update.context_id)
        .with(&key::ARTIFACT, artifact::<S>(&update.artifact))
        .with(&key::APPEND, update.append)
        .with(&key::LAST_CHUNK, update.last_chunk)
        .with_present(&key::METADATA, update.metadata.clone())
        .done()
}

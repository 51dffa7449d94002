//! Version 0.1: parts say by `type` what they are; a task is named by `id` and its conversation by `sessionId`, and both are chosen by
//! the caller. Messages have no ids, and artifacts are told apart by their place.

use std::sync::Arc;

use runtime::data::Data;

use super::fields::Fields;
use super::key;
use super::object::Object;
use super::{Misfit, send, tagged, word};
use crate::a2a::{
    Artifact, ArtifactUpdate, Configuration, Frame, Message, Part, SendMessage, Status, StatusUpdate, Task, TaskState,
};
use crate::rfc3339;

fn read_part(part: &Object<'_>) -> Result<Part, Misfit> {
    tagged::read_part(part, &key::TYPE)
}

fn parts(parts: &[Part]) -> Data {
    parts.iter().map(|part| tagged::part(part, &key::TYPE)).collect()
}

/// A message without an id gets one, so that no two are taken for the same.
pub(super) fn read_message(message: &Object<'_>) -> Result<Message, Misfit> {
    let fresh = || Arc::from(format!("msg_{}", uuid::Uuid::now_v7().simple()));
    let role = word::read_quiet_role(message, &key::ROLE)?.ok_or_else(|| message.missing(&key::ROLE))?;
    let parts = message.objects(&key::PARTS, read_part)?;
    Ok(Message {
        metadata: message.dict(&key::METADATA)?,
        ..Message::new(role, message.text(&key::MESSAGE_ID)?.unwrap_or_else(fresh), parts)
    })
}

pub(super) fn message(message: &Message) -> Data {
    Fields::new()
        .with(&key::ROLE, word::quiet_role(message.role))
        .with(&key::PARTS, parts(&message.parts))
        .with_present(&key::METADATA, message.metadata.clone())
        .done()
}

fn read_status(status: &Object<'_>) -> Result<Status, Misfit> {
    let state = word::read_quiet_state(status, &key::STATE)?;
    Ok(Status {
        state: state.ok_or_else(|| status.missing(&key::STATE))?,
        message: status.object(&key::MESSAGE, read_message)?.map(Arc::new),
        at_ms: status.moment(&key::TIMESTAMP).ok().flatten(),
    })
}

fn status(status: &Status) -> Data {
    let state = match status.state {
        TaskState::Rejected => TaskState::Failed,
        TaskState::AuthRequired => TaskState::InputRequired,
        state => state,
    };
    Fields::new()
        .with(&key::STATE, word::quiet_state(state))
        .with_present(&key::MESSAGE, status.message.as_deref().map(message))
        .with_present(&key::TIMESTAMP, status.at_ms.map(rfc3339))
        .done()
}

fn read_artifact(artifact: &Object<'_>) -> Result<(u32, Artifact), Misfit> {
    let index = artifact.count(&key::INDEX)?.unwrap_or(0);
    let read = Artifact {
        artifact_id: index.to_string().into(),
        name: artifact.text(&key::NAME)?,
        description: artifact.text(&key::DESCRIPTION)?,
        parts: artifact.objects(&key::PARTS, read_part)?,
        metadata: artifact.dict(&key::METADATA)?,
        extensions: Vec::new(),
    };
    Ok((index, read))
}

fn artifact(artifact: &Artifact, index: u32) -> Fields {
    Fields::new()
        .with_present(&key::NAME, artifact.name.as_ref())
        .with_present(&key::DESCRIPTION, artifact.description.as_ref())
        .with(&key::PARTS, parts(&artifact.parts))
        .with(&key::INDEX, index)
        .with_present(&key::METADATA, artifact.metadata.clone())
}

pub(super) fn read_task(task: &Object<'_>) -> Result<Task, Misfit> {
    Ok(Task {
        id: task.needed_text(&key::ID)?,
        context_id: task.text(&key::SESSION_ID)?.unwrap_or_default(),
        status: task.needed_object(&key::STATUS, read_status)?,
        artifacts: task.objects(&key::ARTIFACTS, |one| Ok(Arc::new(read_artifact(one)?.1)))?,
        history: task.objects(&key::HISTORY, |one| read_message(one).map(Arc::new))?,
        metadata: task.dict(&key::METADATA)?,
    })
}

pub(super) fn task(task: &Task, history: &[Arc<Message>], artifacts: &[Arc<Artifact>]) -> Fields {
    let artifacts = (0..).zip(artifacts).map(|(index, one)| artifact(one, index).done());
    Fields::new()
        .with(&key::ID, &task.id)
        .with_text(&key::SESSION_ID, &task.context_id)
        .with(&key::STATUS, status(&task.status))
        .with_list(&key::ARTIFACTS, artifacts)
        .with_list(&key::HISTORY, history.iter().map(|one| message(one)))
        .with_present(&key::METADATA, task.metadata.clone())
}

pub(super) fn read_send(params: &Object<'_>) -> Result<SendMessage, Misfit> {
    let mut message = params.needed_object(&key::MESSAGE, |message| {
        send::check(message)?;
        read_message(message)
    })?;
    message.task_id = params.chosen_id(&key::ID)?;
    message.context_id = params.chosen_id(&key::SESSION_ID)?;
    if message.task_id.is_none() {
        return Err(params.missing(&key::ID));
    }
    let configuration = Configuration {
        accepted_output_modes: params.texts(&key::ACCEPTED_OUTPUT_MODES)?,
        history_length: params.count(&key::HISTORY_LENGTH)?,
        return_immediately: false,
        push: !params.data(&key::PUSH_NOTIFICATION).is_nil(),
    };
    Ok(SendMessage { message, configuration, metadata: params.dict(&key::METADATA)? })
}

pub(super) fn write_send(request: &SendMessage) -> Data {
    let (said, configuration) = (&request.message, &request.configuration);
    Fields::new()
        .with_present(&key::ID, said.task_id.as_ref())
        .with_present(&key::SESSION_ID, said.context_id.as_ref())
        .with(&key::MESSAGE, message(said))
        .with_texts(&key::ACCEPTED_OUTPUT_MODES, &configuration.accepted_output_modes)
        .with_present(&key::HISTORY_LENGTH, configuration.history_length)
        .with_present(&key::METADATA, request.metadata.clone())
        .done()
}

/// A task has a `sessionId` or neither `final` nor an `artifact` of its own; all else is an update of one.
pub(super) fn read_frame(frame: &Object<'_>) -> Result<Frame, Misfit> {
    if frame.has(&key::ROLE) {
        return read_message(frame).map(|message| Frame::Message(message.into()));
    }
    let task_id = frame.needed_text(&key::ID)?;
    if let Some((index, artifact)) = frame.object(&key::ARTIFACT, |artifact| {
        let (index, read) = read_artifact(artifact)?;
        Ok((index, (read, artifact.flag(&key::APPEND)?, artifact.flag(&key::LAST_CHUNK)?)))
    })? {
        let (artifact, append, last_chunk) = artifact;
        return Ok(Frame::Artifact(ArtifactUpdate {
            task_id,
            context_id: Arc::default(),
            index: Some(index),
            artifact: Arc::new(artifact),
            append: append.unwrap_or(false),
            last_chunk: last_chunk.unwrap_or(false),
            metadata: frame.dict(&key::METADATA)?,
        }));
    }
    if frame.has(&key::SESSION_ID) || !frame.has(&key::FINAL) {
        return read_task(frame).map(|task| Frame::Task(task.into()));
    }
    Ok(Frame::Status(StatusUpdate {
        task_id,
        context_id: Arc::default(),
        status: frame.needed_object(&key::STATUS, read_status)?,
        metadata: frame.dict(&key::METADATA)?,
    }))
}

/// A stream of this version tells of updates only, so a task is written as an update of its status that holds all the rest, too.
pub(super) fn frame(frame: &Frame, is_last: bool) -> Data {
    match frame {
        Frame::Task(whole) => task(whole, &whole.history, &whole.artifacts).with(&key::FINAL, is_last).done(),
        Frame::Message(said) => message(said),
        Frame::Status(update) => Fields::new()
            .with(&key::ID, &update.task_id)
            .with(&key::STATUS, status(&update.status))
            .with(&key::FINAL, is_last)
            .with_present(&key::METADATA, update.metadata.clone())
            .done(),
        Frame::Artifact(update) => {
            let told = artifact(&update.artifact, update.index.unwrap_or(0))
                .with(&key::APPEND, update.append)
                .with(&key::LAST_CHUNK, update.last_chunk);
            Fields::new()
                .with(&key::ID, &update.task_id)
                .with(&key::ARTIFACT, told.done())
                .with_present(&key::METADATA, update.metadata.clone())
                .done()
        }
    }
}

//! Writes the model as [`Data`], which shares its texts. The event log keeps the result, and streams write it piece by piece: a
//! thousand clients that do not read a task of 1 MiB cost its texts once. A serializer of serde gets a text as `&str` and would
//! copy each, which is 1 GiB there.

use std::sync::Arc;

use base::data::Data;
use base::moment::rfc3339;

use super::fields::Fields;
use super::key;
use super::spelling::Spelling;
use crate::{Artifact, ArtifactUpdate, ListTasks, Message, Part, SendMessage, Status, StatusUpdate, Task, TaskPage};

pub(super) fn message<V: Spelling>(message: &Message) -> Data {
    V::of_kind("message")
        .with(&key::MESSAGE_ID, &message.message_id)
        .with_present(&key::CONTEXT_ID, message.context_id.as_ref())
        .with_present(&key::TASK_ID, message.task_id.as_ref())
        .with(&key::ROLE, V::role(message.role))
        .with(&key::PARTS, parts::<V>(&message.parts))
        .with_present(&key::METADATA, message.metadata.clone())
        .with_texts(&key::EXTENSIONS, &message.extensions)
        .with_texts(&key::REFERENCE_TASK_IDS, &message.reference_task_ids)
        .done()
}

fn parts<V: Spelling>(parts: &[Part]) -> Data {
    parts.iter().map(V::part).collect()
}

fn status<V: Spelling>(status: &Status) -> Data {
    Fields::new()
        .with(&key::STATE, V::state(status.state))
        .with_present(&key::MESSAGE, status.message.as_deref().map(message::<V>))
        .with_present(&key::TIMESTAMP, status.at_ms.map(rfc3339))
        .done()
}

pub(super) fn artifact<V: Spelling>(artifact: &Artifact) -> Data {
    Fields::new()
        .with(&key::ARTIFACT_ID, &artifact.artifact_id)
        .with_present(&key::NAME, artifact.name.as_ref())
        .with_present(&key::DESCRIPTION, artifact.description.as_ref())
        .with(&key::PARTS, parts::<V>(&artifact.parts))
        .with_present(&key::METADATA, artifact.metadata.clone())
        .with_texts(&key::EXTENSIONS, &artifact.extensions)
        .done()
}

pub(super) fn task<V: Spelling>(task: &Task, history: &[Arc<Message>], artifacts: &[Arc<Artifact>]) -> Data {
    V::of_kind("task")
        .with(&key::ID, &task.id)
        .with_text(&key::CONTEXT_ID, &task.context_id)
        .with(&key::STATUS, status::<V>(&task.status))
        .with_list(&key::ARTIFACTS, artifacts.iter().map(|one| artifact::<V>(one)))
        .with_list(&key::HISTORY, history.iter().map(|one| message::<V>(one)))
        .with_present(&key::METADATA, task.metadata.clone())
        .done()
}

pub(super) fn status_update<V: Spelling>(update: &StatusUpdate) -> Fields {
    V::of_kind("status-update")
        .with(&key::TASK_ID, &update.task_id)
        .with(&key::CONTEXT_ID, &update.context_id)
        .with(&key::STATUS, status::<V>(&update.status))
        .with_present(&key::METADATA, update.metadata.clone())
}

pub(super) fn artifact_update<V: Spelling>(update: &ArtifactUpdate) -> Data {
    V::of_kind("artifact-update")
        .with(&key::TASK_ID, &update.task_id)
        .with(&key::CONTEXT_ID, &update.context_id)
        .with(&key::ARTIFACT, artifact::<V>(&update.artifact))
        .with(&key::APPEND, update.append)
        .with(&key::LAST_CHUNK, update.last_chunk)
        .with_present(&key::METADATA, update.metadata.clone())
        .done()
}

/// Writes a task with the newest messages of its history, and these artifacts.
pub(super) fn task_with<V: Spelling>(task: &Task, history_length: Option<u32>, artifacts: &[Arc<Artifact>]) -> Data {
    let wanted = history_length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    let history = &task.history[task.history.len().saturating_sub(wanted)..];
    self::task::<V>(task, history, artifacts)
}

pub(super) fn page<V: Spelling>(page: &TaskPage, asked: &ListTasks) -> Data {
    let history = asked.history_length.unwrap_or(0);
    let tasks = page.tasks.iter().map(|task| {
        let artifacts = if asked.include_artifacts { task.artifacts.as_slice() } else { &[] };
        task_with::<V>(task, Some(history), artifacts)
    });
    Fields::new()
        .with(&key::TASKS, tasks.collect::<Data>())
        .with(&key::NEXT_PAGE_TOKEN, page.next_page_token.as_str())
        .with(&key::PAGE_SIZE, page.page_size)
        .with(&key::TOTAL_SIZE, page.total_size)
        .done()
}

pub(super) fn send<V: Spelling>(request: &SendMessage) -> Data {
    let configuration = V::configuration(&request.configuration).done();
    let is_said = configuration.as_dict().is_some_and(|entries| !entries.is_empty());
    Fields::new()
        .with(&key::MESSAGE, message::<V>(&request.message))
        .with_present(&key::CONFIGURATION, if is_said { configuration } else { Data::Nil })
        .with_present(&key::METADATA, request.metadata.clone())
        .done()
}

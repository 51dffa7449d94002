//! The structs that serde reads from the wire; they convert to the model. The versions share them; a [`Spelling`] has the types
//! that differ. Names in snake_case, which the JSON of protocol buffers also accepts, are accepted in all versions.

use std::sync::Arc;

use serde::Deserialize;

use super::spelling::Spelling;
use super::value::{Count, Moment, NonEmptyText, OpenDict, present};
use crate::{Artifact, ArtifactUpdate, GetTask, ListTasks, Message, SendMessage, Status, StatusUpdate, Task};

/// A message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireMessage<V: Spelling> {
    #[serde(alias = "message_id")]
    message_id: NonEmptyText,
    #[serde(alias = "context_id")]
    context_id: Option<Arc<str>>,
    #[serde(alias = "task_id")]
    task_id: Option<Arc<str>>,
    role: V::Role,
    parts: Option<Vec<V::Part>>,
    metadata: Option<OpenDict>,
    extensions: Option<Vec<Arc<str>>>,
    #[serde(alias = "reference_task_ids")]
    reference_task_ids: Option<Vec<Arc<str>>>,
}

impl<V: Spelling> From<WireMessage<V>> for Message {
    fn from(message: WireMessage<V>) -> Message {
        Message {
            message_id: message.message_id.0,
            context_id: present(message.context_id),
            task_id: present(message.task_id),
            role: message.role.into(),
            parts: list(message.parts),
            metadata: OpenDict::or_nil(message.metadata),
            extensions: message.extensions.unwrap_or_default(),
            reference_task_ids: message.reference_task_ids.unwrap_or_default(),
        }
    }
}

/// A status.
#[derive(Deserialize)]
#[serde(expecting = "an object", bound = "")]
pub(super) struct WireStatus<V: Spelling> {
    state: V::State,
    message: Option<WireMessage<V>>,
    timestamp: Option<V::StatusTime>,
}

impl<V: Spelling> From<WireStatus<V>> for Status {
    fn from(status: WireStatus<V>) -> Status {
        Status {
            state: status.state.into(),
            message: status.message.map(|message| Arc::new(message.into())),
            at_ms: status.timestamp.and_then(Into::into),
        }
    }
}

/// An artifact.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireArtifact<V: Spelling> {
    #[serde(alias = "artifact_id")]
    artifact_id: NonEmptyText,
    name: Option<Arc<str>>,
    description: Option<Arc<str>>,
    parts: Option<Vec<V::Part>>,
    metadata: Option<OpenDict>,
    extensions: Option<Vec<Arc<str>>>,
}

impl<V: Spelling> From<WireArtifact<V>> for Artifact {
    fn from(artifact: WireArtifact<V>) -> Artifact {
        Artifact {
            artifact_id: artifact.artifact_id.0,
            name: present(artifact.name),
            description: present(artifact.description),
            parts: list(artifact.parts),
            metadata: OpenDict::or_nil(artifact.metadata),
            extensions: artifact.extensions.unwrap_or_default(),
        }
    }
}

/// A task.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireTask<V: Spelling> {
    id: NonEmptyText,
    #[serde(alias = "context_id")]
    context_id: Option<Arc<str>>,
    status: WireStatus<V>,
    artifacts: Option<Vec<WireArtifact<V>>>,
    history: Option<Vec<WireMessage<V>>>,
    metadata: Option<OpenDict>,
}

impl<V: Spelling> From<WireTask<V>> for Task {
    fn from(task: WireTask<V>) -> Task {
        let artifacts: Vec<Artifact> = list(task.artifacts);
        let history: Vec<Message> = list(task.history);
        Task {
            id: task.id.0,
            context_id: task.context_id.unwrap_or_default(),
            status: task.status.into(),
            artifacts: artifacts.into_iter().map(Arc::new).collect(),
            history: history.into_iter().map(Arc::new).collect(),
            metadata: OpenDict::or_nil(task.metadata),
        }
    }
}

/// A change of a status.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireStatusUpdate<V: Spelling> {
    #[serde(alias = "task_id")]
    task_id: NonEmptyText,
    #[serde(alias = "context_id")]
    context_id: Option<Arc<str>>,
    status: WireStatus<V>,
    metadata: Option<OpenDict>,
}

impl<V: Spelling> From<WireStatusUpdate<V>> for StatusUpdate {
    fn from(update: WireStatusUpdate<V>) -> StatusUpdate {
        StatusUpdate {
            task_id: update.task_id.0,
            context_id: update.context_id.unwrap_or_default(),
            status: update.status.into(),
            metadata: OpenDict::or_nil(update.metadata),
        }
    }
}

/// Parts of an artifact.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireArtifactUpdate<V: Spelling> {
    #[serde(alias = "task_id")]
    task_id: NonEmptyText,
    #[serde(alias = "context_id")]
    context_id: Option<Arc<str>>,
    artifact: WireArtifact<V>,
    append: Option<bool>,
    #[serde(alias = "last_chunk")]
    last_chunk: Option<bool>,
    metadata: Option<OpenDict>,
}

impl<V: Spelling> From<WireArtifactUpdate<V>> for ArtifactUpdate {
    fn from(update: WireArtifactUpdate<V>) -> ArtifactUpdate {
        ArtifactUpdate {
            task_id: update.task_id.0,
            context_id: update.context_id.unwrap_or_default(),
            artifact: Arc::new(update.artifact.into()),
            append: update.append.unwrap_or(false),
            last_chunk: update.last_chunk.unwrap_or(false),
            metadata: OpenDict::or_nil(update.metadata),
        }
    }
}

/// The parameters of sending a message.
#[derive(Deserialize)]
#[serde(expecting = "an object", bound = "")]
pub(super) struct WireSendMessage<V: Spelling> {
    message: WireMessage<V>,
    configuration: Option<V::Configuration>,
    metadata: Option<OpenDict>,
}

impl<V: Spelling> From<WireSendMessage<V>> for SendMessage {
    fn from(request: WireSendMessage<V>) -> SendMessage {
        SendMessage {
            message: request.message.into(),
            configuration: request.configuration.map(Into::into).unwrap_or_default(),
            metadata: OpenDict::or_nil(request.metadata),
        }
    }
}

/// The parameters of asking for a task.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub(super) struct WireGetTask {
    id: NonEmptyText,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
}

impl From<WireGetTask> for GetTask {
    fn from(request: WireGetTask) -> GetTask {
        GetTask { id: request.id.0, history_length: request.history_length.map(|count| count.0) }
    }
}

/// The parameters of asking for tasks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", bound = "")]
pub(super) struct WireListTasks<V: Spelling> {
    #[serde(alias = "page_size")]
    page_size: Option<PageSize>,
    status: Option<V::State>,
    #[serde(alias = "context_id")]
    context_id: Option<Arc<str>>,
    #[serde(alias = "status_timestamp_after")]
    status_timestamp_after: Option<Moment>,
    #[serde(alias = "page_token")]
    page_token: Option<Arc<str>>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    #[serde(alias = "include_artifacts")]
    include_artifacts: Option<bool>,
}

impl<V: Spelling> From<WireListTasks<V>> for ListTasks {
    fn from(request: WireListTasks<V>) -> ListTasks {
        ListTasks {
            context_id: present(request.context_id),
            state: request.status.map(Into::into),
            changed_since_ms: request.status_timestamp_after.and_then(Into::into),
            page_size: request.page_size.map(|size| size.0),
            page_token: present(request.page_token),
            history_length: request.history_length.map(|count| count.0),
            include_artifacts: request.include_artifacts.unwrap_or(false),
        }
    }
}

/// The maximum number of tasks on a page.
const MAX_PAGE: u32 = 100;

#[derive(Deserialize)]
#[serde(try_from = "Count")]
struct PageSize(u32);

impl TryFrom<Count> for PageSize {
    type Error = String;

    fn try_from(count: Count) -> Result<PageSize, String> {
        match count.0 {
            size @ 1..=MAX_PAGE => Ok(PageSize(size)),
            _ => Err(format!("must be from 1 to {MAX_PAGE}")),
        }
    }
}

/// Converts a list; an absent one is empty.
fn list<T: Into<U>, U>(items: Option<Vec<T>>) -> Vec<U> {
    items.into_iter().flatten().map(Into::into).collect()
}

//! Tasks, messages, parts, artifacts and the frames of a stream, in the shapes of version 1.0.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

words! {
    /// The state of a task.
    pub enum TaskState {
        /// Taken, and not begun.
        Submitted = "submitted",
        /// The agent works on it.
        Working = "working",
        /// It waits for an answer of its caller.
        InputRequired = "input-required",
        /// It waits until its caller has shown who it is.
        AuthRequired = "auth-required",
        /// Done.
        Completed = "completed",
        /// Its caller has cancelled it.
        Canceled = "canceled",
        /// It failed.
        Failed = "failed",
        /// The agent has refused it.
        Rejected = "rejected",
        /// The state is not known.
        Unknown = "unknown",
    }
}

impl TaskState {
    /// Whether nothing more becomes of the task.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, TaskState::Completed | TaskState::Canceled | TaskState::Failed | TaskState::Rejected)
    }

    /// Whether it waits for its caller.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        matches!(self, TaskState::InputRequired | TaskState::AuthRequired)
    }
}

words! {
    /// The sender of a message.
    pub enum Role {
        /// The caller.
        User = "user",
        /// The agent.
        Agent = "agent",
    }
}

/// A piece of a message or of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The content.
    pub content: Content,
    /// A file's name.
    pub filename: Option<Arc<str>>,
    /// Its media type.
    pub media_type: Option<Arc<str>>,
    /// A dict, or nil.
    pub metadata: Data,
}

/// The content of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(Arc<str>),
    /// A file's content in base64.
    Raw(Arc<str>),
    /// The URL of a file.
    Url(Arc<str>),
    /// Data.
    Data(Data),
}

impl Part {
    /// A part of this, nothing else said of it.
    #[must_use]
    pub fn new(content: Content) -> Part {
        Part { content, filename: None, media_type: None, metadata: Data::Nil }
    }

    /// Text.
    pub fn text(text: impl Into<Arc<str>>) -> Part {
        Part::new(Content::Text(text.into()))
    }

    /// Data.
    #[must_use]
    pub fn data(data: Data) -> Part {
        Part::new(Content::Data(data))
    }
}

/// A message from the caller or from the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id.
    pub message_id: Arc<str>,
    /// The conversation that it belongs to.
    pub context_id: Option<Arc<str>>,
    /// The task that it belongs to.
    pub task_id: Option<Arc<str>>,
    /// The sender.
    pub role: Role,
    /// The parts.
    pub parts: Vec<Part>,
    /// A dict, or nil.
    pub metadata: Data,
    /// The URIs of extensions that it makes use of.
    pub extensions: Vec<Arc<str>>,
    /// Other tasks that it speaks of.
    pub reference_task_ids: Vec<Arc<str>>,
}

impl Message {
    /// A message of these parts, nothing else said of it.
    pub fn new(role: Role, message_id: impl Into<Arc<str>>, parts: Vec<Part>) -> Message {
        Message {
            message_id: message_id.into(),
            context_id: None,
            task_id: None,
            role,
            parts,
            metadata: Data::Nil,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// Its text parts, a line break between two.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }
}

/// The text parts, a line break between two.
#[must_use]
pub fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<&str>>().join("\n")
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The state.
    pub state: TaskState,
    /// The agent's message about the state.
    pub message: Option<Arc<Message>>,
    /// The time of the change, in milliseconds since 1970-01-01 UTC; `None` if a peer did not send
    /// it.
    pub at_ms: Option<u64>,
}

/// An artifact that a task has produced.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Its id, one within the task.
    pub artifact_id: Arc<str>,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its description.
    pub description: Option<Arc<str>>,
    /// Its parts.
    pub parts: Vec<Part>,
    /// A dict, or nil.
    pub metadata: Data,
    /// The URIs of extensions that it makes use of.
    pub extensions: Vec<Arc<str>>,
}

/// A unit of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id.
    pub id: Arc<str>,
    /// The conversation that it belongs to.
    pub context_id: Arc<str>,
    /// The status.
    pub status: Status,
    /// The artifacts produced so far.
    pub artifacts: Vec<Arc<Artifact>>,
    /// The messages, oldest first.
    pub history: Vec<Arc<Message>>,
    /// A dict, or nil.
    pub metadata: Data,
}

/// A change of a task's status.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    /// The task.
    pub task_id: Arc<str>,
    /// Its conversation.
    pub context_id: Arc<str>,
    /// The new status.
    pub status: Status,
    /// A dict, or nil.
    pub metadata: Data,
}

/// A task has made something, or more of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    /// The task.
    pub task_id: Arc<str>,
    /// Its conversation.
    pub context_id: Arc<str>,
    /// The artifact, or its next parts.
    pub artifact: Arc<Artifact>,
    /// Whether these parts come behind those that are there; else they take their place.
    pub append: bool,
    /// Whether nothing more comes of it.
    pub last_chunk: bool,
    /// A dict, or nil.
    pub metadata: Data,
}

/// One frame of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// The task as it is now.
    Task(Arc<Task>),
    /// An answer without a task.
    Message(Arc<Message>),
    /// The task's status has changed.
    Status(StatusUpdate),
    /// A task has made something.
    Artifact(ArtifactUpdate),
}

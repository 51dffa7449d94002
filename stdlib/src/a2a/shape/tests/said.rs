//! What is left of a value when it was said in a version.

use std::sync::Arc;

use super::model::{Artifact, Content, Frame, Message, Part, SendMessage, Status, Task, TaskState, Version};

/// What is left of a value when it was said in the version.
pub(super) trait Said {
    fn said_in(self, version: Version) -> Self;
}

impl Said for Part {
    fn said_in(self, version: Version) -> Part {
        // Only files have names and media types in the older versions.
        match self.content {
            Content::Text(_) | Content::Data(_) if version < Version::V1_0 => {
                Part { filename: None, media_type: None, ..self }
            }
            _ => self,
        }
    }
}

impl Said for Message {
    fn said_in(self, version: Version) -> Message {
        let parts: Vec<Part> = self.parts.into_iter().map(|part| part.said_in(version)).collect();
        if version > Version::V0_1 {
            return Message { parts, ..self };
        }
        // A message of 0.1 has no id, so it gets one that cannot be foretold.
        Message { metadata: self.metadata, ..Message::new(self.role, "m", parts) }
    }
}

impl<T: Said + Clone> Said for Arc<T> {
    fn said_in(self, version: Version) -> Arc<T> {
        Arc::new(T::clone(&self).said_in(version))
    }
}

impl Said for Status {
    fn said_in(self, version: Version) -> Status {
        let state = match self.state {
            TaskState::Rejected if version == Version::V0_1 => TaskState::Failed,
            TaskState::AuthRequired if version == Version::V0_1 => TaskState::InputRequired,
            state => state,
        };
        Status { state, message: self.message.map(|message| message.said_in(version)), ..self }
    }
}

fn artifact(artifact: &Artifact, index: u32, version: Version) -> Arc<Artifact> {
    let mut said = artifact.clone();
    said.parts = said.parts.into_iter().map(|part| part.said_in(version)).collect();
    if version == Version::V0_1 {
        said.artifact_id = index.to_string().into();
        said.extensions.clear();
    }
    said.into()
}

impl Said for Task {
    fn said_in(self, version: Version) -> Task {
        Task {
            status: self.status.said_in(version),
            artifacts: (0..).zip(&self.artifacts).map(|(index, one)| artifact(one, index, version)).collect(),
            history: self.history.into_iter().map(|message| message.said_in(version)).collect(),
            ..self
        }
    }
}

impl Said for Frame {
    fn said_in(self, version: Version) -> Frame {
        match self {
            Frame::Task(task) => Frame::Task(task.said_in(version)),
            Frame::Message(message) => Frame::Message(message.said_in(version)),
            Frame::Status(mut update) => {
                update.status = update.status.said_in(version);
                if version == Version::V0_1 {
                    update.context_id = Arc::default();
                }
                Frame::Status(update)
            }
            Frame::Artifact(mut update) => {
                update.artifact = artifact(&update.artifact, update.index.unwrap_or(0), version);
                if version == Version::V0_1 {
                    update.context_id = Arc::default();
                } else {
                    update.index = None;
                }
                Frame::Artifact(update)
            }
        }
    }
}

impl Said for SendMessage {
    fn said_in(mut self, version: Version) -> SendMessage {
        let (context_id, task_id) = (self.message.context_id.clone(), self.message.task_id.clone());
        self.message = self.message.said_in(version);
        match version {
            Version::V0_1 => {
                (self.message.context_id, self.message.task_id) = (context_id, task_id);
                self.configuration.return_immediately = false;
            }
            // There, 0 is the whole history.
            Version::V0_3 => self.configuration.history_length = self.configuration.history_length.filter(|n| *n > 0),
            Version::V1_0 => {}
        }
        self
    }
}

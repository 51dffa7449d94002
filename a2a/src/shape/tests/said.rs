//! What is left of a value when it was said in a version.

use std::sync::Arc;

use super::model::{Artifact, Content, Frame, Message, Part, SendMessage, Status, Task, Version};

/// What is left of a value when it was said in the version.
pub(super) trait Said {
    fn said_in(self, version: Version) -> Self;
}

impl Said for Part {
    fn said_in(self, version: Version) -> Part {
        // Only files have names and media types in 0.3.
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
        Message { parts, ..self }
    }
}

impl<T: Said + Clone> Said for Arc<T> {
    fn said_in(self, version: Version) -> Arc<T> {
        Arc::new(T::clone(&self).said_in(version))
    }
}

impl Said for Status {
    fn said_in(self, version: Version) -> Status {
        Status { message: self.message.map(|message| message.said_in(version)), ..self }
    }
}

impl Said for Artifact {
    fn said_in(self, version: Version) -> Artifact {
        Artifact { parts: self.parts.into_iter().map(|part| part.said_in(version)).collect(), ..self }
    }
}

impl Said for Task {
    fn said_in(self, version: Version) -> Task {
        Task {
            status: self.status.said_in(version),
            artifacts: self.artifacts.into_iter().map(|artifact| artifact.said_in(version)).collect(),
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
                Frame::Status(update)
            }
            Frame::Artifact(mut update) => {
                update.artifact = update.artifact.said_in(version);
                Frame::Artifact(update)
            }
        }
    }
}

impl Said for SendMessage {
    fn said_in(mut self, version: Version) -> SendMessage {
        self.message = self.message.said_in(version);
        if version == Version::V0_3 {
            // There, 0 is the whole history.
            self.configuration.history_length = self.configuration.history_length.filter(|n| *n > 0);
        }
        self
    }
}

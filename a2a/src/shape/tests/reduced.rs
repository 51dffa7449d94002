//! The part of a value that survives being written in a version.

use std::sync::Arc;

use super::model::{Artifact, Content, Frame, Message, Part, SendMessage, Status, Task, Version};

/// A value that can be reduced to what a version can express.
pub(super) trait Reduce {
    fn reduced_to(self, version: Version) -> Self;
}

impl Reduce for Part {
    fn reduced_to(self, version: Version) -> Part {
        // Only files have names and media types in 0.3.
        match self.content {
            Content::Text(_) | Content::Data(_) if version < Version::V1_0 => {
                Part { filename: None, media_type: None, ..self }
            }
            _ => self,
        }
    }
}

impl Reduce for Message {
    fn reduced_to(self, version: Version) -> Message {
        let parts: Vec<Part> = self.parts.into_iter().map(|part| part.reduced_to(version)).collect();
        Message { parts, ..self }
    }
}

impl<T: Reduce + Clone> Reduce for Arc<T> {
    fn reduced_to(self, version: Version) -> Arc<T> {
        Arc::new(T::clone(&self).reduced_to(version))
    }
}

impl Reduce for Status {
    fn reduced_to(self, version: Version) -> Status {
        Status { message: self.message.map(|message| message.reduced_to(version)), ..self }
    }
}

impl Reduce for Artifact {
    fn reduced_to(self, version: Version) -> Artifact {
        Artifact { parts: self.parts.into_iter().map(|part| part.reduced_to(version)).collect(), ..self }
    }
}

impl Reduce for Task {
    fn reduced_to(self, version: Version) -> Task {
        Task {
            status: self.status.reduced_to(version),
            artifacts: self.artifacts.into_iter().map(|artifact| artifact.reduced_to(version)).collect(),
            history: self.history.into_iter().map(|message| message.reduced_to(version)).collect(),
            ..self
        }
    }
}

impl Reduce for Frame {
    fn reduced_to(self, version: Version) -> Frame {
        match self {
            Frame::Task(task) => Frame::Task(task.reduced_to(version)),
            Frame::Message(message) => Frame::Message(message.reduced_to(version)),
            Frame::Status(mut update) => {
                update.status = update.status.reduced_to(version);
                Frame::Status(update)
            }
            Frame::Artifact(mut update) => {
                update.artifact = update.artifact.reduced_to(version);
                Frame::Artifact(update)
            }
        }
    }
}

impl Reduce for SendMessage {
    fn reduced_to(mut self, version: Version) -> SendMessage {
        self.message = self.message.reduced_to(version);
        if version == Version::V0_3 {
            // There, 0 is the whole history.
            self.configuration.history_length = self.configuration.history_length.filter(|n| *n > 0);
        }
        self
    }
}

//! The artifacts of a task, except its answer.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Part};
use base::data::Data;

use super::super::{ANSWER, TaskChange};
use super::{HaltReason, TaskEffect, TaskStateMachine, weight_of_parts};
use crate::host;

/// The maximum size of all artifacts of a task, in bytes.
pub(super) const MOST: usize = 64 << 20;

impl TaskStateMachine {
    /// Adds an artifact from the script, or extends it.
    pub(super) fn make(&mut self, made: host::TaskArtifact) -> Vec<TaskEffect> {
        let id = made.id.unwrap_or_else(|| made.name.clone());
        // The agent's own answer uses that id.
        let artifact_id = if &*id == ANSWER { "artifact:answer".into() } else { id };
        let artifact = Artifact {
            artifact_id,
            name: Some(made.name),
            description: made.description,
            parts: made.parts.iter().map(part).collect(),
            metadata: made.metadata,
            extensions: Vec::new(),
        };
        self.put(artifact, made.append, made.last_chunk)
    }

    /// Replaces the artifact with the same id, or appends the parts to it.
    fn put(&mut self, artifact: Artifact, append: bool, last_chunk: bool) -> Vec<TaskEffect> {
        let known = self.task.artifacts.iter().position(|known| known.artifact_id == artifact.artifact_id);
        let append = append && known.is_some();
        if let Some(place) = known.filter(|_| !append) {
            self.made = self.made.saturating_sub(weight_of_parts(&self.task.artifacts[place].parts));
        }
        if !self.make_room(weight_of_parts(&artifact.parts)) {
            return Vec::new();
        }
        let artifacts = &mut Arc::make_mut(&mut self.task).artifacts;
        let artifact = Arc::new(artifact);
        match known {
            Some(place) if append => {
                let known = Arc::make_mut(&mut artifacts[place]);
                known.parts.extend(artifact.parts.iter().cloned());
                known.name = artifact.name.clone().or(known.name.take());
                known.description = artifact.description.clone().or(known.description.take());
                for (key, value) in artifact.metadata.as_dict().into_iter().flatten() {
                    known.metadata.set(key.clone(), value.clone());
                }
            }
            Some(place) => artifacts[place] = artifact.clone(),
            None => artifacts.push(artifact.clone()),
        }
        let (task_id, context_id) = (self.task.id.clone(), self.task.context_id.clone());
        let metadata = Data::Nil;
        vec![TaskEffect::Change(TaskChange::Artifact(ArtifactUpdate {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata,
        }))]
    }

    /// Counts the size of an artifact. If the limit is exceeded, the task must stop and the artifact is dropped.
    pub(super) fn make_room(&mut self, bytes: usize) -> bool {
        let made = self.made.saturating_add(bytes);
        if self.halt == Some(HaltReason::TooMuch) || made > MOST {
            self.halt(HaltReason::TooMuch);
            return false;
        }
        self.made = made;
        true
    }
}

fn part(part: &host::Part) -> Part {
    match part {
        host::Part::Text(text) => Part::text(text.clone()),
        host::Part::Data(data) => Part::data(data.clone()),
        host::Part::File { name, mime_type, bytes, uri } => {
            let content = match (bytes, uri) {
                (Some(bytes), _) => Content::Raw(bytes.clone()),
                (None, uri) => Content::Url(uri.clone().unwrap_or_else(|| "".into())),
            };
            Part { filename: name.clone(), media_type: mime_type.clone(), ..Part::new(content) }
        }
    }
}

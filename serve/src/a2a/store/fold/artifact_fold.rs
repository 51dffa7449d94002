//! [`ArtifactFold`]: rebuilds the artifacts of a task from their pieces.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Part};

use super::super::super::tasks::ANSWER;
use super::super::unwritten_answer::goes_on;
use super::merged;

/// The artifacts of a task so far.
#[derive(Default)]
pub(super) struct ArtifactFold {
    artifacts: Vec<Arc<Artifact>>,
    /// The text to append to the answer's last part. An answer comes in very many pieces, and each would copy all text
    /// before it.
    tail: String,
    /// Whether the whole answer is also in the history.
    pub(super) is_said: bool,
}

impl ArtifactFold {
    /// Applies the next artifact update.
    pub(super) fn take(&mut self, update: ArtifactUpdate) {
        let ArtifactUpdate { artifact, append, .. } = update;
        if *artifact.artifact_id == *ANSWER {
            self.is_said = false;
        }
        let at = self.artifacts.iter().position(|known| known.artifact_id == artifact.artifact_id);
        match at {
            Some(at) if append => self.append(at, &artifact),
            Some(at) => {
                if *artifact.artifact_id == *ANSWER {
                    self.tail.clear();
                }
                self.artifacts[at] = artifact;
            }
            None => self.artifacts.push(artifact),
        }
    }

    /// Records that the answer is in the history, and is about to begin anew.
    pub(super) fn answer_is_said(&mut self) {
        self.is_said = true;
    }

    /// Drops the answer, which begins anew.
    pub(super) fn forget_answer(&mut self) {
        self.artifacts.retain(|known| *known.artifact_id != *ANSWER);
        self.tail.clear();
        self.is_said = false;
    }

    /// Returns all artifacts.
    pub(super) fn done(mut self) -> Vec<Arc<Artifact>> {
        if let Some(at) = self.artifacts.iter().position(|known| *known.artifact_id == *ANSWER) {
            self.join(at);
        }
        self.artifacts
    }

    /// Appends an update to the artifact at index `at`.
    fn append(&mut self, at: usize, more: &Artifact) {
        let artifact = Arc::make_mut(&mut self.artifacts[at]);
        artifact.name = more.name.clone().or(artifact.name.take());
        artifact.description = more.description.clone().or(artifact.description.take());
        artifact.metadata = merged(std::mem::take(&mut artifact.metadata), &more.metadata);
        for part in &more.parts {
            match &part.content {
                Content::Text(piece) if goes_on(&self.artifacts[at], part) => self.tail.push_str(piece),
                _ => {
                    if *more.artifact_id == *ANSWER {
                        self.join(at);
                    }
                    Arc::make_mut(&mut self.artifacts[at]).parts.push(part.clone());
                }
            }
        }
    }

    /// Moves the gathered text to the artifact's last part.
    fn join(&mut self, at: usize) {
        let tail = std::mem::take(&mut self.tail);
        if let Some(Part { content: Content::Text(text), .. }) = Arc::make_mut(&mut self.artifacts[at]).parts.last_mut()
            && !tail.is_empty()
        {
            *text = format!("{text}{tail}").into();
        }
    }
}

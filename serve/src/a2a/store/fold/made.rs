//! [`Made`]: the artifacts of a task, from their pieces.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Part};

use super::super::super::desk::ANSWER;
use super::super::pieces::goes_on;
use super::merged;

/// What a task has made so far.
#[derive(Default)]
pub(super) struct Made {
    artifacts: Vec<Arc<Artifact>>,
    /// What stands behind the last text of the answer. An answer comes in very many pieces, and each would copy all before it.
    tail: String,
    /// The answer is in the history too, as a whole.
    pub(super) is_said: bool,
}

impl Made {
    /// Takes the next of an artifact.
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

    /// What has come of the answer is in the history, and it is about to begin anew.
    pub(super) fn answer_is_said(&mut self) {
        self.is_said = true;
    }

    /// The answer begins anew.
    pub(super) fn forget_answer(&mut self) {
        self.artifacts.retain(|known| *known.artifact_id != *ANSWER);
        self.tail.clear();
        self.is_said = false;
    }

    /// All of it.
    pub(super) fn done(mut self) -> Vec<Arc<Artifact>> {
        if let Some(at) = self.artifacts.iter().position(|known| *known.artifact_id == *ANSWER) {
            self.join(at);
        }
        self.artifacts
    }

    /// Puts the next parts behind those that are there.
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

    /// Puts what has gathered where it belongs.
    fn join(&mut self, at: usize) {
        let tail = std::mem::take(&mut self.tail);
        if let Some(Part { content: Content::Text(text), .. }) = Arc::make_mut(&mut self.artifacts[at]).parts.last_mut()
            && !tail.is_empty()
        {
            *text = format!("{text}{tail}").into();
        }
    }
}

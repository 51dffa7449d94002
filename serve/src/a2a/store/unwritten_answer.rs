//! [`UnwrittenAnswer`]: gathers the small pieces of the agent's text until there is enough of it or enough time has
//! passed, because a record for each piece would be mostly overhead.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Part};
use base::data::Data;

use super::super::tasks::ANSWER;

/// The size of gathered text that is written, in bytes.
const ENOUGH: usize = 8 << 10;
/// The maximum time that a piece waits for the next one, in milliseconds.
const LONG_MS: u64 = 1_000;

/// The part of a task's answer that is not written yet.
#[derive(Default)]
pub(super) struct UnwrittenAnswer(Option<GatheredText>);

struct GatheredText {
    /// The first of the gathered updates.
    first: ArtifactUpdate,
    text: String,
    since_ms: u64,
}

impl UnwrittenAnswer {
    /// Adds an artifact update, and returns the updates to write now.
    pub(super) fn take(&mut self, at_ms: u64, update: &ArtifactUpdate) -> Vec<ArtifactUpdate> {
        let Some(text) = piece_of(update) else {
            let before = if replaces(update) { self.0.take().and(None) } else { self.flush() };
            return before.into_iter().chain([update.clone()]).collect();
        };
        if !update.append {
            self.0 = None;
        }
        let gathered =
            self.0.get_or_insert_with(|| GatheredText { first: update.clone(), text: String::new(), since_ms: at_ms });
        gathered.text.push_str(text);
        let is_due = gathered.text.len() >= ENOUGH || at_ms.saturating_sub(gathered.since_ms) >= LONG_MS;
        if is_due { self.flush().into_iter().collect() } else { Vec::new() }
    }

    /// Takes everything that is gathered.
    pub(super) fn flush(&mut self) -> Option<ArtifactUpdate> {
        let GatheredText { first, text, .. } = self.0.take()?;
        let artifact = Artifact { parts: vec![Part::text(text)], ..first.artifact.as_ref().clone() };
        Some(ArtifactUpdate { artifact: Arc::new(artifact), ..first })
    }
}

/// Returns the text of a piece of the answer, or `None` for any other update.
fn piece_of(update: &ArtifactUpdate) -> Option<&str> {
    if *update.artifact.artifact_id != *ANSWER || update.last_chunk || !update.metadata.is_nil() {
        return None;
    }
    match update.artifact.parts.as_slice() {
        [Part { content: Content::Text(text), filename: None, media_type: None, metadata: Data::Nil }] => Some(text),
        _ => None,
    }
}

/// Returns whether the update replaces the whole answer.
fn replaces(update: &ArtifactUpdate) -> bool {
    *update.artifact.artifact_id == *ANSWER && !update.append
}

/// Returns whether a piece continues the last part of the artifact.
pub(super) fn goes_on(artifact: &Artifact, piece: &Part) -> bool {
    let is_plain = |part: &Part| {
        matches!(part.content, Content::Text(_))
            && part.filename.is_none()
            && part.media_type.is_none()
            && part.metadata.is_nil()
    };
    *artifact.artifact_id == *ANSWER && is_plain(piece) && artifact.parts.last().is_some_and(is_plain)
}

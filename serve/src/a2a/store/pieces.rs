//! [`Pieces`]: the agent's text comes in many small pieces, and a record of each would be more log than text. They are gathered
//! until there is enough of them, or enough time has passed.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Part};
use runtime::data::Data;

use super::super::desk::ANSWER;

/// Bytes of text that are written at last.
const ENOUGH: usize = 8 << 10;
/// How long a piece waits at most for the next one, in milliseconds.
const LONG_MS: u64 = 1_000;

/// What of a task's answer is not written yet.
#[derive(Default)]
pub(super) struct Pieces(Option<Gathered>);

struct Gathered {
    /// The first of them.
    first: ArtifactUpdate,
    text: String,
    since_ms: u64,
}

impl Pieces {
    /// Takes an update of an artifact; what is to be written now.
    pub(super) fn take(&mut self, at_ms: u64, update: &ArtifactUpdate) -> Vec<ArtifactUpdate> {
        let Some(text) = piece_of(update) else {
            let before = if replaces(update) { self.0.take().and(None) } else { self.flush() };
            return before.into_iter().chain([update.clone()]).collect();
        };
        if !update.append {
            self.0 = None;
        }
        let gathered =
            self.0.get_or_insert_with(|| Gathered { first: update.clone(), text: String::new(), since_ms: at_ms });
        gathered.text.push_str(text);
        let is_due = gathered.text.len() >= ENOUGH || at_ms.saturating_sub(gathered.since_ms) >= LONG_MS;
        if is_due { self.flush().into_iter().collect() } else { Vec::new() }
    }

    /// All that waits.
    pub(super) fn flush(&mut self) -> Option<ArtifactUpdate> {
        let Gathered { first, text, .. } = self.0.take()?;
        let artifact = Artifact { parts: vec![Part::text(text)], ..first.artifact.as_ref().clone() };
        Some(ArtifactUpdate { artifact: Arc::new(artifact), ..first })
    }
}

/// The text of a piece of the answer; nothing where it is something else.
fn piece_of(update: &ArtifactUpdate) -> Option<&str> {
    if *update.artifact.artifact_id != *ANSWER || update.last_chunk || !update.metadata.is_nil() {
        return None;
    }
    match update.artifact.parts.as_slice() {
        [Part { content: Content::Text(text), filename: None, media_type: None, metadata: Data::Nil }] => Some(text),
        _ => None,
    }
}

/// Whether the answer comes once more as a whole.
fn replaces(update: &ArtifactUpdate) -> bool {
    *update.artifact.artifact_id == *ANSWER && !update.append
}

/// Whether a piece goes on where the artifact's last part ends.
pub(super) fn goes_on(artifact: &Artifact, piece: &Part) -> bool {
    let is_plain = |part: &Part| {
        matches!(part.content, Content::Text(_))
            && part.filename.is_none()
            && part.media_type.is_none()
            && part.metadata.is_nil()
    };
    *artifact.artifact_id == *ANSWER && is_plain(piece) && artifact.parts.last().is_some_and(is_plain)
}

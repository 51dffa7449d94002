//! [`TextChunks`]: consecutive text chunks of one artifact. A subscriber that has not read them gets them as one; a
//! subscriber that has read some gets the rest.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Frame, Part};
use base::data::Data;

use super::FeedUpdate;

/// Consecutive text chunks of one artifact.
pub(super) struct TextChunks {
    text: String,
    /// The first of them as it was sent.
    first: Arc<FeedUpdate>,
    /// The last of them, and the offset at which its text begins.
    last: (usize, Arc<FeedUpdate>),
}

impl TextChunks {
    /// Begins with an update that later ones can be joined to: a piece of text with more to come.
    pub(super) fn begin(feed_update: &Arc<FeedUpdate>) -> Option<TextChunks> {
        let (_, text) = joinable(feed_update).filter(|(_, text)| !text.is_empty())?;
        Some(TextChunks { text: text.to_owned(), first: feed_update.clone(), last: (0, feed_update.clone()) })
    }

    /// Joins the next update if it continues this text and both together have at most `room` bytes. Returns the number
    /// of bytes added.
    pub(super) fn join(&mut self, feed_update: &Arc<FeedUpdate>, room: usize) -> Option<usize> {
        let (update, text) = joinable(feed_update)?;
        let goes_on = update.append
            && self.artifact_id() == Some(&update.artifact.artifact_id)
            && update.artifact.metadata.is_nil();
        if !goes_on || self.text.len() + text.len() > room {
            return None;
        }
        if !text.is_empty() {
            self.last = (self.text.len(), feed_update.clone());
            self.text.push_str(text);
        }
        Some(text.len())
    }

    /// Returns the id of the artifact that the text belongs to.
    pub(super) fn artifact_id(&self) -> Option<&Arc<str>> {
        artifact_id(&self.first)
    }

    /// Returns the length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the update for a subscriber that has read the first `from` bytes; `from` is the end of a chunk.
    pub(super) fn rest(&self, from: usize) -> Arc<FeedUpdate> {
        let (start, last) = &self.last;
        if from == *start {
            return last.clone();
        }
        let FeedUpdate::Frame(Frame::Artifact(first)) = &*self.first else { return last.clone() };
        let text = self.text.get(from..).unwrap_or_default();
        let artifact = Artifact { parts: vec![Part::text(text)], ..(*first.artifact).clone() };
        let append = first.append || from > 0;
        Arc::new(FeedUpdate::Frame(Frame::Artifact(ArtifactUpdate {
            artifact: artifact.into(),
            append,
            ..first.clone()
        })))
    }
}

/// Returns the id of the artifact that an update belongs to.
pub(super) fn artifact_id(feed_update: &FeedUpdate) -> Option<&Arc<str>> {
    match feed_update {
        FeedUpdate::Frame(Frame::Artifact(update)) => Some(&update.artifact.artifact_id),
        _ => None,
    }
}

/// Returns an update, and its text, if it is only a piece of text with more to come.
fn joinable(feed_update: &FeedUpdate) -> Option<(&ArtifactUpdate, &str)> {
    let FeedUpdate::Frame(Frame::Artifact(update)) = feed_update else { return None };
    match update.artifact.parts.as_slice() {
        [Part { content: Content::Text(text), filename: None, media_type: None, metadata: Data::Nil }]
            if !update.last_chunk && update.metadata.is_nil() =>
        {
            Some((update, text))
        }
        _ => None,
    }
}

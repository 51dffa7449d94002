//! [`Chunks`]: chunks of text of one artifact that came one after another. Who has not read them gets them as one; who has
//! read some gets the rest.

use std::sync::Arc;

use a2a::{Artifact, ArtifactUpdate, Content, Frame, Part};
use runtime::data::Data;

use super::Told;

/// Chunks of text of one artifact.
pub(super) struct Chunks {
    text: String,
    /// The first of them as it was told.
    first: Arc<Told>,
    /// The last of them, and where its text begins.
    last: (usize, Arc<Told>),
}

impl Chunks {
    /// Begins with an update that others can be joined to: more may come of its artifact, and it is a piece of text.
    pub(super) fn begin(told: &Arc<Told>) -> Option<Chunks> {
        let (_, text) = joinable(told).filter(|(_, text)| !text.is_empty())?;
        Some(Chunks { text: text.to_owned(), first: told.clone(), last: (0, told.clone()) })
    }

    /// Joins the next update, where it goes on with this text and both together have at most `room` bytes: how many it adds.
    pub(super) fn join(&mut self, told: &Arc<Told>, room: usize) -> Option<usize> {
        let (update, text) = joinable(told)?;
        let goes_on = update.append
            && self.artifact_id() == Some(&update.artifact.artifact_id)
            && update.artifact.metadata.is_nil();
        if !goes_on || self.text.len() + text.len() > room {
            return None;
        }
        if !text.is_empty() {
            self.last = (self.text.len(), told.clone());
            self.text.push_str(text);
        }
        Some(text.len())
    }

    /// The artifact that the text belongs to.
    pub(super) fn artifact_id(&self) -> Option<&Arc<str>> {
        artifact_id(&self.first)
    }

    /// Bytes of text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What is told to one who has read so many bytes of it; `from` is where a chunk ended.
    pub(super) fn rest(&self, from: usize) -> Arc<Told> {
        let (start, last) = &self.last;
        if from == *start {
            return last.clone();
        }
        let Told::Frame(Frame::Artifact(first)) = &*self.first else { return last.clone() };
        let text = self.text.get(from..).unwrap_or_default();
        let artifact = Artifact { parts: vec![Part::text(text)], ..(*first.artifact).clone() };
        let append = first.append || from > 0;
        Arc::new(Told::Frame(Frame::Artifact(ArtifactUpdate { artifact: artifact.into(), append, ..first.clone() })))
    }
}

/// The artifact of an update.
pub(super) fn artifact_id(told: &Told) -> Option<&Arc<str>> {
    match told {
        Told::Frame(Frame::Artifact(update)) => Some(&update.artifact.artifact_id),
        _ => None,
    }
}

/// An update that says nothing but a piece of text, and that more may follow.
fn joinable(told: &Told) -> Option<(&ArtifactUpdate, &str)> {
    let Told::Frame(Frame::Artifact(update)) = told else { return None };
    match update.artifact.parts.as_slice() {
        [Part { content: Content::Text(text), filename: None, media_type: None, metadata: Data::Nil }]
            if !update.last_chunk && update.metadata.is_nil() =>
        {
            Some((update, text))
        }
        _ => None,
    }
}

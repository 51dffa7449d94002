//! [`UpdateWindow`]: the updates of a task in a [`Window`]. Consecutive pieces of text are one entry, and the new beginning of
//! an artifact replaces what is pending of it.

use std::sync::Arc;

use a2a::{Content, Frame, Part};

use super::chunks::{TextChunks, artifact_id};
use super::{FeedItem, FeedUpdate};
use crate::host::ReminderEvent;
use crate::window::{Window, WindowBounds, WindowEntry, WindowNext, WindowReader};

/// The maximum number of pending updates of a subscriber; consecutive text chunks count as one.
pub const MAX_THINGS: usize = 1024;

/// The maximum size of the pending content of a subscriber, in bytes. Content that the task itself holds anyway (a
/// whole artifact) does not count.
pub const MAX_CONTENT: usize = 1 << 20;

/// The updates that a subscriber may still need.
pub(super) struct UpdateWindow {
    updates: Window<PendingUpdate>,
    /// The number of the newest entry that was the last one for its subscribers.
    last: u64,
    /// Whether nothing more follows.
    ended: bool,
    /// Whether it ended because the server stops.
    left: bool,
}

/// The result of a read.
pub(super) enum WindowRead {
    /// An item.
    Next(FeedItem),
    /// No item yet.
    Nothing,
    /// No item ever again.
    End,
}

enum PendingUpdate {
    /// An update, and whether it is the last.
    Whole(Arc<FeedUpdate>, bool),
    Text(TextChunks),
}

impl WindowEntry for PendingUpdate {
    fn bytes(&self) -> usize {
        match self {
            PendingUpdate::Whole(feed_update, _) => content(feed_update),
            PendingUpdate::Text(chunks) => chunks.len(),
        }
    }

    fn length(&self) -> usize {
        match self {
            PendingUpdate::Whole(..) => 0,
            PendingUpdate::Text(chunks) => chunks.len(),
        }
    }
}

impl PendingUpdate {
    fn artifact_id(&self) -> Option<&Arc<str>> {
        match self {
            PendingUpdate::Whole(feed_update, _) => artifact_id(feed_update),
            PendingUpdate::Text(chunks) => chunks.artifact_id(),
        }
    }
}

impl Default for UpdateWindow {
    fn default() -> UpdateWindow {
        let updates = Window::new(WindowBounds { entries: MAX_THINGS, bytes: MAX_CONTENT });
        UpdateWindow { updates, last: 0, ended: false, left: false }
    }
}

impl UpdateWindow {
    /// Adds a reader, for the updates from now on.
    pub(super) fn enter(&mut self) -> WindowReader {
        self.updates.enter()
    }

    /// Removes a reader.
    pub(super) fn leave(&mut self, reader: WindowReader) {
        self.updates.leave(reader);
    }

    /// Adds an update.
    pub(super) fn push(&mut self, feed_update: Arc<FeedUpdate>, is_last: bool) {
        if !self.updates.is_read() || !is_last && self.join(&feed_update).is_some() {
            return;
        }
        self.supersede(&feed_update);
        let chunks = if is_last { None } else { TextChunks::begin(&feed_update) };
        let number = self.updates.push(match chunks {
            Some(chunks) => PendingUpdate::Text(chunks),
            None => PendingUpdate::Whole(feed_update, is_last),
        });
        if is_last {
            self.last = number;
        }
    }

    /// Ends the window: nothing more follows.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Ends the window because the server stops.
    pub(super) fn abandon(&mut self) {
        self.left = true;
    }

    /// Returns the next item for a reader.
    pub(super) fn read(&mut self, reader: &mut WindowReader) -> WindowRead {
        let next = self.updates.next(reader, |update, from| match update {
            PendingUpdate::Whole(feed_update, is_last) => FeedItem::Update(feed_update.clone(), *is_last),
            PendingUpdate::Text(chunks) => FeedItem::Update(chunks.rest(from), false),
        });
        match next {
            WindowNext::Entry(item) => WindowRead::Next(item),
            WindowNext::Lagged => WindowRead::Next(FeedItem::Lagged),
            WindowNext::Nothing if self.left => WindowRead::Next(FeedItem::Left),
            WindowNext::Nothing if self.ended => WindowRead::End,
            WindowNext::Nothing => WindowRead::Nothing,
        }
    }

    /// Returns whether a reader has missed updates.
    pub(super) fn has_lagged(&self, reader: &WindowReader) -> bool {
        self.updates.has_lagged(reader)
    }

    /// Joins a text chunk to the one before it, if possible.
    fn join(&mut self, feed_update: &Arc<FeedUpdate>) -> Option<usize> {
        self.updates.extend(|newest| match newest {
            // The text must fit alone; older entries are dropped to make room.
            PendingUpdate::Text(chunks) => chunks.join(feed_update, MAX_CONTENT),
            PendingUpdate::Whole(..) => None,
        })
    }

    /// Removes entries that the new beginning of an artifact makes obsolete. Subscriptions that ended earlier still get
    /// them.
    fn supersede(&mut self, feed_update: &FeedUpdate) {
        let FeedUpdate::Frame(Frame::Artifact(update)) = feed_update else { return };
        if update.append {
            return;
        }
        let (id, last) = (&update.artifact.artifact_id, self.last);
        self.updates.retain(|number, entry| number <= last || entry.artifact_id() != Some(id));
    }

    /// Returns the number of entries, and the size of their content in bytes.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        self.updates.size()
    }
}

/// Returns the size of the content that only the window holds, in bytes.
fn content(feed_update: &FeedUpdate) -> usize {
    match feed_update {
        FeedUpdate::Frame(Frame::Artifact(update)) if update.append => update.artifact.parts.iter().map(size).sum(),
        FeedUpdate::Frame(Frame::Status(update)) => {
            let said = update.status.message.iter().flat_map(|message| &message.parts).map(size).sum::<usize>();
            said + update.metadata.weight()
        }
        FeedUpdate::Frame(Frame::Message(message)) => message.parts.iter().map(size).sum(),
        FeedUpdate::Reminder(reminded) => match &reminded.event {
            // A pending reminder is also held by its session, but it may be over by now.
            ReminderEvent::Emitted { reminder, .. } => reminder.body.len(),
            ReminderEvent::Deduped { .. } | ReminderEvent::Expired { .. } | ReminderEvent::Judged { .. } => 0,
        },
        FeedUpdate::Frame(Frame::Artifact(_) | Frame::Task(_)) => 0,
    }
}

fn size(part: &Part) -> usize {
    match &part.content {
        Content::Text(text) | Content::Raw(text) | Content::Url(text) => text.len(),
        Content::Data(data) => data.weight(),
    }
}

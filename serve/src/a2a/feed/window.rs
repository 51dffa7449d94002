//! [`Window`]: the updates of a task that a subscriber may still need. All subscribers share it, so their number costs
//! no memory; each has a read position. Updates that do not fit are dropped, oldest first, and a subscriber that had
//! not read them has lagged.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a::{Content, Frame, Part};

use super::chunks::{TextChunks, artifact_id};
use super::{FeedItem, FeedUpdate};
use crate::host::ReminderEvent;

/// The maximum number of pending updates of a subscriber; consecutive text chunks count as one.
pub const MAX_THINGS: usize = 1024;

/// The maximum size of the pending content of a subscriber, in bytes. Content that the task itself holds anyway (a
/// whole artifact) does not count.
pub const MAX_CONTENT: usize = 1 << 20;

/// The updates that a subscriber may still need.
#[derive(Default)]
pub(super) struct Window {
    /// The entries in the order of their numbers, of which some may be missing.
    entries: VecDeque<WindowEntry>,
    /// The number of the newest entry, from 1.
    newest: u64,
    /// The number of the newest entry that was the last one for its subscribers.
    last: u64,
    /// The end of the newest entry that was dropped.
    forgotten: ReadPosition,
    /// The size of the entries' content in bytes.
    content: usize,
    /// The number of updates so far.
    tells: u64,
    followers: usize,
    /// The number of subscribers that have not read everything.
    behind: usize,
    /// Whether nothing more follows.
    ended: bool,
    /// Whether it ended because the server stops.
    left: bool,
}

/// A read position: everything up to an entry, and this many bytes of its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReadPosition {
    number: u64,
    bytes: usize,
}

/// A subscriber's read position.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowReader {
    place: ReadPosition,
    /// The number of updates at the time when it had read everything.
    caught_up: u64,
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

struct WindowEntry {
    number: u64,
    what: WindowContent,
}

enum WindowContent {
    /// An update, and whether it is the last.
    Whole(Arc<FeedUpdate>, bool),
    Text(TextChunks),
}

impl WindowEntry {
    /// Returns the position of its end.
    fn end(&self) -> ReadPosition {
        let bytes = match &self.what {
            WindowContent::Whole(..) => 0,
            WindowContent::Text(chunks) => chunks.len(),
        };
        ReadPosition { number: self.number, bytes }
    }

    fn content(&self) -> usize {
        match &self.what {
            WindowContent::Whole(feed_update, _) => content(feed_update),
            WindowContent::Text(chunks) => chunks.len(),
        }
    }

    fn artifact_id(&self) -> Option<&Arc<str>> {
        match &self.what {
            WindowContent::Whole(feed_update, _) => artifact_id(feed_update),
            WindowContent::Text(chunks) => chunks.artifact_id(),
        }
    }
}

impl Window {
    /// The number of entries whose capacity is kept while none is pending.
    const AT_REST: usize = 16;

    /// Adds a reader, for the updates from now on.
    pub(super) fn enter(&mut self) -> WindowReader {
        self.followers += 1;
        WindowReader { place: self.end_place(), caught_up: self.tells }
    }

    /// Removes a reader.
    pub(super) fn leave(&mut self, reader: WindowReader) {
        self.followers -= 1;
        if reader.caught_up != self.tells {
            self.behind -= 1;
        }
        self.tidy();
    }

    /// Adds an update.
    pub(super) fn push(&mut self, feed_update: Arc<FeedUpdate>, is_last: bool) {
        if self.followers == 0 {
            return;
        }
        match self.join(&feed_update, is_last) {
            Some(0) => return,
            Some(_) => return self.all_are_behind(),
            None => self.all_are_behind(),
        }
        self.supersede(&feed_update);
        self.newest += 1;
        if is_last {
            self.last = self.newest;
        }
        let chunks = if is_last { None } else { TextChunks::begin(&feed_update) };
        let what = chunks.map_or_else(|| WindowContent::Whole(feed_update, is_last), WindowContent::Text);
        let entry = WindowEntry { number: self.newest, what };
        self.content += entry.content();
        self.entries.push_back(entry);
        self.forget();
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
        if self.has_lagged(reader) {
            return WindowRead::Next(FeedItem::Lagged);
        }
        let at = self.entries.partition_point(|entry| entry.end() <= reader.place);
        let Some(entry) = self.entries.get(at) else {
            return match self.ended {
                _ if self.left => WindowRead::Next(FeedItem::Left),
                true => WindowRead::End,
                false => WindowRead::Nothing,
            };
        };
        let next = match &entry.what {
            WindowContent::Whole(feed_update, is_last) => FeedItem::Update(feed_update.clone(), *is_last),
            WindowContent::Text(chunks) => {
                let from = if entry.number == reader.place.number { reader.place.bytes } else { 0 };
                FeedItem::Update(chunks.rest(from), false)
            }
        };
        reader.place = entry.end();
        if at + 1 == self.entries.len() && reader.caught_up != self.tells {
            reader.caught_up = self.tells;
            self.behind -= 1;
            self.tidy();
        }
        WindowRead::Next(next)
    }

    /// Returns whether a reader has missed updates.
    pub(super) fn has_lagged(&self, reader: &WindowReader) -> bool {
        reader.place < self.forgotten
    }

    /// Records that no subscriber has read the newest update.
    fn all_are_behind(&mut self) {
        self.tells += 1;
        self.behind = self.followers;
    }

    /// Joins a text chunk to the one before it, if possible. Returns the number of bytes added.
    fn join(&mut self, feed_update: &Arc<FeedUpdate>, is_last: bool) -> Option<usize> {
        let Some(WindowEntry { what: WindowContent::Text(chunks), .. }) = self.entries.back_mut() else { return None };
        // The text must fit alone; older entries are dropped to make room.
        let added = if is_last { None } else { chunks.join(feed_update, MAX_CONTENT) }?;
        self.content += added;
        self.forget();
        Some(added)
    }

    /// Removes entries that the new beginning of an artifact makes obsolete. Subscriptions that ended earlier still get
    /// them.
    fn supersede(&mut self, feed_update: &FeedUpdate) {
        let FeedUpdate::Frame(Frame::Artifact(update)) = feed_update else { return };
        if update.append {
            return;
        }
        let id = &update.artifact.artifact_id;
        let (content, last) = (&mut self.content, self.last);
        self.entries.retain(|entry| {
            let stays = entry.number <= last || entry.artifact_id() != Some(id);
            if !stays {
                *content -= entry.content();
            }
            stays
        });
    }

    /// Drops the oldest entries until the rest fits. The newest stays, whatever its size.
    fn forget(&mut self) {
        while self.entries.len() > 1 && (self.entries.len() > MAX_THINGS || self.content > MAX_CONTENT) {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.content -= oldest.content();
            self.forgotten = oldest.end();
        }
    }

    /// Drops the entries that all subscribers have read.
    fn tidy(&mut self) {
        if self.behind == 0 {
            self.entries.clear();
            self.entries.shrink_to(Self::AT_REST);
            self.content = 0;
        }
    }

    fn end_place(&self) -> ReadPosition {
        self.entries.back().map_or(ReadPosition { number: self.newest, bytes: usize::MAX }, WindowEntry::end)
    }

    /// Returns the number of entries, and the size of their content in bytes.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.content)
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

//! [`Window`]: what was told of a task and may still be wanted. One for all who follow it, so their number costs no memory;
//! each knows how far it has read. What does not fit is forgotten, oldest first, and whoever had not read it has lagged.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a::{Content, Frame, Part};

use super::chunks::{Chunks, artifact_id};
use super::{Next, Told};
use crate::host::ReminderEvent;

/// How many told things wait at most for one who follows; chunks of text that come one after another are one.
pub const MAX_THINGS: usize = 1024;

/// How many bytes of content wait at most for one who follows. What the task itself holds anyway (a whole artifact) is not
/// counted.
pub const MAX_CONTENT: usize = 1 << 20;

/// What was told and may still be wanted.
#[derive(Default)]
pub(super) struct Window {
    /// In the order of their numbers, of which some may be missing.
    entries: VecDeque<Entry>,
    /// The number of the newest entry, from 1.
    newest: u64,
    /// The newest entry that was the last for who followed then.
    last: u64,
    /// The newest entry that was forgotten, as far as it went.
    forgotten: Place,
    /// Bytes of the entries' content.
    content: usize,
    /// How often something was told.
    tells: u64,
    followers: usize,
    /// How many of them have not read everything.
    behind: usize,
    /// Whether nothing more comes.
    ended: bool,
    /// Whether that is because the server stops.
    left: bool,
}

/// How far somebody has read: everything up to an entry, and so many bytes of that one's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    number: u64,
    bytes: usize,
}

/// One who reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    place: Place,
    /// How often had been told when it had read everything.
    caught_up: u64,
}

/// What one who reads comes upon.
pub(super) enum Found {
    /// Something for it.
    Next(Next),
    /// Nothing yet.
    Nothing,
    /// Nothing, for ever.
    End,
}

struct Entry {
    number: u64,
    what: What,
}

enum What {
    /// As it was told; whether it is the last.
    Whole(Arc<Told>, bool),
    Text(Chunks),
}

impl Entry {
    /// As far as it goes.
    fn end(&self) -> Place {
        let bytes = match &self.what {
            What::Whole(..) => 0,
            What::Text(chunks) => chunks.len(),
        };
        Place { number: self.number, bytes }
    }

    fn content(&self) -> usize {
        match &self.what {
            What::Whole(told, _) => content(told),
            What::Text(chunks) => chunks.len(),
        }
    }

    fn artifact_id(&self) -> Option<&Arc<str>> {
        match &self.what {
            What::Whole(told, _) => artifact_id(told),
            What::Text(chunks) => chunks.artifact_id(),
        }
    }
}

impl Window {
    /// For how many entries room is kept while nothing waits.
    const AT_REST: usize = 16;

    /// One more reads: what comes from now on.
    pub(super) fn enter(&mut self) -> Reader {
        self.followers += 1;
        Reader { place: self.end_place(), caught_up: self.tells }
    }

    /// One reads no more.
    pub(super) fn leave(&mut self, reader: Reader) {
        self.followers -= 1;
        if reader.caught_up != self.tells {
            self.behind -= 1;
        }
        self.tidy();
    }

    /// Something is told.
    pub(super) fn push(&mut self, told: Arc<Told>, is_last: bool) {
        if self.followers == 0 {
            return;
        }
        match self.join(&told, is_last) {
            Some(0) => return,
            Some(_) => return self.all_are_behind(),
            None => self.all_are_behind(),
        }
        self.supersede(&told);
        self.newest += 1;
        if is_last {
            self.last = self.newest;
        }
        let chunks = if is_last { None } else { Chunks::begin(&told) };
        let what = chunks.map_or_else(|| What::Whole(told, is_last), What::Text);
        let entry = Entry { number: self.newest, what };
        self.content += entry.content();
        self.entries.push_back(entry);
        self.forget();
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Nothing more comes, since the server stops.
    pub(super) fn abandon(&mut self) {
        self.left = true;
    }

    /// What comes next for one who reads.
    pub(super) fn read(&mut self, reader: &mut Reader) -> Found {
        if reader.place < self.forgotten {
            return Found::Next(Next::Lagged);
        }
        let at = self.entries.partition_point(|entry| entry.end() <= reader.place);
        let Some(entry) = self.entries.get(at) else {
            return match self.ended {
                _ if self.left => Found::Next(Next::Left),
                true => Found::End,
                false => Found::Nothing,
            };
        };
        let next = match &entry.what {
            What::Whole(told, is_last) => Next::Told(told.clone(), *is_last),
            What::Text(chunks) => {
                let from = if entry.number == reader.place.number { reader.place.bytes } else { 0 };
                Next::Told(chunks.rest(from), false)
            }
        };
        reader.place = entry.end();
        if at + 1 == self.entries.len() && reader.caught_up != self.tells {
            reader.caught_up = self.tells;
            self.behind -= 1;
            self.tidy();
        }
        Found::Next(next)
    }

    /// There is something that nobody has read.
    fn all_are_behind(&mut self) {
        self.tells += 1;
        self.behind = self.followers;
    }

    /// Joins a chunk of text to the one before it, where that can be: how many bytes it adds.
    fn join(&mut self, told: &Arc<Told>, is_last: bool) -> Option<usize> {
        let Some(Entry { what: What::Text(chunks), .. }) = self.entries.back_mut() else { return None };
        // Alone it must fit; what is older is forgotten for its sake.
        let added = if is_last { None } else { chunks.join(told, MAX_CONTENT) }?;
        self.content += added;
        self.forget();
        Some(added)
    }

    /// Takes out what an artifact's new beginning makes pointless to read. Whoever ends before it reads what there is.
    fn supersede(&mut self, told: &Told) {
        let Told::Frame(Frame::Artifact(update)) = told else { return };
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

    /// Forgets the oldest until the rest fits. The newest stays, whatever its size.
    fn forget(&mut self) {
        while self.entries.len() > 1 && (self.entries.len() > MAX_THINGS || self.content > MAX_CONTENT) {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.content -= oldest.content();
            self.forgotten = oldest.end();
        }
    }

    /// What everybody has read need not be kept.
    fn tidy(&mut self) {
        if self.behind == 0 {
            self.entries.clear();
            self.entries.shrink_to(Self::AT_REST);
            self.content = 0;
        }
    }

    fn end_place(&self) -> Place {
        self.entries.back().map_or(Place { number: self.newest, bytes: usize::MAX }, Entry::end)
    }

    /// How much is kept: things, and bytes of content.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.entries.len(), self.content)
    }
}

/// Bytes of content that nobody but the window holds.
fn content(told: &Told) -> usize {
    match told {
        Told::Frame(Frame::Artifact(update)) if update.append => update.artifact.parts.iter().map(size).sum(),
        Told::Frame(Frame::Status(update)) => {
            let said = update.status.message.iter().flat_map(|message| &message.parts).map(size).sum::<usize>();
            said + update.metadata.weight()
        }
        Told::Frame(Frame::Message(message)) => message.parts.iter().map(size).sum(),
        Told::Reminder(reminded) => match &reminded.event {
            // Where it is still pending it is held by its session too, but it may be over by now.
            ReminderEvent::Emitted { reminder, .. } => reminder.body.len(),
            ReminderEvent::Deduped { .. } | ReminderEvent::Expired { .. } => 0,
        },
        Told::Frame(Frame::Artifact(_) | Frame::Task(_)) => 0,
    }
}

fn size(part: &Part) -> usize {
    match &part.content {
        Content::Text(text) | Content::Raw(text) | Content::Url(text) => text.len(),
        Content::Data(data) => data.weight(),
    }
}

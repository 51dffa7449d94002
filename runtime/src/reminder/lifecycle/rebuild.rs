//! The life of every reminder from the log alone. [`rebuild`] takes records in the order of the log and gives, for each
//! session, what is pending with its present TTL, and of every reminder a [`Biography`]: who made it when, which prompts
//! carried it in which slot, why and when it ended. Pure; records that it cannot read are told in [`Rebuilt::notes`] and
//! skipped.
//!
//! A session is charged as its transcript is: a prompt that charges is counted for each reminder that it carried, a pass
//! takes off what was counted, a void prompt is counted no more.
//!
//! **Runs.** A log in a file is written by many runs, one after the other or at once. Each has sessions of its own, whatever
//! their names: a session lives in memory, so what was pending when its process ended is pending in no other. A session that was
//! stored and goes on in another run (`transcript.turn.resumed`) has one life in both.
//!
//! **Bare transcripts** are logged under their own id. They are values, so a script may go on from an old one, and the log
//! then holds two lines of life under one id. What is given is the union: pending is what was born in any line and has
//! ended in none. [`SessionLife::branched`] says that this was seen (a reminder ended twice, or a key stands twice). What a
//! script does to a copy of an open session is marked `detached` on the log and no part of the session's life.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::Arc;

use crate::event_log::{RUN_ID, Record};

mod biography;
mod entry;
mod session;
mod tally;
#[cfg(test)]
mod tests;
mod told;

pub use biography::{Biography, Birth, BornBy, Carried, End, How};
pub use session::SessionLife;
pub use tally::Tally;
pub use told::{Evaluation, Passage, Prompt, QueueEnd, Refusal};

use entry::{Entry, Reading};

/// What the log told.
#[derive(Debug, Clone, Default)]
pub struct Rebuilt {
    lives: Vec<SessionLife>,
    /// Where the life of a session in a run stands.
    index: HashMap<(Arc<str>, Option<Arc<str>>), usize>,
    /// Where the last life of a session stands, and how many there are.
    last: HashMap<Arc<str>, (usize, u32)>,
    /// What could not be read or does not fit, in the order of the log.
    pub notes: Vec<RebuildNote>,
    /// How many records belong to other topics.
    pub foreign: usize,
    /// The cursor of the last record taken; 0 before the first.
    pub last_cursor: u64,
}

/// A record that could not be read or does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildNote {
    /// The record.
    pub cursor: u64,
    /// The session, where the record names one.
    pub session_id: Option<Arc<str>>,
    /// One sentence.
    pub message: String,
}

impl Rebuilt {
    /// Takes the next record of the log.
    pub fn take(&mut self, record: &Record) {
        self.last_cursor = record.cursor;
        match entry::read(record) {
            Reading::Foreign => self.foreign += 1,
            Reading::Bad(message) => {
                let session_id = record.payload.get("session_id").as_shared_str();
                self.notes.push(RebuildNote { cursor: record.cursor, session_id, message });
            }
            Reading::Good(session_id, entry) => {
                if matches!(entry, Entry::Resumed(_)) {
                    self.go_on(&session_id, record);
                }
                let notes = self.life_mut(&session_id, record).take(record, entry);
                let note =
                    |message| RebuildNote { cursor: record.cursor, session_id: Some(session_id.clone()), message };
                self.notes.extend(notes.into_iter().map(note));
            }
        }
    }

    /// A session goes on in this run as another run has left it: the two are one life.
    fn go_on(&mut self, id: &Arc<str>, record: &Record) {
        let key = (id.clone(), record.headers.get(RUN_ID).as_shared_str());
        if let (Some((place, _)), Place::Vacant(new)) = (self.last.get(id), self.index.entry(key)) {
            new.insert(*place);
        }
    }

    fn life_mut(&mut self, id: &Arc<str>, record: &Record) -> &mut SessionLife {
        let run_id = record.headers.get(RUN_ID).as_shared_str();
        let place = match self.index.entry((id.clone(), run_id.clone())) {
            Place::Occupied(known) => *known.get(),
            Place::Vacant(new) => {
                let place = *new.insert(self.lives.len());
                let last = self.last.entry(id.clone()).or_default();
                *last = (place, last.1 + 1);
                self.lives.push(SessionLife::new(id.clone(), run_id, last.1));
                place
            }
        };
        &mut self.lives[place]
    }

    /// The sessions, in the order in which the log first names them. One that several runs had is there for each.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionLife> {
        self.lives.iter()
    }

    /// A session; of one that several runs had, the life in the run that began last.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionLife> {
        self.last.get(id).and_then(|(place, _)| self.lives.get(*place))
    }

    /// In how many runs there was a session with this id.
    #[must_use]
    pub fn runs(&self, id: &str) -> u32 {
        self.last.get(id).map_or(0, |(_, runs)| *runs)
    }
}

/// Rebuilds from records in the order of the log.
pub fn rebuild<'a>(records: impl IntoIterator<Item = &'a Record>) -> Rebuilt {
    rebuild_until(records, u64::MAX)
}

/// The same up to a cursor, itself included.
pub fn rebuild_until<'a>(records: impl IntoIterator<Item = &'a Record>, cursor: u64) -> Rebuilt {
    let mut rebuilt = Rebuilt::default();
    records.into_iter().filter(|record| record.cursor <= cursor).for_each(|record| rebuilt.take(record));
    rebuilt
}

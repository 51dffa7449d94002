//! The life of every reminder from the log alone. [`rebuild`] takes records in the order of the log and returns, for
//! each session, the pending reminders with their current TTL, and for every reminder a [`Biography`]: its producer and
//! time, the prompts that carried it with their slots, and why and when it ended. Pure; unreadable records are reported
//! in [`Rebuilt::notes`] and skipped.
//!
//! A session is charged like its transcript: a charging prompt is counted for each reminder that it carried, a pass
//! subtracts the count, and a void prompt is not counted.
//!
//! **Runs.** A log in a file is written by many runs, sequentially or concurrently. Each has sessions of its own, even
//! if the names are equal: a session lives in memory, so reminders pending when its process ended are pending in no
//! other. A session that was stored and continues in another run (`transcript.turn.resumed`) has one life in both.
//!
//! **Bare transcripts** are logged under their own id. They are values, so a script may continue from an old one, and
//! the log then holds two lines of life under one id. The result is the union: a reminder is pending if it was born in
//! any line and has ended in none. [`SessionLife::branched`] reports this (a reminder ended twice, or a key occurs
//! twice). A script's changes to a copy of an open session are marked `detached` on the log and are not part of the
//! session's life.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use eventlog::{RUN_ID, Record};

mod biography;
mod counts;
mod entry;
mod events;
mod firings;
mod session;
#[cfg(test)]
mod tests;

pub use biography::{Biography, Birth, BirthKind, Carrier, JudgedTurn, LifeEnd, LifeEndReason, Wait};
pub use counts::ReminderCounts;
pub use events::{
    CarriedCost, ConditionFailure, Evaluation, QueueEnd, RebuiltPass, RebuiltPrompt, Refusal, RejectedSlot,
};
pub use session::SessionLife;

use entry::{EntryReading, RebuildEntry};

/// The content of the log.
#[derive(Debug, Clone, Default)]
pub struct Rebuilt {
    lives: Vec<SessionLife>,
    /// Index of the life of a session in a run.
    index: HashMap<(Arc<str>, Option<Arc<str>>), usize>,
    /// Index of the last life of a session, and the number of its lives.
    last: HashMap<Arc<str>, (usize, u32)>,
    /// Records that could not be read or do not fit, in the order of the log.
    pub notes: Vec<RebuildNote>,
    /// Number of records of other topics.
    pub foreign: usize,
    /// Cursor of the last applied record; 0 before the first.
    pub last_cursor: u64,
}

/// A record that could not be read or does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildNote {
    /// The record.
    pub cursor: u64,
    /// The session, if the record names one.
    pub session_id: Option<Arc<str>>,
    /// One sentence.
    pub message: String,
}

impl Rebuilt {
    /// Applies the next record of the log.
    pub fn take(&mut self, record: &Record) {
        self.last_cursor = record.cursor;
        match entry::read(record) {
            EntryReading::Foreign => self.foreign += 1,
            EntryReading::Bad(message) => {
                let session_id = record.payload.get("session_id").as_shared_str();
                self.notes.push(RebuildNote { cursor: record.cursor, session_id, message });
            }
            EntryReading::Good(session_id, entry) => {
                if matches!(entry, RebuildEntry::Resumed(_)) {
                    self.go_on(&session_id, record);
                }
                let notes = self.life_mut(&session_id, record).take(record, entry);
                let note =
                    |message| RebuildNote { cursor: record.cursor, session_id: Some(session_id.clone()), message };
                self.notes.extend(notes.into_iter().map(note));
            }
        }
    }

    /// Continues a session in this run as another run has left it: the two are one life.
    fn go_on(&mut self, id: &Arc<str>, record: &Record) {
        let key = (id.clone(), record.headers.get(RUN_ID).as_shared_str());
        if let (Some((place, _)), Entry::Vacant(new)) = (self.last.get(id), self.index.entry(key)) {
            new.insert(*place);
        }
    }

    fn life_mut(&mut self, id: &Arc<str>, record: &Record) -> &mut SessionLife {
        let run_id = record.headers.get(RUN_ID).as_shared_str();
        let place = match self.index.entry((id.clone(), run_id.clone())) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let place = *new.insert(self.lives.len());
                let last = self.last.entry(id.clone()).or_default();
                *last = (place, last.1 + 1);
                self.lives.push(SessionLife::new(id.clone(), run_id, last.1));
                place
            }
        };
        &mut self.lives[place]
    }

    /// Returns the sessions, in the order in which the log first names them. A session of several runs appears once per
    /// run.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionLife> {
        self.lives.iter()
    }

    /// Returns a session; for one of several runs, its life in the run that began last.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionLife> {
        self.last.get(id).and_then(|(place, _)| self.lives.get(*place))
    }

    /// Returns the number of runs that had a session with this id.
    #[must_use]
    pub fn runs(&self, id: &str) -> u32 {
        self.last.get(id).map_or(0, |(_, runs)| *runs)
    }
}

/// Rebuilds from records in the order of the log.
pub fn rebuild<'a>(records: impl IntoIterator<Item = &'a Record>) -> Rebuilt {
    rebuild_until(records, u64::MAX)
}

/// Rebuilds like [`rebuild`], up to and including a cursor.
pub fn rebuild_until<'a>(records: impl IntoIterator<Item = &'a Record>, cursor: u64) -> Rebuilt {
    let mut rebuilt = Rebuilt::default();
    records.into_iter().filter(|record| record.cursor <= cursor).for_each(|record| rebuilt.take(record));
    rebuilt
}

//! The life of every reminder from the log alone. [`rebuild`] takes records in the order of the log and gives, for each
//! session, what is pending with its present TTL, and of every reminder a [`Biography`]: who made it when, which prompts
//! carried it in which slot, why and when it ended. Pure; records that it cannot read are told in [`Rebuilt::notes`] and
//! skipped.
//!
//! A session is charged as its transcript is: a prompt that charges is counted for each reminder that it carried, a pass
//! takes off what was counted, a void prompt is counted no more.
//!
//! **Bare transcripts** are logged under their own id. They are values, so a script may go on from an old one, and the log
//! then holds two lines of life under one id. What is given is the union: pending is what was born in any line and has
//! ended in none. [`SessionLife::branched`] says that this was seen (a reminder ended twice, or a key stands twice). What a
//! script does to a copy of an open session is marked `detached` on the log and no part of the session's life.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event_log::Record;

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
pub use told::{Evaluation, Passage, Prompt, Refusal};

use entry::Reading;

/// What the log told.
#[derive(Debug, Clone, Default)]
pub struct Rebuilt {
    sessions: BTreeMap<Arc<str>, SessionLife>,
    order: Vec<Arc<str>>,
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
                let notes = self.session_mut(&session_id).take(record, entry);
                let note =
                    |message| RebuildNote { cursor: record.cursor, session_id: Some(session_id.clone()), message };
                self.notes.extend(notes.into_iter().map(note));
            }
        }
    }

    fn session_mut(&mut self, id: &Arc<str>) -> &mut SessionLife {
        if !self.sessions.contains_key(id) {
            self.order.push(id.clone());
        }
        self.sessions.entry(id.clone()).or_insert_with(|| SessionLife::new(id.clone()))
    }

    /// The sessions, in the order in which the log first names them.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionLife> {
        self.order.iter().filter_map(|id| self.sessions.get(id))
    }

    /// One session.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&SessionLife> {
        self.sessions.get(id)
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

//! The file of a persisted loop while it works: a snapshot, then a line with the changes of each step. The cost of a
//! step is proportional to its changes, however long the conversation is.
//!
//! A snapshot is written to a temporary file next to it and renamed into place; a line is appended and synced. A
//! process that is killed in between leaves at most one incomplete line, which is skipped: the loop goes on from the
//! step before. Once the lines are longer than the snapshot, the next step writes a snapshot again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::session::Session;

use super::super::LoopState;
use super::Suspension;
use super::file::{replace, require_regular};
use super::session::{SessionStep, SteppedSession, WrittenSession};
use super::{Snapshot, SnapshotError};

/// Minimum size of the lines before a snapshot is written again, in bytes.
const LEAST_LINES: u64 = 64 << 10;

/// The beginning of every line.
const LINE: &str = "{\"suspension\":";

/// The changes of one step.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalStep {
    suspension: Suspension,
    state: LoopState,
    session: SessionStep,
}

/// Applies the steps after a snapshot to it.
///
/// # Errors
/// Describes an invalid step, as the end of a sentence.
pub(super) fn apply(snapshot: &mut Snapshot, steps: &str) -> Result<(), String> {
    let steps = steps.trim_start();
    if steps.is_empty() {
        return Ok(());
    }
    let Snapshot { suspension, state, session, .. } = snapshot;
    let mut session = SteppedSession::new(session)?;
    for (number, line) in (1..).zip(steps.split_inclusive('\n')) {
        if !line.ends_with('\n') {
            // The process was killed while writing this line.
            if !line.starts_with(LINE) && !LINE.starts_with(line) {
                return Err("unexpected data after the snapshot".to_owned());
            }
            break;
        }
        let step: JournalStep = serde_json::from_str(line).map_err(|error| format!("step {number}: {error}"))?;
        session.apply(step.session).map_err(|why| format!("step {number}: {why}"))?;
        (*suspension, *state) = (step.suspension, step.state);
    }
    session.done();
    Ok(())
}

/// Writer of a persisted loop's file. Plain data: a step is made on the session's thread and may be written on any.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The file, while lines can be appended to it.
    file: Option<File>,
    snapshot_bytes: u64,
    line_bytes: u64,
}

/// The part of a loop that has been written, so that only changes are written next.
#[derive(Debug)]
pub(crate) struct WrittenLoop(WrittenSession);

impl WrittenLoop {
    /// Starts from a loop whose snapshot is written.
    pub(crate) fn of(session: &Session) -> WrittenLoop {
        WrittenLoop(WrittenSession::of(session))
    }

    /// Returns the line of the step that was just done, or `None` if only a snapshot can express it.
    pub(crate) fn line(&mut self, session: &Session, suspension: &Suspension, state: &LoopState) -> Option<Vec<u8>> {
        let session = self.0.step(session)?;
        let step = JournalStep { suspension: suspension.clone(), state: state.clone(), session };
        let mut line = serde_json::to_vec(&step).ok()?;
        line.push(b'\n');
        Some(line)
    }
}

impl Journal {
    /// Returns the journal of a file, without touching the file yet.
    #[must_use]
    pub fn new(path: &Path) -> Journal {
        Journal { path: path.to_owned(), file: None, snapshot_bytes: 0, line_bytes: 0 }
    }

    /// Returns whether a line can be appended. Otherwise a snapshot must be written next.
    pub(crate) fn takes_lines(&self) -> bool {
        self.file.is_some() && self.line_bytes <= self.snapshot_bytes.max(LEAST_LINES)
    }

    /// Replaces the file with a snapshot.
    pub(crate) fn write_snapshot(&mut self, text: &[u8], id: &str) -> Result<(), SnapshotError> {
        self.file = None;
        require_regular(&self.path)?;
        self.file = Some(replace(&self.path, text, id)?);
        (self.snapshot_bytes, self.line_bytes) = (text.len() as u64, 0);
        Ok(())
    }

    /// Appends a line. Returns whether it is in the file that others see; otherwise a snapshot must be written.
    pub(crate) fn append(&mut self, line: &[u8]) -> bool {
        // After a failure the end of the file is unknown.
        let Some(mut file) = self.file.take().filter(|file| is_at(file, &self.path)) else { return false };
        let appended = file.write_all(line).and_then(|()| file.sync_data());
        if appended.is_err() || !is_at(&file, &self.path) {
            return false;
        }
        self.line_bytes += line.len() as u64;
        self.file = Some(file);
        true
    }
}

/// Returns whether a file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: io::Result<fs::Metadata>| meta.map(|meta| (meta.dev(), meta.ino())).ok();
    let here = identity(file.metadata());
    here.is_some() && here == identity(fs::metadata(path))
}

#[cfg(test)]
mod tests;

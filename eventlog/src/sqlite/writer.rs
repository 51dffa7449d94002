//! The thread that commits. It takes all queued records, up to a batch, so batches grow with the load.
//!
//! A batch that cannot be written stays at the head of the queue and is retried when a caller waits for durability,
//! else every second. Records with a waiting emitter fail and are removed: a record that was reported as not written
//! must not appear later.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use base::failures::{FailedOperation, report};
use rusqlite::Connection;

use crate::LogError;
use crate::log::LeaseClock;

use super::SqliteOptions;
use super::commit::{Placed, commit, trim};
use super::open::not_written;
use super::presence::FilePresence;
use super::queue::{QueuedItem, TrimRequest, WriteQueue, WriterStep};

struct Writer {
    connection: Connection,
    path: Arc<Path>,
    timeout: Duration,
    presence: FilePresence,
    shared: Arc<WriteQueue>,
    pending: Vec<QueuedItem>,
    /// Ticket of the last record taken from the queue.
    taken: u64,
    /// `PRAGMA data_version` at the last check: commits of another connection change it.
    version: i64,
    /// Positions of the first pending records, which are in the file although it was not in its place afterwards.
    placed: Vec<Placed>,
    clock: LeaseClock,
    /// Whether a line about a failure was written, and none about its end.
    announced: bool,
}

/// Starts the thread.
pub(super) fn start(
    connection: Connection,
    path: Arc<Path>,
    options: &SqliteOptions,
    shared: Arc<WriteQueue>,
    clock: LeaseClock,
) -> Result<JoinHandle<()>, LogError> {
    let mut writer = Writer {
        presence: FilePresence::new(path.clone()),
        timeout: options.lock_timeout,
        pending: Vec::new(),
        taken: 0,
        placed: Vec::new(),
        clock,
        announced: false,
        version: data_version(&connection),
        connection,
        path: path.clone(),
        shared,
    };
    std::thread::Builder::new()
        .name("event log".to_owned())
        .spawn(move || writer.run_guarded())
        .map_err(|error| LogError::CannotOpen { path, why: format!("could not start a thread ({error})") })
}

/// A guard that reports the end of the writer, also after a panic.
struct WriterEndGuard(Arc<WriteQueue>, Arc<Path>);

impl Drop for WriterEndGuard {
    fn drop(&mut self) {
        let why = "its writer has ended".to_owned();
        self.0.ended(LogError::NotWritten { path: self.1.clone(), why });
    }
}

impl Writer {
    fn run_guarded(&mut self) {
        let _farewell = WriterEndGuard(self.shared.clone(), self.path.clone());
        self.run();
    }

    fn run(&mut self) {
        loop {
            match self.shared.next_step(&mut self.pending) {
                WriterStep::Write => self.write(),
                WriterStep::Trim(request) => self.trim(request),
                WriterStep::Look => self.look(),
                WriterStep::Probe => self.probe(),
                WriterStep::End => return,
            }
        }
    }

    fn write(&mut self) {
        self.taken = self.pending.last().map_or(self.taken, |item| item.ticket.max(self.taken));
        match self.attempt() {
            Ok(places) => {
                for (item, placed) in self.pending.iter().zip(places) {
                    item.content.placed(placed);
                }
                self.shared.written(&mut self.pending, self.taken);
                self.recovered();
            }
            Err(error) => self.give_back(error),
        }
    }

    fn attempt(&mut self) -> Result<Vec<Placed>, LogError> {
        self.presence.check()?;
        let unwritten = self.pending.iter().skip(self.placed.len()).map(|item| &item.content);
        let written = commit(&self.connection, unwritten, &self.clock);
        let written = written.map_err(|error| not_written(&self.path, &error, self.timeout))?;
        self.placed.extend(written);
        // Records written to a file that can no longer be opened are not acknowledged.
        self.presence.check()?;
        Ok(std::mem::take(&mut self.placed))
    }

    /// Finds out whether records can be written again, by a write that changes nothing.
    fn probe(&mut self) {
        let done = self.presence.check().and_then(|()| {
            let full = || LogError::NotWritten { path: self.path.clone(), why: "the disk is full".to_owned() };
            if !has_room(&self.path) {
                return Err(full());
            }
            let written = self.connection.execute("UPDATE head SET last_cursor = last_cursor", []);
            written.map(drop).map_err(|error| not_written(&self.path, &error, self.timeout))
        });
        let is_done = done.is_ok();
        self.shared.probed(done);
        if is_done {
            self.recovered();
        }
    }

    /// Writes a line if an earlier one was about a failure.
    fn recovered(&mut self) {
        if std::mem::take(&mut self.announced) {
            tracing::info!("the event log `{}` can be written again", self.path.display());
        }
    }

    fn trim(&mut self, request: TrimRequest) {
        let step = self.presence.check().and_then(|()| {
            let removed = trim(&self.connection, &request.topic, request.before);
            removed.map_err(|error| not_written(&self.path, &error, self.timeout))
        });
        self.shared.trimmed(request, step);
    }

    fn give_back(&mut self, error: LogError) {
        let message = format_args!("{error}; {}", error.help());
        self.announced |= report(FailedOperation::Write, error.code().as_str(), message);
        let mut placed = std::mem::take(&mut self.placed).into_iter();
        self.pending.retain(|item| {
            let place = placed.next();
            let is_kept = !item.content.refuse(&error);
            if is_kept {
                self.placed.extend(place);
            }
            is_kept
        });
        let settled = self.pending.is_empty().then_some(self.taken);
        self.shared.failed(error, settled);
    }

    fn look(&mut self) {
        let version = data_version(&self.connection);
        if version != self.version {
            self.version = version;
            self.shared.news();
        }
    }
}

/// Free space of a disk below which a full one counts as full, in bytes: a single record may fit where the next does not.
const ROOM: u64 = 1 << 20;

/// Returns whether the disk of a file has room for more than a few records. An unknown amount counts as room.
fn has_room(path: &Path) -> bool {
    let Ok(found) = nix::sys::statvfs::statvfs(path) else { return true };
    found.blocks_available().saturating_mul(found.fragment_size()) >= ROOM
}

fn data_version(connection: &Connection) -> i64 {
    let read = || connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0));
    // A failed check is followed by another one.
    read().unwrap_or(-1)
}

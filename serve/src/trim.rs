//! Removes old records from an event log in a file, and keeps those from which servers, sessions and tasks recover.
//!
//! The log is read twice. The first time, [`LogFacts`] learns what becomes of every run: a served session, a task, or
//! the run of a script. The second time, the records that nothing needs are removed in small transactions, in an order
//! in which an interrupted removal leaves nothing that continues with a part of its records. The openings of sessions
//! come first: a session without it is unknown. The others follow, the oldest first: an action never loses its result,
//! nor a task its end, before its beginning. Superseded messages are last, the newest first, so that the remaining ones
//! always fit together.
//!
//! - [`trim`]: removes records. [`TrimOptions`], [`TrimReport`], [`TrimError`].
//! - `retention`: the removal of what has ended long ago, in the background of a server.
//! - `facts`: what is known of the runs. `messages`: the superseded messages of a session. `channels`: the records of
//!   channels.

use std::path::Path;
use std::sync::Arc;

use eventlog::{LogCode, LogError, LogFile, Record, RecordFilter, RecordRemover, SqliteLog, SqliteOptions};
use runtime::event_log::Topic;
use stdlib::{CodeRef, from_core};

use crate::store::{StoreError, exclude_servers};
use facts::LogFacts;

mod channels;
mod facts;
mod messages;
mod report;
mod retention;

pub use report::{KeptUnits, RemovedUnits, TrimReport};
pub(crate) use retention::RetentionTask;

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

/// The records to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimOptions {
    /// The time before which a record is old, in milliseconds since 1970-01-01 UTC. A session, a task or a run is old if
    /// all its records are.
    pub before_ms: u64,
    /// The topics of scripts whose old records are removed too.
    pub topics: Vec<Arc<str>>,
    /// Whether the records are only counted.
    pub dry_run: bool,
}

/// The reason why a log is not trimmed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrimError {
    /// A topic of the runtime was given as one of scripts.
    #[error("the topic `{0}` belongs to the runtime")]
    ReservedTopic(Arc<str>),
    /// The log has no records of a topic.
    #[error("the event log has no topic `{0}`")]
    UnknownTopic(Arc<str>),
    /// The log cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The removal failed after it had begun.
    #[error("{removed} old records were removed before this error: {why}")]
    Partial {
        /// The number of records that were removed.
        removed: u64,
        /// The error.
        why: LogError,
    },
}

impl From<LogError> for TrimError {
    fn from(error: LogError) -> TrimError {
        TrimError::Store(error.into())
    }
}

impl TrimError {
    /// Returns the diagnostic code.
    #[must_use]
    pub fn code(&self) -> CodeRef {
        match self {
            TrimError::ReservedTopic(_) | TrimError::UnknownTopic(_) => from_core(LogCode::TrimTopic),
            TrimError::Store(error) => error.code(),
            TrimError::Partial { why, .. } => from_core(why.code()),
        }
    }

    /// Returns the help text.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            TrimError::ReservedTopic(_) => "old records of the runtime are removed without `--topic`".to_owned(),
            TrimError::UnknownTopic(_) => {
                "nothing was removed; `--topic` takes a topic to which scripts write".to_owned()
            }
            TrimError::Store(StoreError::Log(LogError::CannotOpen { .. })) => {
                "use a file that `--event-log sqlite:FILE` wrote".to_owned()
            }
            TrimError::Store(error) => error.help(),
            TrimError::Partial { why, .. } => format!("{}; then run the command again", why.help()),
        }
    }
}

/// Removes the old records of a log that nothing needs, and gives their space back to the disk.
///
/// # Errors
/// The file is not an event log, a server uses it, a topic is invalid, or the log cannot be read or written. Unless the
/// error is [`TrimError::Partial`], nothing was removed.
pub fn trim(path: &Path, options: &TrimOptions) -> Result<TrimReport, TrimError> {
    if let Some(reserved) = options.topics.iter().find(|topic| Topic::reservation(topic).is_some()) {
        return Err(TrimError::ReservedTopic(reserved.clone()));
    }
    // Opened for reading first: a missing file is not created, and another one is not changed.
    let file = LogFile::open(path)?;
    if let Some(unknown) = first_unknown(&file, &options.topics)? {
        return Err(TrimError::UnknownTopic(unknown));
    }
    if options.dry_run {
        let facts = read_facts(&file, options)?;
        let mut report = facts.report();
        each_removed(&file, &facts, &mut report, |_| Ok(()))?;
        return Ok(report);
    }
    drop(file);
    // Before the file is opened for writing, which migrates one of an earlier layout.
    let _excluded = exclude_servers(path)?;
    let log = SqliteLog::open(path, &SqliteOptions::default())?;
    let size_before = log.size();
    let (facts, mut report) = log.look(|file| {
        let facts = read_facts(file, options)?;
        let report = facts.report();
        Ok((facts, report))
    })?;
    let mut removal = LogRemoval { remover: log.remover()?, batch: Vec::new(), removed: 0 };
    let removed = log.look(|file| removal.run(file, &facts, &mut report));
    removed.map_err(|why| match removal.removed {
        0 => TrimError::from(why),
        removed => TrimError::Partial { removed, why },
    })?;
    if removal.removed > 0 {
        report.not_given_back = removal.remover.give_back().err();
    }
    report.size = Some((size_before, log.size()));
    Ok(report)
}

/// Returns the first topic without a record.
fn first_unknown(file: &LogFile, topics: &[Arc<str>]) -> Result<Option<Arc<str>>, LogError> {
    for topic in topics {
        if file.latest(topic)?.is_none() {
            return Ok(Some(topic.clone()));
        }
    }
    Ok(None)
}

fn read_facts(file: &LogFile, options: &TrimOptions) -> Result<LogFacts, LogError> {
    let mut facts = LogFacts::new(options, file.head()?);
    each_record(file, facts.head(), |record| {
        facts.take(record);
        Ok(())
    })?;
    facts.decide();
    Ok(facts)
}

/// Visits the records of a log up to a cursor, oldest first.
pub(crate) fn each_record<E: From<LogError>>(
    file: &LogFile,
    head: u64,
    mut visit: impl FnMut(&Record) -> Result<(), E>,
) -> Result<(), E> {
    let mut filter = RecordFilter::default();
    loop {
        let page = file.read_kept(&filter, PAGE)?;
        for record in page.iter().take_while(|record| record.cursor <= head) {
            visit(record)?;
        }
        match page.last() {
            Some(last) if last.cursor < head => filter.after = last.cursor,
            _ => return Ok(()),
        }
    }
}

/// Visits the cursors of the records to remove, in the order of their removal.
fn each_removed(
    file: &LogFile,
    facts: &LogFacts,
    report: &mut TrimReport,
    mut visit: impl FnMut(u64) -> Result<(), LogError>,
) -> Result<(), LogError> {
    facts.openings().iter().try_for_each(|cursor| visit(*cursor))?;
    report.removed.records += facts.openings().len() as u64;
    each_record(file, facts.head(), |record| {
        if facts.openings().binary_search(&record.cursor).is_ok() {
            return Ok(());
        }
        let is_removed = facts.removes(record);
        report.count(record, is_removed);
        if is_removed { visit(record.cursor) } else { Ok(()) }
    })?;
    report.count_superseded(facts.superseded().len());
    facts.superseded().iter().rev().try_for_each(|cursor| visit(*cursor))
}

/// A removal of records in batches.
struct LogRemoval {
    remover: RecordRemover,
    batch: Vec<u64>,
    removed: u64,
}

impl LogRemoval {
    fn run(&mut self, file: &LogFile, facts: &LogFacts, report: &mut TrimReport) -> Result<(), LogError> {
        each_removed(file, facts, report, |cursor| {
            self.batch.push(cursor);
            if self.batch.len() >= RecordRemover::MOST { self.write() } else { Ok(()) }
        })?;
        self.write()
    }

    fn write(&mut self) -> Result<(), LogError> {
        self.removed += self.remover.remove(&self.batch)?;
        self.batch.clear();
        Ok(())
    }
}

#[cfg(test)]
pub(crate) use retention::{RemovedByAge, pass as retention_pass};

/// Returns the cursors of the records that a trim removes, in the order of their removal.
#[cfg(test)]
pub(crate) fn removal_order(file: &LogFile, options: &TrimOptions) -> Vec<u64> {
    let facts = read_facts(file, options).unwrap();
    let (mut report, mut order) = (facts.report(), Vec::new());
    let add = |cursor| {
        order.push(cursor);
        Ok(())
    };
    each_removed(file, &facts, &mut report, add).unwrap();
    order
}

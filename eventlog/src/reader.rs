//! [`LogReader`]: reads a log on any thread.

use std::sync::Arc;

use super::{LogError, MemoryLog, Record, RecordFilter, SqliteLog};

/// A reader of a log on any thread. Clones read the same log.
#[derive(Clone)]
pub struct LogReader(LogSource);

#[derive(Clone)]
enum LogSource {
    Memory(MemoryLog),
    File(SqliteLog),
}

impl LogReader {
    /// Returns whether a read waits for the disk, so that it does not belong on the thread of a session.
    #[must_use]
    pub fn blocks(&self) -> bool {
        matches!(self.0, LogSource::File(_))
    }

    /// Returns the id of the last record of a topic, or `None` if it has none.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn latest(&self, topic: &str) -> Result<Option<u64>, LogError> {
        match &self.0 {
            LogSource::Memory(log) => Ok(log.last_id(topic)),
            LogSource::File(log) => log.look(|file| file.latest(topic)),
        }
    }

    /// Reads at most `limit` records after `filter.after`, oldest first.
    ///
    /// # Errors
    /// The log cannot be read, or records after the cursor are gone.
    pub fn read(&self, filter: &RecordFilter, limit: usize) -> Result<Vec<Arc<Record>>, LogError> {
        match &self.0 {
            LogSource::Memory(log) => log.page(filter, limit),
            LogSource::File(log) => log.look(|file| file.read(filter, limit)),
        }
    }
}

impl From<MemoryLog> for LogReader {
    fn from(log: MemoryLog) -> LogReader {
        LogReader(LogSource::Memory(log))
    }
}

impl From<SqliteLog> for LogReader {
    fn from(log: SqliteLog) -> LogReader {
        LogReader(LogSource::File(log))
    }
}

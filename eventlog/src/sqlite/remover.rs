//! [`RecordRemover`]: removes single records from a file, and gives their space back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::LogError;

use super::open::{for_writing, not_written};
use super::row::stored;
use super::subjects::note_swept;
use super::{SqliteLog, SqliteOptions};

/// Removes records from a log in a file. Their numbers are not used again.
pub struct RecordRemover {
    connection: Connection,
    path: Arc<Path>,
    timeout: Duration,
}

impl SqliteLog {
    /// Opens a connection that removes records. The caller must make sure that no server needs them.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn remover(&self) -> Result<RecordRemover, LogError> {
        let options = SqliteOptions::default();
        let path: Arc<Path> = self.path().into();
        let connection = for_writing(&path, &options)?;
        Ok(RecordRemover { connection, path, timeout: options.lock_timeout })
    }
}

impl RecordRemover {
    /// The maximum number of records of one call: others wait for its transaction.
    pub const MOST: usize = 500;

    /// Removes the records with these cursors in one transaction, and returns how many the file had.
    ///
    /// # Errors
    /// Fails if the file cannot be written; then all records are left.
    pub fn remove(&self, cursors: &[u64]) -> Result<u64, LogError> {
        let remove = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let mut removed = 0;
            {
                let mut delete = transaction.prepare_cached("DELETE FROM records WHERE cursor = ?")?;
                for cursor in cursors {
                    removed += delete.execute([stored(*cursor)])? as u64;
                }
            }
            if let Some(last) = cursors.iter().max().filter(|_| removed > 0) {
                note_swept(&transaction, last + 1)?;
            }
            transaction.commit()?;
            Ok(removed)
        };
        remove().map_err(|error| not_written(&self.path, &error, self.timeout))
    }

    /// Gives the space of removed records back to the disk. The file is rewritten, which needs as much free space as the
    /// remaining records have; others wait meanwhile.
    ///
    /// # Errors
    /// Fails if the file cannot be rewritten; then it keeps its size.
    pub fn give_back(&self) -> Result<(), LogError> {
        let give_back = || {
            self.connection.execute_batch("VACUUM")?;
            // A reader may keep the write-ahead log from becoming empty. It does so later.
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        give_back().map_err(|error| not_written(&self.path, &error, self.timeout))
    }
}

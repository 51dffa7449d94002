//! Event logs in files, as their owner inspects them: nothing here changes a file.
//!
//! - [`stats`]: what a log contains, as [`LogStats`].
//! - [`export`]: records as JSON Lines, selected by [`ExportOptions`]; [`ExportError`].

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use eventlog::{LogError, LogFile, Record};

use crate::trim::each_record;

mod stats;

pub use stats::{LogStats, RecordStats, SubjectStats, stats};

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

/// The records to export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Only the records of this run: a session, a task, or the run of a script.
    pub run: Option<Arc<str>>,
    /// Only records from this time on, in milliseconds since 1970-01-01 UTC.
    pub since_ms: u64,
}

/// The reason why records were not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The records cannot be written.
    #[error("cannot write the records: {0}")]
    Write(#[from] std::io::Error),
    /// The log has no record of the run.
    #[error("the event log has no records of `{0}`")]
    UnknownRun(Arc<str>),
}

/// Writes the records of a log, one JSON object in each line, in their order. Returns their number.
///
/// # Errors
/// The file is not an event log, a record cannot be read, or the output cannot be written.
pub fn export(path: &Path, options: &ExportOptions, to: &mut dyn Write) -> Result<u64, ExportError> {
    let file = LogFile::open(path)?;
    let mut written = 0;
    let mut write = |record: &Record| {
        if record.occurred_at_ms < options.since_ms {
            return Ok(());
        }
        written += 1;
        writeln!(to, "{}", record.to_data().to_json())
    };
    match &options.run {
        None => each_record(&file, file.head()?, |record| write(record).map_err(ExportError::Write))?,
        Some(run) => {
            let cursors = file.cursors_of_run(run, 0)?.cursors;
            if cursors.is_empty() {
                return Err(ExportError::UnknownRun(run.clone()));
            }
            for page in cursors.chunks(PAGE) {
                file.records_at(page)?.iter().try_for_each(&mut write)?;
            }
        }
    }
    Ok(written)
}

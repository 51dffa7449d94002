//! Verifying a whole file without changing it: the database, each record, and the counters that say what is in it.

use std::collections::HashMap;
use std::fmt;

use rusqlite::Connection;

use crate::{LogError, RUN_ID};

use super::LogFile;
use super::file::FileReadError;
use super::progress;
use super::row::number;

/// Maximum number of messages of the check of the database.
const MOST_MESSAGES: usize = 20;

/// A defect of a log in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogDefect {
    /// The database is corrupt.
    Database(String),
    /// A record cannot be read.
    Record {
        /// Its cursor.
        cursor: u64,
        /// The reason.
        why: String,
    },
    /// A counter contradicts the records.
    Counter {
        /// The counter, and what it counts.
        name: String,
        /// Its value.
        value: u64,
        /// The least value that the records allow.
        least: u64,
    },
}

impl fmt::Display for LogDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogDefect::Database(why) => write!(f, "database: {why}"),
            LogDefect::Record { cursor, why } => write!(f, "record {cursor}: {why}"),
            LogDefect::Counter { name, value, least } => {
                write!(f, "{name} is {value}, but the records need at least {least}")
            }
        }
    }
}

/// The least values of the counters of a topic or a run.
#[derive(Debug, Clone, Copy, Default)]
struct CounterBounds {
    records: u64,
    last_id: u64,
    last_cursor: u64,
}

impl LogFile {
    /// Reads the whole file from one snapshot, passes each defect to `found`, and returns the number of records.
    ///
    /// # Errors
    /// Fails if the file cannot be read at all.
    pub fn verify(&self, found: &mut dyn FnMut(LogDefect)) -> Result<u64, LogError> {
        self.in_snapshot(|snapshot| {
            let is_sound = database(snapshot, found)?;
            let read = self.verify_records(snapshot, found);
            match read {
                // The check of the database has said why.
                Err(FileReadError::Sqlite(_)) if !is_sound => Ok(0),
                read => read,
            }
        })
    }

    fn verify_records(&self, snapshot: &Connection, found: &mut dyn FnMut(LogDefect)) -> Result<u64, FileReadError> {
        let has_runs = has_column(snapshot, "records", "run_id")?;
        let mut topics: HashMap<i64, CounterBounds> = HashMap::new();
        let mut runs: HashMap<String, CounterBounds> = HashMap::new();
        let run_id = if has_runs { "run_id" } else { "NULL" };
        let sql = format!(
            "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms, {run_id} FROM records ORDER BY cursor"
        );
        let mut select = snapshot.prepare(&sql)?;
        let mut rows = select.query([])?;
        let (mut records, mut last_cursor) = (0_u64, 0);
        while let Some(row) = rows.next()? {
            records += 1;
            if records.is_multiple_of(progress::ROWS) && progress::must_stop() {
                return Err(progress::ended().into());
            }
            let cursor = number(row, 0)?;
            last_cursor = cursor;
            let mut defect = |why: String| found(LogDefect::Record { cursor, why });
            let topic = topics.entry(row.get(1)?).or_default();
            let id = number(row, 2)?;
            if id <= topic.last_id {
                defect(format!("its id {id} in the topic is not above {}, the one before it", topic.last_id));
            }
            topic.last_id = topic.last_id.max(id);
            let in_column: Option<String> = row.get(7)?;
            match self.record(snapshot, row) {
                Ok(record) => {
                    let in_headers = record.headers.get(RUN_ID).as_str().map(str::to_owned);
                    if has_runs && in_headers != in_column {
                        defect("its run is not the one in its headers".to_owned());
                    }
                }
                Err(FileReadError::Log(LogError::Damaged { why, .. })) => defect(why),
                Err(FileReadError::Sqlite(error)) => defect(error.to_string()),
                Err(error @ FileReadError::Log(_)) => return Err(error),
            }
            if let Some(run) = in_column {
                let run = runs.entry(run).or_default();
                (run.records, run.last_cursor) = (run.records + 1, cursor);
            }
        }
        let mut counter = |name: String, value: u64, least: u64| {
            if value < least {
                found(LogDefect::Counter { name, value, least });
            }
        };
        let head: u64 = snapshot.query_row("SELECT last_cursor FROM head", [], |row| number(row, 0))?;
        counter("the last cursor of the log".to_owned(), head, last_cursor);
        let mut select = snapshot.prepare("SELECT key, name, last_id FROM topics")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(least) = topics.remove(&row.get(0)?) {
                counter(
                    format!("the last id of the topic `{}`", row.get::<_, String>(1)?),
                    number(row, 2)?,
                    least.last_id,
                );
            }
        }
        if has_column(snapshot, "subjects", "sequence")? {
            let mut select = snapshot.prepare("SELECT name, sequence, last_cursor, trimmed_before FROM subjects")?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let name: String = row.get(0)?;
                // A run that is removed while the log is used leaves its row.
                let least = runs.remove(&name).unwrap_or_default();
                counter(format!("the number of records of the run `{name}`"), number(row, 1)?, least.records);
                counter(format!("the last cursor of the run `{name}`"), number(row, 2)?, least.last_cursor);
                let trimmed = number(row, 3)?;
                counter("the last cursor of the log".to_owned(), head.saturating_add(1), trimmed);
            }
            for (name, least) in runs {
                counter(format!("the number of records of the run `{name}`"), 0, least.records);
            }
        }
        Ok(records)
    }
}

/// Checks the pages and indexes of the database. Returns whether they are sound.
fn database(snapshot: &Connection, found: &mut dyn FnMut(LogDefect)) -> Result<bool, FileReadError> {
    let mut select = snapshot.prepare(&format!("PRAGMA integrity_check({MOST_MESSAGES})"))?;
    let mut rows = select.query([])?;
    let mut is_sound = true;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" {
            is_sound = false;
            found(LogDefect::Database(message));
        }
    }
    Ok(is_sound)
}

/// Returns whether a table has a column: earlier layouts have fewer.
fn has_column(snapshot: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?";
    snapshot.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

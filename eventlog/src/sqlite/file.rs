//! Reading the file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::log::{Page, Query};
use crate::{LogError, Record, RecordFilter};

use super::SqliteOptions;
use super::open::{failed, for_reading, for_reading_alone};
use super::progress;
use super::row::{decode, number, stored};
use super::schema::GRANTS;
use super::subjects::trimmed_before;

mod of_runs;
mod payload_index;
mod search;

pub use of_runs::RunCursors;
pub use payload_index::IndexedRow;
pub(super) use payload_index::PayloadIndex;
use search::CursorSearch;

/// Maximum number of topic names held in memory.
const MOST_TOPICS: usize = 4096;

/// A log in a file that is only read, possibly while other processes write to it.
pub struct LogFile {
    connection: Connection,
    path: Arc<Path>,
    timeout: Duration,
    /// Names of topics, which are never renamed.
    topics: RefCell<HashMap<i64, Arc<str>>>,
}

/// Records, and the position up to which the file was searched.
pub(super) struct RecordPage {
    pub(super) records: Vec<Arc<Record>>,
    /// Cursor of the last visited record.
    pub(super) upto: u64,
}

/// The reason a read of the file failed.
pub(super) enum FileReadError {
    Sqlite(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for FileReadError {
    fn from(error: rusqlite::Error) -> FileReadError {
        FileReadError::Sqlite(error)
    }
}

impl LogFile {
    /// Opens a log for reading only.
    ///
    /// # Errors
    /// Fails if the file does not exist, cannot be opened, is not an event log, or has a later version.
    pub fn open(path: impl Into<PathBuf>) -> Result<LogFile, LogError> {
        let (path, timeout) = (path.into().into(), SqliteOptions::default().lock_timeout);
        Ok(LogFile::of(for_reading_alone(&path, timeout)?, &path, timeout))
    }

    /// Opens a log that this process also writes to.
    pub(super) fn open_beside(path: &Arc<Path>, timeout: Duration) -> Result<LogFile, LogError> {
        Ok(LogFile::of(for_reading(path, timeout)?, path, timeout))
    }

    fn of(connection: Connection, path: &Arc<Path>, timeout: Duration) -> LogFile {
        LogFile { connection, path: path.clone(), timeout, topics: RefCell::default() }
    }

    /// Returns the id of the last record of a topic; `None` if the topic is empty.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn latest(&self, topic: &str) -> Result<Option<u64>, LogError> {
        let find = || -> Result<Option<u64>, FileReadError> {
            let mut find = self.connection.prepare_cached("SELECT last_id FROM topics WHERE name = ?")?;
            Ok(find.query_row([topic], |row| number(row, 0)).optional()?)
        };
        find().map_err(|error| self.failed(error))
    }

    /// Reads at most `limit` records after `filter.after`, oldest first, from one consistent snapshot.
    ///
    /// # Errors
    /// Fails if the file cannot be read or records after the cursor are gone.
    pub fn read(&self, filter: &RecordFilter, limit: usize) -> Result<Vec<Arc<Record>>, LogError> {
        self.page(filter, limit, filter.after > 0).map(|page| page.records)
    }

    /// Reads like [`Self::read`], without an error if records after the cursor are gone: for readers that start from the
    /// beginning, page by page.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read_kept(&self, filter: &RecordFilter, limit: usize) -> Result<Vec<Arc<Record>>, LogError> {
        self.page(filter, limit, false).map(|page| page.records)
    }

    /// Reads like [`Self::read`] and also returns how far it looked. With `exact` every record after the cursor must
    /// still exist.
    pub(super) fn page(&self, filter: &RecordFilter, limit: usize, exact: bool) -> Result<RecordPage, LogError> {
        self.try_page(filter, limit, exact).map_err(|error| self.failed(error))
    }

    /// Returns the cursor that was assigned last; 0 if the log never had a record.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn head(&self) -> Result<u64, LogError> {
        let find = || Ok(last(&*self.connection.unchecked_transaction()?)?);
        find().map_err(|error| self.failed(error))
    }

    /// Returns the size of the file without the space of removed records, in bytes.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn used_bytes(&self) -> Result<u64, LogError> {
        let pragma = |rows: &Connection, name: &str| {
            rows.pragma_query_value(None, name, |row| row.get(0)).map(|value: i64| u64::try_from(value).unwrap_or(0))
        };
        self.ask(|rows| {
            let pages = pragma(rows, "page_count")?.saturating_sub(pragma(rows, "freelist_count")?);
            Ok(pages.saturating_mul(pragma(rows, "page_size")?))
        })
    }

    /// Returns the cursor before the oldest kept record.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn oldest(&self) -> Result<u64, LogError> {
        let find = || Ok(kept_behind(&*self.connection.unchecked_transaction()?)?);
        find().map_err(|error| self.failed(error))
    }

    /// Returns a number that changes whenever the file is written.
    pub(super) fn version(&self) -> Result<i64, LogError> {
        let read = || -> Result<i64, FileReadError> {
            Ok(self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
        };
        read().map_err(|error| self.failed(error))
    }

    fn try_page(&self, filter: &RecordFilter, limit: usize, exact: bool) -> Result<RecordPage, FileReadError> {
        let snapshot = self.connection.unchecked_transaction()?;
        if exact {
            let kept = kept_behind(&snapshot)?;
            if kept > filter.after {
                return Err(FileReadError::Log(LogError::Lagged { lost: kept - filter.after, resume_from: kept }));
            }
        }
        let columns = "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records";
        let after = stored(filter.after);
        let mut select;
        let mut rows = match &filter.topic {
            None => {
                select = snapshot.prepare_cached(&format!("{columns} WHERE cursor > ? ORDER BY cursor"))?;
                select.query([after])?
            }
            Some(topic) => {
                let Some(key) = topic_key(&snapshot, topic)? else {
                    return Ok(RecordPage { records: Vec::new(), upto: last(&snapshot)?.max(filter.after) });
                };
                let by_topic = format!("{columns} WHERE topic = ? AND cursor > ? ORDER BY cursor");
                select = snapshot.prepare_cached(&by_topic)?;
                select.query([key, after])?
            }
        };
        let mut page = RecordPage { records: Vec::new(), upto: filter.after };
        let mut passed = 0_u64;
        while page.records.len() < limit {
            passed += 1;
            if passed.is_multiple_of(progress::ROWS) && progress::must_stop() {
                return Err(progress::ended().into());
            }
            let Some(row) = rows.next()? else {
                page.upto = last(&snapshot)?.max(page.upto);
                break;
            };
            page.upto = number(row, 0)?;
            if filter.takes_kind(row.get_ref(3)?.as_str().unwrap_or_default()) {
                page.records.push(Arc::new(self.record(&snapshot, row)?));
            }
        }
        Ok(page)
    }

    /// Reads at most `limit` records of a query, from one consistent snapshot.
    pub(super) fn query(&self, query: &Query, limit: usize) -> Result<Page, LogError> {
        self.query_upto(query, limit).map(|(page, _)| page)
    }

    /// Reads like [`Self::query`], and also returns the cursor up to which it looked.
    pub(super) fn query_upto(&self, query: &Query, limit: usize) -> Result<(Page, u64), LogError> {
        self.try_query(query, limit).map_err(|error| self.failed(error))
    }

    fn try_query(&self, query: &Query, limit: usize) -> Result<(Page, u64), FileReadError> {
        let snapshot = self.connection.unchecked_transaction()?;
        let removed = kept_behind(&snapshot)?.saturating_add(1);
        let removed = removed.max(trimmed_before(&snapshot, query.subject.as_deref())?);
        let trimmed_before = if removed > query.after + 1 { removed } else { 0 };
        let head = last(&snapshot)?;
        let mut page = Page { records: Vec::new(), trimmed_before, head };
        let mut upto = query.after;
        let mut search = CursorSearch::new(&snapshot, query, limit)?;
        let mut select = snapshot.prepare_cached(
            "SELECT cursor, topic, id, kind, payload, headers, occurred_at_ms FROM records WHERE cursor = ?",
        )?;
        let mut passed = 0_u64;
        while page.records.len() < limit {
            passed += 1;
            if passed.is_multiple_of(progress::ROWS) && progress::must_stop() {
                return Err(progress::ended().into());
            }
            let Some(cursor) = search.next()? else { return Ok((page, head.max(query.after))) };
            upto = cursor;
            let mut rows = select.query([stored(cursor)])?;
            let Some(row) = rows.next()? else { continue };
            let kind = row.get_ref(3)?.as_str().unwrap_or_default();
            if query.kind_prefix.as_deref().is_none_or(|prefix| kind.starts_with(prefix)) {
                page.records.push(Arc::new(self.record(&snapshot, row)?));
            }
        }
        Ok((page, upto))
    }

    /// Asks the tables for something else.
    pub(super) fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, LogError> {
        let ask = || Ok(ask(&*self.connection.unchecked_transaction()?)?);
        ask().map_err(|error| self.failed(error))
    }

    /// Reads from one snapshot.
    pub(super) fn in_snapshot<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, FileReadError>,
    ) -> Result<T, LogError> {
        let read = || read(&*self.connection.unchecked_transaction()?);
        read().map_err(|error| self.failed(error))
    }

    fn topic_name(&self, snapshot: &Connection, key: i64) -> Result<Arc<str>, FileReadError> {
        if let Some(name) = self.topics.borrow().get(&key) {
            return Ok(name.clone());
        }
        let mut find = snapshot.prepare_cached("SELECT name FROM topics WHERE key = ?")?;
        let name: Arc<str> = find.query_row([key], |row| row.get(0))?;
        let mut topics = self.topics.borrow_mut();
        if topics.len() >= MOST_TOPICS {
            topics.clear();
        }
        topics.insert(key, name.clone());
        Ok(name)
    }

    pub(super) fn record(&self, snapshot: &Connection, row: &Row<'_>) -> Result<Record, FileReadError> {
        let cursor = number(row, 0)?;
        let value = |column: usize| match row.get_ref(column)?.as_str_or_null() {
            Ok(None) => Ok(base::data::Data::Nil),
            Ok(Some(text)) => decode(text).map_err(|why| self.damaged(cursor, &why)),
            Err(error) => Err(self.damaged(cursor, &error.to_string())),
        };
        Ok(Record {
            cursor,
            topic: self.topic_name(snapshot, row.get(1)?)?,
            id: number(row, 2)?,
            kind: row.get(3)?,
            payload: value(4)?.into(),
            headers: value(5)?,
            occurred_at_ms: number(row, 6)?,
        })
    }

    fn damaged(&self, cursor: u64, why: &str) -> FileReadError {
        let why = format!("the record with the cursor {cursor} cannot be read ({why})");
        FileReadError::Log(LogError::Damaged { path: self.path.clone(), why })
    }

    fn failed(&self, error: FileReadError) -> LogError {
        match error {
            FileReadError::Log(error) => error,
            FileReadError::Sqlite(error) => failed(&self.path, &error, self.timeout),
        }
    }
}

/// Returns the cursor before the oldest kept record. Records that cannot be deleted may precede the deleted ones, so those
/// before a gap do not count.
fn kept_behind(snapshot: &Connection) -> rusqlite::Result<u64> {
    let sql = format!("SELECT cursor FROM records WHERE kind NOT IN ({GRANTS}) ORDER BY cursor LIMIT 1");
    let first: Option<i64> = snapshot.prepare_cached(&sql)?.query_row([], |row| row.get(0)).optional()?;
    let mut kept = match first {
        Some(first) => first,
        None => i64::try_from(last(snapshot)?).unwrap_or(i64::MAX).saturating_add(1),
    };
    let mut before = snapshot.prepare_cached("SELECT cursor FROM records WHERE cursor < ? ORDER BY cursor DESC")?;
    let mut rows = before.query([kept])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != kept - 1 {
            break;
        }
        kept -= 1;
    }
    Ok(u64::try_from(kept).unwrap_or(0).saturating_sub(1))
}

/// Returns the last assigned cursor.
fn last(snapshot: &Connection) -> rusqlite::Result<u64> {
    snapshot.prepare_cached("SELECT last_cursor FROM head")?.query_row([], |row| number(row, 0))
}

fn topic_key(snapshot: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let mut find = snapshot.prepare_cached("SELECT key FROM topics WHERE name = ?")?;
    find.query_row([name], |row| row.get(0)).optional()
}

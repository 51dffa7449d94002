//! Opening the file, and interpreting SQLite's errors.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::LogError;

use super::progress;
use super::schema::{self, FoundLayout};
use super::{SqliteOptions, Synchronous};

/// Pages of the write-ahead log after which it is moved into the file: 16 MiB. Each move waits for the disk.
const CHECKPOINT_PAGES: i64 = 4096;

/// Opens a connection for writing.
pub(super) fn for_writing(path: &Arc<Path>, options: &SqliteOptions) -> Result<Connection, LogError> {
    refuse_early(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(path, flags, options.lock_timeout)?;
    // Checked before any setting is changed, so that foreign files stay unchanged.
    let found = schema::look(&connection, path, options.lock_timeout)?;
    if connection.is_readonly("main").unwrap_or(false) {
        return Err(cannot(path, "it is read-only"));
    }
    write_ahead(&connection, path, options.lock_timeout)?;
    if found != FoundLayout::Latest {
        schema::migrate(&mut connection, path, options.lock_timeout)?;
    }
    let level = match options.synchronous {
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    let set = |name: &str, value: &dyn rusqlite::ToSql| {
        connection.pragma_update(None, name, value).map_err(|error| failed(path, &error, options.lock_timeout))
    };
    set("synchronous", &level)?;
    set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
    if let Some(bytes) = options.most_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap_or(4096);
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        set("max_page_count", &pages.max(1))?;
    }
    Ok(connection)
}

/// Opens a connection for reading only, of a process that may also write.
pub(super) fn for_reading(path: &Arc<Path>, timeout: Duration) -> Result<Connection, LogError> {
    reading(path, OpenFlags::SQLITE_OPEN_READ_ONLY, timeout)
}

/// Opens a connection for reading only that leaves no files beside the log.
///
/// Every reader makes the index of the write-ahead log and an empty log if there are none. Only a connection that may write
/// removes them when it is the last one. Where a log is there already, other processes write, or one was killed: then nothing is
/// cleaned up, since that would move records into the file.
pub(super) fn for_reading_alone(path: &Arc<Path>, timeout: Duration) -> Result<Connection, LogError> {
    let in_use = ["-wal", "-journal"].iter().any(|suffix| beside(path, suffix).exists());
    if in_use {
        return for_reading(path, timeout);
    }
    let connection = reading(path, OpenFlags::SQLITE_OPEN_READ_WRITE, timeout)?;
    connection.pragma_update(None, "query_only", true).map_err(|error| failed(path, &error, timeout))?;
    Ok(connection)
}

fn reading(path: &Arc<Path>, access: OpenFlags, timeout: Duration) -> Result<Connection, LogError> {
    if !path.exists() {
        return Err(cannot(path, "the file does not exist"));
    }
    refuse_early(path)?;
    let connection = connect(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX, timeout)?;
    match schema::look(&connection, path, timeout) {
        Ok(FoundLayout::Latest | FoundLayout::Earlier) => Ok(connection),
        Ok(FoundLayout::Empty) => Err(LogError::Foreign { path: path.clone(), what: "the file is empty".to_owned() }),
        // In a read-only folder, a file with a write-ahead log is read without it.
        Err(LogError::CannotOpen { .. }) if !beside(path, "-wal").exists() => unchanging(path, timeout),
        Err(error) => Err(error),
    }
}

/// Opens a file that no process writes to.
fn unchanging(path: &Arc<Path>, timeout: Duration) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let whole = std::fs::canonicalize(path).map_err(|error| cannot(path, &error.to_string()))?;
    let escaped = whole.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
        .and_then(|mut connection| distrust(&mut connection).map(|()| connection))
        .map_err(|error| failed(path, &error, timeout))?;
    match schema::look(&connection, path, timeout)? {
        FoundLayout::Latest | FoundLayout::Earlier => Ok(connection),
        FoundLayout::Empty => Err(LogError::Foreign { path: path.clone(), what: "the file is empty".to_owned() }),
    }
}

/// Rejects paths for which the system's message would be less clear.
fn refuse_early(path: &Arc<Path>) -> Result<(), LogError> {
    if path.is_dir() {
        return Err(cannot(path, "it is a folder"));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(cannot(path, "it is not a regular file"));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(cannot(path, &format!("the folder `{}` does not exist", folder.display())))
        }
        _ => Ok(()),
    }
}

fn connect(path: &Arc<Path>, flags: OpenFlags, timeout: Duration) -> Result<Connection, LogError> {
    let connect = || {
        let mut connection = Connection::open_with_flags(path.as_ref(), flags)?;
        distrust(&mut connection)?;
        // SQLite counts in whole milliseconds of an `int`.
        connection.busy_timeout(timeout.min(Duration::from_secs(i32::MAX as u64 / 1000)))?;
        Ok(connection)
    };
    connect().map_err(|error| failed(path, &error, timeout))
}

/// Prevents the file's contents from executing code and from making reads arbitrarily slow, since a log may be
/// untrusted.
fn distrust(connection: &mut Connection) -> rusqlite::Result<()> {
    progress::watch(connection)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    Ok(())
}

/// Enables the write-ahead log. Of two processes that do so at once, one gets `busy` without a wait, so this function
/// waits.
fn write_ahead(connection: &Connection, path: &Arc<Path>, timeout: Duration) -> Result<(), LogError> {
    let start = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(cannot(
                    path,
                    &format!(
                        "the file system does not support a write-ahead log (only \
                `{mode}`)"
                    ),
                ));
            }
            Err(error) if is_busy(&error) && start.elapsed() < timeout => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(failed(path, &error, timeout)),
        }
    }
}

/// Returns the path of a companion file that holds a part of the database.
pub(super) fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn cannot(path: &Arc<Path>, why: &str) -> LogError {
    LogError::CannotOpen { path: path.clone(), why: why.to_owned() }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Converts an error while opening or reading.
pub(super) fn failed(path: &Arc<Path>, error: &rusqlite::Error, waited: Duration) -> LogError {
    meaning(path, error, waited).unwrap_or_else(|| cannot(path, &said(error)))
}

/// Converts an error while writing.
pub(super) fn not_written(path: &Arc<Path>, error: &rusqlite::Error, waited: Duration) -> LogError {
    meaning(path, error, waited).unwrap_or_else(|| LogError::NotWritten { path: path.clone(), why: said(error) })
}

fn meaning(path: &Arc<Path>, error: &rusqlite::Error, waited: Duration) -> Option<LogError> {
    let path = path.clone();
    if is_busy(error) {
        return Some(LogError::Locked { path, waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX) });
    }
    match error.sqlite_error_code()? {
        ErrorCode::NotADatabase => Some(LogError::Foreign { path, what: "it is not a SQLite database".to_owned() }),
        ErrorCode::DatabaseCorrupt => Some(LogError::Damaged { path, why: said(error) }),
        // Its remedy is the same when a log is opened and when it is written.
        ErrorCode::DiskFull => Some(LogError::NotWritten { path, why: said(error) }),
        _ => None,
    }
}

/// Returns SQLite's message in words for the user.
fn said(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full, or the file has reached `max_file`".to_owned(),
        Some(ErrorCode::OperationInterrupted) => "reading timed out".to_owned(),
        Some(ErrorCode::ReadOnly) => "it is read-only".to_owned(),
        _ => match error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            other => other.to_string(),
        },
    }
}

//! The log in a file, alone and with others.

mod failing;
mod following;
mod sharing;
mod stalled;
mod verified;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use base::data::Data;

use super::testing::TestFolder;
use super::*;
use crate::Record;
use crate::wait::{block_on, until};

impl TestFolder {
    fn log(&self) -> SqliteLog {
        SqliteLog::open(self.file(), &SqliteOptions::default()).unwrap()
    }

    /// Opens a log that gives up on a locked file after 50 ms.
    fn impatient(&self) -> SqliteLog {
        let options = SqliteOptions { lock_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
        SqliteLog::open(self.file(), &options).unwrap()
    }
}

fn record(topic: &str, kind: &str) -> NewRecord {
    NewRecord {
        topic: topic.into(),
        kind: kind.into(),
        payload: Data::dict([("body", Data::from("Run the narrow test first."))]).into(),
        headers: Data::Nil,
        occurred_at_ms: 7,
    }
}

fn emit(log: &SqliteLog, topic: &str) -> RecordPosition {
    block_on(log.emit(record(topic, "x")).get()).unwrap()
}

fn append(log: &SqliteLog, count: u64) {
    for _ in 0..count {
        log.append(record("a", "x"));
    }
}

fn all(log: &SqliteLog) -> Vec<Arc<Record>> {
    log.read(&RecordFilter::default(), usize::MAX).unwrap()
}

fn error<T>(outcome: Outcome<T>) -> LogError {
    let Err(fault) = outcome else { panic!("this should fail") };
    fault.as_any().downcast_ref::<LogError>().unwrap().clone()
}

/// Locks the file as another process would.
fn hold(folder: &TestFolder) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

//! [`RetentionTask`]: removes sessions and tasks that ended long ago, in the background of a server.
//!
//! It removes less than [`trim`](super::trim): whole sessions and tasks that nothing needs, and that no process has open. One
//! server of a log at a time does so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use base::failures::{FailedOperation, report};
use base::lock::{LockError, LockFile};
use eventlog::{LogError, LogFile, RecordFilter, RecordRemover, while_wanted};
use stdlib::LogRetention;

use super::facts::LogFacts;
use super::{TrimOptions, read_facts};
use crate::clock::now_ms;
use crate::store::{SessionStore, StoreError, is_session};

/// The name of the lock of the server that removes records.
const LOCK: &str = "retention";
/// The time from the start of a server to the first removal, which need not compete with clients that come back.
const FIRST: Duration = Duration::from_secs(60);
/// The time between two removals.
const EVERY: Duration = Duration::from_secs(6 * 3_600);
/// The time for which sessions and tasks stay, however large the log is.
const LEAST_MS: u64 = 3_600_000;

/// The name of the thread, and of the cause of its failures.
const NAME: &str = "event log retention";

/// Reports that nothing was removed, or not all.
fn failed(error: &dyn std::fmt::Display) {
    report(FailedOperation::Write, NAME, format_args!("could not remove old records from the event log: {error}"));
}

/// The removal in the background. It ends when it is dropped.
pub(crate) struct RetentionTask {
    stop: Arc<RetentionStop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct RetentionStop {
    is_stopped: Arc<AtomicBool>,
    lock: Mutex<()>,
    changed: Condvar,
}

impl RetentionStop {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Waits for a time. Returns whether the task must end.
    fn wait(&self, time: Duration) -> bool {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // A spurious wake only makes a removal early.
        let waited = self.changed.wait_timeout_while(guard, time, |()| !self.is_stopped());
        drop(waited);
        self.is_stopped()
    }
}

impl RetentionTask {
    /// Starts the removal for a log; `None` if all of it is kept, or if there is no thread for it, which is reported.
    pub(crate) fn start(store: &SessionStore, kept: LogRetention) -> Option<RetentionTask> {
        if kept == LogRetention::ALL {
            return None;
        }
        let stop = Arc::new(RetentionStop::default());
        let (store, its) = (store.clone(), stop.clone());
        let run = move || {
            let mut pause = FIRST;
            while !its.wait(pause) {
                pause = EVERY;
                match while_wanted(its.is_stopped.clone(), || pass(&store, kept, now_ms(), &|| its.is_stopped())) {
                    Ok(removed) if removed.units > 0 => tracing::info!(
                        sessions_and_tasks = removed.units,
                        records = removed.records,
                        "removed old records from the event log"
                    ),
                    Ok(_) => {}
                    Err(_) if its.is_stopped() => return,
                    Err(error) => failed(&error),
                }
            }
        };
        match std::thread::Builder::new().name(NAME.to_owned()).spawn(run) {
            Ok(thread) => Some(RetentionTask { stop, thread: Some(thread) }),
            Err(error) => {
                failed(&error);
                None
            }
        }
    }
}

impl Drop for RetentionTask {
    fn drop(&mut self) {
        {
            let _guard = self.stop.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.stop.is_stopped.store(true, Ordering::Relaxed);
        }
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It ends within a transaction. One that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

/// The numbers of what a pass has removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RemovedByAge {
    /// Sessions and tasks.
    pub(crate) units: u64,
    /// Their records.
    pub(crate) records: u64,
}

/// Removes what is too old or too much at a time. Blocks on the disk.
pub(crate) fn pass(
    store: &SessionStore,
    kept: LogRetention,
    now_ms: u64,
    must_stop: &dyn Fn() -> bool,
) -> Result<RemovedByAge, StoreError> {
    let mut removed = RemovedByAge::default();
    let _one = match store.lock(LOCK) {
        Ok(lock) => lock,
        // Another server of the log does it.
        Err(LockError::Held) => return Ok(removed),
        Err(LockError::Io(error)) => return Err(StoreError::CannotClaim(error.to_string())),
    };
    let Some(facts) = store.log().look(|file| facts_of(file, kept, now_ms))? else { return Ok(removed) };
    let remover = store.log().remover()?;
    let units: Vec<_> = facts.removed_units().cloned().collect();
    for id in units {
        if must_stop() {
            break;
        }
        let records = remove(store, &remover, &facts, &id)?;
        removed.units += u64::from(records > 0);
        removed.records += records;
    }
    Ok(removed)
}

/// Returns what is known of a log of which something may be removed.
fn facts_of(file: &LogFile, kept: LogRetention, now_ms: u64) -> Result<Option<LogFacts>, LogError> {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let before_ms = kept.age.map_or(0, |age| now_ms.saturating_sub(ms(age)));
    let excess = kept.bytes.map_or(Ok(0), |most| file.used_bytes().map(|used| used.saturating_sub(most)))?;
    let first = file.read_kept(&RecordFilter::default(), 1)?;
    let has_old = first.first().is_some_and(|record| record.occurred_at_ms < before_ms);
    if !has_old && excess == 0 {
        return Ok(None);
    }
    let facts = read_facts(file, &TrimOptions { before_ms, ..TrimOptions::default() })?;
    let by_size = if excess > 0 { facts.cutoff_for(excess).min(now_ms.saturating_sub(LEAST_MS)) } else { 0 };
    match by_size > before_ms {
        true => read_facts(file, &TrimOptions { before_ms: by_size, ..TrimOptions::default() }).map(Some),
        false => Ok(Some(facts)),
    }
}

/// Removes a session or a task, unless it is open or was used since it was judged. Returns the number of its records.
fn remove(store: &SessionStore, remover: &RecordRemover, facts: &LogFacts, id: &str) -> Result<u64, StoreError> {
    let _lock: Option<LockFile> = match is_session(id) {
        true => match store.take_ended(id) {
            Ok(Some(lock)) => Some(lock),
            // One that cannot be read is kept, and its reader reports what is wrong with it.
            Ok(None) | Err(StoreError::Unreadable { .. }) => return Ok(0),
            Err(error) => return Err(error),
        },
        // No process writes a finished task.
        false => None,
    };
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let is_same = store.log().look(|file| {
        let mut is_same = true;
        file.of_run(id, |record| {
            is_same &= record.cursor <= facts.head();
            if facts.openings().binary_search(&record.cursor).is_ok() {
                first.push(record.cursor);
            } else if facts.removes(&record) {
                rest.push(record.cursor);
            }
        })?;
        Ok(is_same)
    })?;
    if !is_same {
        return Ok(0);
    }
    // A session without its opening is unknown, so an interrupted removal leaves none that continues with a part of its
    // records. The others follow, the oldest first.
    first.append(&mut rest);
    let mut removed = 0;
    for batch in first.chunks(RecordRemover::MOST) {
        removed += remover.remove(batch)?;
    }
    Ok(removed)
}

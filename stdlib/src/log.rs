//! The location of a run's event log: the user's choice (`--event-log`, `HARN_EVENT_LOG`) takes
//! precedence over the project's (`[event_log]` in `harn.toml`).

use crate::catalogue::from_core;
use crate::fault::to_raise;
use crate::world::World;
use base::call::{call_error, run_blocking};
use eventlog::{
    EventLog, LogBackend, LogError, LogReader, MemoryLog, MemoryRetention, SharedLog, SqliteLog, SqliteOptions,
    ask_while_reading,
};
use lang::diagnostic::Diagnostic;
use lang::vm::{Meter, Raise, RunCode};
use runtime::event_log::RunTaggedLog;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Steps of a run that count for what SQLite does between two questions, so that each question looks at the limits.
const LOOK: usize = 1024;

/// A project's settings of the event log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// The backend; `None` means in memory.
    pub home: Option<LogBackend>,
    /// The options of a log in a file.
    pub sqlite: SqliteOptions,
    /// The limits of a log in memory.
    pub kept: MemoryRetention,
    /// The limits of a log in a file that a server writes.
    pub retention: LogRetention,
}

/// The limits of ended sessions and tasks that servers keep in a log in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRetention {
    /// The time since they were used last; `None` means for ever.
    pub age: Option<Duration>,
    /// The approximate size of the records in the file beyond which the oldest are removed; `None` means no limit.
    pub bytes: Option<u64>,
}

impl LogRetention {
    /// Everything is kept.
    pub const ALL: LogRetention = LogRetention { age: None, bytes: None };
}

impl Default for LogRetention {
    fn default() -> LogRetention {
        LogRetention { age: Some(Duration::from_secs(30 * 86_400)), bytes: Some(2_000_000_000) }
    }
}

impl LogSettings {
    /// Opens the log for one thread. The first of `said` that says something names its home.
    ///
    /// # Errors
    /// A name that names no home, or a file that cannot be opened.
    pub fn open(&self, said: &[Option<&str>]) -> Result<Rc<dyn EventLog>, Vec<Diagnostic>> {
        Ok(self.open_shared(said)?.here())
    }

    /// Opens the log for several threads.
    ///
    /// # Errors
    /// Fails like [`LogSettings::open`].
    pub fn open_shared(&self, said: &[Option<&str>]) -> Result<Arc<dyn SharedLog>, Vec<Diagnostic>> {
        let settings = self.clone().said(said)?;
        Ok(match settings.open_file()? {
            None => Arc::new(MemoryLog::keeping(settings.kept)),
            Some(log) => Arc::new(RunTaggedLog::new(log, &run_id())),
        })
    }

    /// Sets the backend to the first one named in `said`.
    ///
    /// # Errors
    /// A name that names no home.
    pub fn said(self, said: &[Option<&str>]) -> Result<LogSettings, Vec<Diagnostic>> {
        let named = said.iter().flatten().find(|name| !name.is_empty()).map(|name| name.parse());
        let named = named.transpose().map_err(|e| vec![diagnostic(&e)])?;
        Ok(LogSettings { home: named.or(self.home), ..self })
    }

    /// The log, where it is kept in a file: it goes to other threads, and outlives the process.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open_file(&self) -> Result<Option<SqliteLog>, Vec<Diagnostic>> {
        match &self.home {
            None | Some(LogBackend::Memory) => Ok(None),
            Some(LogBackend::Sqlite(path)) => {
                // A read that takes long ends with the limits of the run that waits for it.
                ask_while_reading(|| Meter::start().steps(LOOK).is_err());
                SqliteLog::open(path, &self.sqlite).map(Some).map_err(|e| vec![diagnostic(&e)])
            }
        }
    }
}

/// Reads the event log of a run: on the blocking pool if that waits for the disk.
///
/// # Errors
/// Fails like the read, and if no thread can be started.
pub(crate) async fn read_log<T: Send + 'static>(
    world: &World,
    log: LogReader,
    read: impl FnOnce(&LogReader) -> Result<T, LogError> + Send + 'static,
) -> Result<T, Box<Raise>> {
    let done = match world.pool().filter(|_| log.blocks()) {
        None => read(&log),
        Some(pool) => run_blocking(pool.as_ref(), move || read(&log)).await.map_err(|error| {
            Raise::error(RunCode::Outside, format!("cannot read the event log: could not start a thread ({error})"))
        })?,
    };
    done.map_err(|error| to_raise(&call_error(error)))
}

/// Returns an id that distinguishes this process from all others that write to the same file. It
/// does not depend on the seed: a repeated run is another run.
fn run_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_micros(), std::process::id())
}

/// Returns an id that no other run has, in this process or another.
pub(crate) fn activity_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{:x}", run_id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An error of the log that belongs to no place in a script.
fn diagnostic(error: &LogError) -> Diagnostic {
    Diagnostic::new(from_core(error.code()), error.to_string()).help(error.help())
}

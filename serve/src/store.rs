//! Sessions that survive the process: what of a session goes into the event log, and how it comes back.
//!
//! A served session is a run of its own on the log: every record of it names the session's id as the run, whatever process
//! writes it. So it goes on under its id in another process, its reminders have one life over all of them, and the log
//! finds its records by an index.
//!
//! | topic | what |
//! |---|---|
//! | `session.life` | opened, loaded, prompted, answered, mode, title, closed |
//! | `session.shown` | what a client saw and is shown again: whole messages, tool calls and their ends, plans |
//! | `session.message` | the durable messages of the transcript |
//! | `session.state` | what else of it survives: the summary, metadata, what reminder providers remember |
//!
//! With `session.injection` and the topics of reminders, which the core writes, that is all there is of a session.
//!
//! - [`Store`]: the sessions of a log: [`Store::list`], [`Store::load`], [`Store::claim`].
//! - [`SessionJournal`]: writes one session down while it lives.
//! - [`Stored`]: a session as the log tells it. [`Page`], [`Row`]: a list of them.
//! - [`StoreError`]: what can go wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use runtime::event_log::{OfRun, SqliteLog};
use runtime::lock::{LockError, LockFile};

mod about;
mod claim;
mod error;
mod fold;
mod journal;
mod list;
mod open_calls;
mod shown;
mod stored;
#[cfg(test)]
mod tests;

pub use about::About;
pub use claim::Claim;
pub use error::StoreError;
pub use journal::SessionJournal;
pub use list::{Page, Row};
pub use stored::Stored;

/// The topic of what a session goes through as a whole.
pub const LIFE_TOPIC: &str = "session.life";
/// The topic of what a client saw.
pub const SHOWN_TOPIC: &str = "session.shown";
/// The sessions of a log in a file. Clones are the same store and may go to other threads.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    log: SqliteLog,
    /// What tells this process from all others.
    process: Arc<str>,
    /// Held while this process lives: the sessions that it has opened are its own.
    _alive: LockFile,
}

impl Store {
    /// The sessions of a log, for a process that serves them.
    ///
    /// # Errors
    /// The file that says that this process lives, beside the log, cannot be made.
    pub fn new(log: SqliteLog) -> Result<Store, StoreError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let process: Arc<str> = format!("{:x}-{:x}", now.as_nanos(), std::process::id()).into();
        let alive = LockFile::beside(&beside(log.path(), &process))
            .map_err(|error| StoreError::CannotClaim(error.to_string()))?;
        Ok(Store(Arc::new(Inner { log, process, _alive: alive })))
    }

    /// The log as a session writes to it.
    #[must_use]
    pub fn log_of(&self, id: &str) -> OfRun<SqliteLog> {
        OfRun::new(self.0.log.clone(), id)
    }

    pub(crate) fn log(&self) -> &SqliteLog {
        &self.0.log
    }

    /// What tells this process from all others that write to the log.
    pub(crate) fn process(&self) -> &Arc<str> {
        &self.0.process
    }

    /// A lock that one process at a time can hold, beside the log.
    pub(crate) fn lock(&self, name: &str) -> Result<LockFile, LockError> {
        self.lock_within(name, Duration::ZERO)
    }

    /// The same lock, waited for up to `timeout`.
    pub(crate) fn lock_within(&self, name: &str, timeout: Duration) -> Result<LockFile, LockError> {
        LockFile::beside_within(&beside(self.log().path(), name), timeout)
    }
}

/// What stands beside a log for a process or a session.
fn beside(log: &Path, name: &str) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    path.into()
}

/// Whether an id is one of a served session. Others are never looked for: they become names of files.
fn is_session(id: &str) -> bool {
    id.strip_prefix("sess_")
        .is_some_and(|rest| !rest.is_empty() && rest.len() <= 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

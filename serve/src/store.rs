//! Sessions that survive the process: how they are stored in the event log and restored.
//!
//! A served session is a run of its own on the log: all its records name the session's id as the run, whichever
//! process writes them. So it continues under its id in another process, its reminders have one life across processes,
//! and the log finds its records by an index.
//!
//! | topic | records |
//! |---|---|
//! | `session.life` | opened, loaded, prompted, answered, mode, title, closed |
//! | `session.shown` | events that a client needs again: whole messages, tool calls and their ends, plans |
//! | `session.message` | the durable messages of the transcript |
//! | `session.state` | other durable state: the summary, metadata, the state of reminder providers |
//!
//! Every record of `session.life` names the account that owns the session. A session whose owner is unknown belongs to
//! no account.
//!
//! With `session.injection` and the topics of reminders, which the core writes, these are all records of a session.
//!
//! - [`SessionStore`]: the sessions of a log: [`SessionStore::list`], [`SessionStore::load`], [`SessionStore::claim`].
//! - [`SessionJournal`]: records a session while it runs.
//! - [`StoredSession`]: a session restored from the log. [`SessionPage`], [`SessionSummary`]: a list of sessions.
//! - [`StoreError`]: the errors.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::lock::{LockError, LockFile};
use eventlog::{Record, SqliteLog};
use runtime::event_log::{RunTaggedLog, Topic};

use crate::host::SessionEvent;

mod about;
mod claim;
mod error;
mod exclusion;
mod fold;
mod interrupted;
mod journal;
mod list;
mod open_calls;
mod shown;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub use about::SessionDescription;
pub(crate) use about::{LOCAL_ACCOUNT, account_of};
pub use claim::SessionClaim;
pub use error::StoreError;
pub(crate) use exclusion::exclude_servers;
pub use journal::SessionJournal;
pub use list::{SessionPage, SessionSummary};
pub use stored::StoredSession;

/// The beginning of the id of a served session.
const ID_PREFIX: &str = "sess_";

/// The reason for the end of a turn whose process ended.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The sessions of a log file. Clones share their state and can be sent to other threads.
#[derive(Clone)]
pub struct SessionStore(Arc<SessionStoreState>);

struct SessionStoreState {
    log: SqliteLog,
    /// The path of the log, without symbolic links: the locks are beside it.
    place: PathBuf,
    /// The unique id of this process.
    process: Arc<str>,
    /// The lock held while this process lives: the sessions that it has opened belong to it.
    _alive: LockFile,
}

impl SessionStore {
    /// Opens the sessions of a log, for a process that serves them.
    ///
    /// # Errors
    /// The file beside the log that marks this process as alive cannot be created.
    pub fn new(log: SqliteLog) -> Result<SessionStore, StoreError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let process: Arc<str> = format!("{:x}-{:x}", now.as_nanos(), std::process::id()).into();
        let place = place_of(log.path());
        let alive =
            LockFile::beside(&beside(&place, &process)).map_err(|error| StoreError::CannotClaim(error.to_string()))?;
        exclusion::wait_for_trim(log.path(), &place)?;
        log.serve();
        Ok(SessionStore(Arc::new(SessionStoreState { log, place, process, _alive: alive })))
    }

    /// Returns the log for the records of a session.
    #[must_use]
    pub fn log_of(&self, id: &str) -> RunTaggedLog<SqliteLog> {
        RunTaggedLog::new(self.0.log.clone(), id)
    }

    pub(crate) fn log(&self) -> &SqliteLog {
        &self.0.log
    }

    /// Returns the unique id of this process among those that write to the log.
    pub(crate) fn process(&self) -> &Arc<str> {
        &self.0.process
    }

    /// Takes a lock beside the log that only one process at a time can hold.
    pub(crate) fn lock(&self, name: &str) -> Result<LockFile, LockError> {
        self.lock_within(name, Duration::ZERO)
    }

    /// Takes a lock like [`SessionStore::lock`], waiting for it up to `timeout`.
    pub(crate) fn lock_within(&self, name: &str, timeout: Duration) -> Result<LockFile, LockError> {
        LockFile::beside_within(&beside(&self.0.place, name), timeout)
    }
}

/// Returns the event that a client needs again, or a change of title or mode; `None` for other records, and for those that
/// cannot be read.
pub(crate) fn shown_event(record: &Record) -> Option<SessionEvent> {
    let payload = &*record.payload;
    let text = |key: &str| payload.get(key).as_shared_str();
    match Topic::named(&record.topic)? {
        topic @ Topic::Shown => shown::read(topic.word_of(&record.kind)?, payload).ok().flatten(),
        topic @ Topic::Life => match topic.word_of(&record.kind)? {
            "title" => text("title").map(SessionEvent::Title),
            "mode" => text("mode").map(SessionEvent::Mode),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the path of a log without symbolic links, so that all processes find the same locks.
fn place_of(log: &Path) -> PathBuf {
    std::fs::canonicalize(log).unwrap_or_else(|_| log.to_path_buf())
}

/// Returns the path of a file beside the log, for a process or a session.
fn beside(log: &Path, name: &str) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    path.into()
}

/// Returns whether an id has the format of a served session. Other ids are never looked up, as ids become file names.
pub(crate) fn is_session(id: &str) -> bool {
    id.strip_prefix(ID_PREFIX)
        .is_some_and(|rest| !rest.is_empty() && rest.len() <= 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

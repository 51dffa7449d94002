//! [`Served`]: the script to serve and its settings.

use std::sync::Arc;
use std::time::Duration;

use eventlog::{RecordObserver, SqliteLog};
use stdlib::{LogRetention, RunOptions, SourceRef};

use crate::Metrics;
use crate::count_limit::share_of_one;

/// The script to serve and its settings.
#[derive(Clone)]
pub struct Served {
    /// The script.
    pub source: SourceRef,
    /// Creates the options of a session, on the worker's thread. The host itself sets the options that belong to a
    /// single session (its task, output and observers) and the log.
    pub run: Arc<dyn Fn() -> RunOptions + Send + Sync>,
    /// The value of `context.protocol`.
    pub protocol: &'static str,
    /// The log that all sessions share; without it each session has its own in memory.
    pub log: Option<SqliteLog>,
    /// The limits.
    pub settings: HostSettings,
    /// The metrics of the sessions.
    pub metrics: Arc<Metrics>,
    /// Creates a tap on the records of each session, by its id; `None` if there is no observer.
    pub taps: Option<Taps>,
}

/// Creates a tap on the records of each session, by its id.
pub type Taps = Arc<dyn Fn(&str) -> RecordObserver + Send + Sync>;

/// The limits of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSettings {
    /// The number of worker threads, at least 1.
    pub workers: usize,
    /// The maximum number of open sessions.
    pub sessions: usize,
    /// The maximum number of open sessions of one account, on servers whose sessions have accounts; by default half of
    /// all sessions.
    pub account_sessions: Option<usize>,
    /// The time after which a worker that has not taken a session counts as blocked by plain code.
    pub late: Duration,
    /// The limits of ended sessions and tasks in the log.
    pub retention: LogRetention,
}

impl HostSettings {
    /// The maximum number of workers by default.
    const WORKERS: usize = 8;
    /// The default for the maximum number of sessions.
    const SESSIONS: usize = 10_000;
    /// The default for [`HostSettings::late`].
    const LATE: Duration = Duration::from_millis(50);

    /// Returns the maximum number of open sessions of one account.
    pub(super) fn most_of_account(&self) -> usize {
        self.account_sessions.unwrap_or_else(|| share_of_one(self.sessions))
    }
}

impl Default for HostSettings {
    fn default() -> HostSettings {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        HostSettings {
            workers: cores.min(HostSettings::WORKERS),
            sessions: HostSettings::SESSIONS,
            account_sessions: None,
            late: HostSettings::LATE,
            retention: LogRetention::default(),
        }
    }
}

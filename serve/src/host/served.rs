//! [`Served`]: what is served, and how.

use std::sync::Arc;
use std::time::Duration;

use runtime::event_log::{SqliteLog, Tap};
use stdlib::{RunOptions, SourceRef};

use crate::Metrics;

/// What is served, and how.
#[derive(Clone)]
pub struct Served {
    /// The script.
    pub source: SourceRef,
    /// How each session is set up: called on the worker's thread for each one. What belongs to a session alone (its task,
    /// where it prints, who watches it) the host sets itself, and so it does the log.
    pub run: Arc<dyn Fn() -> RunOptions + Send + Sync>,
    /// What `context.protocol` says.
    pub protocol: &'static str,
    /// The log that all sessions share; without it each one has its own in memory, which goes with it.
    pub log: Option<SqliteLog>,
    /// How much at once.
    pub settings: Settings,
    /// What its sessions count.
    pub metrics: Arc<Metrics>,
    /// What makes a tap on the records of each session, by its id; `None` if nobody is to see them.
    pub taps: Option<Taps>,
}

/// Makes a tap on the records of each session, by its id.
pub type Taps = Arc<dyn Fn(&str) -> Tap + Send + Sync>;

/// How much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Sessions open at one time.
    pub sessions: usize,
    /// After so long a worker that has not come for a session seems to be held up: plain code of a script runs there without a pause.
    pub late: Duration,
}

impl Settings {
    /// The most workers where nobody says otherwise.
    const WORKERS: usize = 8;
    /// The most sessions where nobody says otherwise.
    const SESSIONS: usize = 10_000;
    /// When a worker is late where nobody says otherwise.
    const LATE: Duration = Duration::from_millis(50);
}

impl Default for Settings {
    fn default() -> Settings {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Settings { workers: cores.min(Settings::WORKERS), sessions: Settings::SESSIONS, late: Settings::LATE }
    }
}

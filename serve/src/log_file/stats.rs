//! [`stats`]: what a log contains.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use base::data::Data;
use eventlog::{LogError, LogFile, RUN_ID, Record};
use runtime::event_log::Topic;

use crate::a2a::store::{is_task_run, task_state};
use crate::store::is_session;
use crate::trim::each_record;

/// Numbers of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordStats {
    /// Number of records.
    pub records: u64,
    /// Their approximate size, in bytes.
    pub bytes: u64,
    /// Times of the oldest and the newest one, in milliseconds since 1970-01-01 UTC; `None` without records.
    pub times: Option<(u64, u64)>,
}

impl RecordStats {
    fn add(&mut self, record: &Record) {
        self.records += 1;
        self.bytes += record.weight() as u64;
        let at = record.occurred_at_ms;
        let (oldest, newest) = self.times.unwrap_or((at, at));
        self.times = Some((oldest.min(at), newest.max(at)));
    }

    fn fields(&self) -> [(&'static str, Data); 4] {
        let (oldest, newest) = (self.times.map(|times| times.0), self.times.map(|times| times.1));
        let time = |time: Option<u64>| time.map_or(Data::Nil, Data::from);
        [
            ("records", Data::from(self.records)),
            ("bytes", self.bytes.into()),
            ("oldest_ms", time(oldest)),
            ("newest_ms", time(newest)),
        ]
    }
}

/// Numbers of the runs of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubjectStats {
    /// Number of runs.
    pub count: u64,
    /// Number of those that have not ended: sessions that were not closed, tasks that are not finished. A process that was
    /// killed leaves its sessions so. Unknown for runs of scripts.
    pub open: u64,
    /// Their records.
    pub records: RecordStats,
}

impl SubjectStats {
    fn fields(&self) -> impl Iterator<Item = (&'static str, Data)> {
        [("count", Data::from(self.count))].into_iter().chain(self.records.fields())
    }

    fn with_open(&self) -> Data {
        Data::dict(self.fields().chain([("open", Data::from(self.open)), ("ended", (self.count - self.open).into())]))
    }
}

/// The contents of a log in a file, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Size of the file and its write-ahead log, in bytes.
    pub file_bytes: u64,
    /// Size of the file without the space of removed records, in bytes.
    pub used_bytes: u64,
    /// All records.
    pub all: RecordStats,
    /// The records of each topic.
    pub topics: BTreeMap<Arc<str>, RecordStats>,
    /// Served sessions.
    pub sessions: SubjectStats,
    /// Tasks of agents.
    pub tasks: SubjectStats,
    /// Runs of scripts.
    pub runs: SubjectStats,
    /// The records of no run.
    pub other: RecordStats,
}

impl LogStats {
    /// Converts the numbers to data, for programs.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let topics = self.topics.iter().map(|(name, stats)| (name.clone(), Data::dict(stats.fields())));
        let head = [("file_bytes", Data::from(self.file_bytes)), ("used_bytes", self.used_bytes.into())];
        let parts = [
            ("sessions", self.sessions.with_open()),
            ("tasks", self.tasks.with_open()),
            ("runs", Data::dict(self.runs.fields())),
            ("other", Data::dict(self.other.fields())),
            ("topics", Data::dict(topics)),
        ];
        Data::dict(head.into_iter().chain(self.all.fields()).chain(parts))
    }
}

/// The state of a run, as its last record says.
#[derive(Default)]
struct RunState {
    is_open: bool,
}

/// Reads a log and returns what it contains.
///
/// # Errors
/// The file is not an event log, or cannot be read.
pub fn stats(path: &Path) -> Result<LogStats, LogError> {
    let file = LogFile::open(path)?;
    let mut stats = LogStats { used_bytes: file.used_bytes()?, ..LogStats::default() };
    let mut runs: HashMap<Arc<str>, RunState> = HashMap::new();
    each_record(&file, file.head()?, |record| {
        stats.all.add(record);
        stats.topics.entry(record.topic.clone()).or_default().add(record);
        let Some(id) = record.headers.get(RUN_ID).as_shared_str() else {
            stats.other.add(record);
            return Ok(());
        };
        stats.of_kind(&id).records.add(record);
        let run = runs.entry(id.clone()).or_default();
        let word = Topic::named(&record.topic).and_then(|topic| Some((topic, topic.word_of(&record.kind)?)));
        match word {
            Some((Topic::Life, "opened" | "loaded")) => run.is_open = true,
            Some((Topic::Life, "closed")) => run.is_open = false,
            Some((Topic::Task, _)) => {
                if let Some(state) = task_state(&record.payload) {
                    run.is_open = !state.is_terminal();
                }
            }
            _ => {}
        }
        Ok::<_, LogError>(())
    })?;
    for (id, run) in &runs {
        let of_kind = stats.of_kind(id);
        of_kind.count += 1;
        of_kind.open += u64::from(run.is_open);
    }
    let wal = path.with_file_name(format!("{}-wal", path.file_name().unwrap_or_default().to_string_lossy()));
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    stats.file_bytes = size(path) + size(&wal);
    Ok(stats)
}

impl LogStats {
    fn of_kind(&mut self, run_id: &str) -> &mut SubjectStats {
        match run_id {
            id if is_session(id) => &mut self.sessions,
            id if is_task_run(id) => &mut self.tasks,
            _ => &mut self.runs,
        }
    }
}

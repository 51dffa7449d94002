//! [`TrimReport`]: what was removed, and what stays.

use eventlog::{LogError, Record};
use runtime::event_log::Topic;

/// The result of a removal, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimReport {
    /// The numbers of removed records.
    pub removed: RemovedUnits,
    /// The numbers of kept records.
    pub kept: KeptUnits,
    /// The size of the log before and after, in bytes; `None` if nothing was changed.
    pub size: Option<(u64, u64)>,
    /// The error for which the space of removed records was not given back to the disk.
    pub not_given_back: Option<LogError>,
}

/// The numbers of what was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovedUnits {
    /// All records, also those of what follows.
    pub records: u64,
    /// Sessions with all their records.
    pub sessions: u64,
    /// Finished tasks with all their records.
    pub tasks: u64,
    /// Runs of scripts, and what earlier removals have left of sessions.
    pub runs: u64,
    /// Records about channels.
    pub channel_records: u64,
    /// Records of topics of scripts.
    pub script_records: u64,
}

/// The numbers of what stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptUnits {
    /// All records.
    pub records: u64,
    /// Sessions.
    pub sessions: u64,
    /// Old sessions that stay because something waits for them: a pending reminder, an item of the queue, an unfinished
    /// action or task.
    pub waiting_sessions: u64,
    /// Tasks.
    pub tasks: u64,
    /// Unfinished tasks.
    pub unfinished_tasks: u64,
    /// Runs of scripts.
    pub runs: u64,
    /// Enrolled channels.
    pub channels: u64,
    /// Links to tasks of peers.
    pub links: u64,
    /// Records of a hub.
    pub hub_records: u64,
    /// Records of topics of scripts.
    pub script_records: u64,
}

impl TrimReport {
    /// Counts a record.
    pub(super) fn count(&mut self, record: &Record, is_removed: bool) {
        let is_script = Topic::named(&record.topic).is_none();
        match is_removed {
            true => {
                self.removed.records += 1;
                self.removed.script_records += u64::from(is_script);
                self.removed.channel_records += u64::from(*record.topic == *Topic::Channel.as_str());
            }
            false => {
                self.kept.records += 1;
                self.kept.script_records += u64::from(is_script);
            }
        }
    }

    /// Counts the superseded records, which were counted among those that stay.
    pub(super) fn count_superseded(&mut self, superseded: usize) {
        self.removed.records += superseded as u64;
        self.kept.records -= superseded as u64;
    }
}

//! [`Index`]: all tasks of a log in short, held in memory: a few hundred bytes for each. It goes on where it ended when it was asked
//! last, so that a list costs what was written since.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use a2a::TaskState;
use runtime::event_log::{Filter, LogError, Record, SqliteLog};

use super::TASK_TOPIC;
use super::record::Brief;

/// Records that are read at once.
const AT_ONCE: usize = 4_096;

/// All tasks of a log in short.
#[derive(Default)]
pub(super) struct Index {
    /// The cursor of the last record that it has.
    upto: u64,
    tasks: HashMap<Arc<str>, Row>,
    /// By the cursors of their last records.
    order: BTreeMap<u64, Arc<str>>,
    processes: HashSet<Arc<str>>,
    /// By the ids of the messages that they began with. Of several with one, the oldest.
    by_first: HashMap<Arc<str>, Arc<str>>,
}

/// A task in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) context_id: Arc<str>,
    pub(super) state: TaskState,
    /// When it changed, in milliseconds since 1970-01-01 UTC.
    pub(super) at_ms: u64,
    /// The process that works on it.
    pub(super) process: Arc<str>,
    cursor: u64,
}

impl Index {
    /// Takes what was written since it was asked last. Waits for the disk.
    pub(super) fn refresh(&mut self, log: &SqliteLog) -> Result<(), LogError> {
        loop {
            let filter = Filter { after: self.upto, ..Filter::topic(TASK_TOPIC) };
            let records = match log.look(|file| file.read(&filter, AT_ONCE)) {
                Ok(records) => records,
                // Somebody has deleted the oldest ones, which are known here.
                Err(LogError::Lagged { resume_from, .. }) if resume_from > self.upto => {
                    self.upto = resume_from;
                    continue;
                }
                Err(error) => return Err(error),
            };
            records.iter().for_each(|record| self.take(record));
            if records.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Takes the next record.
    pub(super) fn take(&mut self, record: &Record) {
        self.upto = self.upto.max(record.cursor);
        // What cannot be read of a task is told where it is read as a whole.
        let Ok(brief) = Brief::read(&record.payload) else { return };
        let Brief { task_id, context_id, state, process, .. } = brief;
        if record.kind.ends_with(".created") && self.tasks.contains_key(&task_id) {
            // The task is whose first record says so, as where it is read as a whole.
            return;
        }
        if let Some(first) = record.payload.get("message_id").as_shared_str() {
            self.by_first.entry(first).or_insert_with(|| task_id.clone());
        }
        let process = self.one(process);
        let row = Row { context_id, state, at_ms: record.occurred_at_ms, process, cursor: record.cursor };
        if let Some(before) = self.tasks.insert(task_id.clone(), row) {
            self.order.remove(&before.cursor);
        }
        self.order.insert(record.cursor, task_id);
    }

    /// The tasks whose last records are below a cursor, newest first.
    pub(super) fn below(&self, cursor: u64) -> impl Iterator<Item = (u64, &Arc<str>, &Row)> {
        self.order.range(..cursor).rev().filter_map(|(at, id)| self.tasks.get(id).map(|row| (*at, id, row)))
    }

    /// The task that began with the message of this id.
    pub(super) fn of_first(&self, message_id: &str) -> Option<&Arc<str>> {
        self.by_first.get(message_id)
    }

    /// The same text, held once.
    fn one(&mut self, process: Arc<str>) -> Arc<str> {
        match self.processes.get(&process) {
            Some(known) => known.clone(),
            None => {
                self.processes.insert(process.clone());
                process
            }
        }
    }
}

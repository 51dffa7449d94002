//! [`TaskIndex`]: summaries of the newest tasks of a log, held in memory at a few hundred bytes each. A refresh
//! continues from the last one, so that a list costs only the records written since.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use a2a::TaskState;
use eventlog::{LogError, Record, RecordFilter};
use runtime::event_log::Topic;

use super::record::TaskBrief;
use crate::store::SessionStore;

/// The number of records to read at once.
const AT_ONCE: usize = 4_096;

/// The maximum number of tasks in an index. Beyond it, the tasks that ended first are dropped: lists do not show them,
/// but they can still be read by id. Open tasks are dropped only if all are open: a process that takes over the tasks of
/// an ended one finds them here.
const MAX_TASKS: usize = 250_000;

/// Summaries of the newest tasks of a log.
pub(super) struct TaskIndex {
    /// The maximum number of tasks.
    most: usize,
    /// The cursor of the last record that was read.
    upto: u64,
    /// The number of removals of old tasks that it knows of.
    removals: u64,
    tasks: HashMap<Arc<str>, TaskSummary>,
    /// Task ids, by the cursors of their last records.
    order: BTreeMap<u64, Arc<str>>,
    /// The cursors of the last records of tasks that are over.
    ended: BTreeSet<u64>,
    processes: HashSet<Arc<str>>,
    /// The tasks by the id of the message that began them, oldest first.
    by_first: HashMap<Arc<str>, Vec<FirstMessage>>,
}

/// The message that began a task.
struct FirstMessage {
    task_id: Arc<str>,
    /// The digest of its content; `None` on logs of earlier versions.
    digest: Option<Arc<str>>,
}

/// The summary of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskSummary {
    pub(super) context_id: Arc<str>,
    pub(super) state: TaskState,
    /// The time of the last change, in milliseconds since 1970-01-01 UTC.
    pub(super) at_ms: u64,
    /// The process that runs it.
    pub(super) process: Arc<str>,
    cursor: u64,
    /// The id of the message that began it.
    first: Option<Arc<str>>,
}

impl Default for TaskIndex {
    fn default() -> TaskIndex {
        TaskIndex::of(MAX_TASKS)
    }
}

impl TaskIndex {
    fn of(most: usize) -> TaskIndex {
        let (tasks, order, ended, processes, by_first) = Default::default();
        TaskIndex { most, upto: 0, removals: 0, tasks, order, ended, processes, by_first }
    }

    /// Reads the records written since the last refresh. Blocks on the disk.
    pub(super) fn refresh(&mut self, store: &SessionStore) -> Result<(), LogError> {
        let (log, removals) = (store.log(), store.removals());
        if removals != self.removals {
            // Tasks that are gone must not be listed.
            *self = TaskIndex { removals, ..TaskIndex::of(self.most) };
        }
        loop {
            let filter = RecordFilter { after: self.upto, ..RecordFilter::topic(Topic::Task) };
            // Records that were deleted from the log are known here.
            let records = log.look(|file| file.read_kept(&filter, AT_ONCE))?;
            records.iter().for_each(|record| self.take(record));
            if records.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Applies the next record.
    pub(super) fn take(&mut self, record: &Record) {
        self.upto = self.upto.max(record.cursor);
        // Unreadable records are reported when the whole task is read.
        let Ok(brief) = TaskBrief::read(&record.payload) else { return };
        let TaskBrief { task_id, context_id, state, process, .. } = brief;
        if record.kind.ends_with(".created") && self.tasks.contains_key(&task_id) {
            // The task belongs to its first record, as in a read of the whole task.
            return;
        }
        let first = record.payload.get("message_id").as_shared_str();
        if let Some(first) = &first {
            let digest = record.payload.get("message_digest").as_shared_str();
            self.by_first.entry(first.clone()).or_default().push(FirstMessage { task_id: task_id.clone(), digest });
        }
        let process = self.one(process);
        let before = self.tasks.remove(&task_id);
        if let Some(before) = &before {
            self.order.remove(&before.cursor);
            self.ended.remove(&before.cursor);
        }
        let first = first.or(before.and_then(|before| before.first));
        let row =
            TaskSummary { context_id, state, at_ms: record.occurred_at_ms, process, cursor: record.cursor, first };
        self.tasks.insert(task_id.clone(), row);
        self.order.insert(record.cursor, task_id);
        if state.is_terminal() {
            self.ended.insert(record.cursor);
        }
        while self.tasks.len() > self.most {
            let Some(oldest) = self.pop_oldest() else { break };
            self.forget(&oldest);
        }
    }

    /// Removes the task that ended first from the order, or the one that changed first if all are open.
    fn pop_oldest(&mut self) -> Option<Arc<str>> {
        match self.ended.pop_first() {
            Some(cursor) => self.order.remove(&cursor),
            None => self.order.pop_first().map(|(_, oldest)| oldest),
        }
    }

    fn forget(&mut self, task_id: &str) {
        let Some(row) = self.tasks.remove(task_id) else { return };
        if let Some(first) = row.first
            && let Some(begun) = self.by_first.get_mut(&first)
        {
            begun.retain(|known| *known.task_id != *task_id);
            if begun.is_empty() {
                self.by_first.remove(&first);
            }
        }
        // One reference is the set's, one the row's.
        if Arc::strong_count(&row.process) <= 2 {
            self.processes.remove(&row.process);
        }
    }

    /// Returns the tasks whose last records are below a cursor, newest first.
    pub(super) fn below(&self, cursor: u64) -> impl Iterator<Item = (u64, &Arc<str>, &TaskSummary)> {
        self.order.range(..cursor).rev().filter_map(|(at, id)| self.tasks.get(id).map(|row| (*at, id, row)))
    }

    /// Returns the tasks that began with a message of this id, and of the content with this digest if theirs is known.
    pub(super) fn begun_by(&self, message_id: &str, digest: impl FnOnce() -> Arc<str>) -> Vec<Arc<str>> {
        let Some(begun) = self.by_first.get(message_id) else { return Vec::new() };
        let (digest, mut has_unknown) = (digest(), false);
        let may_be = |first: &&FirstMessage| match &first.digest {
            Some(known) => *known == digest,
            // Where there are no digests, a message of the same id was refused unless it was a repeat.
            None => !std::mem::replace(&mut has_unknown, true),
        };
        begun.iter().filter(may_be).map(|first| first.task_id.clone()).collect()
    }

    /// Returns a shared copy of a text.
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

#[cfg(test)]
mod tests {
    use base::data::Data;

    use super::*;

    fn record(cursor: u64, task: &str, process: &str, first: Option<&str>) -> Record {
        record_of(cursor, task, process, first, "working")
    }

    fn record_of(cursor: u64, task: &str, process: &str, first: Option<&str>, state: &str) -> Record {
        let payload = Data::dict_of_present([
            ("task_id", Data::from(task)),
            ("context_id", "c".into()),
            ("state", state.into()),
            ("process", process.into()),
            ("message_id", first.into()),
        ]);
        let (topic, kind) = (Topic::Task.into(), "task.status".into());
        Record { topic, kind, payload: payload.into(), headers: Data::Nil, occurred_at_ms: 1, id: cursor, cursor }
    }

    #[test]
    fn the_tasks_that_changed_last_are_kept_up_to_the_bound() {
        let mut index = TaskIndex::of(3);
        for n in 1..=3 {
            index.take(&record(n, &format!("t{n}"), &format!("p{n}"), Some(&format!("m{n}"))));
        }
        index.take(&record(4, "t1", "p1", None));
        index.take(&record(5, "t5", "p5", Some("m5")));
        let listed: Vec<_> = index.below(u64::MAX).map(|(_, id, _)| &**id).collect();
        assert_eq!(listed, ["t5", "t1", "t3"]);
        let firsts = ["m1", "m2", "m3", "m5"].map(|first| index.begun_by(first, || "d".into()).pop());
        assert_eq!(firsts, [Some("t1".into()), None, Some("t3".into()), Some("t5".into())]);
        assert_eq!((index.order.len(), index.by_first.len(), index.processes.len()), (3, 3, 3));
    }

    #[test]
    fn tasks_that_ended_first_make_room_and_open_ones_stay() {
        let mut index = TaskIndex::of(3);
        let states = ["working", "failed", "input-required", "completed", "completed", "working", "working"];
        let listed = |index: &TaskIndex| index.below(u64::MAX).map(|(_, id, _)| id.to_string()).collect::<Vec<_>>();
        for (n, state) in (1..).zip(states) {
            index.take(&record_of(n, &format!("t{n}"), "p", None, state));
            let expected: &[&str] = match n {
                1 => &["t1"],
                2 => &["t2", "t1"],
                3 => &["t3", "t2", "t1"],
                4 => &["t4", "t3", "t1"],
                5 => &["t5", "t3", "t1"],
                6 => &["t6", "t3", "t1"],
                // All are open.
                _ => &["t7", "t6", "t3"],
            };
            assert_eq!(listed(&index), expected, "after {n}");
        }
        // A task that goes on after its end, as a damaged log may say, is open again.
        index.take(&record_of(8, "t6", "p", None, "completed"));
        index.take(&record_of(9, "t6", "p", None, "working"));
        assert!(index.ended.is_empty());
        assert_eq!((index.order.len(), index.tasks.len()), (3, 3));
    }
}

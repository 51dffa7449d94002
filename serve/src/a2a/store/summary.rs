//! [`TaskSummary`]: what a list needs of a task, from an index of the log. Nothing of it is held between two lists.

use std::sync::Arc;

use a2a::TaskState;
use eventlog::{IndexedRow, LogError};
use runtime::event_log::Topic;

use super::record::task_of;
use super::{StoreError, TaskStore, digest_of};

/// The summary of a task: the content of its last lifecycle record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskSummary {
    pub(super) task_id: Arc<str>,
    pub(super) context_id: Arc<str>,
    pub(super) state: TaskState,
    /// The process that runs it.
    pub(super) process: Arc<str>,
    /// The time of its last change, in milliseconds since 1970-01-01 UTC.
    pub(super) at_ms: u64,
    /// The cursor of the record.
    pub(super) cursor: u64,
}

/// The last lifecycle record so far of the run that is being read. Its texts are reused, because a log has many runs.
#[derive(Default)]
pub(super) struct LastRecord {
    run_id: String,
    pub(super) context_id: String,
    process: String,
    pub(super) state: Option<TaskState>,
    pub(super) at_ms: u64,
    pub(super) cursor: u64,
}

impl LastRecord {
    fn take(&mut self, row: &IndexedRow<'_>) {
        // Unreadable records are reported when the whole task is read.
        let (Some(state), Some(context_id), Some(process)) = (row.field(0), row.field(1), row.field(2)) else { return };
        if self.state.is_some() && row.kind.ends_with(".created") {
            // The task belongs to its first record, as in a read of the whole task.
            return;
        }
        self.state = Some(state.parse().unwrap_or(TaskState::Unknown));
        replace(&mut self.context_id, context_id);
        replace(&mut self.process, process);
        (self.at_ms, self.cursor) = (row.occurred_at_ms, row.cursor);
    }

    pub(super) fn task_id(&self) -> &str {
        task_of(&self.run_id)
    }

    pub(super) fn to_summary(&self) -> TaskSummary {
        TaskSummary {
            task_id: self.task_id().into(),
            context_id: self.context_id.as_str().into(),
            state: self.state.unwrap_or(TaskState::Unknown),
            process: self.process.as_str().into(),
            at_ms: self.at_ms,
            cursor: self.cursor,
        }
    }
}

fn replace(text: &mut String, new: &str) {
    text.clear();
    text.push_str(new);
}

impl TaskStore {
    /// Visits the tasks of the log, in no order that matters. Blocks on the disk.
    pub(super) fn each_task(&self, mut take: impl FnMut(&LastRecord)) -> Result<(), LogError> {
        let mut last = LastRecord::default();
        let next = |row: &IndexedRow<'_>| {
            if row.run_id != last.run_id {
                if last.state.is_some() {
                    take(&last);
                }
                last.state = None;
                replace(&mut last.run_id, row.run_id);
            }
            last.take(row);
        };
        self.0.store.log().look(|file| file.task_states(Topic::Task.as_str(), next))?;
        if last.state.is_some() {
            take(&last);
        }
        Ok(())
    }

    /// Returns the open tasks that other processes run or ran, in the order of their last changes. Blocks on the disk.
    pub(super) fn open_elsewhere(&self) -> Result<Vec<TaskSummary>, LogError> {
        let (own, mut open) = (self.0.store.process(), Vec::new());
        self.each_task(|task| {
            if task.state.is_some_and(|state| !state.is_terminal()) && *task.process != **own {
                open.push(task.to_summary());
            }
        })?;
        open.sort_unstable_by_key(|task| task.cursor);
        Ok(open)
    }

    /// Returns the tasks that began with a message of this id, and of this content if theirs is known, oldest first. Blocks
    /// on the disk.
    pub(super) fn tasks_begun_by(&self, first: &a2a::Message) -> Result<Vec<Arc<str>>, StoreError> {
        let mut found = Vec::new();
        self.0.store.log().look(|file| {
            file.tasks_of_message(&first.message_id, |record| {
                let task_id = record.payload.get("task_id").as_shared_str();
                if let Some(task_id) = task_id.filter(|_| *record.topic == *Topic::Task.as_str()) {
                    // There is none on logs of earlier versions.
                    found.push((task_id, record.payload.get("message_digest").as_shared_str()));
                }
            })
        })?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let (digest, mut has_unknown) = (digest_of(first), false);
        let mut may_be = |known: &Option<Arc<str>>| match known {
            Some(known) => *known == digest,
            // Where there are no digests, a message of the same id was refused unless it was a repeat.
            None => !std::mem::replace(&mut has_unknown, true),
        };
        let mut tasks: Vec<Arc<str>> = Vec::new();
        for (task_id, known) in found {
            // A second record that creates a task does not count.
            if !tasks.contains(&task_id) && may_be(&known) {
                tasks.push(task_id);
            }
        }
        Ok(tasks)
    }
}

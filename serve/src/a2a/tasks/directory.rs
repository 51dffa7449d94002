//! [`TaskDirectory`]: the tasks in memory. Ended tasks are kept up to a number and a size. Tasks that never ran have
//! limits of their own, so that a flood of rejected ones does not evict the others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::cell::TaskCell;

/// The maximum size of ended tasks in memory, in bytes.
const MOST_FINISHED: usize = 256 << 20;
/// The maximum number of tasks in memory that ended before they ran, such as rejected ones.
pub(super) const MOST_UNRUN: usize = 1_000;
/// The maximum size of those tasks, in bytes.
const MOST_UNRUN_BYTES: usize = 16 << 20;

/// The tasks in memory.
#[derive(Default)]
pub(super) struct TaskDirectory {
    tasks: HashMap<Arc<str>, Arc<TaskCell>>,
    /// Task ids, by the id of the message that began the task.
    by_first: HashMap<Arc<str>, Arc<str>>,
    /// The number of tasks that are not over.
    open: usize,
    /// The number of tasks that have begun.
    begun: u64,
    /// Ended tasks that ran.
    finished: EndedTasks,
    /// Ended tasks that never ran.
    unrun: EndedTasks,
    /// Whether new tasks are refused.
    pub(super) is_stopping: bool,
}

impl TaskDirectory {
    pub(super) fn find(&self, id: &str) -> Option<Arc<TaskCell>> {
        self.tasks.get(id).cloned()
    }

    /// Returns the task in memory that began with the message `message_id`.
    pub(super) fn of_first(&self, message_id: &str) -> Option<Arc<TaskCell>> {
        self.by_first.get(message_id).and_then(|id| self.find(id))
    }

    fn put(&mut self, cell: &Arc<TaskCell>) {
        if let Some(first) = &cell.first {
            self.by_first.insert(first.message_id.clone(), cell.id.clone());
        }
        self.tasks.insert(cell.id.clone(), cell.clone());
    }

    fn remove(&mut self, id: &str) -> bool {
        let Some(cell) = self.tasks.remove(id) else { return false };
        if let Some(first) = &cell.first
            && self.by_first.get(&first.message_id).is_some_and(|known| **known == *id)
        {
            self.by_first.remove(&first.message_id);
        }
        true
    }

    /// Returns the number of tasks that are not over.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Returns the number of tasks that have begun since the process started.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Returns all tasks in memory.
    pub(super) fn all(&self) -> Vec<Arc<TaskCell>> {
        self.tasks.values().cloned().collect()
    }

    /// Adds a task that begins.
    pub(super) fn begin(&mut self, cell: &Arc<TaskCell>) {
        self.open += 1;
        self.begun += 1;
        self.put(cell);
    }

    /// Removes a task that could not begin.
    pub(super) fn forget(&mut self, cell: &TaskCell) {
        if self.remove(&cell.id) {
            self.open = self.open.saturating_sub(1);
        }
    }

    /// Moves an open task to the ended ones.
    pub(super) fn end(&mut self, cell: &Arc<TaskCell>, most: usize) {
        self.open = self.open.saturating_sub(1);
        self.finished(cell, most);
    }

    /// Keeps an ended task, and evicts the oldest ones beyond the limits.
    pub(super) fn finished(&mut self, cell: &Arc<TaskCell>, most: usize) {
        self.put(cell);
        let (ended, most, most_bytes) = match cell.has_run() {
            true => (&mut self.finished, most, MOST_FINISHED),
            false => (&mut self.unrun, most.min(MOST_UNRUN), MOST_UNRUN_BYTES),
        };
        for oldest in ended.push(cell, most, most_bytes) {
            self.remove(&oldest);
        }
    }
}

/// Ended tasks, in the order in which they ended.
#[derive(Default)]
struct EndedTasks {
    /// The id of each task and its size in bytes.
    tasks: VecDeque<(Arc<str>, usize)>,
    bytes: usize,
}

impl EndedTasks {
    /// Adds a task, and returns the ids of those beyond the limits.
    fn push(&mut self, cell: &TaskCell, most: usize, most_bytes: usize) -> Vec<Arc<str>> {
        let bytes = cell.weight();
        self.tasks.push_back((cell.id.clone(), bytes));
        self.bytes += bytes;
        let mut oldest = Vec::new();
        // The newest stays whatever its size: its caller is about to request it.
        while self.tasks.len() > most.max(1) || self.tasks.len() > 1 && self.bytes > most_bytes {
            let Some((id, bytes)) = self.tasks.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(bytes);
            oldest.push(id);
        }
        oldest
    }
}

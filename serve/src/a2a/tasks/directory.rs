//! [`TaskDirectory`]: the tasks in memory. Ended tasks are kept up to a number and a size. Tasks that never ran have
//! limits of their own, so that a flood of rejected ones does not evict the others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use a2a::Message;

use super::shared_task::SharedTask;

/// The maximum size of ended tasks in memory, in bytes.
const MOST_FINISHED: usize = 256 << 20;
/// The maximum number of tasks in memory that ended before they ran, such as rejected ones.
pub(super) const MOST_UNRUN: usize = 1_000;
/// The maximum size of those tasks, in bytes.
const MOST_UNRUN_BYTES: usize = 16 << 20;

/// The tasks in memory.
#[derive(Default)]
pub(super) struct TaskDirectory {
    tasks: HashMap<Arc<str>, Arc<SharedTask>>,
    /// Task ids, by the id of the message that began the task, oldest first. Messages with other content may share an id.
    by_first: HashMap<Arc<str>, Vec<Arc<str>>>,
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
    pub(super) fn find(&self, id: &str) -> Option<Arc<SharedTask>> {
        self.tasks.get(id).cloned()
    }

    /// Returns the tasks in memory that began with this message or a repeat of it, oldest first.
    pub(super) fn begun_by(&self, first: &Message) -> impl Iterator<Item = &Arc<SharedTask>> {
        let ids = self.by_first.get(&first.message_id).into_iter().flatten();
        ids.filter_map(|id| self.tasks.get(id)).filter(|shared_task| shared_task.has_begun_by(first))
    }

    fn put(&mut self, shared_task: &Arc<SharedTask>) {
        let is_new = self.tasks.insert(shared_task.id.clone(), shared_task.clone()).is_none();
        if let Some(first) = shared_task.first.as_ref().filter(|_| is_new) {
            self.by_first.entry(first.message_id.clone()).or_default().push(shared_task.id.clone());
        }
    }

    fn remove(&mut self, id: &str) -> bool {
        let Some(shared_task) = self.tasks.remove(id) else { return false };
        if let Some(first) = &shared_task.first
            && let Some(ids) = self.by_first.get_mut(&first.message_id)
        {
            ids.retain(|known| **known != *id);
            if ids.is_empty() {
                self.by_first.remove(&first.message_id);
            }
        }
        true
    }

    /// Removes an ended task whose caller does not learn of it.
    pub(super) fn remove_ended(&mut self, shared_task: &SharedTask) {
        self.remove(&shared_task.id);
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
    pub(super) fn all(&self) -> Vec<Arc<SharedTask>> {
        self.tasks.values().cloned().collect()
    }

    /// Adds a task that begins.
    pub(super) fn begin(&mut self, shared_task: &Arc<SharedTask>) {
        self.open += 1;
        self.begun += 1;
        self.put(shared_task);
    }

    /// Removes a task that could not begin.
    pub(super) fn forget(&mut self, shared_task: &SharedTask) {
        if self.remove(&shared_task.id) {
            self.open = self.open.saturating_sub(1);
        }
    }

    /// Moves an open task to the ended ones.
    pub(super) fn end(&mut self, shared_task: &Arc<SharedTask>, most: usize) {
        self.open = self.open.saturating_sub(1);
        self.finished(shared_task, most);
    }

    /// Keeps an ended task, and evicts the oldest ones beyond the limits.
    pub(super) fn finished(&mut self, shared_task: &Arc<SharedTask>, most: usize) {
        self.put(shared_task);
        let (ended, most, most_bytes) = match shared_task.has_run() {
            true => (&mut self.finished, most, MOST_FINISHED),
            false => (&mut self.unrun, most.min(MOST_UNRUN), MOST_UNRUN_BYTES),
        };
        for oldest in ended.push(shared_task, most, most_bytes) {
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
    fn push(&mut self, shared_task: &SharedTask, most: usize, most_bytes: usize) -> Vec<Arc<str>> {
        let bytes = shared_task.weight();
        self.tasks.push_back((shared_task.id.clone(), bytes));
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

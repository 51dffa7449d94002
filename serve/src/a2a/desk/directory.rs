//! [`Directory`]: which tasks there are in memory. Those that are over are kept up to a number and a size; those that never ran have
//! a bound of their own, so that a flood of rejected ones leaves what others have made.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::cell::Cell;

/// The most bytes that tasks take in memory which are over.
const MOST_FINISHED: usize = 256 << 20;
/// The most tasks in memory that were over before they ran, such as rejected ones.
pub(super) const MOST_UNRUN: usize = 1_000;
/// The most bytes that those take.
const MOST_UNRUN_BYTES: usize = 16 << 20;

/// Which tasks there are in memory.
#[derive(Default)]
pub(super) struct Directory {
    tasks: HashMap<Arc<str>, Arc<Cell>>,
    /// The task that a message began, by the message's id.
    by_first: HashMap<Arc<str>, Arc<str>>,
    /// How many are not over.
    open: usize,
    /// How many have begun.
    begun: u64,
    /// Those that have run and are over.
    finished: Ended,
    /// Those that were over before they ran.
    unrun: Ended,
    /// Nothing more begins.
    pub(super) is_stopping: bool,
}

impl Directory {
    pub(super) fn find(&self, id: &str) -> Option<Arc<Cell>> {
        self.tasks.get(id).cloned()
    }

    /// The task in memory that began with the message of this id.
    pub(super) fn of_first(&self, message_id: &str) -> Option<Arc<Cell>> {
        self.by_first.get(message_id).and_then(|id| self.find(id))
    }

    fn put(&mut self, cell: &Arc<Cell>) {
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

    /// How many are not over.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Returns how many have begun since the start.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// All that are in memory.
    pub(super) fn all(&self) -> Vec<Arc<Cell>> {
        self.tasks.values().cloned().collect()
    }

    /// One that begins.
    pub(super) fn begin(&mut self, cell: &Arc<Cell>) {
        self.open += 1;
        self.begun += 1;
        self.put(cell);
    }

    /// One that begins nowhere after all.
    pub(super) fn forget(&mut self, cell: &Cell) {
        if self.remove(&cell.id) {
            self.open = self.open.saturating_sub(1);
        }
    }

    /// One that has begun is over.
    pub(super) fn end(&mut self, cell: &Arc<Cell>, most: usize) {
        self.open = self.open.saturating_sub(1);
        self.finished(cell, most);
    }

    /// One that is over is kept, and the oldest are forgotten where it is too much.
    pub(super) fn finished(&mut self, cell: &Arc<Cell>, most: usize) {
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

/// Tasks that are over, in the order in which they ended.
#[derive(Default)]
struct Ended {
    /// Their ids, and the bytes of each.
    tasks: VecDeque<(Arc<str>, usize)>,
    bytes: usize,
}

impl Ended {
    /// One more: which are too many or too much then.
    fn push(&mut self, cell: &Cell, most: usize, most_bytes: usize) -> Vec<Arc<str>> {
        let bytes = cell.weight();
        self.tasks.push_back((cell.id.clone(), bytes));
        self.bytes += bytes;
        let mut oldest = Vec::new();
        // The newest stays whatever it takes: its caller is about to ask for it.
        while self.tasks.len() > most.max(1) || self.tasks.len() > 1 && self.bytes > most_bytes {
            let Some((id, bytes)) = self.tasks.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(bytes);
            oldest.push(id);
        }
        oldest
    }
}

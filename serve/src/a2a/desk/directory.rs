//! [`Directory`]: which tasks there are in memory. Those that are over are kept up to a number and a size.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::cell::Cell;

/// The most bytes that tasks take in memory which are over.
const MOST_FINISHED: usize = 256 << 20;

/// Which tasks there are in memory.
#[derive(Default)]
pub(super) struct Directory {
    tasks: HashMap<Arc<str>, Arc<Cell>>,
    /// How many are not over.
    open: usize,
    /// Those that are over, in the order in which they ended, and the bytes of each.
    finished: VecDeque<(Arc<str>, usize)>,
    finished_bytes: usize,
    /// Nothing more begins.
    pub(super) is_stopping: bool,
}

impl Directory {
    pub(super) fn find(&self, id: &str) -> Option<Arc<Cell>> {
        self.tasks.get(id).cloned()
    }

    /// How many are not over.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// All that are in memory.
    pub(super) fn all(&self) -> Vec<Arc<Cell>> {
        self.tasks.values().cloned().collect()
    }

    /// One that begins.
    pub(super) fn begin(&mut self, cell: &Arc<Cell>) {
        self.open += 1;
        self.tasks.insert(cell.id.clone(), cell.clone());
    }

    /// One that begins nowhere after all.
    pub(super) fn forget(&mut self, cell: &Cell) {
        if self.tasks.remove(&cell.id).is_some() {
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
        let bytes = cell.weight();
        self.tasks.insert(cell.id.clone(), cell.clone());
        self.finished.push_back((cell.id.clone(), bytes));
        self.finished_bytes += bytes;
        // The newest stays whatever it takes: its caller is about to ask for it.
        while self.finished.len() > most.max(1) || self.finished.len() > 1 && self.finished_bytes > MOST_FINISHED {
            let Some((oldest, bytes)) = self.finished.pop_front() else { return };
            self.finished_bytes = self.finished_bytes.saturating_sub(bytes);
            self.tasks.remove(&oldest);
        }
    }
}

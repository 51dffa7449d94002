//! Counters of the lines that run.

use crate::source::SourceRef;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The counters of a run, one for each line on which a statement begins. Code that counts nothing has none.
#[derive(Default)]
pub struct Coverage {
    counters: RefCell<Counters>,
}

#[derive(Default)]
struct Counters {
    lines: Vec<LineCount>,
    /// Indexes by text and line.
    index: HashMap<(*const crate::source::Source, u32), u32>,
}

/// A line, and the number of times that a statement on it began.
#[derive(Clone, Debug)]
pub struct LineCount {
    /// The text.
    pub source: SourceRef,
    /// The line, from 1.
    pub line: u32,
    /// The number of times.
    pub count: u64,
}

impl Coverage {
    /// Returns the number of the counter of a line, made on the first call.
    pub(crate) fn counter(&self, source: &SourceRef, line: u32) -> u32 {
        let Counters { lines, index } = &mut *self.counters.borrow_mut();
        *index.entry((Arc::as_ptr(source), line)).or_insert_with(|| {
            // The text is kept, so its address stays its own.
            lines.push(LineCount { source: source.clone(), line, count: 0 });
            u32::try_from(lines.len() - 1).unwrap_or(u32::MAX)
        })
    }

    pub(crate) fn hit(&self, counter: usize) {
        if let Some(line) = self.counters.borrow_mut().lines.get_mut(counter) {
            line.count += 1;
        }
    }

    /// Returns all lines, and takes their counts.
    #[must_use]
    pub fn take(&self) -> Vec<LineCount> {
        std::mem::take(&mut *self.counters.borrow_mut()).lines
    }
}

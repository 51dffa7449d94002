//! Resources that a fiber must close.
//!
//! `deadline` and `mutex` blocks close themselves on every way out. Only a fiber that is dropped half way (the hook of a loop
//! that was cut off) runs no code any more; then what it holds is closed here.

use super::deadline::Deadline;
use super::lock::Lock;
use std::cell::RefCell;
use std::rc::Rc;

/// The open blocks of one fiber, the innermost last. A clone starts with none.
#[derive(Default)]
pub(crate) struct OpenBlocks(RefCell<Vec<OpenBlock>>);

enum OpenBlock {
    Deadline(Deadline),
    Mutex(Rc<Lock>),
}

impl Clone for OpenBlocks {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl OpenBlocks {
    /// A `deadline` block begins.
    pub(crate) fn deadline(&self, deadline: Deadline) {
        self.0.borrow_mut().push(OpenBlock::Deadline(deadline));
    }

    /// The `deadline` block of that number is over.
    pub(crate) fn close_deadline(&self, number: u64) -> Option<Deadline> {
        let mut blocks = self.0.borrow_mut();
        let at = blocks.iter().rposition(|b| matches!(b, OpenBlock::Deadline(d) if d.number() == number))?;
        match blocks.remove(at) {
            OpenBlock::Deadline(deadline) => Some(deadline),
            OpenBlock::Mutex(_) => None,
        }
    }

    /// A `mutex` block begins.
    pub(crate) fn mutex(&self, lock: &Rc<Lock>) {
        self.0.borrow_mut().push(OpenBlock::Mutex(lock.clone()));
    }

    /// The `mutex` block is over.
    pub(crate) fn close_mutex(&self, lock: &Rc<Lock>) {
        let mut blocks = self.0.borrow_mut();
        if let Some(at) = blocks.iter().rposition(|b| matches!(b, OpenBlock::Mutex(l) if Rc::ptr_eq(l, lock))) {
            blocks.remove(at);
            drop(blocks);
            lock.leave();
        }
    }
}

impl Drop for OpenBlocks {
    fn drop(&mut self) {
        while let Some(block) = self.0.get_mut().pop() {
            if let OpenBlock::Mutex(lock) = block {
                lock.leave();
            }
        }
    }
}

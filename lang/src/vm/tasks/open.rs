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
pub(crate) struct Open(RefCell<Vec<Block>>);

enum Block {
    Deadline(Deadline),
    Mutex(Rc<Lock>),
}

impl Clone for Open {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Open {
    /// A `deadline` block begins.
    pub(crate) fn deadline(&self, deadline: Deadline) {
        self.0.borrow_mut().push(Block::Deadline(deadline));
    }

    /// The `deadline` block of that number is over.
    pub(crate) fn close_deadline(&self, number: u64) -> Option<Deadline> {
        let mut blocks = self.0.borrow_mut();
        let at = blocks.iter().rposition(|b| matches!(b, Block::Deadline(d) if d.number() == number))?;
        match blocks.remove(at) {
            Block::Deadline(deadline) => Some(deadline),
            Block::Mutex(_) => None,
        }
    }

    /// A `mutex` block begins.
    pub(crate) fn mutex(&self, lock: &Rc<Lock>) {
        self.0.borrow_mut().push(Block::Mutex(lock.clone()));
    }

    /// The `mutex` block is over.
    pub(crate) fn close_mutex(&self, lock: &Rc<Lock>) {
        let mut blocks = self.0.borrow_mut();
        if let Some(at) = blocks.iter().rposition(|b| matches!(b, Block::Mutex(l) if Rc::ptr_eq(l, lock))) {
            blocks.remove(at);
            drop(blocks);
            lock.leave();
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        while let Some(block) = self.0.get_mut().pop() {
            if let Block::Mutex(lock) = block {
                lock.leave();
            }
        }
    }
}

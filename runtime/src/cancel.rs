//! [`Cancel`]: a tree of switches. Cancelling a node cancels all nodes below it, and no others.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use tokio::sync::Notify;

/// A node of the tree. Clones are the same node.
#[derive(Clone, Default)]
pub struct Cancel(Rc<CancelNode>);

#[derive(Default)]
struct CancelNode {
    reason: RefCell<Option<Arc<str>>>,
    children: RefCell<Vec<Weak<CancelNode>>>,
    thrown: Notify,
    /// Number of children at which a sweep is worthwhile.
    sweep_at: Cell<usize>,
}

impl Cancel {
    /// Creates a root that is not cancelled.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Creates a node below this one. Below a cancelled node it is cancelled from the start.
    #[must_use]
    pub fn child(&self) -> Cancel {
        let child = Cancel::default();
        (*child.0.reason.borrow_mut()).clone_from(&self.0.reason.borrow());
        let mut children = self.0.children.borrow_mut();
        // Dead children are swept occasionally, so that a long-lived root does not grow with every call made below it.
        if children.len() >= self.0.sweep_at.get().max(16) {
            children.retain(|weak| weak.strong_count() > 0);
            self.0.sweep_at.set(2 * children.len());
        }
        children.push(Rc::downgrade(&child.0));
        drop(children);
        child
    }

    /// Cancels this node and everything below it. The first reason wins.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) {
        let reason = reason.into();
        let mut open = vec![self.0.clone()];
        while let Some(node) = open.pop() {
            if node.reason.borrow().is_some() {
                continue;
            }
            *node.reason.borrow_mut() = Some(reason.clone());
            open.extend(node.children.borrow().iter().filter_map(Weak::upgrade));
            node.thrown.notify_waiters();
        }
    }

    /// Returns whether this node was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.reason.borrow().is_some()
    }

    /// Returns the reason if it was cancelled.
    #[must_use]
    pub fn reason(&self) -> Option<Arc<str>> {
        self.0.reason.borrow().clone()
    }

    /// Waits until this node is cancelled and returns the reason.
    pub async fn cancelled(&self) -> Arc<str> {
        loop {
            let thrown = self.0.thrown.notified();
            if let Some(reason) = self.reason() {
                return reason;
            }
            thrown.await;
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.reason()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_down_and_never_up() {
        let root = Cancel::new();
        let (left, right) = (root.child(), root.child());
        let leaf = left.child();
        left.cancel("enough");
        assert_eq!(leaf.reason().as_deref(), Some("enough"));
        assert!(!right.is_cancelled() && !root.is_cancelled());
        root.cancel("all");
        assert_eq!(leaf.reason().as_deref(), Some("enough"));
        assert_eq!(root.child().reason().as_deref(), Some("all"));
    }

    #[test]
    fn a_root_does_not_keep_its_dead_children() {
        let root = Cancel::new();
        for _ in 0..10_000 {
            drop(root.child());
        }
        assert!(root.0.children.borrow().len() < 100);
    }
}

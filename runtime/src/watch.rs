//! Watching files: what a daemon asks of whoever watches for it, and what it is told.

use std::fmt;
use std::sync::Arc;

use crate::seam::{Answer, Local};
use crate::words::words;

words! {
    /// What happened to a file.
    pub enum ChangeKind {
        /// It was not there before.
        Created = "created",
        /// What is in it is another.
        Modified = "modified",
        /// It is not there any more.
        Removed = "removed",
    }
}

impl ChangeKind {
    /// What two changes of one file come to.
    #[must_use]
    pub fn and_then(self, next: ChangeKind) -> ChangeKind {
        use ChangeKind as C;
        match (self, next) {
            (C::Created, C::Modified) => C::Created,
            (C::Removed, C::Created) => C::Modified,
            (_, next) => next,
        }
    }
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path: below the folder that the watch started from relative to it, else absolute.
    pub path: Arc<str>,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What a look at the files showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// What changed since the look before, in the order of the paths.
    pub changes: Vec<Change>,
    /// What somebody should know of the watching itself, a sentence each: a path that is not there, a limit.
    pub remarks: Vec<String>,
}

/// Whoever watches files for a daemon.
///
/// A signal says only that it is worth looking again. What changed is found by comparing, so a burst of changes is one look, and no
/// signal that the system loses loses a change.
pub trait Watch {
    /// What is watched, as it was written.
    fn patterns(&self) -> &[Arc<str>];

    /// Takes down what is there now: what changes from here on is told. The second time it goes on from where it is. Relative paths start from `anchor`; nothing means
    /// the folder that the process is in.
    fn begin<'a>(&'a self, anchor: Option<&'a str>) -> Answer<'a, Seen>;

    /// Waits until something may have changed since the last look.
    fn signal(&self) -> Local<'_, ()>;

    /// What changed since the last look.
    fn look(&self) -> Answer<'_, Seen>;
}

impl fmt::Debug for dyn Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.patterns()).finish()
    }
}

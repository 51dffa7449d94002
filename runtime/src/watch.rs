//! Watching files: the interface between a daemon and its file watcher.

use std::fmt;
use std::sync::Arc;

use crate::seam::{Answer, Local};
use crate::words::words;

words! {
    /// The kind of a file change.
    pub enum ChangeKind {
        /// It was not there before.
        Created = "created",
        /// Its content changed.
        Modified = "modified",
        /// It is not there any more.
        Removed = "removed",
    }
}

impl ChangeKind {
    /// Combines two successive changes of one file.
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
    /// Kind of the change.
    pub kind: ChangeKind,
}

/// The result of a look at the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Changes since the previous look, in the order of the paths.
    pub changes: Vec<Change>,
    /// Remarks about the watching itself, a sentence each: a missing path, a limit.
    pub remarks: Vec<String>,
}

/// A file watcher for a daemon.
///
/// A signal only means that another look is worthwhile. Changes are found by comparing, so a burst of changes is one
/// look, and a signal lost by the system loses no change.
pub trait Watch {
    /// Returns the watched patterns as written.
    fn patterns(&self) -> &[Arc<str>];

    /// Records the current files; later changes are reported. A second call continues from the current state. Relative
    /// paths start from `anchor`; `None` means the process's working directory.
    fn begin<'a>(&'a self, anchor: Option<&'a str>) -> Answer<'a, Seen>;

    /// Waits until something may have changed since the last look.
    fn signal(&self) -> Local<'_, ()>;

    /// Returns the changes since the last look.
    fn look(&self) -> Answer<'_, Seen>;
}

impl fmt::Debug for dyn Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.patterns()).finish()
    }
}

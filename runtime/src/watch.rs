//! Watching files: the interface between a daemon and its file watcher.

use std::fmt;
use std::sync::Arc;

use base::call::{Answer, LocalFuture};
use base::words::words;

words! {
    /// The kind of a file change.
    pub enum FileChangeKind {
        /// It was created.
        Created = "created",
        /// Its content changed.
        Modified = "modified",
        /// It was removed.
        Removed = "removed",
    }
}

impl FileChangeKind {
    /// Combines two successive changes of one file.
    #[must_use]
    pub fn and_then(self, next: FileChangeKind) -> FileChangeKind {
        use FileChangeKind as C;
        match (self, next) {
            (C::Created, C::Modified) => C::Created,
            (C::Removed, C::Created) => C::Modified,
            (_, next) => next,
        }
    }
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path: relative to the folder from which watching started if it is inside of it, else absolute.
    pub path: Arc<str>,
    /// Kind of the change.
    pub kind: FileChangeKind,
}

/// The result of a look at the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChanges {
    /// Changes since the previous look, in the order of the paths.
    pub changes: Vec<FileChange>,
    /// Remarks about the watching itself, a sentence each: a missing path, a limit.
    pub remarks: Vec<String>,
}

/// A file watcher for a daemon.
///
/// A signal only means that another look is worthwhile. Changes are found by comparing, so a burst of changes is one
/// look, and a signal lost by the system loses no change.
pub trait FileWatcher {
    /// Returns the watched patterns as written.
    fn patterns(&self) -> &[Arc<str>];

    /// Records the current files; later changes are reported. A second call continues from the current state. Relative
    /// paths start from `anchor`; `None` means the process's working directory.
    fn begin<'a>(&'a self, anchor: Option<&'a str>) -> Answer<'a, FileChanges>;

    /// Waits until something may have changed since the last look.
    fn signal(&self) -> LocalFuture<'_, ()>;

    /// Returns the changes since the last look.
    fn look(&self) -> Answer<'_, FileChanges>;
}

impl fmt::Debug for dyn FileWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.patterns()).finish()
    }
}

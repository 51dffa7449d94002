//! Watching files for a daemon. The system's signals say that it is worth looking; what changed is found by comparing two
//! censuses, so that neither a burst, nor a queue of the system that overflows, nor a file system without signals loses a change.
//!
//! - [`pattern`]: what is watched, of what a script writes.
//! - [`census`]: what is there.
//! - [`signals`]: notifications of the operating system.

use std::cell::RefCell;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::call::{Answer, LocalFuture};
use runtime::seen_texts::SeenTexts;
use runtime::watch::{FileChange, FileChanges, FileWatcher};

mod census;
mod pattern;
mod signals;

pub use pattern::PatternError;

use census::{Census, take};
use pattern::Patterns;
use signals::Signals;

/// The most remarks that are remembered, so that none is made twice.
const MAX_REMARKED: usize = 256;

/// Watches files below folders, or those that globs mean.
pub struct FileWatch {
    written: Vec<Arc<str>>,
    /// The base of relative patterns in a session without an anchor; `None` for the working
    /// directory.
    folder: Option<PathBuf>,
    state: RefCell<Option<WatchState>>,
}

struct WatchState {
    patterns: Arc<Patterns>,
    known: Census,
    signals: Signals,
    /// Remarks that were already reported.
    remarked: SeenTexts,
}

impl FileWatch {
    /// A watch that has not begun.
    ///
    /// # Errors
    /// A pattern that is blank or no glob; nothing but exclusions.
    pub fn new(patterns: Vec<Arc<str>>) -> Result<FileWatch, PatternError> {
        Patterns::read(&patterns, Path::new("."))?;
        Ok(FileWatch { written: patterns, folder: None, state: RefCell::default() })
    }

    /// Relative patterns begin there, in a session without an anchor.
    #[must_use]
    pub fn below(self, folder: Option<PathBuf>) -> FileWatch {
        FileWatch { folder, ..self }
    }

    async fn start(&self, anchor: Option<&str>) -> FileChanges {
        // A suspended loop continues: changes made meanwhile are reported.
        if self.state.borrow().is_some() {
            return FileChanges::default();
        }
        let base = anchor.map(PathBuf::from).or_else(|| self.folder.clone());
        let base = base.unwrap_or_else(|| std::env::current_dir().unwrap_or_default());
        let base = base.canonicalize().unwrap_or(base);
        let Ok(patterns) = Patterns::read(&self.written, &base) else { return FileChanges::default() };
        let patterns = Arc::new(patterns);
        let mut signals = Signals::new();
        // Armed first: what changes while the census is taken is looked at once more.
        let mut remarks = signals.arm(patterns.roots());
        let census = take(&patterns).await;
        remarks.extend(census.remarks());
        remarks.extend(patterns.roots().filter(|root| !root.exists()).map(|root| {
            format!("the watched path `{}` does not exist yet; it is watched once it exists", patterns.shown(root))
        }));
        let mut remarked = SeenTexts::new(MAX_REMARKED);
        remarks.retain(|remark| remarked.insert(remark.clone()));
        let state = WatchState { patterns, known: census, signals, remarked };
        *self.state.borrow_mut() = Some(state);
        FileChanges { changes: Vec::new(), remarks }
    }

    async fn compare(&self) -> FileChanges {
        let Some(patterns) = self.with(|state| state.patterns.clone()) else { return FileChanges::default() };
        let armed = self.with(|state| state.signals.arm(patterns.roots())).unwrap_or_default();
        let now = take(&patterns).await;
        let compared = self.with(|state| {
            let mut seen = FileChanges { changes: now.since(&state.known, &patterns), remarks: armed };
            seen.remarks.extend(now.remarks());
            seen.remarks.retain(|remark| state.remarked.insert(remark.clone()));
            state.known = now;
            seen
        });
        compared.unwrap_or_default()
    }

    fn with<R>(&self, look: impl FnOnce(&mut WatchState) -> R) -> Option<R> {
        self.state.borrow_mut().as_mut().map(look)
    }
}

impl FileWatcher for FileWatch {
    fn patterns(&self) -> &[Arc<str>] {
        &self.written
    }

    fn begin<'a>(&'a self, anchor: Option<&'a str>) -> Answer<'a, FileChanges> {
        Answer::later(self.start(anchor))
    }

    fn signal(&self) -> LocalFuture<'_, ()> {
        let raised = self.with(|state| state.signals.raised());
        Box::pin(async move {
            match raised {
                Some(raised) => raised.notified().await,
                None => pending().await,
            }
        })
    }

    fn look(&self) -> Answer<'_, FileChanges> {
        Answer::later(self.compare())
    }
}

/// Returns a change as it is reported.
fn change(patterns: &Patterns, path: &Path, kind: runtime::watch::FileChangeKind) -> FileChange {
    FileChange { path: patterns.shown(path).into(), kind }
}

#[cfg(test)]
mod tests;

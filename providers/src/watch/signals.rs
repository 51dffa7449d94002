//! Notifications of the operating system. The crate `notify` has a thread of its own for them; here
//! they only trigger the next look.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use notify::event::{AccessKind, AccessMode};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// The watches that are set.
pub(super) struct Signals {
    /// Holds one permit once the system has reported a change.
    raised: Arc<Notify>,
    /// `None` if the operating system provides none.
    watcher: Option<RecommendedWatcher>,
    /// The reason why there is none, until it was reported.
    why_not: Option<String>,
    /// The watched folders and files, with their identity.
    armed: BTreeMap<PathBuf, ActiveWatch>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct ActiveWatch {
    recursive: bool,
    inode: u64,
    /// Inodes are used again.
    born: Option<SystemTime>,
}

impl ActiveWatch {
    fn of(meta: &Metadata, recursive: bool) -> ActiveWatch {
        ActiveWatch { recursive, inode: meta.ino(), born: meta.created().ok() }
    }
}

impl Signals {
    pub(super) fn new() -> Signals {
        let raised = Arc::new(Notify::new());
        let raises = raised.clone();
        let handler = move |event: notify::Result<Event>| {
            // An error too is worth a look: events may be lost.
            if event.as_ref().map_or(true, is_change) {
                raises.notify_one();
            }
        };
        let watcher = RecommendedWatcher::new(handler, Config::default());
        let why_not = watcher.as_ref().err().map(explain);
        Signals { raised, watcher: watcher.ok(), why_not, armed: BTreeMap::new() }
    }

    /// Returns what notifies one waiter once the system has reported a change.
    pub(super) fn raised(&self) -> Arc<Notify> {
        self.raised.clone()
    }

    /// Watches these folders and files; for a missing one the nearest existing ancestor, where it
    /// will appear. A path that was removed and has come back is watched again. Returns remarks for
    /// the user.
    pub(super) fn arm<'a>(&mut self, roots: impl Iterator<Item = &'a Path>) -> Vec<String> {
        // The next look sees what was signalled up to here: the permit is taken.
        pin!(self.raised.notified()).enable();
        let mut remarks: Vec<String> = self.why_not.take().into_iter().collect();
        let Some(watcher) = &mut self.watcher else { return remarks };
        let mut wanted = BTreeMap::new();
        for root in roots {
            if let Some((path, armed)) = place(root) {
                let known: &mut ActiveWatch = wanted.entry(path).or_insert(armed);
                known.recursive |= armed.recursive;
            }
        }
        let stale = self.armed.iter().filter(|(path, armed)| wanted.get(*path) != Some(armed));
        for path in stale.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            // One that is gone has taken its watch along.
            let _ = watcher.unwatch(&path);
            self.armed.remove(&path);
        }
        for (path, armed) in wanted {
            if self.armed.contains_key(&path) {
                continue;
            }
            let mode = if armed.recursive { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            match watcher.watch(&path, mode) {
                Ok(()) => {
                    self.armed.insert(path, armed);
                }
                Err(error) => remarks.push(explain(&error)),
            }
        }
        remarks
    }
}

/// Returns the path to watch for a root: itself, or its nearest existing ancestor.
fn place(root: &Path) -> Option<(PathBuf, ActiveWatch)> {
    let (path, meta) = root.ancestors().find_map(|path| Some((path, std::fs::metadata(path).ok()?)))?;
    // A file is watched by its folder: programs replace files by others of the same name.
    if path == root && !meta.is_dir() {
        let folder = path.parent()?;
        return Some((folder.to_path_buf(), ActiveWatch::of(&std::fs::metadata(folder).ok()?, false)));
    }
    Some((path.to_path_buf(), ActiveWatch::of(&meta, path == root)))
}

/// Returns whether an event is a change: reading is not, the end of writing is.
pub(super) fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

fn explain(error: &notify::Error) -> String {
    let why = match &error.kind {
        ErrorKind::MaxFilesWatch => "the system's limit on watched folders is reached".to_owned(),
        ErrorKind::Io(error) => error.to_string(),
        other => format!("{other:?}"),
    };
    format!("the system does not report every change ({why}), so some may be found late")
}

//! `--watch`: when scripts change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(300);
/// Files that are watched.
const MOST: usize = 20_000;

/// The state of files: the time of the last change, and the size.
pub(super) type FileStates = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Returns the state of the scripts and settings of the paths. Beside a file, the others in its folder count too: it may
/// import them.
pub(super) fn state(paths: &[PathBuf]) -> FileStates {
    let mut states = FileStates::new();
    for path in paths {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in ignore::WalkBuilder::new(folder).require_git(false).build().flatten() {
            let is_watched =
                entry.path().extension().is_some_and(|end| end == "harn" || end == "toml" || end == "snap");
            if states.len() < MOST
                && is_watched
                && let Ok(there) = entry.metadata()
            {
                states.insert(entry.path().to_owned(), (there.modified().ok(), there.len()));
            }
        }
    }
    states
}

/// Waits until the state is not as it was before.
pub(super) fn wait(paths: &[PathBuf], before: &FileStates) {
    while state(paths) == *before {
        thread::sleep(PAUSE);
    }
}

//! `--watch` of `check` and `test`: work that is done again after each change of a file.
//!
//! The system's signals only wake the command. The files have changed if two censuses differ, so a signal about a file that
//! was only read, or that `.gitignore` excludes, starts nothing.

use crate::console::Console;
use crate::script::fixed_part;
use notify::{RecursiveMode, Watcher, recommended_watcher};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};
use stdlib::Project;

/// The time without a further signal after which the files are compared: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// Files that a census counts.
const MOST: usize = 20_000;

/// The state of files: the time of the last change, and the size.
type FileStates = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Does the work, and again after each change of a file of the paths, until the process is stopped. The work returns a phrase
/// about its result. A `harn.toml` counts, and so do files whose names have one of the endings.
///
/// Returns an exit code only if the folders cannot be watched.
pub(crate) fn watch(
    paths: &[PathBuf],
    endings: &[&str],
    console: &Console,
    mut work: impl FnMut() -> &'static str,
) -> i32 {
    let (sender, signals) = channel();
    // A receiver that is gone has no use for signals.
    let watcher = recommended_watcher(move |signal| _ = sender.send(signal));
    let folders = folders(paths);
    let watched = watcher.and_then(|mut watcher| {
        for folder in &folders {
            watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    });
    let _watcher = match watched {
        Ok(watcher) => watcher,
        Err(error) => {
            console.output.err(&format!("error: cannot watch for changes: {error}\n"));
            return 1;
        }
    };
    loop {
        let before = census(&folders, endings);
        let result = work();
        console.output.err(&format!("{result}; waiting for changes, Ctrl-C stops\n"));
        while census(&folders, endings) == before {
            if signals.recv().is_err() {
                return 1;
            }
            while signals.recv_timeout(QUIET).is_ok() {}
        }
    }
}

/// Returns the folders of the paths: a folder itself, the project of a file or else the folder that it is in, and the fixed
/// part of a pattern.
fn folders(paths: &[PathBuf]) -> HashSet<PathBuf> {
    let folder = |path: &PathBuf| match path {
        path if path.is_dir() => path.clone(),
        path if path.exists() => parent(&Project::file_of(path).unwrap_or_else(|| path.clone())),
        path => fixed_part(path),
    };
    paths.iter().map(folder).collect()
}

fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn census(folders: &HashSet<PathBuf>, endings: &[&str]) -> FileStates {
    let mut states = FileStates::new();
    let counts = |path: &Path| {
        path.file_name() == Some(OsStr::new("harn.toml"))
            || path.extension().is_some_and(|end| endings.iter().any(|known| end == *known))
    };
    for entry in folders.iter().flat_map(|folder| ignore::WalkBuilder::new(folder).require_git(false).build()) {
        if states.len() >= MOST {
            break;
        }
        if let Ok(entry) = entry
            && counts(entry.path())
            && let Ok(found) = entry.metadata()
        {
            states.insert(entry.path().to_owned(), (found.modified().ok(), found.len()));
        }
    }
    states
}

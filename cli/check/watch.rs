//! `harn check --watch`: checks again after each change of a script or a `harn.toml`.

use super::{CheckArgs, once};
use crate::console::Console;
use crate::script::fixed_part;
use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecursiveMode, Watcher, recommended_watcher};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The time without a further change after which the scripts are checked: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Checks until the process is stopped. Returns an exit code only if the folders cannot be watched.
pub(super) fn run(args: &CheckArgs, console: &Console) -> i32 {
    let (sender, changes) = channel();
    // A receiver that is gone has no use for changes.
    let watcher = recommended_watcher(move |event| _ = sender.send(event));
    let watched = watcher.and_then(|mut watcher| {
        for (folder, mode) in folders(&args.paths) {
            watcher.watch(&folder, mode)?;
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
        let code = once(args, console);
        let state = if code == 0 { "no errors" } else { "errors found" };
        console.output.err(&format!("{state}; waiting for changes, Ctrl-C stops\n"));
        if !changed(&changes) {
            return 1;
        }
    }
}

/// The folders of the paths: a folder with all below it, the folder that a file is in, and the fixed part of a pattern.
fn folders(paths: &[PathBuf]) -> Vec<(PathBuf, RecursiveMode)> {
    let mut folders: BTreeMap<PathBuf, RecursiveMode> = BTreeMap::new();
    for path in paths {
        let (folder, mode) = match path {
            path if path.is_dir() => (path.clone(), RecursiveMode::Recursive),
            path if path.exists() => (parent(path), RecursiveMode::NonRecursive),
            path => (fixed_part(path), RecursiveMode::Recursive),
        };
        let known = folders.entry(folder).or_insert(mode);
        if mode == RecursiveMode::Recursive {
            *known = mode;
        }
    }
    folders.into_iter().collect()
}

fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// Waits for a change. Returns `false` if there will be none.
fn changed(changes: &Receiver<notify::Result<Event>>) -> bool {
    loop {
        match changes.recv() {
            Ok(event) if is_change(&event) => break,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    while changes.recv_timeout(QUIET).is_ok() {}
    true
}

/// Whether a script or a setting may have changed. Reading a file is an event too.
fn is_change(event: &notify::Result<Event>) -> bool {
    let Ok(event) = event else { return true };
    let of_text = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name == "harn.toml")
            || path.extension().is_some_and(|end| end == "harn" || end == "rhai")
    };
    let is_read = matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)));
    !is_read && (event.need_rescan() || event.paths.iter().any(of_text))
}

//! The folders with reminder files: finding them, reading them, and noticing that something in them has changed.
//!
//! Everything that waits for a disk is in [`take_census`], which runs on the blocking pool.

use crate::trust::{is_trusted_folder, root_of};
use base::files;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder, from that of a script or a folder above it.
pub(super) const FOLDER: [&str; 2] = [".harn", "reminders"];
/// The extension of a reminder file.
const EXTENSION: &str = "md";
/// Files of one folder.
pub(super) const MOST_FILES: usize = 64;
/// The largest file.
const LARGEST: u64 = 64 << 10;
/// Names of one folder that are looked at.
const MOST_NAMES: usize = 10_000;

/// A file as it was found.
pub(super) struct FoundFile {
    /// Its name in the folder.
    pub(super) name: Arc<str>,
    /// Its path, as messages show it.
    pub(super) path: PathBuf,
    /// Its text, or why it cannot be read.
    pub(super) text: Result<String, String>,
}

/// The files that were found.
#[derive(Default)]
pub(super) struct Census {
    /// The files, by name. Of several with one name, that of the folder nearest to the script.
    pub(super) files: Vec<FoundFile>,
    /// Folders whose files are not used, because they are not trusted.
    pub(super) untrusted: Vec<PathBuf>,
    /// Folders with more files than are used.
    pub(super) crowded: Vec<PathBuf>,
}

/// The place where the search for the files of a run begins.
#[derive(Clone, Debug)]
pub(super) struct SearchPath {
    /// The folder of the script.
    pub(super) script: PathBuf,
    /// Whether the script itself asks for the files, so that those next to it count like the script.
    pub(super) by_script: bool,
}

/// Returns the folders in which reminder files may be, from the outermost to that of the script. Like the search for
/// `harn.toml`, this one ends at the first folder with `.git`.
pub(super) fn candidates(script: &Path) -> Vec<PathBuf> {
    let folder = if script.as_os_str().is_empty() { Path::new(".") } else { script };
    let Ok(whole) = folder.canonicalize() else { return Vec::new() };
    let root = root_of(&whole);
    let mut all: Vec<PathBuf> = whole.ancestors().take_while(|at| at.starts_with(&root)).map(Path::to_owned).collect();
    all.reverse();
    all
}

/// Reads the files, and asks to be told about changes from then on.
pub(super) fn take_census(path: &SearchPath, signals: Option<&ChangeSignals>) -> Census {
    let mut census = Census::default();
    let folders = candidates(&path.script);
    let mut is_trusted = false;
    for (place, folder) in folders.iter().enumerate() {
        if let Some(signals) = signals {
            signals.watch(folder);
        }
        is_trusted |= is_trusted_folder(folder);
        let is_own = place + 1 == folders.len() && path.by_script;
        let inside = folder.join(FOLDER[0]).join(FOLDER[1]);
        let names = match names_in(&inside) {
            Ok(names) if !names.is_empty() => names,
            _ => continue,
        };
        if !is_trusted && !is_own {
            census.untrusted.push(folder.clone());
            continue;
        }
        if names.len() > MOST_FILES {
            census.crowded.push(inside.clone());
        }
        for name in names.into_iter().take(MOST_FILES) {
            let file = read(folder, &inside.join(&name), &name);
            census.files.retain(|known| known.name != file.name);
            census.files.push(file);
        }
    }
    census.files.sort_by(|a, b| a.name.cmp(&b.name));
    census
}

/// Returns the names of the files in a folder, sorted.
pub(super) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in folder.read_dir()?.take(MOST_NAMES) {
        let name = entry?.file_name();
        let is_file = Path::new(&name).extension().is_some_and(|extension| extension == EXTENSION);
        // A name that is not text, or begins with a dot, is that of an editor's temporary file.
        names.extend(name.into_string().ok().filter(|name| is_file && !name.starts_with('.')));
    }
    names.sort_unstable();
    Ok(names)
}

/// Reads a file below a folder. A link must not lead out of it: diagnostics show the text.
pub(super) fn read(folder: &Path, path: &Path, name: &str) -> FoundFile {
    let text = || {
        let whole = path.canonicalize().map_err(|error| error.to_string())?;
        if !whole.starts_with(folder) {
            return Err("it is a link that points outside of its folder".to_owned());
        }
        let bytes = files::read(&whole, LARGEST).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    };
    FoundFile { name: name.into(), path: shown(path), text: text() }
}

/// Returns the path from the working directory, if it is below it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).to_owned()
}

#[cfg(target_os = "linux")]
pub(super) use linux::ChangeSignals;

#[cfg(target_os = "linux")]
mod linux {
    //! Notifications of the kernel. It queues them before the call that made the change returns, so a look at the queue
    //! before a prompt misses no change, and costs one call that never waits.

    use super::FOLDER;
    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use rustix::io::read;
    use std::path::Path;

    /// The queue of notifications about folders.
    pub(in super::super) struct ChangeSignals(OwnedFd);

    impl ChangeSignals {
        /// Opens a queue; `None` if the system has no more of them. Then each prompt reads the files again.
        pub(in super::super) fn open() -> Option<ChangeSignals> {
            init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(ChangeSignals)
        }

        /// Watches the reminder files below a folder, or the nearest place where they may appear.
        pub(super) fn watch(&self, folder: &Path) {
            let names = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
            let gone = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::MOVED_FROM | WatchFlags::DELETE;
            let content = WatchFlags::CLOSE_WRITE | WatchFlags::MODIFY | WatchFlags::ATTRIB;
            let (harn, inside) = (folder.join(FOLDER[0]), folder.join(FOLDER[0]).join(FOLDER[1]));
            // Each may have appeared while the ones before it were added.
            let _ = add_watch(&self.0, folder, names);
            let _ = add_watch(&self.0, &harn, names | gone);
            let _ = add_watch(&self.0, &inside, names | gone | content);
        }

        /// Returns whether anything was reported since the last look.
        pub(in super::super) fn take(&self) -> bool {
            let mut buffer = [0_u8; 4096];
            let mut any = false;
            while read(&self.0, &mut buffer).is_ok_and(|length| length > 0) {
                any = true;
            }
            any
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::NoSignals as ChangeSignals;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::path::Path;

    /// Other systems report changes too late: each prompt reads the files again.
    pub(in super::super) struct NoSignals(());

    impl NoSignals {
        pub(in super::super) fn open() -> Option<NoSignals> {
            None
        }

        pub(super) fn watch(&self, _: &Path) {}

        pub(in super::super) fn take(&self) -> bool {
            true
        }
    }
}

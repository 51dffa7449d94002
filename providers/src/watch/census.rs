//! A census of files, and the changes between two.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, ReadDir};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use runtime::watch::{FileChange, FileChangeKind};

use crate::yielding::yield_once;

use super::change;
use super::pattern::Patterns;

/// The most files that are watched.
const MOST: usize = 100_000;
/// After so many entries others have their turn.
const SLICE: usize = 256;
/// Within so long of the census a file may change again and look the same: clocks of file systems tick.
const TICK: Duration = Duration::from_millis(20);
/// The compared length of such a file, in bytes.
const COMPARED: u64 = 1 << 20;

/// The files that there are, by path.
#[derive(Default)]
pub(super) struct Census {
    files: BTreeMap<PathBuf, Fingerprint>,
    is_full: bool,
}

/// The fingerprint by which a changed file is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    modified: (i64, i64),
    changed: (i64, i64),
    length: u64,
    inode: u64,
    /// A hash of the content, if the file has just changed.
    content: Option<u64>,
}

/// Takes a census. What cannot be read is not there.
pub(super) async fn take(patterns: &Patterns) -> Census {
    let mut census = Census::default();
    let mut folders: Vec<ReadDir> = Vec::new();
    for root in patterns.roots() {
        // A root may be a link; below it links are not followed, for they may lead in circles.
        match fs::metadata(root) {
            Ok(meta) if meta.is_dir() => folders.extend(fs::read_dir(root).ok().filter(|_| patterns.enters(root))),
            Ok(meta) => census.add(patterns, root.to_path_buf(), &meta),
            Err(_) => {}
        }
    }
    let mut seen = 0_usize;
    while let Some(folder) = folders.last_mut() {
        match folder.next() {
            None => {
                folders.pop();
            }
            Some(Ok(entry)) => {
                let path = entry.path();
                match entry.metadata() {
                    Ok(meta) if !meta.is_dir() => census.add(patterns, path, &meta),
                    Ok(_) if patterns.enters(&path) => folders.extend(fs::read_dir(&path)),
                    _ => {}
                }
            }
            Some(Err(_)) => {}
        }
        seen += 1;
        if seen.is_multiple_of(SLICE) {
            yield_once().await;
        }
    }
    census
}

impl Census {
    fn add(&mut self, patterns: &Patterns, path: PathBuf, meta: &Metadata) {
        if !patterns.watches(&path) {
            return;
        }
        if self.files.len() >= MOST {
            self.is_full = true;
            return;
        }
        let print = Fingerprint::of(&path, meta);
        self.files.insert(path, print);
    }

    /// Returns a remark for the user, if any.
    pub(super) fn remarks(&self) -> Option<String> {
        self.is_full.then(|| {
            format!("more than {MOST} files match; only the first {MOST} are watched, so use narrower folders or globs")
        })
    }

    /// Returns the changes since an earlier census, in the order of the paths.
    pub(super) fn since(&self, earlier: &Census, patterns: &Patterns) -> Vec<FileChange> {
        let mut changes = Vec::new();
        for (path, print) in &self.files {
            match earlier.files.get(path) {
                None => changes.push(change(patterns, path, FileChangeKind::Created)),
                Some(before) if print.differs(path, before) => {
                    changes.push(change(patterns, path, FileChangeKind::Modified));
                }
                Some(_) => {}
            }
        }
        let gone = earlier.files.keys().filter(|path| !self.files.contains_key(*path));
        changes.extend(gone.map(|path| change(patterns, path, FileChangeKind::Removed)));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

impl Fingerprint {
    fn of(path: &Path, meta: &Metadata) -> Fingerprint {
        let is_fresh = meta.modified().is_ok_and(|at| SystemTime::now() < at + TICK);
        Fingerprint {
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            length: meta.len(),
            inode: meta.ino(),
            content: if is_fresh && meta.is_file() { content(path) } else { None },
        }
    }

    fn differs(&self, path: &Path, before: &Fingerprint) -> bool {
        if (self.modified, self.length, self.inode) != (before.modified, before.length, before.inode) {
            return true;
        }
        // It looks the same; one that was fresh then may have changed within the same tick.
        before.content.is_some_and(|then| self.content.or_else(|| content(path)).is_some_and(|now| now != then))
    }
}

/// A number that tells contents apart; nothing where the file cannot be read.
fn content(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(COMPARED).read_to_end(&mut bytes).ok()?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Some(hasher.finish())
}

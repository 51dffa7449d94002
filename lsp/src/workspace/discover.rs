//! The scripts below the folders of the client.

use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// The most scripts that are listed. A folder with more is usually a whole disk.
const MOST_SCRIPTS: usize = 20_000;

/// Returns the scripts below some folders in the order of their paths. Hidden files and those that `.gitignore` excludes are left
/// out.
pub(super) fn scripts(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in roots {
        let entries = WalkBuilder::new(root).require_git(false).sort_by_file_path(Path::cmp).build();
        let paths = entries.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let scripts = paths.map(ignore::DirEntry::into_path).filter(|path| is_script(path));
        found.extend(scripts.take(MOST_SCRIPTS - found.len().min(MOST_SCRIPTS)));
    }
    found.sort();
    found.dedup();
    if found.len() >= MOST_SCRIPTS {
        tracing::warn!("only the first {MOST_SCRIPTS} scripts below the folders are searched");
    }
    found
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "harn" || end == "rhai")
}

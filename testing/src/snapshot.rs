//! Snapshots: values as text files beside the tests.
//!
//! The snapshots of `greet_test.harn` are in `snapshots/greet_test`, one file each. A text that differs is written beside its
//! snapshot as `….snap.new`, for a review; it never takes the place of the snapshot by itself.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, SnapshotResult, Snapshots, unreadable_source};

/// The treatment of a text that is not that of its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotMode {
    /// The test fails, and the text is written beside the snapshot for a review.
    Propose,
    /// The test fails, and nothing is written.
    Compare,
    /// It becomes the snapshot.
    Update,
}

/// The ending of a snapshot, and of a text that waits for a review.
const SNAPSHOT: &str = "snap";
const PENDING: &str = "snap.new";

/// The snapshots of one file of tests.
pub(crate) struct FileSnapshots {
    folder: PathBuf,
    mode: SnapshotMode,
}

impl FileSnapshots {
    pub(crate) fn of(file: &Path, mode: SnapshotMode) -> Self {
        let stem = file.file_stem().unwrap_or_default();
        Self { folder: file.parent().unwrap_or(Path::new("")).join("snapshots").join(stem), mode }
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        fs::write(path, text)
    }
}

impl Snapshots for FileSnapshots {
    fn compare(&self, name: &str, text: &str) -> SnapshotResult {
        let path = self.folder.join(format!("{}.{SNAPSHOT}", file_name(name)));
        let pending = path.with_extension(PENDING);
        let file = path.display().to_string();
        let text = format!("{}\n", text.trim_end_matches('\n'));
        let failed = |error: &io::Error| SnapshotResult::Failed { reason: format!("{file}: {error}") };
        let expected = match fs::read_to_string(&path) {
            Ok(expected) => Some(expected),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return failed(&error),
        };
        if expected.as_ref() == Some(&text) || self.mode == SnapshotMode::Update {
            let written = if expected.as_ref() == Some(&text) { Ok(()) } else { self.write(&path, &text) };
            // An earlier proposal is out of date.
            let removed = match fs::remove_file(&pending) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
            return match written.and(removed) {
                Ok(()) => SnapshotResult::Same,
                Err(error) => failed(&error),
            };
        }
        if self.mode == SnapshotMode::Propose
            && let Err(error) = self.write(&pending, &text)
        {
            return failed(&error);
        }
        match expected {
            Some(expected) => SnapshotResult::Different { file, expected },
            None => SnapshotResult::Missing { file },
        }
    }
}

/// Characters of a name that the file keeps.
const LONGEST: usize = 80;

/// Returns the name of a snapshot's file without its ending: readable, and different for different names.
fn file_name(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => plain.push(c),
            _ if plain.ends_with('-') => {}
            _ => plain.push('-'),
        }
    }
    let plain = plain.trim_matches('-');
    if plain == name && plain.len() <= LONGEST {
        return plain.to_owned();
    }
    // FNV-1a: the same on every machine and in every version.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    // Nothing but ASCII is left.
    let plain = &plain[..plain.len().min(LONGEST)];
    format!("{plain}-{:08x}", hash >> 32)
}

/// A text that waits for a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSnapshot {
    /// The file of the snapshot.
    pub path: PathBuf,
    /// The current snapshot, if there is one.
    pub expected: Option<String>,
    /// The proposed text.
    pub actual: String,
    pending: PathBuf,
}

impl PendingSnapshot {
    /// Makes the proposed text the snapshot.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn accept(&self) -> io::Result<()> {
        fs::rename(&self.pending, &self.path)
    }

    /// Removes the proposed text.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn reject(&self) -> io::Result<()> {
        fs::remove_file(&self.pending)
    }
}

/// Returns the snapshots that wait for a review below the paths; for a file of tests, its own.
///
/// # Errors
/// A folder or a file that cannot be read.
#[allow(clippy::result_large_err, reason = "once a run")]
pub fn pending_snapshots(paths: &[PathBuf]) -> Result<Vec<PendingSnapshot>, Diagnostic> {
    let mut found: Vec<PendingSnapshot> = Vec::new();
    for path in paths {
        let folder = if path.is_dir() { path.clone() } else { FileSnapshots::of(path, SnapshotMode::Compare).folder };
        if !folder.is_dir() {
            continue;
        }
        let unreadable =
            |error: &dyn std::fmt::Display| unreadable_source(&folder.display().to_string(), &error.to_string());
        for entry in ignore::WalkBuilder::new(&folder).standard_filters(false).sort_by_file_path(Path::cmp).build() {
            let pending = entry.map_err(|error| unreadable(&error))?.into_path();
            let is_pending = pending.to_str().is_some_and(|name| name.ends_with(&format!(".{PENDING}")));
            if !is_pending || found.iter().any(|known| known.pending == pending) {
                continue;
            }
            let actual = fs::read_to_string(&pending).map_err(|error| unreadable(&error))?;
            let path = pending.with_extension("");
            let expected = match fs::read_to_string(&path) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(&error)),
            };
            found.push(PendingSnapshot { path, expected, actual, pending });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_differ_where_the_names_do() {
        assert_eq!(file_name("greets_all_2"), "greets_all_2");
        assert!(file_name("Greets").starts_with("reets-"));
        assert_ne!(file_name("a b"), file_name("a-b"));
        assert_ne!(file_name("../x"), file_name("x"));
        assert!(!file_name("../../x/y").contains(['/', '.']));
        assert!(file_name("日本").len() > 8);
        assert!(file_name(&"long ".repeat(100)).len() < 100);
    }
}

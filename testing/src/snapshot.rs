//! Snapshots: values as text files beside the tests.
//!
//! The snapshots of `greet_test.harn` are in `snapshots/greet_test`, one file each. A text that differs is written beside its
//! snapshot as `….snap.new`, for a review; it never takes the place of the snapshot by itself. A snapshot that no test uses is
//! marked by an empty file `….snap.unused`, for a review too.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, SnapshotResult, Snapshots, TestCode, unreadable_source};

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

/// The folder of all snapshots, beside the files of tests.
const FOLDER: &str = "snapshots";
/// The ending of a snapshot, of a text that waits for a review, and of the mark of a snapshot that no test uses.
const SNAPSHOT: &str = "snap";
const PENDING: &str = "snap.new";
const UNUSED: &str = "snap.unused";

/// The snapshots of one file of tests.
pub(crate) struct FileSnapshots {
    folder: PathBuf,
    mode: SnapshotMode,
    /// The name of the test that runs.
    test: RefCell<String>,
    /// The comparisons so far, by the file of the snapshot.
    compared: RefCell<BTreeMap<PathBuf, Comparison>>,
}

/// The use of a snapshot by a test.
struct Comparison {
    test: String,
    text: String,
}

impl FileSnapshots {
    pub(crate) fn of(file: &Path, mode: SnapshotMode) -> Self {
        let stem = file.file_stem().unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new("")).join(FOLDER).join(stem);
        Self { folder, mode, test: RefCell::default(), compared: RefCell::default() }
    }

    /// Notes that a test begins.
    pub(crate) fn begin(&self, test: &str) {
        test.clone_into(&mut self.test.borrow_mut());
    }

    /// Notes a comparison. Returns the test that used the snapshot before, if its text is in the way of this one.
    fn note(&self, path: &Path, text: &str) -> Option<String> {
        let (test, mut compared) = (self.test.borrow(), self.compared.borrow_mut());
        if let Some(before) = compared.get(path) {
            return (before.test == *test || before.text != text).then(|| before.test.clone());
        }
        compared.insert(path.to_owned(), Comparison { test: test.clone(), text: text.to_owned() });
        None
    }

    /// Returns a warning about the snapshots that no test has used. All tests of the file must have run to their end.
    pub(crate) fn unused(&self) -> Option<Diagnostic> {
        let compared = self.compared.borrow();
        let mut unused = snapshots_in(&self.folder);
        unused.retain(|path| !compared.contains_key(path));
        report_unused(&unused, self.mode)
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
        if let Some(test) = self.note(&path, &text) {
            let is_same_test = test == *self.test.borrow();
            return SnapshotResult::Taken { by: (!is_same_test).then_some(test) };
        }
        if let Err(error) = remove(&path.with_extension(UNUSED)) {
            return failed(&error);
        }
        let expected = match fs::read_to_string(&path) {
            Ok(expected) => Some(expected),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return failed(&error),
        };
        if expected.as_ref() == Some(&text) || self.mode == SnapshotMode::Update {
            let written = if expected.as_ref() == Some(&text) { Ok(()) } else { self.write(&path, &text) };
            // An earlier proposal is out of date.
            return match written.and(remove(&pending)) {
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

/// Removes a file that may not exist.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the snapshots of a folder, in the order of their names.
fn snapshots_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == SNAPSHOT) && path.is_file()).collect();
    found.sort();
    found
}

/// Marks snapshots that no test uses for a review, or removes them if all changes are accepted. Returns the warning.
fn report_unused(unused: &[PathBuf], mode: SnapshotMode) -> Option<Diagnostic> {
    let first = unused.first()?;
    let folder = first.parent().unwrap_or(Path::new("")).display();
    let count = if unused.len() == 1 { "1 snapshot".to_owned() } else { format!("{} snapshots", unused.len()) };
    let failed = unused.iter().find_map(|path| {
        let done = match mode {
            SnapshotMode::Propose => fs::write(path.with_extension(UNUSED), ""),
            SnapshotMode::Compare => Ok(()),
            SnapshotMode::Update => [PENDING, UNUSED]
                .iter()
                .try_for_each(|ending| remove(&path.with_extension(ending)))
                .and_then(|()| remove(path)),
        };
        done.err().map(|error| format!("{}: {error}", path.display()))
    });
    let is_removed = mode == SnapshotMode::Update && failed.is_none();
    let message = if is_removed {
        format!("removed {count} in {folder} that no test uses")
    } else {
        format!("no test uses {count} in {folder}")
    };
    let names: Vec<String> =
        unused.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    let mut found = Diagnostic::new(TestCode::Unused, message).note(names.join("\n"));
    found.notes.extend(failed);
    Some(if is_removed {
        found
    } else {
        found.help("`harn test --review` shows and removes them; `harn test --update` removes all")
    })
}

/// Returns warnings about the snapshots below the paths whose file of tests does not exist any more.
#[must_use]
pub fn abandoned_snapshots(paths: &[PathBuf], mode: SnapshotMode) -> Vec<Diagnostic> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths.iter().filter(|path| path.is_dir()) {
        for entry in ignore::WalkBuilder::new(path).require_git(false).build().flatten() {
            let folder = entry.path();
            let is_of_tests = folder.parent().is_some_and(|parent| parent.ends_with(FOLDER)) && folder.is_dir();
            if is_of_tests && !tests_of(folder).is_some_and(|file| file.exists()) {
                folders.push(folder.strip_prefix(".").unwrap_or(folder).to_owned());
            }
        }
    }
    folders.sort();
    folders.dedup();
    folders.iter().filter_map(|folder| report_unused(&snapshots_in(folder), mode)).collect()
}

/// Returns the file of tests that a folder of snapshots belongs to.
fn tests_of(folder: &Path) -> Option<PathBuf> {
    let beside = folder.parent()?.parent()?;
    Some(beside.join(format!("{}.harn", folder.file_name()?.to_str()?)))
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

/// A change of a snapshot that waits for a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSnapshot {
    /// The file of the snapshot.
    pub path: PathBuf,
    /// The current snapshot, if there is one.
    pub expected: Option<String>,
    /// The proposed text; `None` if no test uses the snapshot.
    pub actual: Option<String>,
    /// The file that proposes the change.
    proposal: PathBuf,
}

impl PendingSnapshot {
    /// Makes the proposed text the snapshot, or removes the snapshot.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn accept(&self) -> io::Result<()> {
        match self.actual {
            Some(_) => fs::rename(&self.proposal, &self.path),
            None => remove(&self.path).and_then(|()| fs::remove_file(&self.proposal)),
        }
    }

    /// Removes the proposal.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn reject(&self) -> io::Result<()> {
        fs::remove_file(&self.proposal)
    }
}

/// Returns the changes of snapshots that wait for a review below the paths; for a file of tests, its own.
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
            let proposal = entry.map_err(|error| unreadable(&error))?.into_path();
            let ends_with = |ending: &str| proposal.to_str().is_some_and(|name| name.ends_with(&format!(".{ending}")));
            let (is_text, is_removal) = (ends_with(PENDING), ends_with(UNUSED));
            if !(is_text || is_removal) || found.iter().any(|known| known.proposal == proposal) {
                continue;
            }
            let actual = match is_text {
                true => Some(fs::read_to_string(&proposal).map_err(|error| unreadable(&error))?),
                false => None,
            };
            let path = proposal.with_extension("");
            let expected = match fs::read_to_string(&path) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(&error)),
            };
            found.push(PendingSnapshot { path, expected, actual, proposal });
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

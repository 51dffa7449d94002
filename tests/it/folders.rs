//! The folders that hold scripts.
//!
//! | folder | the script | expected |
//! |---|---|---|
//! | `tests/lang` | what the language does | standard output in `.out`; standard error and a nonzero exit code in `.err`, if any |
//! | `tests/diagnostics` | an invalid script | the rendered diagnostic and the exit code in `.txt` |
//! | `tests/dis` | a script that is only compiled; together they use every instruction | the listing of `harn dis`, and a nonzero exit code, in `.txt` |
//! | `tests/guide` | the guide's blocks | as in `tests/lang` |
//! | `tests/reminders` | what reminders, hooks, providers and logs do | as in `tests/lang` |
//! | `tests/agents` | what agents do: loops, tools, workers, models | as in `tests/lang` |
//! | `tests/rhai/run` | what is only in Rhai | as in `tests/lang` |
//!
//! Scripts in Rhai, whose names end with `.rhai`, are cases like the others.
//!
//! A folder named `modules` has files for others to import; they are not cases.

use crate::harn::root;
use crate::script::{Expect, case};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [(&str, Expect); 7] = [
    ("tests/agents", Expect::Output),
    ("tests/diagnostics", Expect::Picture),
    ("tests/dis", Expect::Listing),
    ("tests/guide", Expect::Output),
    ("tests/lang", Expect::Output),
    ("tests/reminders", Expect::Output),
    ("tests/rhai/run", Expect::Output),
];

/// Folders of this name hold what others import.
pub(crate) const IMPORTED: &str = "modules";

/// The endings of scripts, in either language.
const SCRIPTS: [&str; 2] = ["harn", "rhai"];

/// Returns a test for each script.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (folder, expect) in FOLDERS {
        let scripts = scripts_in(folder);
        assert!(!scripts.is_empty(), "{folder} holds no scripts");
        trials.extend(scripts.into_iter().map(|script| {
            Trial::test(script.to_str().unwrap().to_owned(), move || case(&script, expect).map_err(Into::into))
        }));
    }
    trials
}

/// Returns the scripts of all folders.
pub(crate) fn scripts() -> Vec<PathBuf> {
    FOLDERS.iter().flat_map(|(folder, _)| scripts_in(folder)).collect()
}

fn scripts_in(folder: &str) -> Vec<PathBuf> {
    let mut scripts = files(Path::new(folder));
    scripts.retain(|file| is_script(file) && !is_imported(file));
    scripts
}

/// Returns the expected files whose script is gone or is not a test: they would never be compared.
pub(crate) fn orphans() -> Vec<PathBuf> {
    let mut orphans = Vec::new();
    for (folder, expect) in FOLDERS {
        let files = files(Path::new(folder));
        let has_script = |file: &Path| SCRIPTS.iter().any(|script| files.contains(&file.with_extension(script)));
        let is_expected = |file: &Path| expect.extensions().contains(&extension(file));
        let lost = files.iter().filter(|file| is_expected(file) && (is_imported(file) || !has_script(file)));
        orphans.extend(lost.cloned());
    }
    orphans
}

/// Returns all files below a folder in order, as paths from the root of the repository: that is how diagnostics name them.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(folder, &mut files);
    files.sort();
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|found| found.to_str()).unwrap_or("")
}

pub(crate) fn is_script(file: &Path) -> bool {
    SCRIPTS.contains(&extension(file))
}

pub(crate) fn is_imported(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == IMPORTED)
}

//! The files that no test imports: their lines count, too.

use crate::coverage::Coverage;
use crate::discover::{is_test_file, scripts_in};
use crate::run::{STACK, Setup};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread;
use stdlib::{Diagnostic, Engine, LineCount, RunOptions, TestCode, read_source};

/// Adds the scripts of the folders that no test has imported, with lines that did not run. Returns warnings about those that
/// do not compile.
pub fn count_unimported(paths: &[PathBuf], setup: &Setup<'_>, coverage: &mut Coverage) -> Vec<Diagnostic> {
    let counted: HashSet<PathBuf> = coverage.files().map(whole).collect();
    let mut seen = HashSet::new();
    let folders = paths.iter().filter(|path| path.is_dir());
    // A folder that cannot be read has been reported.
    let files = folders.flat_map(|folder| scripts_in(folder).unwrap_or_default());
    let missing: Vec<PathBuf> = files
        .filter(|file| !is_test_file(file) && !counted.contains(&whole(file)) && seen.insert(whole(file)))
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let lines = thread::scope(|scope| {
        let work = || missing.iter().map(|file| lines_of(file, setup)).collect::<Vec<_>>();
        let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        started.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
    });
    let mut found = Vec::new();
    for (file, lines) in missing.iter().zip(lines) {
        match lines {
            Some(lines) => coverage.add(&lines),
            None => found.push(
                Diagnostic::new(TestCode::Uncounted, format!("`{}` does not compile", file.display()))
                    .note("its lines are not counted")
                    .help(format!("`harn check {}` shows its errors", file.display())),
            ),
        }
    }
    found
}

/// Returns the path of a file without links, so that a file has one.
fn whole(file: impl AsRef<Path>) -> PathBuf {
    file.as_ref().canonicalize().unwrap_or_else(|_| file.as_ref().to_owned())
}

/// Returns the lines of a file and of those that it imports, unless it does not compile.
fn lines_of(file: &Path, setup: &Setup<'_>) -> Option<Vec<LineCount>> {
    let source = read_source(file).ok()?;
    let options = setup(file).ok()?;
    Engine::new(RunOptions { output: std::rc::Rc::new(crate::output::TestOutput::default()), ..options() })
        .lines(&source)
        .ok()
}

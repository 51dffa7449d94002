//! The files of a run.

use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, read_source, unreadable_source};

/// A file that may have tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether it must have tests: it was named, or its name says so.
    pub must_have_tests: bool,
}

/// Returns whether a file has tests by its name: `…_test.harn`.
#[must_use]
pub fn is_test_file(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with("_test.harn"))
}

/// Returns the files of paths in the order of the paths. A folder means its files `…_test.harn` and its other scripts with
/// tests, except those that `.gitignore` excludes.
///
/// # Errors
/// A path that does not exist or cannot be read.
#[allow(clippy::result_large_err, reason = "once a run")]
pub fn discover(paths: &[PathBuf]) -> Result<Vec<TestFile>, Diagnostic> {
    let mut files: Vec<TestFile> = Vec::new();
    for path in paths {
        let mut found = if path.is_dir() {
            in_folder(path)?
        } else {
            // A file that cannot be read is reported when it is.
            vec![TestFile { path: path.clone(), must_have_tests: true }]
        };
        found.retain(|file| files.iter().all(|known| known.path != file.path));
        files.extend(found);
    }
    Ok(files)
}

#[allow(clippy::result_large_err, reason = "once a run")]
fn in_folder(folder: &Path) -> Result<Vec<TestFile>, Diagnostic> {
    let mut files = Vec::new();
    for path in scripts_in(folder)? {
        let must_have_tests = is_test_file(&path);
        if must_have_tests || read_source(&path).is_ok_and(|source| mentions_tests(source.text())) {
            files.push(TestFile { path, must_have_tests });
        }
    }
    Ok(files)
}

/// Returns the scripts of a folder in the order of their paths, except those that `.gitignore` excludes.
#[allow(clippy::result_large_err, reason = "once a run")]
pub(crate) fn scripts_in(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut scripts = Vec::new();
    for entry in ignore::WalkBuilder::new(folder).require_git(false).sort_by_file_path(Path::cmp).build() {
        let entry = entry.map_err(|error| unreadable_source(&folder.display().to_string(), &error.to_string()))?;
        let is_script = entry.path().extension().is_some_and(|end| end == "harn");
        if !is_script || !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.into_path();
        // `./a` and `a` are the same file.
        scripts.push(path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_path_buf));
    }
    Ok(scripts)
}

/// Returns whether a text may have tests; most scripts need not be parsed to know that they have none.
fn mentions_tests(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let block = line.strip_prefix("test ").is_some_and(|rest| rest.trim_start().starts_with(['"', 'r']));
        block || line.starts_with("@test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_with_tests_are_found_by_their_text() {
        for text in
            ["@test\nfn a() {}", "let a = 1\n  test \"x\" { }", "test r\"x\" {}", "@test(cases: [1])\nfn a(b) {}"]
        {
            assert!(mentions_tests(text), "{text}");
        }
        for text in ["", "test(1)", "let test = 1\ntest = 2", "// @test", "println(\"@test\")"] {
            assert!(!mentions_tests(text), "{text}");
        }
        assert!(is_test_file(Path::new("a/b_test.harn")) && !is_test_file(Path::new("a_test/b.harn")));
    }
}

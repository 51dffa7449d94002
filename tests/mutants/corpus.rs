//! The texts of the repository that mutants are made of.

use crate::harn::root;
use crate::markdown::blocks;
use std::path::{Path, PathBuf};

/// Collects the paths of the files below a folder whose names end in `.ENDING`, sorted.
pub(crate) fn paths(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root().join(folder), ending, &mut found);
    found.sort();
    assert!(!found.is_empty(), "{folder} has no .{ending}");
    found
}

fn collect(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ending, into);
        } else if path.extension().is_some_and(|found| found == ending) {
            into.push(path);
        }
    }
}

/// Returns the contents of the files below a folder.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    paths(folder, ending).iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Returns the contents of the files below a folder that are text.
pub(crate) fn texts(folder: &str, ending: &str) -> Vec<String> {
    files(folder, ending).into_iter().filter_map(|bytes| String::from_utf8(bytes).ok()).collect()
}

/// Returns the blocks of the pages of a language, such as `toml`; what follows the name of the language is not compared.
pub(crate) fn blocks_of(language: &str) -> Vec<Vec<u8>> {
    let pages = texts("docs", "md");
    let is_wanted = |found: &str| found.split(' ').next() == Some(language);
    let found = pages.iter().flat_map(|page| blocks(page)).filter(|(found, _)| is_wanted(found));
    found.map(|(_, text)| text.as_bytes().to_vec()).collect()
}

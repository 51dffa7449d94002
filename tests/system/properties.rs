//! The properties that the fuzz targets (docs/testing.md) check of mutated scripts hold of every
//! script of the tests, complete or cut short.

#[allow(unreachable_pub, dead_code, reason = "a library of its own when it is fuzzed")]
#[path = "../../fuzz/properties.rs"]
mod asked;

use crate::harn::root;
use std::path::{Path, PathBuf};

/// Collects the scripts below a folder.
pub(crate) fn scripts(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "harn") {
            into.push(path);
        }
    }
}

fn each_script(with: impl Fn(&[u8])) {
    let mut paths = Vec::new();
    scripts(&root().join("tests"), &mut paths);
    scripts(&root().join("examples"), &mut paths);
    assert!(paths.len() > 50, "found {} scripts", paths.len());
    for path in paths {
        // Shown when the test fails.
        println!("{}", path.display());
        with(&std::fs::read(path).unwrap());
    }
}

#[test]
fn text_that_ends_anywhere_is_lexed_and_parsed() {
    each_script(|bytes| {
        asked::lex(bytes);
        asked::parse(bytes);
        for part in 1..8 {
            let cut = &bytes[..bytes.len() * part / 8];
            asked::lex(cut);
            asked::parse(cut);
        }
    });
}

#[test]
fn every_script_is_checked_soundly() {
    each_script(asked::check);
}

#[test]
fn every_script_runs_the_same_twice_with_no_rights_and_little_fuel() {
    each_script(asked::run);
}

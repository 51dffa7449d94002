//! The scripts of `tests/guide` hold the guide's blocks to the letter, and no block is left out.

use crate::diff::diff;
use crate::harn::root;
use std::collections::BTreeSet;
use std::fs;

const BEGIN: &str = "// --- snippet\n";
const END: &str = "// --- end\n";

/// Returns the text between the two marks, or `None` if a mark is missing.
fn snippet(script: &str) -> Option<&str> {
    script.split_once(BEGIN)?.1.split_once(END).map(|(snippet, _)| snippet)
}

/// The names of the files in a folder that have this extension, without it.
fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("tests/guide").join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let chosen = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    chosen.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join("tests/guide").join(path)).unwrap()
}

#[test]
fn every_script_block_is_held_to_the_letter() {
    let scripts = stems("", "harn");
    let blocks = stems("blocks", "txt");
    assert_eq!(blocks.len(), 13, "the guide has thirteen script blocks");
    for name in &blocks {
        assert!(scripts.contains(name), "tests/guide/{name}.harn is missing");
        let script = read(&format!("{name}.harn"));
        let held = snippet(&script).unwrap_or_else(|| panic!("{name}.harn has no `// --- snippet` … `// --- end`"));
        if let Some(diff) = diff(&read(&format!("blocks/{name}.txt")), held) {
            panic!("{name}.harn differs from the guide:\n{diff}");
        }
    }
}

#[test]
fn scripts_without_a_script_block_hold_a_json_block() {
    let blocks = stems("blocks", "txt");
    let json = stems("json", "json");
    assert_eq!(json.len(), 3, "the guide has three JSON blocks");
    for name in stems("", "harn").difference(&blocks) {
        assert!(json.contains(name), "tests/guide/{name}.harn holds no block of the guide");
        let script = read(&format!("{name}.harn"));
        assert_eq!(diff(&read(&format!("json/{name}.json")), snippet(&script).unwrap()), None, "{name}.harn");
    }
}

#[test]
fn no_block_may_fail_or_complain() {
    assert!(stems("", "err").is_empty(), "the guide's scripts write nothing to standard error");
}

#[test]
fn the_table_names_every_block() {
    let table = read("README.md");
    for name in stems("blocks", "txt").union(&stems("json", "json")) {
        assert!(table.contains(&format!("`{name}`")), "tests/guide/README.md does not name {name}");
    }
}

#[test]
fn a_changed_snippet_is_seen() {
    assert_eq!(snippet("// run\n// --- snippet\nlog(1)\n// --- end\n"), Some("log(1)\n"));
    assert_eq!(snippet("// run\nlog(1)\n"), None);
    assert!(diff("log(1)\n", "log(2)\n").is_some());
}

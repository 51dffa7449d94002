//! Accesses of the machine and of the layout of values that the compiler does not check: each is next to a `debug_assert!` or
//! a comparison with the length, so that the suites, which run with assertions, would show one that is out of bounds.

use crate::borders::sources;
use crate::harn::root;
use std::fs;

const FOLDERS: &[&str] = &["lang/src/vm", "lang/src/value"];

/// Functions that trust an index, a distance or a length.
const UNCHECKED: &[&str] =
    &["get_unchecked(", ".offset(", "offset_from(", "from_raw_parts", "from_utf8_unchecked(", "copy_nonoverlapping("];

/// Steps from a pointer by an index. Steps by a constant (`add(1)`) are part of a layout, not an access by index.
const POINTERS: &[&str] = &["as_ptr().add(", "as_mut_ptr().add(", "_at().add(", "base.add(", "frame.add("];

/// Number of lines above an access that may hold its check; the next line may do so as well, which looks at the result.
const NEAR: usize = 10;

fn is_unchecked(line: &str) -> bool {
    let steps = POINTERS.iter().filter_map(|pointer| line.split_once(pointer)).any(|(before, rest)| {
        let of_layout = before.ends_with("block.") || rest.starts_with("1)");
        !of_layout || before.ends_with("frame.")
    });
    !line.trim_start().starts_with("//") && (steps || UNCHECKED.iter().any(|name| line.contains(name)))
}

fn is_check(line: &str) -> bool {
    line.contains("debug_assert!(")
        || line.contains('<') && ["len()", "len ", "capacity()"].iter().any(|bound| line.contains(bound))
}

/// The numbers of the lines with an unchecked access, and whether each has its check.
fn accesses(source: &str) -> Vec<(usize, bool)> {
    let lines: Vec<&str> = source.lines().take_while(|line| *line != "#[cfg(test)]").collect();
    let unchecked = lines.iter().enumerate().filter(|(_, line)| is_unchecked(line));
    let near = |i: usize| &lines[i.saturating_sub(NEAR)..lines.len().min(i + 2)];
    unchecked.map(|(i, _)| (i + 1, near(i).iter().any(|line| is_check(line)))).collect()
}

#[test]
fn every_unchecked_access_has_its_assertion() {
    let (mut all, mut bare) = (0, Vec::new());
    for folder in FOLDERS {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        for file in files {
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            let found = accesses(&fs::read_to_string(&file).unwrap());
            all += found.len();
            bare.extend(found.iter().filter(|(_, checked)| !checked).map(|(line, _)| format!("{name}:{line}")));
        }
    }
    assert!(bare.is_empty(), "accesses without a `debug_assert!` above them: {bare:#?}");
    assert!(all > 25, "{all} accesses are found");
}

#[test]
fn an_access_without_an_assertion_is_found() {
    assert_eq!(accesses("let a = 1;\nlet v = xs.get_unchecked(i);\n"), [(2, false)]);
    assert_eq!(accesses("debug_assert!(i < xs.len());\nlet v = xs.as_ptr().add(i);\n"), [(2, true)]);
    assert_eq!(accesses("// xs.get_unchecked(i)\nlet v = block.as_ptr().add(1);\n"), []);
}

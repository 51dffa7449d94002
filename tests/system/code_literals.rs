//! Diagnostic codes are written as text in one place only: the rows of the catalogues, in the files `codes.rs` and in
//! `stdlib/src/codes`. Everything else names a variant, so a code that does not exist does not compile.

use crate::borders::sources;
use crate::harn::root;
use std::fs;

/// The sources, tests left out.
const FOLDERS: &[&str] = &[
    "base/src",
    "eventlog/src",
    "lang/src",
    "runtime/src",
    "providers/src",
    "stdlib/src",
    "serve/src",
    "cli",
    "embed",
];

/// Files that compare text that came from outside: what a verifier, harn or another one, has printed.
const READERS: &[&str] = &["providers/src/reminder/grounded_review/finding.rs"];

/// The part of a line behind `HARN-XXX-N`, where such a code is in it.
fn code_in(line: &str) -> Option<&str> {
    line.match_indices("HARN-").find_map(|(at, prefix)| {
        let rest = &line[at + prefix.len()..];
        let (family, number) = rest.split_once('-')?;
        let is_family = !family.is_empty() && family.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        (is_family && number.starts_with(|c: char| c.is_ascii_digit())).then_some(rest)
    })
}

/// The numbers of the lines that write a code, comments and the tests at the end of the file left out.
fn lines_with_codes(source: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut lines = source.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        let next = lines.peek().map_or("", |(_, next)| *next);
        if line == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{') {
            break;
        }
        if !line.trim_start().starts_with("//") && code_in(line).is_some() {
            found.push(i + 1);
        }
    }
    found
}

/// Whether a file holds rows.
fn has_rows(name: &str) -> bool {
    name.ends_with("/codes.rs") || name.starts_with("stdlib/src/codes/")
}

/// Whether a file holds rows, or tests only.
fn may_write_codes(name: &str) -> bool {
    has_rows(name)
        || name.ends_with("tests.rs")
        || name.split('/').any(|folder| folder == "tests")
        || READERS.contains(&name)
}

#[test]
fn codes_are_written_in_the_catalogues_only() {
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for folder in FOLDERS {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        for file in files {
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap();
            let lines = lines_with_codes(&fs::read_to_string(&file).unwrap());
            if has_rows(name) {
                rows += lines.len();
            } else if !may_write_codes(name) {
                wrong.extend(lines.iter().map(|line| format!("{name}:{line}: name the variant of the code instead")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Each row is a line with a code, so the files are where this test looks for them.
    assert!(rows >= serve::catalogue().len(), "{rows}");
}

#[test]
fn a_written_code_is_seen() {
    assert_eq!(lines_with_codes("a(\"HARN-RUN-013\")\n// HARN-RUN-013\nb(\"error[HARN-A2A-1\")\n"), [1, 3]);
    assert!(lines_with_codes("starts_with(\"HARN-\")\n\"HARN-PAR\" HARN_A2A_TOKEN\n").is_empty());
    assert!(lines_with_codes("#[cfg(test)]\nmod tests {\n\"HARN-RUN-013\"\n}\n").is_empty());
    assert_eq!(lines_with_codes("#[cfg(test)]\nmod tests;\n\"HARN-RUN-013\"\n"), [3]);
    assert!(may_write_codes("lang/src/vm/codes.rs") && !may_write_codes("lang/src/vm/raise.rs"));
    assert!(may_write_codes("stdlib/src/codes/mcp.rs") && !may_write_codes("stdlib/src/mcp.rs"));
}
